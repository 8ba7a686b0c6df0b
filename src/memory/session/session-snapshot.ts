import { z } from 'zod';
import { storedJson } from '../../contracts/checked.js';
import { messageOf } from '../../contracts/errors.js';
import { ROLES } from '../../contracts/kinds.js';
import { leftTask } from '../../contracts/plan-requests.js';
import { inboxMessage, iterationView, planClaim, taskView } from '../../contracts/replies/session-reply.js';
import { RESULT_KEY_LENGTH } from '../../contracts/results.js';
import { taskLedger } from '../../ledger/task-ledger.js';
import { ordered } from '../../shared/collections.js';
import { clipText, oneLine } from '../../shared/text.js';
import { InMemorySessionFactStore } from '../facts/fact-store.js';
import { factId, groupOf, isBare } from '../facts/fact-types.js';
import { storedSessionFact } from '../facts/stored-fact.js';
import { PastResults } from '../search/past-results.js';
import { tracesFromJson, tracesJson, tracesToJson } from '../traces/session-traces.js';
import { charterJson, runJson } from './charter.js';
import { countedJson, DispatchWindow, resultsFromJson, resultsToJson } from './dispatch-window.js';
import { openFindings, sessionFigures } from './plan-status.js';
import { dispatchEntry, dispatchFold, factsOf, knownRejection, type SessionState } from './session-state.js';
import { boardResult } from './task-board.js';

const resultKeys = z
  .string()
  .refine((keys) => keys.length % RESULT_KEY_LENGTH === 0, `must be keys of ${RESULT_KEY_LENGTH} characters`);

const dispatchCounts = z.record(z.enum([...ROLES, 'rejected']), z.number());

const claim = planClaim.omit({ text: true });
const task = taskView.omit({
  unresolved: true,
  result: true,
  claimed_by: true,
  claimed_at: true,
  handover: true,
});

export const stateJson = z.object({
  limits: z.object({ maxFacts: z.number() }),
  last_event_at: z.string(),
  started_at: z.string(),
  ref_floor: z.number().exactOptional(),
  settled: z.object({ counts: dispatchCounts, ledgers: z.array(taskLedger) }),
  facts: z.array(storedSessionFact),
  facts_dropped: z.number().exactOptional(),
  rejections: z.array(knownRejection),
  past: z.object({
    total: z.number(),
    words: z.string(),
    tasks: z.array(z.string()),
    paths: z.string(),
    numbers: z.string(),
  }),
  board_results: z.array(boardResult),
  window: z.object({ recent: z.array(dispatchEntry), counted: countedJson }),
  charter: charterJson,
  tasks: z.array(task),
  deleted: z.array(task).exactOptional(),
  claims: z.array(claim),
  inbox: z.array(inboxMessage),
  iterations: z.array(iterationView),
  traces: tracesJson,
  results: resultKeys,
  run: runJson.exactOptional(),
  left: z.array(leftTask).exactOptional(),
  last: z.object({ task: z.number(), note: z.number(), message: z.number() }),
});

export type SessionStateJson = z.output<typeof stateJson>;

/** Returns a state as plain JSON for a snapshot. Equal states have equal bytes. */
export function stateToJson(state: SessionState) {
  const settled = state.dispatches.settled();
  const { board, notebook, history, charter, run } = state;
  return {
    limits: state.limits,
    last_event_at: state.lastEventAt,
    started_at: state.startedAt,
    ...(state.refFloor > 0 && { ref_floor: state.refFloor }),
    settled: { counts: settled.counts, ledgers: [...settled.ledgers.values()] },
    facts: settled.facts.all().map(({ id: _, ...fact }) => ordered(fact, storedSessionFact)),
    ...(settled.facts.dropped() > 0 && { facts_dropped: settled.facts.dropped() }),
    rejections: settled.rejections,
    past: settled.past.toJSON(),
    board_results: [...settled.boardResults.values()],
    window: state.dispatches.toJSON(),
    charter: ordered(charter, charterJson),
    tasks: [...board.tasks.values()].map((entry) => ordered(entry, task)),
    ...(board.deleted.size > 0 && {
      deleted: [...board.deleted.values()].map((entry) => ordered(entry, task)),
    }),
    claims: [...board.claims].map(([id, boardClaim]) => ordered({ id, ...boardClaim }, claim)),
    inbox: [...notebook.inbox.values()],
    iterations: history.iterations.map((iteration) => ordered(iteration, iterationView)),
    traces: tracesToJson(settled.traces),
    results: resultsToJson(settled.results),
    ...(run !== undefined && { run: ordered(run, runJson) }),
    ...(state.left.length > 0 && { left: state.left }),
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
    limits: { maxFacts: json.limits.maxFacts },
    dispatches: new DispatchWindow(
      dispatchFold(json.limits),
      {
        facts: InMemorySessionFactStore.of(
          json.facts.map((fact) => ({ id: factId(fact), ...fact })),
          json.facts_dropped,
        ),
        counts: json.settled.counts,
        ledgers: new Map(json.settled.ledgers.map((ledger) => [ledger.task, ledger])),
        traces: tracesFromJson(json.traces),
        results: resultsFromJson(json.results),
        rejections: json.rejections,
        past: new PastResults(json.past),
        boardResults: new Map(json.board_results.map((result) => [result.task, result])),
      },
      json.window,
    ),
    charter: { ...json.charter },
    run: json.run,
    left: json.left ?? [],
    board: {
      tasks: byId(json.tasks),
      lastNumber: json.last.task,
      deleted: byId(json.deleted ?? []),
      claims: new Map(json.claims.map(({ id, ...boardClaim }) => [id, boardClaim])),
    },
    notebook: { lastNote: json.last.note, inbox: byId(json.inbox), lastMessage: json.last.message },
    history: { iterations: [...json.iterations] },
    ...at,
    lastEventAt: json.last_event_at,
    startedAt: json.started_at,
    refFloor: json.ref_floor ?? 0,
  };
}

