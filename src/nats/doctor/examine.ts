import type { NatsConnection } from 'nats';
import type { ThroughlineError } from '../../contracts/errors.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { STREAMS } from '../jetstream/topology.js';
import { NATS_SERVER_PIN } from '../server/server-version.js';
import {
  type Finding,
  fail,
  jetStreamIsOff,
  limitFindings,
  serverFindings,
  writeFindings,
} from './server-findings.js';
import { serviceFindings } from './service-findings.js';
import { consumerFindings, rejectedFindings, strangerFindings, streamFindings } from './stream-findings.js';

export interface Expected {
  readonly replicas: number;
  readonly ackWaitMs: number;
  readonly requestTimeoutMs: number;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Runs all checks, without lasting changes. */
export async function examine(connection: NatsConnection, expected: Expected): Promise<Finding[]> {
  const { replicas, ackWaitMs, requestTimeoutMs: timeoutMs, version, now } = expected;
  const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
  if (await jetStreamIsOff(jsm)) {
    const fix = 'enable it in the configuration of the server: accounts { NAME { jetstream: enabled } }';
    return [...serverFindings(connection), fail('JetStream', 'the account of this user has none', fix)];
  }
  const streams = [...STREAMS.keys()];
  const checks: Readonly<Record<string, () => Promise<Finding[]>>> = {
    server: async () => serverFindings(connection),
    'JetStream limits': () => limitFindings(jsm),
    'JetStream writes': () => writeFindings(connection, jsm, { streams, replicas, timeoutMs }),
    subjects: () => strangerFindings(jsm),
    streams: () => streamFindings(jsm, replicas),
    consumers: () => consumerFindings(jsm, ackWaitMs),
    rejected: () => rejectedFindings(jsm),
    services: () => serviceFindings(connection, { version, now: now(), timeoutMs }),
  };
  const found: Finding[] = [];
  for (const [check, look] of Object.entries(checks)) found.push(...(await examined(check, look)));
  return found;
}

/** Runs a check; its failure is a finding and does not stop the others. */
async function examined(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (thrown) {
    const error = toThroughlineError(thrown, check);
    const message = `cannot be checked: ${error.message} (${error.code})`;
    const fix =
      error.code === 'permission_denied'
        ? AS_OPERATOR
        : 'check that the server answers: nats server check connection';
    return [fail(check, message, fix)];
  }
}

export const AS_OPERATOR = 'run it as a user with the role operator; a reader may not';

/** Reports the error that prevented all checks; its message contains the fix if that depends on the configuration. */
export function connectionFinding({ code, message }: ThroughlineError): Finding {
  const text = `${message} (${code})`;
  if (code !== 'server_unsupported') return { check: 'connection', level: 'fail', message: text };
  const { minimum, version } = NATS_SERVER_PIN;
  const fix = `run nats-server ${minimum} or newer, with JetStream: "throughline up" starts ${version}`;
  return fail('server', text, fix);
}
