// All benchmarks, in the order in which they run. One more is one file, and one row here.
//
// A benchmark gives `{ name, goals, run }`; `run({ quick, progress, shutdown })` gives `{ measured, figures, notes }`:
// values by the goal's id, rows of name and text, and what a reader of the page must know.
import burst from './burst.mjs';
import cluster from './cluster.mjs';
import compile from './compile.mjs';
import fairness from './fairness.mjs';
import growth from './growth.mjs';
import hooks from './hooks.mjs';
import ingest from './ingest.mjs';
import inspectors from './inspectors.mjs';
import learnings from './learnings.mjs';
import load from './load.mjs';
import memory from './memory.mjs';
import memoryValue from './memory-value.mjs';
import plans from './plans.mjs';
import recall from './recall.mjs';
import sessions from './sessions.mjs';
import sideBySide from './side-by-side.mjs';
import startup from './startup.mjs';

export const BENCHES = [
  ingest,
  fairness,
  compile,
  load,
  burst,
  growth,
  learnings,
  inspectors,
  memory,
  memoryValue,
  plans,
  recall,
  sessions,
  cluster,
  startup,
  hooks,
  sideBySide,
];
