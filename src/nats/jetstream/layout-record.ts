import { DiscardPolicy, type JetStreamManager, type NatsConnection, StorageType } from 'nats';
import { z } from 'zod';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import {
  INSTALLATION_BUCKET,
  isShardCount,
  LAYOUT_SUBJECT,
  type SessionLayout,
} from '../../contracts/names.js';
import { API, apiCode, ifExists, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import type { AckedPublisher } from './acked-publisher.js';
import { readLast, type StreamMessage } from './direct-get.js';
import { newestStored } from './newest-page.js';

/**
 * The layout of an installation is recorded once, by the first service that starts, under `layout` in the bucket `throughline`.
 * The bucket's stream accepts a single message per key, so the record cannot be replaced, neither by a concurrent start nor by
 * a forged reply.
 *
 * Without a record the layout is inferred from the streams. A user who may not read the record uses the configured layout; if
 * that is wrong, there are no streams of these names.
 */
export interface LayoutPorts {
  readonly connection: NatsConnection;
  readonly jsm: JetStreamManager;
  readonly publisher: Pick<AckedPublisher, 'publish'>;
  readonly timeoutMs: number;
}

type RecordReader = Pick<LayoutPorts, 'connection' | 'timeoutMs'>;

export const LAYOUT_STREAM = `KV_${INSTALLATION_BUCKET}`;

const shards = z.number().refine(isShardCount);
const record = z.discriminatedUnion('layout', [
  z.object({ layout: z.literal('per-session') }),
  z.object({ layout: z.literal('sharded'), shards }),
]);

/** Recorded during a restore, so that no service starts on an incomplete installation. */
export const RESTORING = { layout: 'restoring' } as const;
/** Key of the metadata of a stream that a restore has made: the id of the backup. */
export const RESTORING_MARK = 'throughline.restoring';
const restoring = z.object({ layout: z.literal(RESTORING.layout) });
const BEING_RESTORED =
  'a backup is being restored into this installation, or its restore was cut off: wait for its end, or run "throughline admin restore DIR --again"';

interface RecordedLayout {
  readonly layout: SessionLayout;
  readonly sequence: number;
}

/** Creates the bucket. Throws ThroughlineError `config_invalid` if a restore has made it, maybe without a record yet. */
export async function makeLayoutBucket(jsm: JetStreamManager, replicas: number): Promise<void> {
  const look = () => jsm.streams.info(LAYOUT_STREAM);
  const { config } =
    (await ifExists(look())) ??
    (await jsm.streams.add(installationStream(replicas)).catch((fault: unknown) => {
      if (apiCode(fault) !== API.streamNameInUse) throw fault;
      return look();
    }));
  if (config.metadata?.[RESTORING_MARK] !== undefined)
    throw new ThroughlineError('config_invalid', BEING_RESTORED);
}

export function installationStream(replicas: number) {
  return {
    name: LAYOUT_STREAM,
    subjects: [`$KV.${INSTALLATION_BUCKET}.>`],
    description: 'What this installation is, recorded once',
    storage: StorageType.File,
    max_msgs_per_subject: 1,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
    allow_direct: true,
    num_replicas: replicas,
  };
}

/** Returns the record; `undefined` if there is none, or the user may not read it. */
export async function readLayout(ports: LayoutPorts): Promise<RecordedLayout | undefined> {
  const message = await readRecord(ports);
  return message && layoutIn(message);
}

/** Reads the record from the stream's leader: a replica may lag. */
export async function newestLayout({ jsm }: LayoutPorts): Promise<RecordedLayout | undefined> {
  try {
    const message = await newestStored(jsm, LAYOUT_STREAM, LAYOUT_SUBJECT);
    return message && layoutIn(message);
  } catch (error) {
    throw toThroughlineError(error, 'reading the layout of the installation');
  }
}

function layoutIn(message: Pick<StreamMessage, 'sequence' | 'data' | 'foreign'>): RecordedLayout {
  const said = message.foreign === undefined ? jsonOf(message.data) : undefined;
  const { data } = record.safeParse(said);
  if (data !== undefined) return { layout: data, sequence: message.sequence };
  if (isMark(message)) throw new ThroughlineError('config_invalid', BEING_RESTORED);
  throw new ThroughlineError(
    'config_invalid',
    `the key layout of bucket ${INSTALLATION_BUCKET} does not hold a layout that this version knows: update throughline to the version of the services, or have an administrator remove it`,
  );
}

/** Returns advice if a restore is in progress or was interrupted; used after a failed request, so it never throws. */
export async function restoreUnderWay(ports: RecordReader): Promise<string | undefined> {
  const message = await readRecord(ports).catch(() => undefined);
  return message !== undefined && isMark(message) ? BEING_RESTORED : undefined;
}

function isMark({ foreign, data }: Pick<StreamMessage, 'foreign' | 'data'>): boolean {
  return foreign === undefined && restoring.safeParse(jsonOf(data)).success;
}

/** Reads only this record of the stream: a user may be allowed no other. */
async function readRecord({ connection, timeoutMs }: RecordReader): Promise<StreamMessage | undefined> {
  try {
    return await readLast(connection, LAYOUT_STREAM, LAYOUT_SUBJECT, timeoutMs);
  } catch (error) {
    if (isNoResponders(error)) return undefined;
    const fault = toThroughlineError(error, 'reading the layout of the installation');
    if (codeOf(fault) !== 'permission_denied') throw fault;
    return undefined;
  }
}
