import { z } from 'zod';
import { RESULT_KEY_LENGTH } from '../../contracts/accepted-result.js';
import { FACT_TAGS, ROLES, SEVERITIES, VERDICTS } from '../../contracts/kinds.js';
import { vectorJson } from '../../contracts/recorded-fact.js';
import { retraction } from '../../contracts/replies/fact-reply.js';
import { handover } from '../../contracts/replies/session-reply.js';
import { tasksDocument, tasksSource } from '../../contracts/run-request.js';
import { NOTE_TYPES, STALL_SIGNALS, sessionSettings } from '../../contracts/session-meta-events.js';
import { priority, TASK_STATUSES } from '../../contracts/task-events.js';
import { pinnedText, recordedEntry } from '../../contracts/trace-entry.js';
import { keptListOf } from '../traces/kept-list.js';
import { COUNTED_MEMORY } from './counted-dispatches.js';
import type { SessionState } from './session-state.js';
import { stateFromJson, stateToJson } from './session-state-json.js';
import { sessionView } from './session-view.js';

/**
 * The format of a snapshot:
 * `{"after_sequence":N,"created_at":…,"session":…,"view":{…},"v":1,"last_event"?:M,"last_command"?:L,"checkpoint"?:C,"state":{…}}`
 * on one line, in that order; `last_event` is present if it is below N, `last_command` if it is below that. `view` is for
 * people, and ignored when the snapshot is read.
 */
export const SNAPSHOT_VERSION = 1;

const words = {
  subject: z.string(),
  relation: z.string(),
  object: z.string(),
  tags: z.array(z.enum(FACT_TAGS)),
  severity: z.enum(SEVERITIES).exactOptional(),
  fix: z.string().exactOptional(),
};
const entry = { sequence: z.number(), at: z.string(), event: z.number() };

const texts = z.array(z.string());
const digestIssue = z
  .object({
    severity: z.enum(SEVERITIES),
    message: z.string(),
    file: z.string().exactOptional(),
    fix: z.string().exactOptional(),
  })
  .meta({ id: 'DigestIssue', description: 'What a review found wrong.' });
const failedTests = z.array(z.object({ command: z.string(), failures: texts, count: z.number() }));

const questions = z
  .array(z.object({ text: z.string(), options: texts.exactOptional(), default: z.string().exactOptional() }))
  .exactOptional();

const outcomeDigest = z
  .object({
    role: z.enum(ROLES),
    verdict: z.enum(VERDICTS).exactOptional(),
    summary: z.string().exactOptional(),
    blockers: texts,
    files: texts,
    passed: texts,
    failed: failedTests,
    followUps: texts,
    issues: z.array(digestIssue),
    fixes: texts,
    questions,
    history: z.literal(true).exactOptional(),
  })
  .meta({ id: 'OutcomeDigest', description: 'What the ledgers need of a result.' });

const repeated = z.array(z.object({ key: z.string(), text: z.string(), count: z.number() }));

const taskLedger = z
  .object({
    task: z.string(),
    planVersion: z.number(),
    dispatches: z.number(),
    approvalLoops: z.number(),
    issues: z.array(digestIssue),
    requiredFixes: texts,
    blockers: texts,
    questions,
    work: z.object({ files: texts, passed: texts, failed: failedTests, followUps: texts }),
    tries: z.array(
      z.object({
        verdict: z.enum(VERDICTS),
        summary: z.string().exactOptional(),
        refused: texts.exactOptional(),
      }),
    ),
    last: z.object({
      sequence: z.number(),
      at: z.string(),
      role: z.enum(ROLES),
      verdict: z.enum(VERDICTS),
    }),
    stall: z.object({
      nonProgress: z.number(),
      pingPong: z.number(),
      awaitsReview: z.boolean(),
      sentBack: z.boolean(),
      rounds: z.number(),
      found: z.number(),
      fileSet: z.string(),
      findings: repeated,
      fixes: repeated,
      tests: repeated,
      files: repeated,
    }),
    stalled: z.boolean(),
    summary: z.string().exactOptional(),
    firstSummary: z.string().exactOptional(),
    assessment: z.enum(VERDICTS).exactOptional(),
  })
  .meta({ id: 'TaskLedger', description: 'What a task has come to.' });

