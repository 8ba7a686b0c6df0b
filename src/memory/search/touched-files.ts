import type { PastResults } from './past-results.js';

/** Files that results touched, and pairs that change together. */
interface TouchedFiles {
  readonly files: { readonly path: string; readonly uses: number; readonly tasks: string[] }[];
  /** Indices into `files`. */
  readonly links: { readonly from: number; readonly to: number; readonly together: number }[];
  /** Number of matching files. */
  readonly total: number;
}

const MAX_TASKS = 10;
const MAX_LINKS = 200;
/** A result with more files says little about pairs. */
const MOST_TOGETHER = 40;

/**
 * Returns the most used files, then by path.
 *
 * @param text words that the path contains, in any order and case
 */
export function touchedFiles(
  past: PastResults,
  { text = '', limit }: { readonly text?: string | undefined; readonly limit: number },
): TouchedFiles {
  const words = text.toLowerCase().split(/\s+/);
  const { paths } = past.paths;
  const fitting = paths.flatMap((path, id) => {
    const uses = past.uses[id] ?? 0;
    const lower = path.toLowerCase();
    return uses > 0 && words.every((word) => lower.includes(word)) ? [{ id, path, uses }] : [];
  });
  fitting.sort((a, b) => b.uses - a.uses || (a.path < b.path ? -1 : 1));
  const shown = fitting.slice(0, limit).map((file) => ({ ...file, tasks: new Set<string>() }));
  const places = new Map(shown.map(({ id }, index) => [id, index]));
  const together = new Map<number, number>();
  for (const { task, files } of past.rows.toReversed()) {
    const touched = files.flatMap((id) => places.get(id) ?? []).sort((a, b) => a - b);
    for (const place of touched) {
      const tasks = shown[place]?.tasks;
      if (tasks !== undefined && tasks.size < MAX_TASKS) tasks.add(task);
    }
    if (files.length > MOST_TOGETHER) continue;
    for (const [index, from] of touched.entries())
      for (const to of touched.slice(index + 1)) {
        const pair = from * shown.length + to;
        together.set(pair, (together.get(pair) ?? 0) + 1);
      }
  }
  const links = [...together].map(([pair, count]) => ({
    from: Math.floor(pair / shown.length),
    to: pair % shown.length,
    together: count,
  }));
  links.sort((a, b) => b.together - a.together || a.from - b.from || a.to - b.to);
  return {
    files: shown.map(({ path, uses, tasks }) => ({ path, uses, tasks: [...tasks] })),
    links: links.slice(0, MAX_LINKS),
    total: fitting.length,
  };
}
