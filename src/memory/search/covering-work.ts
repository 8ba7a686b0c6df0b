import { type LikelyFile, namedFiles } from './likely-files.js';
import type { PastResults, PastRow } from './past-results.js';
import { BUSY, FILE_CLASSES } from './path-table.js';
import { isTelling, queryTokens, rarity, withoutType } from './tokens.js';

/** A past task with the expected use of its line: the chance that the asked task will touch a fifth of its files. */
export interface CoveringTask {
  readonly task: string;
  /** 0 to 1. */
  readonly use: number;
  /** Its files, the likeliest first, then by path. */
  readonly files: readonly string[];
  /** Tasks with the same files that are left out for it. */
  readonly alike: readonly string[];
}

/** The first lines need less use than the others. */
const LEAST_WORK = 3;
export const MOST_WORK = 8;
const BAR = 0.28;
const FIRST_BAR = 0.12;
/** The same after few results, where every word is common. */
export const EARLY = { results: 50, bar: 0.05 } as const;
/** Each time a file is covered, the value of covering it again is multiplied by this; a part of a task's use never falls. */
const AGAIN = 0.5;
const NEW_SHARE = 0.5;
/**
 * The log odds that a task is of use, that is that a fifth of its files will be touched: for the chance that it shares a file,
 * the share of the query's weight that its words have, and its number of files, since a sweep over many shares some by chance.
 * Fitted on three histories; see docs/contributing/benchmarks.md.
 */
const ODDS = { base: -0.26, any: 0.93, words: 1.89, files: -0.59 } as const;
/** Its best files that count: files that always change together say the same. */
const BEST_FILES = 3;
const COUNTED = 30;
const ABOUT_TESTS = ['<test>', 'test'];
/** Share of the words of the shorter one at which two tasks with the same files count as alike. */
const ALIKE = 0.5;

interface Candidate {
  readonly task: string;
  files: readonly number[];
  readonly tokens: readonly number[];
  use: number;
  /** Its use, less for files that chosen tasks cover. */
  more: number;
}

/**
 * Chooses the past tasks that are worth a line: each touched files that the asked task will likely touch and that the
 * tasks before it do not cover. Equal ones are chosen newest first. One that shares no telling word and no named file says no
 * more than its files, which the prompt lists, and is not related; the scope of a commit, as in `fix(core): …`, does not count.
 * To a task about tests only work on tests is related.
 *
 * @param text the asked task in words
 * @param hasLine true if there is a line for the task
 */
export function coveringTasks(
  past: PastResults,
  likely: readonly Pick<LikelyFile, 'path' | 'score'>[],
  text: string,
  hasLine: (task: string) => boolean,
): CoveringTask[] {
  const { paths, classes } = past.paths;
  /** By path number: the chance that the task touches the file, and that of it which no chosen task covers. */
  const worth = new Float64Array(paths.length);
  for (const { path, score } of likely.slice(0, COUNTED)) {
    const id = past.paths.idOf(path);
    if (id !== undefined && !BUSY.has(FILE_CLASSES[classes[id] ?? 0] ?? 'src')) worth[id] = score;
  }
  const chance = worth.slice();
  const telling = sharesOf(past, text);
  const body = sharesOf(past, withoutType(text));
  const subject = body.size > 0 ? body : telling;
  const tests = ABOUT_TESTS.flatMap((token) => past.wordOf(token) ?? []);
  const isEarly = past.rows.length < EARLY.results;
  const isAboutTests = !isEarly && queryTokens(text).some((token) => ABOUT_TESTS.includes(token));
  const isRelated = ({ tokens }: Candidate) =>
    tokens.some((word) => subject.has(word)) &&
    (!isAboutTests || tokens.some((word) => tests.includes(word)));
  const named = namedFiles(past, text);
  const candidates = candidatesOf(past, worth).flatMap((candidate) => {
    const { task, tokens, files } = candidate;
    const words = tokens.reduce((sum, word) => sum + (telling.get(word) ?? 0), 0);
    if ((!isRelated(candidate) && !files.some((file) => named.has(file))) || !hasLine(task)) return [];
    const use = useOf(files, worth, words);
    return [{ ...candidate, use, more: use }];
  });
  const firstBar = isEarly ? EARLY.bar : FIRST_BAR;
  const chosen: CoveringTask[] = [];
  while (chosen.length < MOST_WORK) {
    let best: Candidate | undefined;
    for (const candidate of candidates) {
      // It only falls, so one that was lower already need not be computed again.
      if (candidate.more <= (best?.more ?? 0)) continue;
      candidate.more = candidate.use * newShare(candidate.files, worth, chance);
      if (candidate.more > (best?.more ?? 0)) best = candidate;
    }
    if (best === undefined || best.more < (chosen.length < LEAST_WORK ? firstBar : BAR)) break;
    const { task, use, files } = best;
    const like = best;
    const alike = candidates.filter(
      (candidate) => candidate !== like && candidate.use > 0 && areAlike(like, candidate),
    );
    for (const candidate of [best, ...alike]) {
      candidate.use = 0;
      candidate.more = 0;
    }
    for (const file of files) chance[file] = (chance[file] ?? 0) * AGAIN;
    const pathOf = (file: number) => paths[file] ?? '';
    const inOrder = [...files].sort(
      (a, b) => (worth[b] ?? 0) - (worth[a] ?? 0) || (pathOf(a) < pathOf(b) ? -1 : 1),
    );
    chosen.push({ task, use, files: inOrder.map(pathOf), alike: alike.map((candidate) => candidate.task) });
  }
  return chosen;
}

