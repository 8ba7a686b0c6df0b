import { BUSY, FILE_CLASSES } from './file-class.js';
import type { LikelyFile } from './likely-files.js';
import type { PastResults } from './past-results.js';

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
const LEAST = 3;
const MOST = 24;
/** Minimum expected use of a further line. */
const BAR = 0.035;
/** Each time a file is covered, the value of covering it again is multiplied by this. */
const AGAIN = 0.5;
/** A task with more files than this says less about each. */
const FOCUSED = 8;
/** Number of likely files that count. */
const COUNTED = 30;
/** Share of common words at which two tasks with the same files count as alike. */
const ALIKE = 0.5;

interface Candidate {
  readonly task: string;
  readonly files: Set<number>;
  /** Words of its newest result. */
  readonly tokens: readonly number[];
  use: number;
}

/** The past tasks that are worth a line, and all tasks whose files are known. */
export interface CoveringWork {
  readonly chosen: readonly CoveringTask[];
  readonly known: ReadonlySet<string>;
}

/**
 * Chooses the past tasks that are worth a line: each touched files that the asked task will likely touch and that the
 * tasks before it do not cover. Equal ones are chosen newest first.
 *
 * @param isTold true if there is a line for the task
 */
export function coveringTasks(
  past: PastResults,
  likely: readonly Pick<LikelyFile, 'path' | 'score'>[],
  isTold: (task: string) => boolean,
): CoveringWork {
  const { paths, classes } = past.paths;
  const worth = new Map<number, number>();
  for (const { path, score } of likely.slice(0, COUNTED)) {
    const id = past.paths.idOf(path);
    if (id !== undefined && !BUSY.has(FILE_CLASSES[classes[id] ?? 0] ?? 'src')) worth.set(id, score);
  }
  const candidates = candidatesOf(past, worth).filter(({ task }) => isTold(task));
  const chosen: CoveringTask[] = [];
  const chance = new Map(worth);
  for (const each of candidates) each.use = useOf(each, chance);
  while (chosen.length < MOST) {
    let best: Candidate | undefined;
    for (const each of candidates) {
      // A use only falls, so one that was lower already need not be computed again.
      if (each.use <= (best?.use ?? 0)) continue;
      each.use = useOf(each, chance);
      if (each.use > (best?.use ?? 0)) best = each;
    }
    if (best === undefined || (best.use < BAR && chosen.length >= LEAST)) break;
    const { task, use } = best;
    const like = best;
    const alike = candidates.filter((each) => each !== like && each.use > 0 && areAlike(like, each));
    for (const each of [best, ...alike]) each.use = 0;
    for (const file of best.files) if (chance.has(file)) chance.set(file, (chance.get(file) ?? 0) * AGAIN);
    const files = [...best.files].sort(
      (a, b) => (worth.get(b) ?? 0) - (worth.get(a) ?? 0) || ((paths[a] ?? '') < (paths[b] ?? '') ? -1 : 1),
    );
    chosen.push({
      ...{ task, use },
      files: files.map((file) => paths[file] ?? ''),
      alike: alike.map((each) => each.task),
    });
  }
  return { chosen, known: new Set(past.rows.map(({ task }) => task)) };
}

/** Returns the tasks that touched a likely file, those with the newest results first. */
function candidatesOf({ rows }: PastResults, worth: ReadonlyMap<number, number>): Candidate[] {
  const found = new Map<string, Candidate>();
  for (let place = rows.length - 1; place >= 0; place -= 1) {
    const row = rows[place];
    if (row === undefined || !row.files.some((file) => worth.has(file))) continue;
    const known = found.get(row.task) ?? {
      ...{ task: row.task, files: new Set<number>() },
      ...{ tokens: row.tokens, use: 0 },
    };
    found.set(row.task, known);
    for (const file of row.files) known.files.add(file);
  }
  return [...found.values()];
}

function useOf({ files }: Candidate, chance: ReadonlyMap<number, number>): number {
  let none = 1;
  for (const file of files) none *= 1 - (chance.get(file) ?? 0);
  return (1 - none) * Math.min(1, Math.sqrt(FOCUSED / files.size));
}

function areAlike(one: Candidate, other: Candidate): boolean {
  if (one.files.size !== other.files.size) return false;
  for (const file of one.files) if (!other.files.has(file)) return false;
  const words = new Set(one.tokens);
  const common = other.tokens.filter((word) => words.has(word)).length;
  return common >= ALIKE * (one.tokens.length + other.tokens.length - common);
}
