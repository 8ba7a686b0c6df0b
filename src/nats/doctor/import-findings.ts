import type { NatsConnection } from 'nats';
import { jsonOf } from '../../contracts/event.js';
import { lifecycleRecord } from '../../contracts/lifecycle-record.js';
import { age } from '../../shared/age.js';
import { type BucketOptions, keyOf, LifecycleBucket } from '../stores/lifecycle-bucket.js';
import { isDeletion } from '../stores/nats-snapshot-store.js';
import { type Finding, warn } from './finding.js';

/** Few imports take longer. */
const LONG_MS = 600_000;

/** Imports that seem to be cut short: the session is none yet, and its results wait. */
export async function importFindings(
  connection: NatsConnection,
  options: BucketOptions,
  now: number,
): Promise<Finding[]> {
  const messages = await new LifecycleBucket(connection, options).read(undefined, options.timeoutMs);
  return messages.flatMap((message) => {
    if (message.foreign !== undefined || isDeletion(message)) return [];
    const found = lifecycleRecord(keyOf(message), jsonOf(message.data));
    if (found?.kind !== 'archived' || found.record.importing === undefined) return [];
    const { session, record } = found;
    if (now - Date.parse(record.at) < LONG_MS) return [];
    return warn(
      `import of session ${session}`,
      `it began ${age(record.at, new Date(now).toISOString())} and has not ended: results of the session wait until then`,
      `run "throughline session import" again with the same file, which goes on where it stopped, or "throughline session forget ${session}"`,
    );
  });
}
