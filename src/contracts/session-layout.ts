import {
  sessionStream,
  sessionSubject,
  shardIntake,
  shardOfStream,
  shardStream,
  type Token,
} from './names.js';

/**
 * How the logs of sessions are laid out in streams. An installation has one layout, chosen when it is new: a stream for
 * each session, or a fixed number of streams that share all sessions.
 */
export type SessionLayout =
  | { readonly layout: 'per-session' }
  | { readonly layout: 'sharded'; readonly shards: number };

export const LAYOUTS = ['per-session', 'sharded'] as const satisfies SessionLayout['layout'][];
export const PER_SESSION: SessionLayout = { layout: 'per-session' };
export const DEFAULT_SHARDS = 64;
export const MAX_SHARDS = 256;

/** Whether streams may be shared out among so many shards: a power of two, so that a number can be halved or doubled. */
export function isShardCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= MAX_SHARDS && (value & (value - 1)) === 0;
}

/**
 * The shard of a session, 0 to `shards` - 1. It must never change: FNV-1a of 32 bits over the characters of the name, all of
 * which are ASCII, with the halves folded together, since its low bits alone are spread badly.
 */
export function shardOf(session: Token, shards: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < session.length; at += 1) {
    hash = Math.imul(hash ^ session.charCodeAt(at), 0x01000193);
  }
  return ((hash ^ (hash >>> 16)) >>> 0) % shards;
}

/** Returns the name of the stream that holds the events of a session: all else follows from that. */
export function streamOf(layout: SessionLayout, session: Token): string {
  return layout.layout === 'per-session'
    ? sessionStream(session)
    : shardStream(shardOf(session, layout.shards));
}

/** Returns the subject that an event is published on; it is stored under `session.<session>.<type>` in each layout. */
export function publishedOn(layout: SessionLayout, session: Token, type: string): string {
  const shard = shardOfStream(streamOf(layout, session));
  return shard === undefined ? sessionSubject(session, type) : shardIntake(shard, session, type);
}

/** In words, for people. */
export function layoutInWords(layout: SessionLayout): string {
  return layout.layout === 'per-session' ? 'a stream per session' : `sessions in ${layout.shards} shards`;
}
