import type { JetStreamManager, NatsConnection } from 'nats';
import { codeOf, messageOf } from '../../contracts/errors.js';
import { PROBE_STREAM } from '../../contracts/names.js';
import { MAKE_ROOM_ON_DISK, toThroughlineError } from '../connection/nats-errors.js';
import { stuckStreams } from '../jetstream/list-streams.js';
import { withProbeStream } from '../jetstream/probe-stream.js';
import { type Finding, fail, ok, warn } from './finding.js';

export const WRITES = 'JetStream writes';

export interface Written {
  readonly streams: readonly string[];
  readonly replicas: number;
  readonly timeoutMs: number;
}

/**
 * Checks if anything can be stored: writes to a temporary stream, and probes the existing streams, which reject all writes
 * after a failed one.
 */
export async function writeFindings(
  connection: NatsConnection,
  jsm: JetStreamManager,
  { streams, replicas, timeoutMs }: Written,
): Promise<Finding[]> {
  try {
    return await withProbeStream(connection, jsm, { replicas, timeoutMs }, async () =>
      // In a cluster a probed replica would be rebuilt from the other copies.
      connection.info?.cluster === undefined
        ? await stuckFindings(jsm, streams)
        : [ok(WRITES, 'a message was stored and removed again')],
    );
  } catch (error) {
    return [refused(error)];
  }
}

async function stuckFindings(jsm: JetStreamManager, streams: readonly string[]): Promise<Finding[]> {
  try {
    const stuck = await stuckStreams(jsm, PROBE_STREAM, streams);
    if (stuck.length === 0)
      return [ok(WRITES, 'a message was stored and removed again, and every stream can write')];
    const message = `${stuck.join(', ')} cannot write since a write failed, even with room again`;
    return [fail(WRITES, message, MAKE_ROOM_ON_DISK)];
  } catch (error) {
    if (codeOf(toThroughlineError(error, WRITES)) !== 'permission_denied') throw error;
    const seen =
      'a message was stored and removed again; this user may not see whether each stream can write';
    return [ok(WRITES, seen)];
  }
}

function refused(cause: unknown): Finding {
  const error = toThroughlineError(cause, 'storing a message');
  const code = codeOf(error);
  if (code === 'permission_denied') {
    const message = 'this user may not try whether anything can be stored';
    return { ...warn(WRITES, message, 'run it as a user with the permissions of an operator'), denied: true };
  }
  if (code === 'conflict') {
    const message = `whether anything can be stored is not known: ${messageOf(error)} (${code})`;
    return warn(WRITES, message, 'run it once more');
  }
  const message = `nothing can be stored: ${messageOf(error)} (${code})`;
  // The error names the full resource and its fix.
  if (code === 'store_full') return { check: WRITES, level: 'fail', message };
  return fail(WRITES, message, 'check that the server answers, and read its log');
}
