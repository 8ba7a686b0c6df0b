import { oneLine } from '../../shared/text.js';
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

/** Characters around a path in a sentence. */
const BETWEEN = /[\s"'`,;|<>]+/;
const BEFORE = '([{*';
const AFTER = ')]}*.!?:';
const LINE = /:\d+(?::\d+)?$/;
/** Limit of folders in a path. */
const MAX_SEGMENTS = 32;

/** Returns words that may be paths or file names: `src/a.ts` in `see (src/a.ts:12).` */
export function fileWords(text: string): string[] {
  const found = new Set<string>();
  for (const word of text.split(BETWEEN))
    for (const form of [word, bare(word)]) {
      const path = form.replace(LINE, '');
      if (/[^.][./]|[./][^.]/.test(path) || /^[A-Z]/.test(path)) found.add(path);
    }
  return [...found];
}

/** Strips surrounding punctuation. */
function bare(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && BEFORE.includes(word.charAt(start))) start += 1;
  while (end > start && AFTER.includes(word.charAt(end - 1))) end -= 1;
  return word.slice(start, end);
}

/** True if a word is the path, its end, or a longer path that ends with it. */
export function isNamed(path: string, words: readonly string[]): boolean {
  return words.some((word) => {
    const plain = word.replaceAll('\\', '/').replace(/^\.\//, '');
    return plain === path || path.endsWith(`/${plain}`) || (path.includes('/') && plain.endsWith(`/${path}`));
  });
}

/** Returns the longest known end of a path: results name files relative to the project, agents often absolute. */
export function endOf(path: string, isKnown: (end: string) => boolean): string | undefined {
  const segments = path
    .replaceAll('\\', '/')
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.');
  const ends = segments.slice(0, MAX_SEGMENTS).map((_, at) => segments.slice(at).join('/'));
  return isKnown(path) ? path : ends.find(isKnown);
}

/** Normalizes a path of the project. */
export function knownAs(path: string): string {
  return oneLine(path).replace(/^\.\//, '');
}
