import type { ThroughlineError } from '../../contracts/errors.js';
import { NATS_SERVER_PIN } from '../../nats-server/server-pin.js';
import { type Finding, fail } from './finding.js';

/**
 * The error that kept us from checking anything; the message says what to do where that depends on the configuration.
 */
export function connectionFinding({ code, message }: ThroughlineError): Finding {
  const told = `${message} (${code})`;
  if (code !== 'server_unsupported') return { check: 'connection', level: 'fail', message: told };
  const { minimum, version } = NATS_SERVER_PIN;
  const fix = `run nats-server ${minimum} or newer, with JetStream: "throughline up" starts ${version}`;
  return fail('server', told, fix);
}
