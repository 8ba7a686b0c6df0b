import type { JetStreamManager } from 'nats';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  sessionOfSubject,
  shardOfStream,
  type Token,
} from '../../contracts/names.js';
import { shardOf } from '../../contracts/session-layout.js';

/**
 * All sessions that have events in shards, with how many. The server counts the messages of each subject: none is read.
 *
 * @throws what the request throws
 */
export async function sessionCounts(jsm: JetStreamManager, shards: number): Promise<Map<Token, number>> {
  const found = new Map<Token, number>();
  for await (const name of jsm.streams.names(ALL_SHARDS)) {
    const shard = shardOfStream(name);
    if (shard === undefined) continue;
    const { state } = await jsm.streams.info(name, { subjects_filter: ALL_SESSIONS });
    for (const [subject, count] of Object.entries(state.subjects ?? {})) {
      const session = sessionOfSubject(subject);
      if (session === undefined || shardOf(session, shards) !== shard) continue;
      found.set(session, (found.get(session) ?? 0) + count);
    }
  }
  return found;
}