const resultKeys = z
  .string()
  .refine((keys) => keys.length % RESULT_KEY_LENGTH === 0, `must be keys of ${RESULT_KEY_LENGTH} characters`);

const rejected = {
  sequence: z.number(),
  event: z.number(),
  role: z.enum(ROLES).exactOptional(),
  task: z.string().exactOptional(),
  error: z.object({
    code: z.string(),
    reason: z.string(),
    fix: z.string().exactOptional(),
    meant: z.enum(ROLES).exactOptional(),
  }),
};

const recent = z.array(
  z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('recorded'),
      ...entry,
      role: z.enum(ROLES),
      task: z.string(),
      facts: z.array(z.object({ ...words, confidence: z.number().optional() })),
      digest: outcomeDigest,
      result: resultKeys.exactOptional(),
      trace: recordedEntry.exactOptional(),
    }),
    z.object({ kind: z.literal('rejected'), at: z.string(), ...rejected }),
  ]),
);

const keptTexts = keptListOf(z.string()).meta({
  id: 'KeptTexts',
  description: 'The newest texts of a list.',
});
const keyedText = z
  .object({ key: z.string(), text: z.string() })
  .meta({ id: 'KeyedText', description: 'A text, and what makes two of them the same.' });
const keptKeyedTexts = keptListOf(keyedText).meta({
  id: 'KeptKeyedTexts',
  description: 'The newest texts of a list.',
});

/** Characters of the deltas of `COUNTED_MEMORY.surely` dispatches, however far apart. */
const MOST_STEPS = 300_000;
const counted = z.object({
  floor: z.number(),
  steps: z.string().max(MOST_STEPS),
  late: z.array(z.tuple([z.number(), z.number()])).max(COUNTED_MEMORY.maxLate),
  late_floor: z.number(),
});

const dispatchCounts = z.record(z.enum([...ROLES, 'rejected']), z.number());

export const stateJson = z.object({
  limits: z.object({
    maxFacts: z.number(),
    stall: z.record(z.enum(STALL_SIGNALS), z.number()),
    compaction: z.object({ threshold: z.number(), block: z.number() }),
  }),
  last_event_at: z.string(),
  started_at: z.string(),
  settled: z.object({ counts: dispatchCounts, ledgers: z.array(taskLedger) }),
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
      history: z.literal(true).exactOptional(),
      retracted: retraction.exactOptional(),
      corrects: z.string().exactOptional(),
    }),
  ),
  vectors: z.array(vectorJson.extend({ fact: z.string() })).exactOptional(),
  rejections: z.array(z.object({ ...rejected, answered: z.literal(true).exactOptional() })),
  reads: z.array(z.object({ task: z.string(), role: z.enum(ROLES), sequence: z.number() })),
  past: z.object({
    total: z.number(),
    words: z.string(),
    tasks: texts,
    paths: z.string(),
    numbers: z.string(),
  }),
  board_results: z.array(
    z.object({
      task: z.string(),
      sequence: z.number(),
      at: z.string(),
      role: z.enum(ROLES),
      verdict: z.enum(VERDICTS),
      why: z.string().exactOptional(),
    }),
  ),
  window: z.object({ recent, counted }),
  charter: z.object({
    status: z.enum(['open', 'completed']),
    title: z.string().exactOptional(),
    goal: z.string().exactOptional(),
    spec: z.string().exactOptional(),
    spec_path: z.string().exactOptional(),
    project: z.string().exactOptional(),
    completed_reason: z.string().exactOptional(),
    settings: sessionSettings.exactOptional(),
    archived: z
      .object({ at: z.string(), reason: z.string().exactOptional(), idle_since: z.string().exactOptional() })
      .exactOptional(),
  }),
  tasks: z.array(
    z.object({
      id: z.string(),
      content: z.string(),
      status: z.enum(TASK_STATUSES),
      priority,
      depends_on: z.array(z.string()),
      created_at: z.string(),
      updated_at: z.string(),
      iteration: z.number(),
      status_at: z.string().exactOptional(),
      claimed_by: z.string().exactOptional(),
      claimed_at: z.string().exactOptional(),
      handover: handover.exactOptional(),
      reason: z.string().exactOptional(),
    }),
  ),
  plan_claims: z
    .array(
      z.object({
        id: z.string(),
        claimed_by: z.string().exactOptional(),
        since: z.string().exactOptional(),
        claimed_at: z.string().exactOptional(),
        handover: handover.exactOptional(),
      }),
    )
    .exactOptional(),
  notes: z.array(
    z.object({
      id: z.string(),
      content: z.string(),
      type: z.enum(NOTE_TYPES),
      created_at: z.string(),
      updated_at: z.string(),
      iteration: z.number(),
    }),
  ),
  inbox: z.array(
    z.object({ id: z.string(), content: z.string(), created_at: z.string(), read: z.boolean() }),
  ),
  answers: z.array(
    z.object({
      task: z.string(),
      questions: z.array(z.string()),
      answer: z.string(),
      by: z.string(),
      at: z.string(),
    }),
  ),
  iterations: z.array(
    z.object({
      number: z.number(),
      started_at: z.string(),
      complete: z.boolean(),
      tasks_worked: z.array(z.string()),
      implied: z.literal(true).exactOptional(),
      ended_at: z.string().exactOptional(),
      summary: z.string().exactOptional(),
    }),
  ),
  traces: z.object({
    intents: z.array(
      z.object({
        intent: z.string(),
        total: z.number(),
        compacted: z.number(),
        compactedSize: z.number(),
        blocks: z.number(),
        tools: z.array(
          z.object({ tool: z.string(), success: z.number(), failure: z.number(), denied: z.number() }),
        ),
        requests: z.object({
          count: z.number(),
          between: keptKeyedTexts,
          original: keyedText.exactOptional(),
          newest: keyedText.exactOptional(),
        }),
        pinned: keptTexts,
        constraints: keptTexts,
        decisions: keptTexts,
        steps: keptTexts,
        runs: keptKeyedTexts,
        changed: keptTexts,
        read: keptTexts,
        denied: keptKeyedTexts,
        unresolved: keptKeyedTexts,
        recent: z.array(recordedEntry),
        seen: texts,
      }),
    ),
    without_intent: z.number(),
    malformed: z.number(),
    pending: z.array(
      z.union([
        z.object({ at: z.string(), entry: recordedEntry }),
        z.object({ at: z.string(), pin: pinnedText }),
      ]),
    ),
  }),
  results: resultKeys,
  run: z
    .object({
      spec: z.string(),
      source: tasksSource,
      document: tasksDocument,
      goal: z.string().exactOptional(),
    })
    .exactOptional(),
  last: z.object({ task: z.number(), note: z.number(), message: z.number() }),
});

