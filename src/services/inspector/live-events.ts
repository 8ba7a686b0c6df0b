import type { LiveEvents } from '../../contracts/inspector-api.js';

const encoder = new TextEncoder();

/** One event as it is sent. */
export function sent<Name extends keyof LiveEvents>(event: Name, data: LiveEvents[Name]): Uint8Array {
  return encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Keeps proxies from ending a stream that is quiet. */
export const HEARTBEAT = encoder.encode(': still there\n\n');
