/** Characters that a path in a sentence stands between. */
const BETWEEN = /[\s"'`,;|<>]+/;
const BEFORE = '([{*';
const AFTER = ')]}*.!?:';
const LINE = /:\d+(?::\d+)?$/;
/** Folders of a path that are looked at. */
const MAX_SEGMENTS = 32;

/** The words of a text that may be paths or names of files: `see (src/a.ts:12).` holds `src/a.ts`. */
export function fileWords(text: string): string[] {
  const found = new Set<string>();
  for (const word of text.split(BETWEEN))
    for (const form of [word, bare(word)]) {
      const path = form.replace(LINE, '');
      if (/[^.][./]|[./][^.]/.test(path) || /^[A-Z]/.test(path)) found.add(path);
    }
  return [...found];
}

/** A word without the punctuation around it. */
function bare(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && BEFORE.includes(word.charAt(start))) start += 1;
  while (end > start && AFTER.includes(word.charAt(end - 1))) end -= 1;
  return word.slice(start, end);
}

/** Whether such words name a file: by its path, an end of it, or a longer path that ends with it. */
export function isNamed(path: string, words: readonly string[]): boolean {
  return words.some((word) => {
    const plain = word.replaceAll('\\', '/').replace(/^\.\//, '');
    return plain === path || path.endsWith(`/${plain}`) || (path.includes('/') && plain.endsWith(`/${path}`));
  });
}

/** The longest end of a path that is known: results name files from the root of the project, agents often from that of the disk. */
export function endOf(path: string, isKnown: (end: string) => boolean): string | undefined {
  const segments = path
    .replaceAll('\\', '/')
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.');
  const ends = segments.slice(0, MAX_SEGMENTS).map((_, at) => segments.slice(at).join('/'));
  return isKnown(path) ? path : ends.find(isKnown);
}