function byId<T extends { readonly id: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}

/**
 * The format of a snapshot:
 * `{"after_sequence":N,"created_at":…,"session":…,"view":{…},"v":1,"last_event"?:M,"last_command"?:L,"checkpoint"?:C,"state":{…}}`
 * on one line, in that order; `last_event` is present if it is below N, `last_command` if it is another one. `view` is for
 * people, and ignored when the snapshot is read.
 */
export const SNAPSHOT_VERSION = 1;

const sessionSnapshot = z.object({
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
    ...(state.lastCommand !== state.lastEvent && { last_command: state.lastCommand }),
    ...(state.checkpoint > 0 && { checkpoint: state.checkpoint }),
    state: stateToJson(state),
  });
}

type DecodedSnapshot =
  | { readonly ok: true; readonly state: SessionState; readonly createdAt: string }
  | { readonly ok: false; readonly reason: string };

export function decodeSnapshot(session: string, text: string): DecodedSnapshot {
  const stored = storedJson(sessionSnapshot, text);
  if (!stored.ok) return stored;
  const { after_sequence: sequence, created_at: createdAt, state, session: owner } = stored.value;
  if (owner !== session) return { ok: false, reason: `it belongs to session ${owner}` };
  const {
    last_event: lastEvent = sequence,
    last_command: lastCommand = lastEvent,
    checkpoint = 0,
  } = stored.value;
  try {
    const at = { sequence, lastEvent, lastCommand, checkpoint };
    return { ok: true, state: stateFromJson(session, at, state), createdAt };
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}

/** Limit of the view in bytes of JSON. */
const MAX_VIEW_BYTES = 4096;
const MAX_LISTED = 10;
const MAX_TEXT = 160;

/** Returns a session in words, for people with the `nats` CLI; beyond `MAX_VIEW_BYTES` without the oldest facts. */
function sessionView(state: SessionState) {
  const { goal, status, results, rejected, facts, board, plan, waiting, stalled } = sessionFigures(state);
  const valid = factsOf(state).getValid().toReversed();
  const view = {
    ...(goal !== undefined && { goal }),
    status,
    results,
    rejected,
    facts,
    board,
    ...(plan && { plan }),
    // Demands on a person: open questions first.
    waiting: waiting.map((text) => clippedLine(text)),
    stalled: stalled.map(({ task }) => clippedLine(task)),
    // "src/a.ts: Leaks a handle (critical, task 1)", newest first.
    open_findings: [...openFindings(state, MAX_LISTED).newest],
    // "task:1 summary Parser done (task 1)", newest first.
    newest_facts: valid
      .filter((fact) => !isBare(fact) && !['files', 'findings'].includes(groupOf(fact)))
      .slice(0, MAX_LISTED)
      .map(({ subject, relation, object, sourceTaskId }) =>
        clippedLine(`${subject} ${relation} ${object}`, `task ${sourceTaskId}`),
      ),
  };
  const isLarge = () => Buffer.byteLength(JSON.stringify(view)) > MAX_VIEW_BYTES;
  for (const list of [view.newest_facts, view.open_findings, view.stalled, view.waiting])
    while (list.length > 0 && isLarge()) list.pop();
  return view;
}

function clippedLine(text: string, origin?: string): string {
  const words = clipText(oneLine(text), MAX_TEXT);
  return origin === undefined ? words : `${words} (${clipText(oneLine(origin), MAX_TEXT)})`;
}
