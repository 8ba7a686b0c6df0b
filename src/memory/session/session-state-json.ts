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
import { ordered } from '../../shared/collections.js';
import { factId } from '../facts/fact-types.js';
import { fromStored, toStored } from '../facts/fact-vectors.js';
import { PastResults } from '../search/past-results.js';
import { keptListOf } from '../traces/kept-list.js';
import { tracesFromJson, tracesToJson } from '../traces/session-traces.js';
import { COUNTED_MEMORY, DispatchWindow, resultsFromJson, resultsToJson } from './dispatch-window.js';
import { dispatchFold, dispatchMemory, type SessionState } from './session-state.js';

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

/** A state as its snapshot has it. */
export type SessionStateJson = z.output<typeof stateJson>;

/** Returns a state as plain JSON for a snapshot. Equal states have equal bytes. */
export function stateToJson(state: SessionState) {
  const settled = state.dispatches.settled();
  const { board, notebook, history, charter, run } = state;
  return {
    limits: state.limits,
    last_event_at: state.lastEventAt,
    started_at: state.startedAt,
    settled: { counts: settled.counts, ledgers: [...settled.ledgers.values()] },
    facts: settled.facts.all().map(({ id: _, ...fact }) => fact),
    rejections: settled.rejections,
    reads: [...settled.reads.values()],
    ...(state.vectors.size > 0 && {
      vectors: [...state.vectors].map(([fact, vector]) => ({ fact, ...toStored(vector) })),
    }),
    past: settled.past.toJSON(),
    board_results: [...settled.boardResults.values()],
    window: state.dispatches.toJSON(),
    charter: ordered(charter, CHARTER_KEYS),
    tasks: [...board.tasks.values()].map((task) => ordered(task, TASK_KEYS)),
    ...(board.planned.size > 0 && {
      plan_claims: [...board.planned.values()].map((claim) => ordered(claim, CLAIM_KEYS)),
    }),
    notes: [...notebook.notes.values()],
    inbox: [...notebook.inbox.values()],
    answers: notebook.answers,
    iterations: history.iterations.map((iteration) => ordered(iteration, ITERATION_KEYS)),
    traces: tracesToJson(settled.traces),
    results: resultsToJson(settled.results),
    ...(run !== undefined && { run: ordered(run, RUN_KEYS) }),
    last: { task: board.lastNumber, note: notebook.lastNote, message: notebook.lastMessage },
  };
}

export function stateFromJson(
  session: string,
  at: Pick<SessionState, 'sequence' | 'lastEvent' | 'lastCommand' | 'checkpoint'>,
  json: SessionStateJson,
): SessionState {
  return {
    session,
    limits: json.limits,
    dispatches: new DispatchWindow(
      dispatchFold(json.limits),
      dispatchMemory(
        json.facts.map((fact) => ({ id: factId(fact), ...fact })),
        json.settled.counts,
        json.settled.ledgers,
        tracesFromJson(json.traces),
        resultsFromJson(json.results),
        json.rejections,
        json.reads,
        new PastResults(json.past),
        json.board_results,
      ),
      json.window,
    ),
    charter: { ...json.charter },
    run: json.run,
    board: { tasks: byId(json.tasks), lastNumber: json.last.task, planned: byId(json.plan_claims ?? []) },
    notebook: {
      notes: byId(json.notes),
      lastNote: json.last.note,
      inbox: byId(json.inbox),
      lastMessage: json.last.message,
      answers: [...json.answers],
    },
    history: { iterations: [...json.iterations] },
    vectors: new Map((json.vectors ?? []).map(({ fact, ...vector }) => [fact, fromStored(vector)])),
    ...at,
    lastEventAt: json.last_event_at,
    startedAt: json.started_at,
  };
}

function byId<T extends { readonly id: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}

// Optional fields come last in a fixed order, whatever came first.
const CHARTER_KEYS = [
  ...(['status', 'title', 'goal', 'spec', 'spec_path', 'project', 'completed_reason'] as const),
  ...(['settings', 'archived'] as const),
];
const RUN_KEYS = ['spec', 'source', 'document', 'goal'] as const;
const TASK_KEYS = [
  ...([
    'id',
    'content',
    'status',
    'priority',
    'depends_on',
    'created_at',
    'updated_at',
    'iteration',
  ] as const),
  ...(['status_at', 'claimed_by', 'claimed_at', 'handover', 'reason'] as const),
];
const CLAIM_KEYS = ['id', 'claimed_by', 'since', 'claimed_at', 'handover'] as const;
const ITERATION_KEYS = [
  ...(['number', 'started_at', 'complete', 'tasks_worked', 'implied', 'ended_at', 'summary'] as const),
];
