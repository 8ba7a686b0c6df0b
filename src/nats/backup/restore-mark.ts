import type { JetStreamManager, StreamConfig } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { DISPATCH_STREAM, LAYOUT_SUBJECT } from '../../contracts/names.js';
import { ifExists } from '../connection/nats-errors.js';
import type { AckedPublisher } from '../jetstream/acked-publisher.js';
import { installationStream, RESTORING } from '../jetstream/layout-record.js';
import { INSTALLATION_STREAM } from './backup-manifest.js';

/**
 * Marks on the server that a restore is in progress, and of which backup.
 *
 * First a placeholder bucket `throughline` with the layout `restoring` is created: services read it first, and refuse to start.
 * The real bucket replaces it at the end. Until `DISPATCH` is complete it listens on a subject that nobody publishes to, so
 * that no result is accepted into a stream that may be restored again. Its own mark is removed last.
 */
const MARK = 'throughline.restoring';
const NOBODY = 'throughline.restoring';

/** Returns the id of the backup that is being restored on a server, if any. */
export async function restoredNow(jsm: JetStreamManager): Promise<string | undefined> {
  for (const name of [INSTALLATION_STREAM, DISPATCH_STREAM]) {
    const found = (await configOf(jsm, name))?.metadata?.[MARK];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Marks the server, unless it is marked already. */
export async function markRestoring(
  { jsm, publisher }: { readonly jsm: JetStreamManager; readonly publisher: AckedPublisher },
  id: string,
  replicas: number,
): Promise<void> {
  if ((await configOf(jsm, INSTALLATION_STREAM)) === undefined)
    await jsm.streams.add({ ...installationStream(replicas), metadata: { [MARK]: id } });
  // The stream keeps the first record.
  const { outcome } = await publisher.publish(LAYOUT_SUBJECT, JSON.stringify(RESTORING), {
    stream: INSTALLATION_STREAM,
    expectedLastOfSubjects: { sequence: 0, subjects: LAYOUT_SUBJECT },
  });
  if (outcome === 'no_stream')
    throw new ThroughlineError('unavailable', `stream ${INSTALLATION_STREAM} rejects writes`);
}

/** Returns true if the bucket is the placeholder, and not the real one. */
export async function isMark(jsm: JetStreamManager): Promise<boolean> {
  return (await configOf(jsm, INSTALLATION_STREAM))?.metadata?.[MARK] !== undefined;
}

/** Returns the configuration of `DISPATCH` during a restore. */
export function closedDispatch(config: StreamConfig, id: string): StreamConfig {
  return { ...config, subjects: [NOBODY], metadata: { ...config.metadata, [MARK]: id } };
}

/** Makes `DISPATCH` accept results. It stays marked. */
export async function openDispatch(jsm: JetStreamManager, { subjects }: StreamConfig): Promise<void> {
  await jsm.streams.update(DISPATCH_STREAM, { subjects });
}

export async function unmarkDispatch(jsm: JetStreamManager, { metadata = {} }: StreamConfig): Promise<void> {
  await jsm.streams.update(DISPATCH_STREAM, { metadata });
}

async function configOf(jsm: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  return (await ifExists(jsm.streams.info(name)))?.config;
}
