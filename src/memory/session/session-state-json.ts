import type { z } from 'zod';
import { ordered } from '../../shared/collections.js';
import { factId } from '../facts/fact-types.js';
import { fromStored, toStored } from '../facts/fact-vectors.js';
import { PastResults } from '../search/past-results.js';
import { tracesFromJson, tracesToJson } from '../traces/session-traces.js';
import { resultsFromJson, resultsToJson } from './counted-dispatches.js';
import { DispatchWindow } from './dispatch-window.js';
import type { stateJson } from './session-snapshot.js';
import { dispatchFold, dispatchMemory, type SessionState } from './session-state.js';

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
