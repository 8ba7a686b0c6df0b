import type { JetStreamManager, StreamConfig } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { DISPATCH_STREAM, LAYOUT_SUBJECT } from '../../contracts/names.js';
import { API, apiCode } from '../connection/nats-errors.js';
import type { AckedPublisher } from '../jetstream/acked-publisher.js';
import { installationStream, RESTORING } from '../jetstream/layout-record.js';
import { INSTALLATION_STREAM } from './backup-manifest.js';

/**
 * What says on the server that a backup is being restored there, and which one.
 *
 * First there is a bucket `throughline` in which the layout is `restoring`: services read it before anything else, and do
 * not start. The real bucket takes its place when all else is there. `DISPATCH` has a subject to which nobody publishes
 * until it is whole: a result that was accepted before would go with a part that is removed. Its own mark is the last to go.
 */
const MARK = 'throughline.restoring';
const NOBODY = 'throughline.restoring';

/** Which backup is being restored on a server, by its id; `undefined` for none. */
export async function restoredNow(jsm: JetStreamManager): Promise<string | undefined> {
  for (const name of [INSTALLATION_STREAM, DISPATCH_STREAM]) {
    const found = (await configOf(jsm, name))?.metadata?.[MARK];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Marks the server, unless it is marked. */
export async function markRestoring(
  { jsm, publisher }: { readonly jsm: JetStreamManager; readonly publisher: AckedPublisher },
  id: string,
  replicas: number,
): Promise<void> {
  if ((await configOf(jsm, INSTALLATION_STREAM)) === undefined)
    await jsm.streams.add({ ...installationStream(replicas), metadata: { [MARK]: id } });
  // The stream keeps what is recorded first.
  const { outcome } = await publisher.publish(LAYOUT_SUBJECT, JSON.stringify(RESTORING), {
    stream: INSTALLATION_STREAM,
    expectedLastOfSubjects: { sequence: 0, subjects: LAYOUT_SUBJECT },
  });
  if (outcome === 'no_stream')
    throw new ThroughlineError('unavailable', `stream ${INSTALLATION_STREAM} takes nothing`);
}

/** Whether the bucket on the server is the mark, and not that of the backup. */
export async function isMark(jsm: JetStreamManager): Promise<boolean> {
  return (await configOf(jsm, INSTALLATION_STREAM))?.metadata?.[MARK] !== undefined;
}

/** `DISPATCH` as it is restored. */
export function closedDispatch(config: StreamConfig, id: string): StreamConfig {
  return { ...config, subjects: [NOBODY], metadata: { ...config.metadata, [MARK]: id } };
}

/** Lets `DISPATCH` take results, as in the backup; it still says that it is being restored. */
export async function openDispatch(jsm: JetStreamManager, { subjects }: StreamConfig): Promise<void> {
  await jsm.streams.update(DISPATCH_STREAM, { subjects });
}

/** The last step of a restore. */
export async function unmarkDispatch(jsm: JetStreamManager, { metadata = {} }: StreamConfig): Promise<void> {
  await jsm.streams.update(DISPATCH_STREAM, { metadata });
}

async function configOf(jsm: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  try {
    return (await jsm.streams.info(name)).config;
  } catch (error) {
    if (apiCode(error) === API.streamNotFound) return undefined;
    throw error;
  }
}
