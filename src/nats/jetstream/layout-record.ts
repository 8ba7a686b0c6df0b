import { DiscardPolicy, type JetStreamManager, type NatsConnection, StorageType } from 'nats';
import { z } from 'zod';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import { INSTALLATION_BUCKET, LAYOUT_SUBJECT } from '../../contracts/names.js';
import { isShardCount, type SessionLayout } from '../../contracts/session-layout.js';
import { API, apiCode, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import type { AckedPublisher } from './acked-publisher.js';
import { readLast, readNext, type StreamMessage } from './direct-get.js';
import { newestStored } from './newest-page.js';

/**
 * The layout of an installation is recorded once, under `layout` in the bucket `throughline`: by the first service that
 * starts. The stream of the bucket takes one message of each key, and no second one, so the record cannot be replaced by
 * another service that starts at the same time, nor by an answer that someone has sent there.
 *
 * An installation without a record has the layout of the streams that are there. A user who may not see the record gets
 * the layout of the settings: one that was recorded differently has nothing for it under those names.
 */
export interface LayoutPorts {
  readonly connection: NatsConnection;
  readonly jsm: JetStreamManager;
  readonly publisher: Pick<AckedPublisher, 'publish'>;
  /** Longest wait for one answer of the server, in milliseconds. */
  readonly timeoutMs: number;
}

type RecordReader = Pick<LayoutPorts, 'connection' | 'timeoutMs'>;

export const LAYOUT_STREAM = `KV_${INSTALLATION_BUCKET}`;

const shards = z.number().refine(isShardCount);
const record = z.discriminatedUnion('layout', [
  z.object({ layout: z.literal('per-session') }),
  z.object({ layout: z.literal('sharded'), shards }),
]);

/** Recorded while a backup is restored: no service starts with a part of an installation. */
export const RESTORING = { layout: 'restoring' } as const;
const restoring = z.object({ layout: z.literal(RESTORING.layout) });
const BEING_RESTORED =
  'a backup is being restored into this installation, or its restore was cut off: wait for its end, or run "throughline admin restore DIR --again"';

/** A layout as it is recorded, and the sequence of the record. */
interface RecordedLayout {
  readonly layout: SessionLayout;
  readonly sequence: number;
}

export async function makeLayoutBucket(jsm: JetStreamManager, replicas: number): Promise<void> {
  try {
    await jsm.streams.info(LAYOUT_STREAM);
  } catch (error) {
    if (apiCode(error) !== API.streamNotFound) throw error;
    await jsm.streams.add(installationStream(replicas)).catch((fault: unknown) => {
      if (apiCode(fault) !== API.streamNameInUse) throw fault;
    });
  }
}

/** The stream of the bucket. */
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

/** What is recorded, or `undefined` where nothing is, or the user may not see it. */
export async function readLayout(ports: LayoutPorts): Promise<RecordedLayout | undefined> {
  const message = await readRecord(ports);
  return message && layoutIn(message);
}

/** The same as the leader of the stream knows it, for an administrator who decides by it: a replica may lag behind. */
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

/**
 * Why no service answers, and what to do, where a backup is being restored or its restore was cut off; `undefined` where
 * nothing shows that. Asked when a request has failed already: it throws nothing.
 */
export async function restoreUnderWay(ports: RecordReader): Promise<string | undefined> {
  const message = await readRecord(ports).catch(() => undefined);
  return message !== undefined && isMark(message) ? BEING_RESTORED : undefined;
}

function isMark({ foreign, data }: Pick<StreamMessage, 'foreign' | 'data'>): boolean {
  return foreign === undefined && restoring.safeParse(jsonOf(data)).success;
}

async function readRecord({ connection, timeoutMs }: RecordReader): Promise<StreamMessage | undefined> {
  const forms = [
    // Under this subject a user may read the record who may read nothing else of the stream.
    () => readLast(connection, LAYOUT_STREAM, LAYOUT_SUBJECT, timeoutMs),
    // And under this one a user of an earlier version, who may read any stream.
    () => readNext(connection, LAYOUT_STREAM, LAYOUT_SUBJECT, 1, timeoutMs),
  ];
  for (const read of forms) {
    try {
      return await read();
    } catch (error) {
      if (isNoResponders(error)) return undefined;
      const fault = toThroughlineError(error, 'reading the layout of the installation');
      if (codeOf(fault) !== 'permission_denied') throw fault;
    }
  }
  return undefined;
}
