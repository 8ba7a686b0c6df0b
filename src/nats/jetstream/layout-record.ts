import { DiscardPolicy, type JetStreamManager, StorageType } from 'nats';
import { z } from 'zod';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import * as names from '../../contracts/names.js';
import { jsonOf } from '../../shared/text.js';
import { isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import { readLast, type StreamMessage } from './direct-get.js';
import { newestStored } from './newest-page.js';
import { BEING_RESTORED, ensured, SHARDS, type StorePorts } from './topology.js';

/**
 * The layout of an installation is recorded once, by the first service that starts, under `layout` in the bucket `throughline`.
 * The bucket's stream accepts a single message per key, so the record cannot be replaced, neither by a concurrent start nor by
 * a forged reply.
 *
 * Without a record the layout is inferred from the streams. A user who may not read the record uses the configured layout; if
 * that is wrong, there are no streams of these names.
 */
type LayoutReader = Pick<StorePorts, 'connection' | 'timeoutMs'>;

export const LAYOUT_STREAM = `KV_${names.INSTALLATION_BUCKET}`;

const shards = z.number().refine(names.isShardCount);
export const layoutRecord = z.discriminatedUnion('layout', [
  z.object({ layout: z.literal('per-session') }),
  z.object({ layout: z.literal('sharded'), shards }),
]);

const STORE = { v: 3 } as const;
const ofThisVersion = z.object({ v: z.literal(STORE.v) });

/** Recorded during a restore, so that no service starts on an incomplete installation. */
const RESTORING = { layout: 'restoring' } as const;
const restoring = z.object({ layout: z.literal(RESTORING.layout) });

function installationStream(replicas: number) {
  return {
    name: LAYOUT_STREAM,
    subjects: [`$KV.${names.INSTALLATION_BUCKET}.>`],
    description: 'What this installation is, recorded once',
    storage: StorageType.File,
    max_msgs_per_subject: 1,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
    allow_direct: true,
    num_replicas: replicas,
  };
}

export async function beginRestoring(
  jsm: JetStreamManager,
  ports: LayoutReader,
  replicas: number,
): Promise<void> {
  await jsm.streams.add(installationStream(replicas));
  await writeRecord(ports, RESTORING);
}

/** Returns true if a restore was begun, and the layout is not recorded yet. */
export async function isRestoring(ports: LayoutReader): Promise<boolean> {
  const message = await readRecord(ports);
  return message !== undefined && restoring.safeParse(jsonOf(message.data)).success;
}

export async function recordRestored(
  jsm: JetStreamManager,
  ports: LayoutReader,
  layout: names.SessionLayout,
): Promise<void> {
  await jsm.streams.purge(LAYOUT_STREAM);
  await writeRecord(ports, { ...STORE, ...layout });
}

async function writeRecord({ connection }: LayoutReader, layout: object): Promise<void> {
  await connection.jetstream({ checkAPI: false }).publish(names.LAYOUT_SUBJECT, JSON.stringify(layout));
}

/** Returns the record; `undefined` if there is none, or the user may not read it. */
export async function readLayout(ports: LayoutReader): Promise<names.SessionLayout | undefined> {
  try {
    const message = await readRecord(ports);
    return message && layoutIn(message);
  } catch (error) {
    if (isNoResponders(error)) return undefined;
    const fault = toThroughlineError(error, 'reading the layout of the installation');
    if (codeOf(fault) !== 'permission_denied') throw fault;
    return undefined;
  }
}

/** Reads only this record of the stream: a user may be allowed no other. */
function readRecord({ connection, timeoutMs }: LayoutReader): Promise<StreamMessage | undefined> {
  return readLast({ connection, stream: LAYOUT_STREAM, timeoutMs }, names.LAYOUT_SUBJECT);
}

function layoutIn({ data, foreign }: StreamMessage): names.SessionLayout {
  const json = foreign === undefined ? jsonOf(data) : undefined;
  const record = layoutRecord.safeParse(json).data;
  if (record !== undefined && ofThisVersion.safeParse(json).success) return record;
  if (restoring.safeParse(json).success) throw new ThroughlineError('config_invalid', BEING_RESTORED);
  throw new ThroughlineError(
    'config_invalid',
    'this store was made by another version of Throughline (key layout of bucket throughline): use that version, or stop it with "throughline down", remove the store (by default: rm -r ~/.local/state/throughline/server), and start again',
  );
}

/** The configured layout. Default: the installation's, or `per-session` for a new one. */
export interface WantedLayout {
  readonly layout?: names.SessionLayout['layout'] | undefined;
  readonly shards?: number | undefined;
}

/** Returns the layout without recording one. Throws ThroughlineError `config_invalid` if the settings contradict it. */
export async function seenLayout(ports: LayoutReader, wanted: WantedLayout): Promise<names.SessionLayout> {
  return requireWanted((await readLayout(ports)) ?? chosen(wanted), wanted);
}

export async function recordedLayout(ports: StorePorts, wanted: WantedLayout): Promise<names.SessionLayout> {
  try {
    await ensured(ports.jsm, installationStream(ports.replicas));
    return requireWanted((await readLayout(ports)) ?? (await recordFirst(ports, wanted)), wanted);
  } catch (error) {
    throw toThroughlineError(error, 'recording the layout of the installation');
  }
}

async function layoutOfStreams(jsm: JetStreamManager): Promise<names.SessionLayout | undefined> {
  for await (const name of jsm.streams.names(names.ALL_SHARDS)) {
    if (names.shardOfStream(name) === undefined) continue;
    const { metadata } = (await jsm.streams.info(name)).config;
    const shards = Number(metadata?.[SHARDS]);
    if (names.isShardCount(shards)) return { layout: 'sharded', shards };
  }
  for await (const name of jsm.streams.names(names.ALL_SESSIONS)) {
    if (names.sessionOfStream(name) !== undefined) return names.PER_SESSION;
  }
  return undefined;
}

async function recordFirst(ports: StorePorts, wanted: WantedLayout): Promise<names.SessionLayout> {
  const first = (await layoutOfStreams(ports.jsm)) ?? chosen(wanted);
  const { outcome } = await ports.publisher.publish(
    names.LAYOUT_SUBJECT,
    JSON.stringify({ ...STORE, ...first }),
    { stream: LAYOUT_STREAM, expectedLastOfSubjects: { sequence: 0, subjects: names.LAYOUT_SUBJECT } },
  );
  if (outcome === 'stored') return first;
  // Another service came first. A replica may lag: the leader does not.
  const found = await newestStored(ports.jsm, LAYOUT_STREAM, names.LAYOUT_SUBJECT);
  if (found !== undefined) return layoutIn(found);
  throw new ThroughlineError('unavailable', `${names.LAYOUT_SUBJECT} cannot be read`);
}

function chosen({ layout, shards = names.DEFAULT_SHARDS }: WantedLayout): names.SessionLayout {
  return layout === 'sharded' ? { layout, shards } : names.PER_SESSION;
}

function requireWanted(
  layout: names.SessionLayout,
  { layout: wanted, shards }: WantedLayout,
): names.SessionLayout {
  const there = layout.layout === 'sharded' ? layout.shards : undefined;
  if (wanted === undefined || (wanted === layout.layout && (shards ?? there) === there)) return layout;
  const setting = shards === undefined ? wanted : `${wanted}:${shards}`;
  throw new ThroughlineError(
    'config_invalid',
    `THROUGHLINE_LAYOUT is ${setting}, but this installation has ${names.layoutInWords(layout)}, as its record says: leave it out`,
    { details: { ...layout } },
  );
}
