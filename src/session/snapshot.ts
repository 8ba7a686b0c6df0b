import { z } from 'zod';
import { ROLES } from '../contracts/names.js';
import { type SessionState, stateFromJson, stateToJson } from './state.js';

/**
 * The text of a snapshot: `{"after_sequence":N,"created_at":…,"v":1,"state":{…}}` on one line, in that order.
 */
export const SNAPSHOT_VERSION = 1;

const tag = z.enum(['file_change', 'convention', 'decision', 'error', 'dependency', 'test']);
const words = {
  id: z.string(),
  subject: z.string(),
  relation: z.string(),
  object: z.string(),
  tags: z.array(tag),
};
const entry = { sequence: z.number(), at: z.string(), event: z.number() };

const stateJson = z.object({
  limits: z.object({ maxFacts: z.number() }),
  last_event_at: z.string(),
  counts: z.object({ implementer: z.number(), reviewer: z.number(), rejected: z.number() }),
  facts: z.array(
    z.object({
      ...words,
      validFrom: z.string(),
      sourceTaskId: z.string(),
      sourceRole: z.enum(ROLES),
      sourceSequence: z.number(),
      eventSequence: z.number(),
      confidence: z.number(),
      validTo: z.string().exactOptional(),
      closedBy: z.number().exactOptional(),
    }),
  ),
  window: z.object({
    recent: z.array(
      z.discriminatedUnion('kind', [
        z.object({
          kind: z.literal('recorded'),
          ...entry,
          role: z.enum(ROLES),
          task: z.string(),
          facts: z.array(z.object({ ...words, confidence: z.number().optional() })),
        }),
        z.object({
          kind: z.literal('rejected'),
          ...entry,
          error: z.object({ code: z.string(), reason: z.string() }),
        }),
      ]),
    ),
    settled: z.array(z.number()),
  }),
});

const snapshotJson = z.object({
  after_sequence: z.int().nonnegative(),
  created_at: z.string(),
  v: z.literal(SNAPSHOT_VERSION),
  state: stateJson,
});

/** Writes the snapshot of a state. */
export function encodeSnapshot(state: SessionState, createdAt: string): string {
  return JSON.stringify({
    after_sequence: state.sequence,
    created_at: createdAt,
    v: SNAPSHOT_VERSION,
    state: stateToJson(state),
  });
}

export type DecodedSnapshot =
  | { readonly ok: true; readonly state: SessionState; readonly createdAt: string }
  | { readonly ok: false; readonly reason: string };

/** Reads a snapshot back. One that is damaged, or of another version, is refused with the reason. */
export function decodeSnapshot(session: string, text: string): DecodedSnapshot {
  try {
    const parsed = snapshotJson.safeParse(JSON.parse(text));
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      return { ok: false, reason: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}` };
    }
    const { after_sequence, created_at, state } = parsed.data;
    return { ok: true, state: stateFromJson(session, after_sequence, state), createdAt: created_at };
  } catch {
    return { ok: false, reason: 'not JSON' };
  }
}