export const sessionSnapshot = z.object({
  after_sequence: z.int().nonnegative(),
  created_at: z.string(),
  session: z.string(),
  v: z.literal(SNAPSHOT_VERSION),
  last_event: z.int().nonnegative().exactOptional(),
  last_command: z.int().nonnegative().exactOptional(),
  checkpoint: z.int().positive().exactOptional(),
  state: stateJson,
});

export function encodeSnapshot(state: SessionState, createdAt: string): string {
  return JSON.stringify({
    after_sequence: state.sequence,
    created_at: createdAt,
    session: state.session,
    view: sessionView(state),
    v: SNAPSHOT_VERSION,
    ...(state.lastEvent < state.sequence && { last_event: state.lastEvent }),
    ...(state.lastCommand < state.lastEvent && { last_command: state.lastCommand }),
    ...(state.checkpoint > 0 && { checkpoint: state.checkpoint }),
    state: stateToJson(state),
  });
}

type DecodedSnapshot =
  | { readonly ok: true; readonly state: SessionState; readonly createdAt: string }
  | { readonly ok: false; readonly reason: string };

/** Returns the reason for a damaged snapshot or another version. */
export function decodeSnapshot(session: string, text: string): DecodedSnapshot {
  try {
    const parsed = sessionSnapshot.safeParse(JSON.parse(text));
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      return { ok: false, reason: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}` };
    }
    const { after_sequence: sequence, created_at: createdAt, state, session: owner } = parsed.data;
    if (owner !== session) return { ok: false, reason: `it belongs to session ${owner}` };
    const { last_event: lastEvent = sequence, last_command: lastCommand = lastEvent } = parsed.data;
    const { checkpoint = 0 } = parsed.data;
    const at = { sequence, lastEvent, lastCommand, checkpoint };
    return { ok: true, state: stateFromJson(session, at, state), createdAt };
  } catch {
    return { ok: false, reason: 'not JSON' };
  }
}
