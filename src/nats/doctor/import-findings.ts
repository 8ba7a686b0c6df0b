import type { NatsConnection } from 'nats';
import { jsonOf } from '../../contracts/event.js';
import { lifecycleRecord } from '../../contracts/lifecycle-record.js';
import { age } from '../../shared/age.js';
import { type BucketOptions, KvBucket, keyOf } from '../stores/kv-bucket.js';
import { isDeletion } from '../stores/nats-snapshot-store.js';
import { type Finding, warn } from './finding.js';

/** Few imports take longer. */
const LONG_MS = 600_000;

/** Imports that have not ended: results of their sessions wait. */
export async function importFindings(
  connection: NatsConnection,
  options: BucketOptions,
  now: number,
): Promise<Finding[]> {
  const messages = await new KvBucket(connection, options).read(undefined, options.timeoutMs);
  const since = (at: string) => age(at, new Date(now).toISOString());
  return messages.flatMap((message) => {
    if (message.foreign !== undefined || isDeletion(message)) return [];
    const found = lifecycleRecord(keyOf(message), jsonOf(message.data));
    if (found?.kind !== 'archived') return [];
    const { session, record } = found;
    if (record.importing === undefined || now - Date.parse(record.at) < LONG_MS) return [];
    return warn(
      `import of session ${session}`,
      `it began ${since(record.at)} and has not ended: results of the session wait until then`,
      `run "throughline session import" again with the same file, which continues it, or "throughline session forget ${session}"`,
    );
  });
}