/** Returns the tasks that touched a likely file, those with the newest results first. */
function candidatesOf({ rows }: PastResults, worth: Float64Array): Candidate[] {
  const found = new Map<string, Candidate>();
  for (let place = rows.length - 1; place >= 0; place -= 1) {
    const { task, files, tokens } = rows[place] as PastRow;
    let isLikely = false;
    for (let at = 0; at < files.length && !isLikely; at += 1)
      isLikely = (worth[files[at] as number] ?? 0) > 0;
    if (!isLikely) continue;
    const known = found.get(task);
    if (known === undefined) found.set(task, { task, files, tokens, use: 0, more: 0 });
    else known.files = [...new Set([...known.files, ...files])];
  }
  return [...found.values()];
}

function useOf(files: readonly number[], worth: Float64Array, words: number): number {
  const chances = files.map((file) => worth[file] ?? 0).sort((a, b) => b - a);
  const none = chances.slice(0, BEST_FILES).reduce((product, chance) => product * (1 - chance), 1);
  const sum =
    ODDS.base + ODDS.any * logOdds(1 - none) + ODDS.words * words + ODDS.files * Math.log(files.length);
  return 1 / (1 + Math.exp(-sum));
}

/** Finite also for 0 and 1. */
function logOdds(chance: number): number {
  return Math.log((chance + 0.005) / (1.005 - chance));
}

function newShare(files: readonly number[], worth: Float64Array, chance: Float64Array): number {
  let [all, left] = [0, 0];
  for (let at = 0; at < files.length; at += 1) {
    all += worth[files[at] as number] ?? 0;
    left += chance[files[at] as number] ?? 0;
  }
  return 1 - NEW_SHARE + (NEW_SHARE * left) / all;
}

/** Returns the words of a query that tell its subject, with the share of the query's weight that each has. */
export function sharesOf(past: PastResults, text: string): ReadonlyMap<number, number> {
  const weights = new Map<number, number>();
  let whole = 1;
  for (const token of queryTokens(text)) {
    const word = past.wordOf(token);
    const weight = rarity(word === undefined ? 0 : (past.holders[word] ?? 0), past.rows.length);
    whole += weight;
    // An action such as `fix` says nothing about the subject.
    if (word !== undefined && isTelling(token) && !token.startsWith('<')) weights.set(word, weight);
  }
  return new Map([...weights].map(([word, weight]) => [word, weight / whole]));
}

function areAlike(one: Candidate, other: Candidate): boolean {
  if (one.files.length !== other.files.length || !other.files.every((file) => one.files.includes(file)))
    return false;
  const words = new Set(one.tokens);
  const common = other.tokens.filter((word) => words.has(word)).length;
  return common >= ALIKE * Math.min(one.tokens.length, other.tokens.length);
}
