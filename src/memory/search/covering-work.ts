import type { LikelyFile } from './likely-files.js';
import type { PastResults, PastRow } from './past-results.js';
import { BUSY, FILE_CLASSES } from './path-table.js';

/** A past task with the expected use of its line: the chance that it touched a file that the asked task will touch. */
export interface CoveringTask {
  readonly task: string;
  /** 0 to 1, for files that the tasks chosen before do not cover. */
  readonly use: number;
  /** Its files, the likeliest first, then by path. */
  readonly files: readonly string[];
  /** Tasks with the same files that are left out for it. */
  readonly alike: readonly string[];
}

/** Lines that are shown whatever their use, and at most. */
export const LEAST_WORK = 2;
export const MOST_WORK = 8;
/** Minimum expected use of a further line. */
const BAR = 0.08;
/** Each time a file is covered, the value of covering it again is multiplied by this. */
const AGAIN = 0.7;
/** A task with more files than this says less about each. */
const FOCUSED = 8;
/** Number of likely files that count. */
const COUNTED = 30;
/** A file that more results than this share, or number, touched says nothing about their subject. */
const BUSY_SHARE = 0.1;
const BUSY_RESULTS = 3;
/** The least chance of a file that alone makes a task related. */
const FOCUS = 0.1;
/** Share of common words at which two tasks with the same files count as alike. */
const ALIKE = 0.5;

interface Candidate {
  readonly task: string;
  /** Distinct path numbers. */
  files: readonly number[];
  /** Words of its newest result. */
  readonly tokens: readonly number[];
  use: number;
}

/**
 * Chooses the past tasks that are worth a line: each touched files that the asked task will likely touch and that the
 * tasks before it do not cover. Equal ones are chosen newest first. One that shares only busy files is not related.
 *
 * @param words rare words of the asked task and its likely files
 * @param isTold true if there is a line for the task
 */
export function coveringTasks(
  past: PastResults,
  likely: readonly Pick<LikelyFile, 'path' | 'score'>[],
  words: ReadonlySet<string>,
  isTold: (task: string) => boolean,
): CoveringTask[] {
  const { paths, classes } = past.paths;
  /** By path number: the chance that the task touches the file, and that of it which no chosen task covers. */
  const worth = new Float64Array(paths.length);
  for (const { path, score } of likely.slice(0, COUNTED)) {
    const id = past.paths.idOf(path);
    if (id !== undefined && !BUSY.has(FILE_CLASSES[classes[id] ?? 0] ?? 'src')) worth[id] = score;
  }
  const chance = worth.slice();
  const shared = new Set([...words].flatMap((word) => past.wordOf(word) ?? []));
  const mostUses = Math.max(BUSY_RESULTS, BUSY_SHARE * past.total);
  const isFocused = (file: number) => (worth[file] ?? 0) >= FOCUS && (past.uses[file] ?? 0) <= mostUses;
  const candidates = candidatesOf(past, worth).filter(
    ({ task, tokens, files }) =>
      (files.some(isFocused) || tokens.some((token) => shared.has(token))) && isTold(task),
  );
  for (const candidate of candidates) candidate.use = useOf(candidate, chance);
  const chosen: CoveringTask[] = [];
  while (chosen.length < MOST_WORK) {
    let best: Candidate | undefined;
    for (const candidate of candidates) {
      // A use only falls, so one that was lower already need not be computed again.
      if (candidate.use <= (best?.use ?? 0)) continue;
      candidate.use = useOf(candidate, chance);
      if (candidate.use > (best?.use ?? 0)) best = candidate;
    }
    if (best === undefined || (best.use < BAR && chosen.length >= LEAST_WORK)) break;
    const { task, use, files } = best;
    const like = best;
    const alike = candidates.filter(
      (candidate) => candidate !== like && candidate.use > 0 && areAlike(like, candidate),
    );
    for (const candidate of [best, ...alike]) candidate.use = 0;
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
    if (known === undefined) found.set(task, { task, files, tokens, use: 0 });
    else known.files = [...new Set([...known.files, ...files])];
  }
  return [...found.values()];
}

function useOf({ files }: Candidate, chance: Float64Array): number {
  let none = 1;
  for (let at = 0; at < files.length; at += 1) none *= 1 - (chance[files[at] as number] ?? 0);
  return (1 - none) * Math.min(1, Math.sqrt(FOCUSED / files.length));
}

function areAlike(one: Candidate, other: Candidate): boolean {
  if (one.files.length !== other.files.length || !other.files.every((file) => one.files.includes(file)))
    return false;
  const words = new Set(one.tokens);
  const common = other.tokens.filter((word) => words.has(word)).length;
  return common >= ALIKE * (one.tokens.length + other.tokens.length - common);
}
