import { z } from 'zod';

/**
 * The compilers' counters for a session, stored beside the snapshot so that a prompt request writes no event. The fold
 * counts results itself.
 */
export type SessionTelemetry = z.output<typeof sessionTelemetry>;

const counts = z.record(z.string(), z.number());

const sessionTelemetry = z.object({
  compiles: z.number(),
  errors: counts,
  ledgerModes: counts,
  /** By reason. */
  fallbacks: counts,
  /** Prompts that left something out to fit the budget. */
  shortened: z.number(),
  /** Of all prompts, before and after leaving items out. */
  tokensWanted: z.number(),
  tokensUsed: z.number(),
  /** From request to reply, in milliseconds. */
  retrievalMs: z.number(),
  retrievalMaxMs: z.number(),
});

/** The counts of one process since its last write; batch numbers increase. */
export type TelemetryBatch = z.output<typeof telemetryBatch>;

const telemetryBatch = z.object({ number: z.number(), counts: sessionTelemetry });

/** Reported in a compiler's statistics, by session. */
export const unwrittenTelemetry = z.object({
  writer: z.string(),
  unwritten: z.record(z.string(), z.array(telemetryBatch)),
});
export type UnwrittenTelemetry = z.output<typeof unwrittenTelemetry>;

export const storedTelemetry = z.object({
  counts: sessionTelemetry,
  /** The newest counted batch of each writer; the last writer comes last. */
  writers: z.record(z.string(), z.number()),
});
export type StoredTelemetry = z.output<typeof storedTelemetry>;

/** Far more than write at the same time. */
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

/** Adds a batch. Returns the same object if it was counted already. */
export function withBatch(stored: StoredTelemetry, writer: string, batch: TelemetryBatch): StoredTelemetry {
  const { [writer]: newest = 0, ...others } = stored.writers;
  if (newest >= batch.number) return stored;
  const writers = [...Object.entries(others).slice(1 - MAX_WRITERS), [writer, batch.number]];
  return { counts: added(stored.counts, batch.counts), writers: Object.fromEntries(writers) };
}

/** Adds what the compilers, asked before, had not written yet. */
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
