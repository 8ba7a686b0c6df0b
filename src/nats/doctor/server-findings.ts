import {
  type JetStreamManager,
  type JetStreamUsageAccountLimits,
  type NatsConnection,
  StorageType,
} from 'nats';
import { codeOf, messageOf } from '../../contracts/errors.js';
import { PROBE_STREAM, PROBE_SUBJECT } from '../../contracts/names.js';
import {
  API,
  apiCode,
  isNoResponders,
  MAKE_ROOM_ON_DISK,
  toThroughlineError,
} from '../connection/nats-errors.js';
import { AckedPublisher } from '../jetstream/acked-publisher.js';
import { probeGone, stuckStreams } from '../jetstream/list-streams.js';

export interface Finding {
  /** The name of the check, as the doctor prints it. */
  readonly check: string;
  /** `warn`: works, but not for long or as intended; `fail`: does not. */
  readonly level: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** The suggested fix, if there is one. */
  readonly fix?: string;
}

export function ok(check: string, message: string): Finding {
  return { check, level: 'ok', message };
}

export function warn(check: string, message: string, fix: string): Finding {
  return { check, level: 'warn', message, fix };
}

export function fail(check: string, message: string, fix: string): Finding {
  return { check, level: 'fail', message, fix };
}

const NEARLY_FULL = 0.8;
const FULL = 0.95;

export function serverFindings(connection: NatsConnection): Finding[] {
  const { version, server_name, cluster } = connection.info ?? {};
  const where = cluster === undefined ? '' : `, cluster ${cluster}`;
  return [ok('server', `nats-server ${version}, ${server_name}${where}`)];
}

/** Warns of a server on loopback without credentials, which other users of the machine can reach. */
export function accessFindings(connection: NatsConnection): Finding[] {
  const isOpen = connection.info?.auth_required !== true && connection.info?.tls_verify !== true;
  if (!isOpen || !/^(127\.|localhost:|\[?::1\]?:)/.test(connection.getServer())) return [];
  const message = 'asks for no credentials: every program of this machine can read and change everything';
  return [warn('access', message, 'throughline down, then throughline up --auth')];
}

/** Returns true if the account lacks JetStream, although the server has it. */
export function jetStreamIsOff(jsm: JetStreamManager): Promise<boolean> {
  return jsm.getAccountInfo().then(
    () => false,
    (error: unknown) => isNoResponders(error) || apiCode(error) === API.jetStreamOff,
  );
}

export async function limitFindings(jsm: JetStreamManager): Promise<Finding[]> {
  const stats = await jsm.getAccountInfo();
  // An account with tiers has its limits there, per number of replicas.
  const tiers = Object.entries(stats.tiers ?? {});
  return tiers.length === 0
    ? accountFindings(stats)
    : tiers.flatMap(([tier, usage]) => accountFindings(usage, ` ${tier}`));
}

function accountFindings(of: JetStreamUsageAccountLimits, tier = ''): Finding[] {
  const { max_storage, max_memory, max_streams, max_consumers } = of.limits;
  return [
    used(`storage${tier}`, of.storage, max_storage, 'bytes'),
    used(`memory${tier}`, of.memory, max_memory, 'bytes'),
    used(`streams${tier}`, of.streams, max_streams, 'streams'),
    used(`consumers${tier}`, of.consumers, max_consumers, 'consumers'),
  ];
}

function used(what: string, count: number, limit: number, unit: string): Finding {
  const check = `JetStream ${what}`;
  if (limit <= 0) return ok(check, `${count} ${unit} used, no limit of the account`);
  const message = `${count} of ${limit} ${unit} used`;
  const fix = `raise the limit of the account, or delete what you no longer need: nats stream ls`;
  if (count >= limit * FULL) return fail(check, message, fix);
  return count >= limit * NEARLY_FULL ? warn(check, message, fix) : ok(check, message);
}

const WRITES = 'JetStream writes';

