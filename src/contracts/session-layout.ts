import {
  sessionStream,
  sessionSubject,
  shardIntake,
  shardOfStream,
  shardStream,
  type Token,
} from './names.js';

/**
 * The layout of session logs in streams, chosen when an installation is new: a stream per session, or a fixed number of
 * shared streams.
 */
export type SessionLayout =
  | { readonly layout: 'per-session' }
  | { readonly layout: 'sharded'; readonly shards: number };

export const LAYOUTS = ['per-session', 'sharded'] as const satisfies SessionLayout['layout'][];
export const PER_SESSION: SessionLayout = { layout: 'per-session' };
export const DEFAULT_SHARDS = 64;
export const MAX_SHARDS = 256;

/** A power of two, so that the number can be halved or doubled. */
export function isShardCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= MAX_SHARDS && (value & (value - 1)) === 0;
}

/**
 * Returns the shard of a session, 0 to `shards` - 1. It must never change: 32-bit FNV-1a over the ASCII name, with the
 * halves folded because the low bits alone are badly distributed.
 */
export function shardOf(session: Token, shards: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < session.length; at += 1) {
    hash = Math.imul(hash ^ session.charCodeAt(at), 0x01000193);
  }
  return ((hash ^ (hash >>> 16)) >>> 0) % shards;
}

export function streamOf(layout: SessionLayout, session: Token): string {
  return layout.layout === 'per-session'
    ? sessionStream(session)
    : shardStream(shardOf(session, layout.shards));
}

/** Returns the subject to publish an event on; every layout stores it as `session.<session>.<type>`. */
export function publishedOn(layout: SessionLayout, session: Token, type: string): string {
  const shard = shardOfStream(streamOf(layout, session));
  return shard === undefined ? sessionSubject(session, type) : shardIntake(shard, session, type);
}

export function layoutInWords(layout: SessionLayout): string {
  return layout.layout === 'per-session' ? 'a stream per session' : `sessions in ${layout.shards} shards`;
}
