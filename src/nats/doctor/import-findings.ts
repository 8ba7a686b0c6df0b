import type { NatsConnection } from 'nats';
import { jsonOf } from '../../contracts/event.js';
import { lifecycleRecord } from '../../contracts/lifecycle-record.js';
import { age } from '../../shared/age.js';
import { type BucketOptions, keyOf, LifecycleBucket } from '../stores/lifecycle-bucket.js';
import { isDeletion } from '../stores/nats-snapshot-store.js';
import { type Finding, warn } from './finding.js';

/** Few imports take longer. */
const LONG_MS = 600_000;
/** A rename says every two seconds that it goes on. */
const SILENT_MS = 60_000;

/** Imports and renames that nothing is heard of: results of their sessions wait. */
export async function importFindings(
  connection: NatsConnection,
  options: BucketOptions,
  now: number,
): Promise<Finding[]> {
  const messages = await new LifecycleBucket(connection, options).read(undefined, options.timeoutMs);
  const since = (at: string) => age(at, new Date(now).toISOString());
  return messages.flatMap((message) => {
    if (message.foreign !== undefined || isDeletion(message)) return [];
    const found = lifecycleRecord(keyOf(message), jsonOf(message.data));
    if (found?.kind !== 'archived') return [];
    const { session, record } = found;
    const { importing, renaming, renamed_to: to } = record;
    if (renaming !== undefined && to !== undefined && now - Date.parse(renaming.at) >= SILENT_MS)
      return warn(
        `rename of session ${session} to ${to}`,
        `it was last heard of ${since(renaming.at)}: results of both names wait until it has ended`,
        'start the services with "throughline serve": they go on with it within ten seconds, and where they cannot, their log says why',
      );
    if (importing === undefined || importing.from !== undefined || now - Date.parse(record.at) < LONG_MS)
      return [];
    return warn(
      `import of session ${session}`,
      `it began ${since(record.at)} and has not ended: results of the session wait until then`,
      `run "throughline session import" again with the same file, which continues it, or "throughline session forget ${session}"`,
    );
  });
}
