import { z } from 'zod';
import { kindOf } from '../contracts/kinds.js';
import type { Output } from '../contracts/schema-fields.js';
import type { StallSignal } from '../contracts/session-meta-events.js';
import type { OutcomeDigest } from './outcome-digest.js';

/**
 * Signs that a task is stalled, each with a counter and evidence for replanning:
 *
 * - `non_progress`: consecutive blocked or failed outcomes; reset by a completed result or an approval
 * - `ping_pong`: completed results that a review sent back with something again: a finding of an earlier round, a test that
 *   fails as before, no fewer findings in the same files, or no fewer findings at all from the third round on; reset by
 *   an approval
 * - `same_fixes`: repetitions of the most frequent required fix; reset by an approval
 * - `same_test`: consecutive failures of a test command in the same way; reset when it passes
 * - `same_files`: repeated modifications of the most frequent file after work on it was sent back by a review, a failed
 * test or an incomplete result; reset by an approval
 *
 * Only approvals reset what review rounds build up, because a completed result is part of the loop.
 */

/** The count at which a signal is raised. */
const THRESHOLD = 2;

/** `text` is the latest wording. */
const repeated = z.object({ key: z.string(), text: z.string(), count: z.number() });
type Repeated = Output<typeof repeated>;

export const stallCounters = z.object({
  nonProgress: z.number(),
  pingPong: z.number(),
  /** True if the newest work result has no review yet. */
  awaitsReview: z.boolean(),
  sentBack: z.boolean(),
  /** Reviews that sent completed work back since the last approval, whether or not anything came again. */
  rounds: z.number(),
  /** Findings of the newest review. */
  found: z.number(),
  /** The files of its issues, as one key. */
  fileSet: z.string(),
  /** By normalised text: issues as well as required fixes. */
  findings: z.array(repeated),
  fixes: z.array(repeated),
  /** By command and normalised failure. */
  tests: z.array(repeated),
  files: z.array(repeated),
});
export type StallCounters = Output<typeof stallCounters>;

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
  rounds: 0,
  found: 0,
  fileSet: '',
  findings: [],
  fixes: [],
  tests: [],
  files: [],
};

/** Outcomes must be folded in the order of their dispatches. */
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
  const files = outcome.files.map((file) => ({ key: file, text: file }));
  return {
    ...counters,
    nonProgress: completed ? 0 : counters.nonProgress + 1,
    awaitsReview: completed,
    sentBack: !completed || outcome.failed.length > 0,
    tests: countTests(counters.tests, outcome),
    files: repeat(counters.files, files, counters.sentBack ? 1 : 0),
  };
}

function countReview(counters: StallCounters, { verdict, fixes, issues }: OutcomeDigest): StallCounters {
  if (verdict === 'approved') return NO_STALL;
  if (verdict !== 'needs_changes')
    return { ...counters, nonProgress: counters.nonProgress + 1, awaitsReview: false, sentBack: true };
  const texts = [...issues.map(({ file = '', message }) => `${file} ${message}`), ...fixes];
  const findings = repeat(counters.findings, texts.map(wording));
  const keys = new Set(texts.map(normalised));
  const found = Math.max(issues.length, fixes.length);
  const fileSet = [...new Set(issues.flatMap(({ file }) => file ?? []))].sort().join('\n');
  const isLess = found < counters.found;
  const again =
    most(counters.tests) > 1 ||
    (fileSet !== '' && fileSet === counters.fileSet && !isLess) ||
    findings.some(({ key, count }) => count > 1 && keys.has(key)) ||
    (counters.rounds >= 2 && !isLess);
  const { awaitsReview, pingPong, rounds } = counters;
  return {
    ...counters,
    // The first repetition makes two rounds that are alike.
    pingPong: awaitsReview && again ? Math.max(pingPong, 1) + 1 : pingPong,
    rounds: awaitsReview ? rounds + 1 : rounds,
    found,
    fileSet,
    findings,
    awaitsReview: false,
    sentBack: true,
    fixes: repeat(counters.fixes, fixes.map(wording)),
  };
}

function wording(text: string) {
  return { key: normalised(text), text };
}

export function raisedSignals(
  counters: StallCounters,
  lastFixes: readonly string[],
  lastProblem: string,
): RaisedSignal[] {
  const raised = (signal: StallSignal, count: number, evidence: readonly string[]): RaisedSignal[] => {
    if (count < THRESHOLD) return [];
    return [{ signal, count, threshold: THRESHOLD, evidence: evidence.slice(0, MAX_EVIDENCE) }];
  };
  // The first modification of a file is not a repetition.
  const again = counters.files.map((file) => ({ ...file, count: file.count - 1 }));
  return [
    ...raised('non_progress', counters.nonProgress, lastProblem === '' ? [] : [lastProblem]),
    ...raised('ping_pong', counters.pingPong, lastFixes),
    ...raised('same_fixes', most(counters.fixes), worst(counters.fixes)),
    ...raised('same_test', most(counters.tests), worst(counters.tests)),
    ...raised('same_files', most(again), worst(again)),
  ];
}

/** Folds case, punctuation and numbers, so that two wordings of one thing compare equal. */
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
  // A command that passed or failed differently has made progress.
  const standing = tests.filter(
    (test) =>
      failing.some(({ key }) => key === test.key) ||
      !rerun.some((command) => test.key.startsWith(`${command}\n`)),
  );
  return repeat(standing, failing);
}

/** Adds `by` to each named item. Drops the least repeated, the oldest first: else a late repetition would never be counted. */
function repeat(items: readonly Repeated[], named: readonly Omit<Repeated, 'count'>[], by = 1): Repeated[] {
  const byKey = new Map(items.map((item) => [item.key, item]));
  for (const { key, text } of new Map(named.map((entry) => [entry.key, entry])).values()) {
    const known = byKey.get(key);
    const count = known === undefined ? 1 : known.count + by;
    byKey.delete(key);
    byKey.set(key, { key, text, count });
  }
  const all = [...byKey.values()];
  if (all.length <= MAX_TRACKED) return all;
  const newest = all.reverse().sort((a, b) => b.count - a.count);
  return newest.slice(0, MAX_TRACKED).reverse();
}

function most(items: readonly Repeated[]): number {
  return items.reduce((highest, item) => Math.max(highest, item.count), 0);
}

function worst(items: readonly Repeated[]): string[] {
  return items
    .filter((item) => item.count >= THRESHOLD)
    .sort((a, b) => b.count - a.count)
    .map((item) => `${item.text} (${item.count} times)`);
}
