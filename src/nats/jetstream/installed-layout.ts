import type { JetStreamManager } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  DEFAULT_SHARDS,
  isShardCount,
  LAYOUT_SUBJECT,
  layoutInWords,
  PER_SESSION,
  type SessionLayout,
  sessionOfStream,
  shardOfStream,
} from '../../contracts/names.js';
import { pause } from '../../engine/runtime/batched.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { LAYOUT_STREAM, type LayoutPorts, makeLayoutBucket, readLayout } from './layout-record.js';
import { SHARDS } from './topology.js';

/** The configured layout. Default: the installation's, or `per-session` for a new one. */
export interface WantedLayout {
  readonly layout?: SessionLayout['layout'] | undefined;
  readonly shards?: number | undefined;
}

/** Names the variable and the option. */
const LAYOUT_SETTING = 'THROUGHLINE_LAYOUT (--layout)';
const SHARDS_SETTING = 'the N of THROUGHLINE_LAYOUT=sharded:N (--shards)';
/** Poll interval for a lagging replica. */
const LAG_PAUSE_MS = 20;

/** Returns the layout without recording one. Throws ThroughlineError `config_invalid` if the settings contradict it. */
export async function seenLayout(ports: LayoutPorts, wanted: WantedLayout): Promise<SessionLayout> {
  return requireWanted((await readLayout(ports))?.layout ?? chosen(wanted), wanted);
}

/** Returns the layout, and records it if necessary. */
export async function recordedLayout(
  ports: LayoutPorts,
  wanted: WantedLayout,
  replicas: number,
): Promise<SessionLayout> {
  try {
    await makeLayoutBucket(ports.jsm, replicas);
    return requireWanted((await readLayout(ports))?.layout ?? (await recordFirst(ports, wanted)), wanted);
  } catch (error) {
    throw toThroughlineError(error, 'recording the layout of the installation');
  }
}

/** Infers the layout from existing streams; `undefined` without sessions. */
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
    stream: LAYOUT_STREAM,
    expectedLastOfSubjects: { sequence: 0, subjects: LAYOUT_SUBJECT },
  });
  if (outcome === 'stored') return first;
  // Another service came first. A replica may lag.
  for (const until = performance.now() + ports.timeoutMs; performance.now() < until; ) {
    const found = (await readLayout(ports))?.layout;
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
