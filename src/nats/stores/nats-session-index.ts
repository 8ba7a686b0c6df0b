import type { JetStreamManager, NatsConnection } from 'nats';
import { INDEX_BUCKET, indexSubject, isToken, type Token } from '../../contracts/names.js';
import { type SessionIndexEntry, sessionIndexEntry } from '../../contracts/replies/session-reply.js';
import type { SessionIndex } from '../../engine/ports/session-log.js';
import { jsonOf } from '../../shared/text.js';
import { subscribeResiliently } from '../connection/connect-nats.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { batchesOf, foreignBy, type StreamMessage } from '../jetstream/direct-get.js';
import { type BucketKind, type BucketOptions, GONE, isDeletion, KEPT, KvBucket } from './kv-bucket.js';

const STREAM = `KV_${INDEX_BUCKET}`;

const BUCKET: BucketKind = {
  name: INDEX_BUCKET,
  reads: 'any',
  config: () => ({ deny_delete: true, description: 'What lists show of each session' }),
};

/** The index in the bucket `session_index`: a key per session, JSON on one line. Created with the first write. */
export function sessionIndex(
  connection: NatsConnection,
  jsm: JetStreamManager,
  options: BucketOptions,
): SessionIndex {
  const bucket = new KvBucket(connection, options, BUCKET);
  const place = { connection, stream: STREAM, timeoutMs: options.timeoutMs };
  const epoch = async () =>
    (await ifExists(jsm.streams.info(STREAM), 'looking for the index of sessions'))?.created;
  return {
    epoch,
    async *read(after) {
      // Without a stream the read might get no answer at all.
      if ((await epoch()) === undefined) return;
      try {
        for await (const messages of batchesOf(place, indexSubject('*'), after + 1)) {
          const entries = messages.flatMap((message) => entryIn(message) ?? []);
          yield { entries, through: messages.at(-1)?.sequence ?? after };
        }
      } catch (error) {
        throw toThroughlineError(error, 'reading the index of sessions');
      }
    },
    watch({ written, removed }) {
      const subscription = subscribeResiliently(connection, indexSubject('*'), (message) => {
        if (foreignBy(message.headers, 'as_stored') !== undefined) return;
        const session = message.subject.split('.')[2];
        if (!isToken(session)) return;
        if (isDeletion({ headers: message.headers })) return removed(session);
        const entry = entryOf(session, message.data);
        if (entry !== undefined) written(entry);
      });
      return () => subscription.close();
    },
    async put(entry) {
      const written = await bucket.write(entry.figures.session, (last) => {
        const kept = last && entryIn(last);
        return kept !== undefined && kept.sequence >= entry.sequence ? KEPT : entry;
      });
      return written === undefined ? 'older' : 'saved';
    },
    async remove(session) {
      // The marker tells those who watch; its subject has the name as well, so nothing of it is kept.
      await bucket.write(session, () => undefined);
      await bucket.write(session, (last) => (last === undefined ? KEPT : GONE));
    },
  };
}

/** Returns the entry in a message; `undefined` for a foreign message, a deleted key or an invalid value. */
function entryIn({ subject, data, foreign }: StreamMessage): SessionIndexEntry | undefined {
  const session = subject.split('.')[2];
  return foreign === undefined && isToken(session) ? entryOf(session, data) : undefined;
}

function entryOf(session: Token, data: Uint8Array): SessionIndexEntry | undefined {
  const read = sessionIndexEntry.safeParse(jsonOf(data));
  return read.success && read.data.figures.session === session ? read.data : undefined;
}
