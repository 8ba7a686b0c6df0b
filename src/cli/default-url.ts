/** The server of `throughline up`, where no other is named. */
export const DEFAULT_URL = 'nats://127.0.0.1:4222';
