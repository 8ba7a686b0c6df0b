import type { JetStreamManager } from 'nats';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  sessionOfSubject,
  shardOfStream,
  type Token,
} from '../../contracts/names.js';
import { shardOf } from '../../contracts/session-layout.js';
import { toThroughlineError } from '../connection/nats-errors.js';

/** All sessions that have events in shards, in no order. The server lists the subjects of a shard by themselves. */
export async function shardSessions(jsm: JetStreamManager, shards: number): Promise<Set<Token>> {
  const found = new Set<Token>();
  try {
    for await (const name of jsm.streams.names(ALL_SHARDS)) {
      const shard = shardOfStream(name);
      if (shard === undefined) continue;
      const { state } = await jsm.streams.info(name, { subjects_filter: ALL_SESSIONS });
      for (const subject of Object.keys(state.subjects ?? {})) {
        const session = sessionOfSubject(subject);
        if (session !== undefined && shardOf(session, shards) === shard) found.add(session);
      }
    }
  } catch (error) {
    throw toThroughlineError(error, 'listing sessions');
  }
  return found;
}
