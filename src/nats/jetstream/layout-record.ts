import { DiscardPolicy, type JetStreamManager, type NatsConnection, StorageType } from 'nats';
import { z } from 'zod';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  DEFAULT_SHARDS,
  INSTALLATION_BUCKET,
  isShardCount,
  LAYOUT_SUBJECT,
  layoutInWords,
  PER_SESSION,
  type SessionLayout,
  sessionOfStream,
  shardOfStream,
} from '../../contracts/names.js';
import { pause } from '../../engine/runtime/batched.js';
import { API, apiCode, ifExists, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import { readLast, type StreamMessage } from './direct-get.js';
import { SHARDS, type StorePorts } from './topology.js';

/**
 * The layout of an installation is recorded once, by the first service that starts, under `layout` in the bucket `throughline`.
 * The bucket's stream accepts a single message per key, so the record cannot be replaced, neither by a concurrent start nor by
 * a forged reply.
 *
 * Without a record the layout is inferred from the streams. A user who may not read the record uses the configured layout; if
 * that is wrong, there are no streams of these names.
 */
type LayoutReader = Pick<StorePorts, 'connection' | 'timeoutMs'>;

export const LAYOUT_STREAM = `KV_${INSTALLATION_BUCKET}`;

const shards = z.number().refine(isShardCount);
export const layoutRecord = z.discriminatedUnion('layout', [
  z.object({ layout: z.literal('per-session') }),
  z.object({ layout: z.literal('sharded'), shards }),
]);

/** Version of what an installation stores. A record without one is of a development version, with events on other subjects. */
const STORE = { v: 2 } as const;
const ofThisVersion = z.object({ v: z.literal(STORE.v) });
const OTHER_VERSION =
  'this store was made by an earlier development version of Throughline, and cannot be read: stop it with "throughline down", remove the store (by default: rm -r ~/.local/state/throughline/server), and start again';

/** Recorded during a restore, so that no service starts on an incomplete installation. */
const RESTORING = { layout: 'restoring' } as const;
/** Key of the bucket's metadata during a restore: the id of the backup. */
export const RESTORING_MARK = 'throughline.restoring';
const restoring = z.object({ layout: z.literal(RESTORING.layout) });
const BEING_RESTORED =
  'a backup is being restored into this installation, or its restore was cut off: wait for its end, or run "throughline admin restore DIR" again';

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

function installationStream(replicas: number) {
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

/** Marks a server for the time of a restore. */
export async function beginRestoring(
  connection: NatsConnection,
  jsm: JetStreamManager,
  id: string,
  replicas: number,
): Promise<void> {
  await jsm.streams.add({ ...installationStream(replicas), metadata: { [RESTORING_MARK]: id } });
  await writeRecord(connection, RESTORING);
}

/** Replaces the record of a restore by the layout. The mark stays, so that services still refuse to start. */
export async function recordRestored(
  connection: NatsConnection,
  jsm: JetStreamManager,
  layout: SessionLayout,
): Promise<void> {
  await jsm.streams.purge(LAYOUT_STREAM);
  await writeRecord(connection, { ...STORE, ...layout });
}

async function writeRecord(connection: NatsConnection, layout: object): Promise<void> {
  await connection.jetstream({ checkAPI: false }).publish(LAYOUT_SUBJECT, JSON.stringify(layout));
}

export async function endRestoring(jsm: JetStreamManager): Promise<void> {
  await jsm.streams.update(LAYOUT_STREAM, { metadata: {} });
}

/** Returns the record; `undefined` if there is none, or the user may not read it. */
export async function readLayout({
  connection,
  timeoutMs,
}: LayoutReader): Promise<SessionLayout | undefined> {
  try {
    // Only this record of the stream: a user may be allowed no other.
    const message = await readLast(connection, LAYOUT_STREAM, LAYOUT_SUBJECT, timeoutMs);
    return message && layoutIn(message);
  } catch (error) {
    if (isNoResponders(error)) return undefined;
    const fault = toThroughlineError(error, 'reading the layout of the installation');
    if (codeOf(fault) !== 'permission_denied') throw fault;
    return undefined;
  }
}

function layoutIn({ data, foreign }: StreamMessage): SessionLayout {
  const json = foreign === undefined ? jsonOf(data) : undefined;
  const record = layoutRecord.safeParse(json).data;
  if (record !== undefined && ofThisVersion.safeParse(json).success) return record;
  if (record !== undefined) throw new ThroughlineError('config_invalid', OTHER_VERSION);
  if (restoring.safeParse(json).success) throw new ThroughlineError('config_invalid', BEING_RESTORED);
  throw new ThroughlineError(
    'config_invalid',
    `the key layout of bucket ${INSTALLATION_BUCKET} does not hold a layout that this version knows: update throughline to the version of the services, or have an administrator remove it`,
  );
}

/** The configured layout. Default: the installation's, or `per-session` for a new one. */
export interface WantedLayout {
  readonly layout?: SessionLayout['layout'] | undefined;
  readonly shards?: number | undefined;
}

/** Names the variable and the option. */
const LAYOUT_SETTING = 'THROUGHLINE_LAYOUT';
const SHARDS_SETTING = 'the N of THROUGHLINE_LAYOUT=sharded:N';
/** Poll interval for a lagging replica. */
const LAG_PAUSE_MS = 20;

/** Returns the layout without recording one. Throws ThroughlineError `config_invalid` if the settings contradict it. */
export async function seenLayout(ports: StorePorts, wanted: WantedLayout): Promise<SessionLayout> {
  return requireWanted((await readLayout(ports)) ?? chosen(wanted), wanted);
}

export async function recordedLayout(ports: StorePorts, wanted: WantedLayout): Promise<SessionLayout> {
  try {
    await makeLayoutBucket(ports.jsm, ports.replicas);
    return requireWanted((await readLayout(ports)) ?? (await recordFirst(ports, wanted)), wanted);
  } catch (error) {
    throw toThroughlineError(error, 'recording the layout of the installation');
  }
}

async function layoutOfStreams(jsm: JetStreamManager): Promise<SessionLayout | undefined> {
  for await (const name of jsm.streams.names(ALL_SHARDS)) {
    if (shardOfStream(name) === undefined) continue;
    const { metadata } = (await jsm.streams.info(name)).config;
    const shards = Number(metadata?.[SHARDS]);
    if (isShardCount(shards)) return { layout: 'sharded', shards };
  }
  for await (const name of jsm.streams.names(ALL_SESSIONS)) {
    if (sessionOfStream(name) !== undefined) return PER_SESSION;
  }
  return undefined;
}

async function recordFirst(ports: StorePorts, wanted: WantedLayout): Promise<SessionLayout> {
  const first = (await layoutOfStreams(ports.jsm)) ?? chosen(wanted);
  const { outcome } = await ports.publisher.publish(LAYOUT_SUBJECT, JSON.stringify({ ...STORE, ...first }), {
    stream: LAYOUT_STREAM,
    expectedLastOfSubjects: { sequence: 0, subjects: LAYOUT_SUBJECT },
  });
  if (outcome === 'stored') return first;
  // Another service came first. A replica may lag.
  for (const until = performance.now() + ports.timeoutMs; performance.now() < until; ) {
    const found = await readLayout(ports);
    if (found !== undefined) return found;
    await pause(LAG_PAUSE_MS);
  }
  throw new ThroughlineError('unavailable', `${LAYOUT_SUBJECT} cannot be read`);
}

function chosen({ layout = 'per-session', shards }: WantedLayout): SessionLayout {
  if (layout === 'sharded') return { layout, shards: shards ?? DEFAULT_SHARDS };
  if (shards === undefined) return PER_SESSION;
  throw new ThroughlineError(
    'config_invalid',
    `${SHARDS_SETTING} is ${shards}, but a stream per session has no shards: set ${LAYOUT_SETTING} to sharded as well, or leave out the shards`,
  );
}

function requireWanted(layout: SessionLayout, { layout: wanted, shards }: WantedLayout): SessionLayout {
  const has = `this installation has ${layoutInWords(layout)}, as its record says`;
  if (wanted !== undefined && wanted !== layout.layout) {
    throw new ThroughlineError(
      'config_invalid',
      `${LAYOUT_SETTING} is ${wanted}, but ${has}: set it to ${layout.layout}, or leave it out`,
      { details: { ...layout } },
    );
  }
  const there = layout.layout === 'sharded' ? layout.shards : undefined;
  if (shards === undefined || shards === there) return layout;
  throw new ThroughlineError(
    'config_invalid',
    `${SHARDS_SETTING} is ${shards}, but ${has}: ${there === undefined ? '' : `set it to ${there}, or `}leave it out`,
    { details: { ...layout } },
  );
}