/** Checks by a temporary stream if anything can be stored, and probes existing ones, which may reject all writes. */
export async function writeFindings(
  connection: NatsConnection,
  jsm: JetStreamManager,
  { streams, ...options }: { streams: readonly string[]; replicas: number; timeoutMs: number },
): Promise<Finding[]> {
  try {
    return await withProbeStream(connection, jsm, options, async () => {
      // In a cluster a probed replica would be rebuilt from the other copies.
      const stuck =
        connection.info?.cluster === undefined
          ? await stuckStreams(jsm, PROBE_STREAM, streams).catch(unseen)
          : [];
      if (stuck.length === 0) return [ok(WRITES, 'a message was stored and removed again')];
      const message = `${stuck.join(', ')} cannot write since a write failed, even with room again`;
      return [fail(WRITES, message, MAKE_ROOM_ON_DISK)];
    });
  } catch (error) {
    return [refused(error)];
  }
}

/** Sees no stuck stream as a user who may not delete messages, which is how a stream is probed. */
function unseen(error: unknown): readonly string[] {
  if (toThroughlineError(error, WRITES).code !== 'permission_denied') throw error;
  return [];
}

function refused(cause: unknown): Finding {
  const error = toThroughlineError(cause, 'storing a message');
  const code = codeOf(error);
  if (code === 'permission_denied') throw error;
  if (code === 'conflict')
    return warn(WRITES, `another process tests it, too: ${messageOf(error)} (${code})`, 'run it once more');
  const message = `nothing can be stored: ${messageOf(error)} (${code})`;
  // The error names the full resource and its fix.
  if (code === 'store_full') return { check: WRITES, level: 'fail', message };
  return fail(WRITES, message, 'check that the server answers, and read its log');
}

/** More than the rest of a disk block that is in use already. */
const PROBE_BYTES = 16_384;
const REQUEST_MS = 5000;

/**
 * Writes to a temporary stream, runs `work` while it exists, and deletes it. Only a real write shows if there is space, because
 * limits ignore a disk that others have filled.
 *
 * @throws ThroughlineError `conflict` if the stream is deleted meanwhile, so that nothing is known
 * @throws ThroughlineError, or the client's error, if the message cannot be stored; and errors of `work`
 */
export async function withProbeStream<T>(
  connection: NatsConnection,
  jsm: JetStreamManager,
  options: { readonly replicas: number; readonly timeoutMs: number },
  work: () => Promise<T>,
): Promise<T> {
  const publisher = new AckedPublisher(connection, options.timeoutMs);
  try {
    await jsm.streams
      .add({
        name: PROBE_STREAM,
        subjects: [PROBE_SUBJECT],
        description: 'Whether anything can be stored: made for a moment, and removed again',
        storage: StorageType.File,
        max_msgs: 1,
        max_bytes: 4 * PROBE_BYTES,
        num_replicas: options.replicas,
      })
      .catch((error: unknown) => {
        // Left by a killed process, possibly with other replicas.
        if (apiCode(error) !== API.streamNameInUse) throw error;
      });
    const { outcome } = await publisher.publish(PROBE_SUBJECT, Buffer.alloc(PROBE_BYTES));
    if (outcome === 'no_stream') throw probeGone(PROBE_STREAM);
    return await work();
  } finally {
    publisher.close();
    await jsm.streams.delete(PROBE_STREAM).catch(() => {});
  }
}

/** True if a stream of our own server cannot write although others can. Throws if all fail, or if it stays unknown. */
export async function hasStuckStream(connection: NatsConnection): Promise<boolean> {
  const jsm = await connection.jetstreamManager({ checkAPI: false });
  const names: string[] = [];
  for await (const { config } of jsm.streams.list()) names.push(config.name);
  const stuck = await withProbeStream(connection, jsm, { replicas: 1, timeoutMs: REQUEST_MS }, () =>
    stuckStreams(jsm, PROBE_STREAM, names),
  );
  return stuck.length > 0;
}
