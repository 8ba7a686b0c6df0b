import { ErrorCode as NatsCode, NatsError } from 'nats';
import { ThroughlineError } from '../errors.js';

/** The JetStream API codes that we act on. */
export const API = {
  wrongLastSequence: 10071,
  streamNotFound: 10059,
  streamNameInUse: 10058,
  consumerNotFound: 10014,
  messageNotFound: 10037,
} as const;

/** Number of a JetStream API error, or `undefined`. */
export function apiCode(error: unknown): number | undefined {
  return error instanceof NatsError ? error.api_error?.err_code : undefined;
}

/** Whether nothing listens on the subject of a request: for a publish, that no stream takes it. */
export function isNoResponders(error: unknown): boolean {
  return error instanceof NatsError && error.code === NatsCode.NoResponders;
}

/** The one table from NATS faults to ours. What is ours already passes unchanged. */
export function toThroughlineError(error: unknown, doing: string): ThroughlineError {
  if (error instanceof ThroughlineError) return error;
  if (error instanceof NatsError) {
    const text = error.api_error?.description ?? error.message;
    switch (error.code) {
      case NatsCode.Timeout:
      case NatsCode.ConnectionClosed:
      case NatsCode.ConnectionDraining:
      case NatsCode.ConnectionRefused:
      case NatsCode.ConnectionTimeout:
      case NatsCode.Disconnect:
      case NatsCode.NoResponders:
        return new ThroughlineError('unavailable', `${doing}: NATS does not answer (${error.code})`, {
          cause: error,
        });
      case NatsCode.AuthorizationViolation:
      case NatsCode.PermissionsViolation:
        return new ThroughlineError('unavailable', `${doing}: NATS refuses it (${text})`, { cause: error });
      case NatsCode.MaxPayloadExceeded:
        return new ThroughlineError('too_large', `${doing}: more than the server takes in one message`, {
          cause: error,
        });
      default:
        return new ThroughlineError('internal', `${doing}: ${text}`, { cause: error });
    }
  }
  return new ThroughlineError(
    'internal',
    `${doing}: ${error instanceof Error ? error.message : String(error)}`,
    {
      cause: error,
    },
  );
}
