import type { SessionState } from './session-state.js';

/** Bytes of memory, measured by folding synthetic sessions of 1 to 200 dispatches and up to 500 tasks. */
const STATE = 20_000;
/** In the store, in its word index, and in the window. */
const FACT = 900;
const LEDGER = 1500;
const TASK = 400;
/** A plan task, note, message or iteration: a few hundred characters each. */
const ITEM = 800;
/** A past result with its words, and a file with the words of its path. */
const PAST = 500;
const FILE = 1000;
/** Lists are bounded, and rarely full. */
const TRACE = 10_000;

/** An appended trace entry in the window. */
const PENDING = 500;
/** Stored in the settled part and in the current view. */
const REJECTION = 600;

const RESULT = 90;

/** Estimates the memory of a state from its counts, which is cheap. */
export function stateBytes(state: SessionState): number {
  const { facts, ledgers, traces, results, rejections, past, boardResults } = state.dispatches.settled();
  const recent = state.dispatches.recent();
  const recentFacts = recent.reduce(
    (sum, entry) => sum + (entry.kind === 'recorded' ? entry.facts.length : 0),
    0,
  );
  const { notebook, history, run } = state;
  const items =
    notebook.notes.size +
    notebook.inbox.size +
    notebook.answers.length +
    history.iterations.length +
    (run?.document.tasks.length ?? 0);
  return (
    STATE +
    FACT * (facts.size() + recentFacts) +
    PAST * past.rows.length +
    FILE * past.fileCount +
    LEDGER * (ledgers.size + recent.length) +
    TASK * state.board.tasks.size +
    ITEM * items +
    TRACE * traces.intents.size +
    PENDING * traces.pending.length +
    RESULT * results.size +
    ITEM * boardResults.size +
    REJECTION * rejections.length +
    state.dispatches.counted().bytes
  );
}
