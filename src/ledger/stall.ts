import { kindOf } from '../contracts/kinds.js';
import type { StallSignal } from '../contracts/session-meta-events.js';
import type { OutcomeDigest } from './outcome-digest.js';

/**
 * Signs that a task is stalled. Each has a counter, and evidence for the agent that has to plan it again:
 *
 * - `non_progress`: outcomes blocked or failed, one after the other; a completed result or an approval ends them
 * - `ping_pong`: rounds of a completed result that a review sends back; an approval ends them
 * - `same_fixes`: how often the most repeated required fix was asked for; an approval ends it
 * - `same_test`: how often a test command failed in the same way, one result after the other; its passing ends it
 * - `same_files`: how often the most repeated file was modified again, after work on it was sent back: by a review, by a
 *   test that failed, or by a result that was not completed; an approval ends it
 *
 * Only approvals end what rounds of work and review build up: a completed result is a part of the circle.
 */

/** Counts at which each signal raises the flag. */
export type StallThresholds = Readonly<Record<StallSignal, number>>;

const DEFAULT_STALL_THRESHOLD = 2;

/** The same threshold for every signal. */
export function stallThresholds(threshold = DEFAULT_STALL_THRESHOLD): StallThresholds {
  return {
    non_progress: threshold,
    ping_pong: threshold,
    same_fixes: threshold,
    same_test: threshold,
    same_files: threshold,
  };
}

/** Counters of one task, as plain JSON. */
export interface StallCounters {
  readonly nonProgress: number;
  readonly pingPong: number;
  /** Whether the newest implementer result waits for its review. */
  readonly awaitsReview: boolean;
  /** Whether the newest outcome calls for another try: what is modified then is modified again. */
  readonly sentBack: boolean;
  /** By normalised text. */
  readonly fixes: readonly Repeated[];
  /** By command and normalised failure. */
  readonly tests: readonly Repeated[];
  /** By path; the count is that of the first modification and of those in another try. */
  readonly files: readonly Repeated[];
}

interface Repeated {
  readonly key: string;
  /** As it was last written. */
  readonly text: string;
  readonly count: number;
}

/** A signal over its threshold. */
export interface RaisedSignal {
  readonly signal: StallSignal;
  readonly count: number;
  readonly threshold: number;
  readonly evidence: readonly string[];
}

const MAX_TRACKED = 30;
const MAX_EVIDENCE = 3;

export const NO_STALL: StallCounters = {
  nonProgress: 0,
  pingPong: 0,
  awaitsReview: false,
  sentBack: false,
  fixes: [],
  tests: [],
  files: [],
};

/** Counters after one more outcome. Outcomes come in the order of their dispatches. */
export function countStall(counters: StallCounters, outcome: OutcomeDigest): StallCounters {
  switch (kindOf(outcome.role).part) {
    case 'work':
      return countWork(counters, outcome);
    case 'review':
      return countReview(counters, outcome);
    case 'note':
      return counters;
  }
}

function countWork(counters: StallCounters, outcome: OutcomeDigest): StallCounters {
  const completed = outcome.verdict === 'completed';
  return {
    ...counters,
    nonProgress: completed ? 0 : counters.nonProgress + 1,
    awaitsReview: completed,
    sentBack: !completed || outcome.failed.length > 0,
    tests: countTests(counters.tests, outcome),
    files: repeat(
      counters.files,
      outcome.files.map((file) => ({ key: file, text: file })),
      counters.sentBack ? 1 : 0,
    ),
  };
}

function countReview(counters: StallCounters, { verdict, fixes }: OutcomeDigest): StallCounters {
  if (verdict === 'approved') return NO_STALL;
  if (verdict !== 'needs_changes')
    return { ...counters, nonProgress: counters.nonProgress + 1, awaitsReview: false, sentBack: true };
  return {
    ...counters,
    pingPong: counters.awaitsReview ? counters.pingPong + 1 : counters.pingPong,
    awaitsReview: false,
    sentBack: true,
    fixes: repeat(
      counters.fixes,
      fixes.map((fix) => ({ key: normalised(fix), text: fix })),
    ),
  };
}

/** Signals over their thresholds, with their evidence. None: the task is not stalled. */
export function raisedSignals(
  counters: StallCounters,
  thresholds: StallThresholds,
  lastFixes: readonly string[],
  lastProblem: string,
): RaisedSignal[] {
  const raised = (signal: StallSignal, count: number, evidence: readonly string[]): RaisedSignal[] => {
    const threshold = thresholds[signal];
    return count >= threshold
      ? [{ signal, count, threshold, evidence: evidence.slice(0, MAX_EVIDENCE) }]
      : [];
  };
  // A file's first modification is work; only further ones repeat it.
  const again = counters.files.map((file) => ({ ...file, count: file.count - 1 }));
  return [
    ...raised('non_progress', counters.nonProgress, lastProblem === '' ? [] : [lastProblem]),
    ...raised('ping_pong', counters.pingPong, lastFixes),
    ...raised('same_fixes', most(counters.fixes), worst(counters.fixes, thresholds.same_fixes)),
    ...raised('same_test', most(counters.tests), worst(counters.tests, thresholds.same_test)),
    ...raised('same_files', most(again), worst(again, thresholds.same_files)),
  ];
}

/** Text by which two wordings of the same thing are told to be the same: case, punctuation and numbers folded. */
export function normalised(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\d+(?:\.\d+)*/g, '#')
    .replace(/[^\p{L}\p{M}#]+/gu, ' ')
    .trim();
}

function countTests(tests: readonly Repeated[], outcome: OutcomeDigest): Repeated[] {
  const failing = outcome.failed.map(({ command, failures: [failure = ''] }) => ({
    key: `${command}\n${normalised(failure)}`,
    text: failure === '' ? command : `${command}: ${failure}`,
  }));
  const rerun = [...outcome.passed, ...outcome.failed.map((test) => test.command)];
  // A command that passed, or failed in another way, has moved on.
  const standing = tests.filter(
    (test) =>
      failing.some(({ key }) => key === test.key) ||
      !rerun.some((command) => test.key.startsWith(`${command}\n`)),
  );
  return repeat(standing, failing);
}

/**
 * Adds one (or `by`) to each item named, once however often it is named; a new one counts one. Beyond a bound the least
 * repeated are forgotten, of those the ones named longest ago: else what begins to repeat itself late would never be
 * counted.
 */
function repeat(
  items: readonly Repeated[],
  named: readonly { key: string; text: string }[],
  by = 1,
): Repeated[] {
  const byKey = new Map(items.map((item) => [item.key, item]));
  for (const { key, text } of new Map(named.map((each) => [each.key, each])).values()) {
    const known = byKey.get(key);
    const count = known === undefined ? 1 : known.count + by;
    byKey.delete(key);
    byKey.set(key, { key, text, count });
  }
  const all = [...byKey.values()];
  if (all.length <= MAX_TRACKED) return all;
  return all
    .reverse()
    .sort((a, b) => b.count - a.count)
    .slice(0, MAX_TRACKED)
    .reverse();
}

function most(items: readonly Repeated[]): number {
  return items.reduce((highest, item) => Math.max(highest, item.count), 0);
}

function worst(items: readonly Repeated[], threshold: number): string[] {
  return items
    .filter((item) => item.count >= threshold)
    .sort((a, b) => b.count - a.count)
    .map((item) => `${item.text} (${item.count} times)`);
}
