import type { NatsPorts } from '../open.js';
import { examined, type Finding, fail } from './finding.js';
import { clockFindings, limitFindings, serverFindings } from './server.js';
import { serviceFindings } from './services.js';
import { sessionFindings } from './sessions.js';
import { CONSUMERS, consumerFindings, expectedStreams, rejectedFindings, streamFindings } from './streams.js';

/** What an installation is measured by. */
export interface Expected {
  readonly replicas: number;
  readonly ackWaitMs: number;
  readonly snapshotEvery: number;
  readonly requestTimeoutMs: number;
  /** Version of the services. */
  readonly version: string;
  /** Milliseconds since 1970, of this machine. */
  readonly now: () => number;
}

/** Looks at everything, and changes nothing. */
export async function examine(nats: NatsPorts, expected: Expected): Promise<Finding[]> {
  const { connection, snapshots } = nats;
  const { replicas, ackWaitMs, snapshotEvery, requestTimeoutMs: timeout, version, now } = expected;
  const jsm = await connection.jetstreamManager({ checkAPI: false, timeout });
  const checks: (readonly [string, () => Promise<Finding[]>])[] = [
    ['server', async () => serverFindings(connection)],
    ['JetStream limits', () => limitFindings(jsm)],
    ['clock', () => clockFindings(connection, timeout, now)],
    ...expectedStreams(replicas).map(
      (stream) => [`stream ${stream.name}`, () => streamFindings(jsm, stream)] as const,
    ),
    ...Object.keys(CONSUMERS).map(
      (consumer) => [`consumer ${consumer}`, () => consumerFindings(jsm, consumer, ackWaitMs)] as const,
    ),
    ['rejected', () => rejectedFindings(jsm)],
    ['sessions', () => sessionFindings({ jsm, snapshots, replicas, snapshotEvery })],
    ['services', () => serviceFindings(connection, version)],
  ];
  const found: Finding[] = [];
  for (const [check, look] of checks) found.push(...(await examined(check, look)));
  const denied = found.filter((finding) => finding.denied);
  // What a connection tells by itself is no look at the installation.
  const seen = found.filter(({ check, level }) => level === 'ok' && check !== 'server');
  return denied.length === 0 || seen.length > 0
    ? found
    : [
        ...found,
        fail('doctor', 'could not look at anything', 'run it as a user with the permissions of a reader'),
      ];
}
