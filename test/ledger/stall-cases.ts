import type { RoleResult } from '../../src/contracts/results.js';
import type { StallSignal } from '../../src/contracts/session-meta-events.js';
import { reviewer } from '../support/builders.js';
import { APPROVED, blocked, completed, failed, needsChanges } from '../support/ledgers.js';

/** One way in which a task can go in circles, and what ends it. */
export interface SignalCase {
  readonly signal: StallSignal;
  /** Results that stay just below a threshold of 2. */
  readonly quiet: readonly RoleResult[];
  /** The result that raises the signal, with this count and evidence. */
  readonly raising: RoleResult;
  readonly count: number;
  readonly evidence: readonly string[];
  readonly resets: readonly { readonly name: string; readonly result: RoleResult }[];
  readonly keeps: readonly { readonly name: string; readonly result: RoleResult }[];
}

/** Completed, but for a test that failed in this way. */
const FAILING = (failure: string) =>
  completed({ tests: [{ command: 'npm test', passed: false, failures: [failure] }] });

const approval = { name: 'an approval', result: APPROVED };
const completion = { name: 'a completed result', result: completed() };

export const SIGNAL_CASES: readonly SignalCase[] = [
  {
    signal: 'non_progress',
    quiet: [failed()],
    raising: blocked('no token'),
    count: 2,
    evidence: ['no token'],
    resets: [approval, completion],
    keeps: [{ name: 'a review that asks for changes', result: needsChanges('a') }],
  },
  {
    signal: 'non_progress',
    quiet: [completed({ summary: 'all fine' }), reviewer({ assessment: 'blocked' })],
    raising: reviewer({ assessment: 'blocked', required_fixes: ['ask the owner of the API'] }),
    count: 2,
    evidence: ['ask the owner of the API'],
    resets: [approval, completion],
    keeps: [],
  },
  {
    signal: 'ping_pong',
    quiet: [completed(), needsChanges('a', 'b', 'c'), completed(), needsChanges('d', 'e'), completed()],
    raising: needsChanges('close the file', 'name the field'),
    count: 2,
    evidence: ['close the file', 'name the field'],
    resets: [approval],
    keeps: [completion, { name: 'a failure', result: failed() }],
  },
  {
    signal: 'ping_pong',
    quiet: [
      completed(),
      reviewer({ issues: [{ severity: 'critical', message: 'loses the last line' }] }),
      completed(),
    ],
    raising: reviewer({ issues: [{ severity: 'critical', message: 'loses the last line' }] }),
    count: 2,
    evidence: ['loses the last line'],
    resets: [approval],
    keeps: [completion],
  },
  {
    signal: 'same_fixes',
    quiet: [needsChanges('Check the bounds of line 7.')],
    raising: needsChanges('check the BOUNDS of line 12'),
    count: 2,
    evidence: ['check the BOUNDS of line 12 (2 times)'],
    resets: [approval],
    keeps: [completion, { name: 'a review that asks for something else', result: needsChanges('rename it') }],
  },
  {
    signal: 'same_test',
    quiet: [FAILING('expected 3 to be 4')],
    raising: FAILING('expected 5 to be 4'),
    count: 2,
    evidence: ['npm test: expected 5 to be 4 (2 times)'],
    resets: [
      approval,
      {
        name: 'a result in which the command passed',
        result: completed({ tests: [{ command: 'npm test', passed: true }] }),
      },
      { name: 'a result in which it failed in another way', result: FAILING('cannot find module') },
    ],
    keeps: [
      completion,
      {
        name: 'a result in which another command passed',
        result: completed({ tests: [{ command: 'npm run lint', passed: true }] }),
      },
    ],
  },
  {
    signal: 'same_files',
    // The first modification is work: the second one is the first repetition.
    quiet: [touching('no such file', 'src/a.ts', 'src/b.ts'), touching('out of memory', 'src/a.ts')],
    raising: touching('expected 3 to be 4', 'src/a.ts', 'src/c.ts'),
    count: 2,
    evidence: ['src/a.ts (2 times)'],
    resets: [approval],
    keeps: [completion, { name: 'work on another file', result: touching('timed out', 'src/d.ts') }],
  },
];

/** Work on files that a test sends back, in another way each time. */
function touching(failure: string, ...files_modified: readonly string[]): RoleResult {
  return completed({
    files_modified: [...files_modified],
    tests: [{ command: 'npm test', passed: false, failures: [failure] }],
  });
}
