import type { PastResults } from './past-results.js';

const MAX_TASKS = 10;

/**
 * Returns the files that results touched, the most used first, then by path, and the number of all that match.
 *
 * @param text words that the path contains, in any order and case
 */
export function touchedFiles(
  past: PastResults,
  { text = '', limit }: { readonly text?: string | undefined; readonly limit: number },
) {
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
  for (const { task, files } of past.rows.toReversed())
    for (const id of files) {
      const tasks = shown[places.get(id) ?? -1]?.tasks;
      if (tasks !== undefined && tasks.size < MAX_TASKS) tasks.add(task);
    }
  return {
    files: shown.map(({ path, uses, tasks }) => ({ path, uses, tasks: [...tasks] })),
    total: fitting.length,
  };
}
