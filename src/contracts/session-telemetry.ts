import { z } from 'zod';

/**
 * What compilers have counted for a session. It stands beside the snapshot and out of the session's stream, so that
 * asking for a prompt writes no event. What dispatches came to is counted by the fold and needs no telemetry.
 */
export type SessionTelemetry = z.output<typeof sessionTelemetry>;

const counts = z.record(z.string(), z.number());

const sessionTelemetry = z.object({
  compiles: z.number(),
  errors: counts,
  ledgerModes: counts,
  /** Prompts that went without the progress ledger, by reason. */
  fallbacks: counts,
  /** Prompts that something was left out of, to keep within their room. */
  shortened: z.number(),
  /** Tokens of all prompts if nothing had been left out of any, and as they are. */
  tokensWanted: z.number(),
  tokensUsed: z.number(),
  /** Time from request to reply, in milliseconds: total and highest. */
  retrievalMs: z.number(),
  retrievalMaxMs: z.number(),
});

/** What one process counted until it wrote it. The numbers of a process rise. */
export type TelemetryBatch = z.output<typeof telemetryBatch>;

const telemetryBatch = z.object({ number: z.number(), counts: sessionTelemetry });

/** What a compiler shows in its statistics: what it has not written yet, by session. */
export const unwrittenTelemetry = z.object({
  writer: z.string(),
  unwritten: z.record(z.string(), z.array(telemetryBatch)),
});
export type UnwrittenTelemetry = z.output<typeof unwrittenTelemetry>;

/** What is stored of a session. */
export const storedTelemetry = z.object({
  counts: sessionTelemetry,
  /** The newest batch of each writer that is in the counts, the writer that wrote last at the end. */
  writers: z.record(z.string(), z.number()),
});
export type StoredTelemetry = z.output<typeof storedTelemetry>;

/** Writers that are remembered of a session: far more than write at the same time. */
const MAX_WRITERS = 16;

export function noTelemetry(): StoredTelemetry {
  const counts: SessionTelemetry = {
    compiles: 0,
    errors: {},
    ledgerModes: {},
    fallbacks: {},
    shortened: 0,
    tokensWanted: 0,
    tokensUsed: 0,
    retrievalMs: 0,
    retrievalMaxMs: 0,
  };
  return { counts, writers: {} };
}

/** With a batch added; the same object where the batch is in it already. */
export function withBatch(stored: StoredTelemetry, writer: string, batch: TelemetryBatch): StoredTelemetry {
  const { [writer]: newest = 0, ...others } = stored.writers;
  if (newest >= batch.number) return stored;
  const writers = [...Object.entries(others).slice(1 - MAX_WRITERS), [writer, batch.number]];
  return { counts: added(stored.counts, batch.counts), writers: Object.fromEntries(writers) };
}

/** What is stored of a session, with what its compilers had not written when they were asked before. */
export function totalTelemetry(
  stored: StoredTelemetry | undefined,
  compilers: readonly UnwrittenTelemetry[],
  session: string,
): SessionTelemetry {
  let sum = stored ?? noTelemetry();
  for (const { writer, unwritten } of compilers) {
    for (const batch of unwritten[session] ?? []) sum = withBatch(sum, writer, batch);
  }
  return sum.counts;
}

export function added(one: SessionTelemetry, other: SessionTelemetry): SessionTelemetry {
  return {
    compiles: one.compiles + other.compiles,
    errors: addedByKey(one.errors, other.errors),
    ledgerModes: addedByKey(one.ledgerModes, other.ledgerModes),
    fallbacks: addedByKey(one.fallbacks, other.fallbacks),
    shortened: one.shortened + other.shortened,
    tokensWanted: one.tokensWanted + other.tokensWanted,
    tokensUsed: one.tokensUsed + other.tokensUsed,
    retrievalMs: one.retrievalMs + other.retrievalMs,
    retrievalMaxMs: Math.max(one.retrievalMaxMs, other.retrievalMaxMs),
  };
}

function addedByKey(one: Record<string, number>, other: Record<string, number>): Record<string, number> {
  const sums = { ...one };
  for (const [key, count] of Object.entries(other)) sums[key] = (sums[key] ?? 0) + count;
  return sums;
}
