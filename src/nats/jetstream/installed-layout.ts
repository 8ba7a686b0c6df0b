import { DiscardPolicy, type JetStreamManager, type NatsConnection, StorageType } from 'nats';
import { z } from 'zod';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  INSTALLATION_BUCKET,
  LAYOUT_SUBJECT,
  sessionOfStream,
  shardOfStream,
} from '../../contracts/names.js';
import {
  DEFAULT_SHARDS,
  isShardCount,
  layoutInWords,
  PER_SESSION,
  type SessionLayout,
} from '../../contracts/session-layout.js';
import { pause } from '../../runtime/pauses.js';
import { API, apiCode, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import type { AckedPublisher } from './acked-publisher.js';
import { readLast, readNext, type StreamMessage } from './direct-get.js';
import { SHARDS } from './topology.js';

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

/** What the settings say. Default: what the installation has, or a stream per session where it is new. */
export interface WantedLayout {
  readonly layout?: SessionLayout['layout'] | undefined;
  readonly shards?: number | undefined;
}

const BUCKET_STREAM = `KV_${INSTALLATION_BUCKET}`;
/** Between two looks at a replica that does not show the record yet. */
const LAG_PAUSE_MS = 20;

const record = z.discriminatedUnion('layout', [
  z.object({ layout: z.literal('per-session') }),
  z.object({ layout: z.literal('sharded'), shards: z.number().refine(isShardCount) }),
]);

/**
 * The layout of an installation, without recording one.
 *
 * @throws ThroughlineError `config_invalid` where the settings say another one
 */
export async function seenLayout(ports: LayoutPorts, wanted: WantedLayout): Promise<SessionLayout> {
  return agreed((await recorded(ports)) ?? chosen(wanted), wanted);
}

/** The same, recorded where it is not. */
export async function recordedLayout(
  ports: LayoutPorts,
  wanted: WantedLayout,
  replicas: number,
): Promise<SessionLayout> {
  try {
    await makeBucket(ports.jsm, replicas);
    return agreed((await recorded(ports)) ?? (await recordFirst(ports, wanted)), wanted);
  } catch (error) {
    const fault = toThroughlineError(error, 'recording the layout of the installation');
    // A user of an earlier version may not write there, and needs not: its installation has a stream per session.
    if (fault.code !== 'permission_denied' || wanted.layout === 'sharded') throw fault;
    return seenLayout(ports, wanted);
  }
}

/** The layout that streams show, or `undefined` where there are none of any session. */
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

async function recordFirst(ports: LayoutPorts, wanted: WantedLayout): Promise<SessionLayout> {
  const first = (await layoutOfStreams(ports.jsm)) ?? chosen(wanted);
  const { outcome } = await ports.publisher.publish(LAYOUT_SUBJECT, JSON.stringify(first), {
    stream: BUCKET_STREAM,
    expectedLastOfSubjects: { sequence: 0, subjects: LAYOUT_SUBJECT },
  });
  if (outcome === 'stored') return first;
  // Another service came first. A replica may not show it yet.
  for (const until = performance.now() + ports.timeoutMs; performance.now() < until; ) {
    const found = await recorded(ports);
    if (found !== undefined) return found;
    await pause(LAG_PAUSE_MS);
  }
  throw new ThroughlineError('unavailable', `${LAYOUT_SUBJECT} cannot be read`);
}

async function makeBucket(jsm: JetStreamManager, replicas: number): Promise<void> {
  try {
    await jsm.streams.info(BUCKET_STREAM);
  } catch (error) {
    if (apiCode(error) !== API.streamNotFound) throw error;
    const config = {
      name: BUCKET_STREAM,
      subjects: [`$KV.${INSTALLATION_BUCKET}.>`],
      description: 'What this installation is, recorded once',
      storage: StorageType.File,
      max_msgs_per_subject: 1,
      discard: DiscardPolicy.New,
      discard_new_per_subject: true,
      allow_direct: true,
      num_replicas: replicas,
    };
    await jsm.streams.add(config).catch((fault: unknown) => {
      if (apiCode(fault) !== API.streamNameInUse) throw fault;
    });
  }
}

/** What is recorded, or `undefined` where nothing is, or the user may not see it. */
async function recorded(ports: LayoutPorts): Promise<SessionLayout | undefined> {
  const message = await readRecord(ports);
  if (message === undefined) return undefined;
  const { data } = record.safeParse(message.foreign === undefined ? jsonOf(message.data) : undefined);
  if (data !== undefined) return data;
  throw new ThroughlineError(
    'config_invalid',
    `the key layout of bucket ${INSTALLATION_BUCKET} does not hold a layout that this version knows: update throughline to the version of the services, or have an administrator remove it`,
  );
}

async function readRecord({ connection, timeoutMs }: LayoutPorts): Promise<StreamMessage | undefined> {
  const forms = [
    // Under this subject a user may read the record who may read nothing else of the stream.
    () => readLast(connection, BUCKET_STREAM, LAYOUT_SUBJECT, timeoutMs),
    // And under this one a user of an earlier version, who may read any stream.
    () => readNext(connection, BUCKET_STREAM, LAYOUT_SUBJECT, 1, timeoutMs),
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

/** The layout of a new installation. */
function chosen({ layout = 'per-session', shards }: WantedLayout): SessionLayout {
  if (layout === 'sharded') return { layout, shards: shards ?? DEFAULT_SHARDS };
  if (shards === undefined) return PER_SESSION;
  throw new ThroughlineError(
    'config_invalid',
    `THROUGHLINE_SHARDS is ${shards}, but a stream per session has no shards: set THROUGHLINE_LAYOUT=sharded as well, or unset THROUGHLINE_SHARDS`,
  );
}

function agreed(layout: SessionLayout, { layout: wanted, shards }: WantedLayout): SessionLayout {
  const has = `this installation has ${layoutInWords(layout)}, which was chosen when it was new`;
  if (wanted !== undefined && wanted !== layout.layout) {
    throw new ThroughlineError(
      'config_invalid',
      `THROUGHLINE_LAYOUT is ${wanted}, but ${has}: set it to ${layout.layout}, or unset it`,
      { details: { ...layout } },
    );
  }
  const there = layout.layout === 'sharded' ? layout.shards : undefined;
  if (shards === undefined || shards === there) return layout;
  throw new ThroughlineError(
    'config_invalid',
    `THROUGHLINE_SHARDS is ${shards}, but ${has}: ${there === undefined ? '' : `set it to ${there}, or `}unset it`,
    { details: { ...layout } },
  );
}
