import type { JetStreamManager } from 'nats';
import type { ThroughlineError } from '../../contracts/errors.js';
import { DISPATCH_STREAM, VECTOR_BUCKET } from '../../contracts/names.js';
import { ifExists } from '../connection/nats-errors.js';
import { behind, RESTORE_ALL } from '../jetstream/topology.js';
import type { NatsPorts } from '../open-nats.js';
import { NATS_SERVER_PIN } from '../server/server-pin.js';
import { eventFindings } from './event-findings.js';
import { examined, type Finding, fail } from './finding.js';
import { projectFindings, vectorFindings } from './learning-findings.js';
import {
  clockFindings,
  jetStreamIsOff,
  limitFindings,
  serverFindings,
  WRITES,
  writeFindings,
} from './server-findings.js';
import { type ConfiguredEmbedder, embedderFindings, serviceFindings } from './service-findings.js';
import { importFindings, sessionFindings, shardFindings } from './session-findings.js';
import {
  CONSUMERS,
  consumerFindings,
  expectedStreams,
  rejectedFindings,
  strangerFindings,
  streamFindings,
} from './stream-findings.js';

/** The configuration that the installation is compared with. */
export interface Expected {
  readonly replicas: number;
  readonly ackWaitMs: number;
  readonly requestTimeoutMs: number;
  readonly version: string;
  /** Milliseconds since 1970, by this machine's clock. */
  readonly now: () => number;
  readonly embedder?: ConfiguredEmbedder | undefined;
}

/** Checks that are slow, write something or cost money: excluded from a quick look. */
const THOROUGH: ReadonlySet<string> = new Set([WRITES, 'logs', 'embedder']);

/** Runs the quick checks: no writes, no scans of whole streams. */
export function quickCheck(nats: NatsPorts, expected: Expected): Promise<Finding[]> {
  return examine(nats, expected, THOROUGH);
}

/** Runs all checks, without lasting changes. */
export async function examine(
  nats: NatsPorts,
  expected: Expected,
  without: ReadonlySet<string> = new Set(),
): Promise<Finding[]> {
  const { connection, layout, snapshots, learningSnapshots } = nats;
  const { replicas, ackWaitMs, requestTimeoutMs: timeout, version, now, embedder } = expected;
  const jsm = await connection.jetstreamManager({ checkAPI: false, timeout });
  if (await jetStreamIsOff(jsm)) {
    const fix = 'enable it in the configuration of the server: accounts { NAME { jetstream: enabled } }';
    return [...serverFindings(connection), fail('JetStream', 'the account of this user has none', fix)];
  }
  const names = expectedStreams(replicas).map(({ name }) => name);
  const checks: (readonly [string, () => Promise<Finding[]>])[] = [
    ['server', async () => serverFindings(connection)],
    ['JetStream limits', () => limitFindings(jsm)],
    [
      WRITES,
      () =>
        writeFindings(connection, jsm, {
          streams: [...names, `KV_${VECTOR_BUCKET}`],
          replicas,
          timeoutMs: timeout,
        }),
    ],
    ['clock', () => clockFindings(connection, timeout, now)],
    ['subjects', () => strangerFindings(jsm)],
    ...expectedStreams(replicas).map(
      (stream) => [`stream ${stream.name}`, () => streamFindings(jsm, stream)] as const,
    ),
    [`stream KV_${VECTOR_BUCKET}`, () => vectorFindings(jsm, replicas, embedder !== undefined)],
    ...Object.keys(CONSUMERS).map(
      (consumer) => [`consumer ${consumer}`, () => consumerFindings(jsm, consumer, ackWaitMs)] as const,
    ),
    ['dispatch numbers', () => numbersFindings(jsm, nats.numbers)],
    ['rejected', () => rejectedFindings(jsm)],
    ['logs', () => eventFindings(connection, jsm, timeout, embedder)],
    [
      'sessions',
      () => {
        const examined = { jsm, snapshots, replicas };
        return layout.layout === 'sharded'
          ? shardFindings({ ...examined, shards: layout.shards })
          : sessionFindings(examined);
      },
    ],
    ['imports', () => importFindings(connection, { replicas, timeoutMs: timeout }, now())],
    ['projects', () => projectFindings(jsm, learningSnapshots)],
    ...(embedder === undefined ? [] : [['embedder', () => embedderFindings(embedder, timeout)] as const]),
    ['services', () => serviceFindings(connection, { version, now: now(), timeoutMs: timeout })],
  ];
  const found: Finding[] = [];
  for (const [check, look] of checks) if (!without.has(check)) found.push(...(await examined(check, look)));
  const denied = found.filter((finding) => finding.denied);
  // Information from the connection itself is not a look at the installation.
  const seen = found.filter(
    ({ check, level }) => level === 'ok' && check !== 'server' && check !== 'embedder',
  );
  return denied.length === 0 || seen.length > 0
    ? found
    : [...found, fail('doctor', 'could not check anything', 'run it as a user with the role operator')];
}

/** Reports the error that prevented all checks; its message contains the fix if that depends on the configuration. */
export function connectionFinding({ code, message }: ThroughlineError): Finding {
  const told = `${message} (${code})`;
  if (code === 'permission_denied')
    return fail(
      'connection',
      told,
      'run it as a user with the role operator; a reader asks "nats req tool.health-show {}"',
    );
  if (code !== 'server_unsupported') return { check: 'connection', level: 'fail', message: told };
  const { minimum, version } = NATS_SERVER_PIN;
  const fix = `run nats-server ${minimum} or newer, with JetStream: "throughline up" starts ${version}`;
  return fail('server', told, fix);
}

/** Checks if dispatch numbers are behind those that the installation has given. */
async function numbersFindings(jsm: JetStreamManager, numbers: NatsPorts['numbers']): Promise<Finding[]> {
  const info = await ifExists(jsm.streams.info(DISPATCH_STREAM), 'looking at the dispatches');
  const highest = await numbers.highest();
  // A missing stream is reported elsewhere.
  if (info === undefined || highest === undefined || info.state.last_seq >= highest) return [];
  const message = behind(DISPATCH_STREAM, info.state.last_seq, `the installation has given ${highest}`);
  return [fail(`stream ${DISPATCH_STREAM}`, message, RESTORE_ALL)];
}
