import { addTo, onceFor } from '../../shared/collections.js';
import { oneLine } from '../../shared/text.js';
import { MAX_QUERY, plainWords, tokens } from './tokens.js';

/** Interned paths with their search data, built by the first query. Append-only: copies of a memory share one table. */
export class PathTable {
  readonly paths: string[] = [];
  readonly #ids = new Map<string, number>();
  readonly #classes: number[] = [];
  readonly #weights: number[] = [];
  readonly #byToken = new Map<string, number[]>();
  readonly #byName = new Map<string, number[]>();

  add(path: string): number {
    const known = this.#ids.get(path);
    if (known !== undefined) return known;
    const id = this.paths.push(path) - 1;
    this.#ids.set(path, id);
    return id;
  }

  /** Returns undefined for a path that was never added. */
  idOf(path: string): number | undefined {
    return this.#ids.get(path);
  }

  get classes(): readonly number[] {
    this.#index();
    return this.#classes;
  }

  /** Weight of a match by path number; lower for long paths. */
  get weights(): readonly number[] {
    this.#index();
    return this.#weights;
  }

  withToken(token: string): readonly number[] {
    this.#index();
    return this.#byToken.get(token) ?? NONE;
  }

  /** Returns paths with a folder or file of this name, reduced to letters and digits. */
  withName(name: string): readonly number[] {
    this.#index();
    return this.#byName.get(name) ?? NONE;
  }

  #index(): void {
    for (let id = this.#classes.length; id < this.paths.length; id += 1) {
      const path = this.paths[id] ?? '';
      this.#classes.push(FILE_CLASSES.indexOf(fileClass(path)));
      this.#weights.push(1 / (0.5 + 0.5 * Math.sqrt(plainWords(path).length)));
      // The slash prevents a first word from being read as a verb.
      for (const token of tokens(`/${path}`)) addTo(this.#byToken, token, id);
      for (const name of namesOf(path)) addTo(this.#byName, name, id);
    }
  }
}

const NONE: readonly number[] = [];

/** Returns the names of the folders, and that of the file with and without its extensions. */
function namesOf(path: string): ReadonlySet<string> {
  const segments = path.split('/');
  const file = segments.at(-1) ?? '';
  const dots = [file.lastIndexOf('.'), file.indexOf('.', 1)].filter((dot) => dot > 0);
  const names = [...segments, ...dots.map((dot) => file.slice(0, dot))].map((name) =>
    plainWords(name).join(''),
  );
  return new Set(names.filter((name) => name.length > 1));
}

/** The kind of a file, by its path: similar tasks touch the same kinds. */
export const FILE_CLASSES = ['src', 'test', 'docs', 'config', 'ci', 'manifest', 'lock', 'changelog'] as const;
export type FileClass = (typeof FILE_CLASSES)[number];

/** Most results touch these, whatever their subject, so that they say nothing about it. */
export const BUSY: ReadonlySet<FileClass> = new Set(['lock', 'manifest', 'changelog']);

const PATTERNS: readonly (readonly [FileClass, RegExp])[] = [
  [
    'lock',
    /(?:^|\/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|go\.sum|cargo\.lock|poetry\.lock|uv\.lock|composer\.lock|gemfile\.lock)$/,
  ],
  [
    'manifest',
    /(?:^|\/)(?:package\.json|jsr\.json|deno\.jsonc?|lerna\.json|go\.mod|cargo\.toml|pyproject\.toml|setup\.py|setup\.cfg|requirements[^/]{0,30}\.txt|composer\.json|gemfile|pom\.xml|build\.gradle)$/,
  ],
  ['changelog', /(?:^|\/)(?:changelog|changes|history|releases?)(?:\.[a-z]{1,8})?$/],
  ['ci', /^\.github\/|^\.circleci\/|^\.gitlab-ci|^\.travis|(?:^|\/)jenkinsfile$/],
  [
    'test',
    /(?:^|\/)(?:tests?|__tests__|specs?|e2e|testdata|fixtures|runtime[-_]tests?)\/|[._-](?:test|spec)\.[a-z]{1,5}$|(?:^|\/)test_[^/]{1,100}\.py$/,
  ],
  ['docs', /\.(?:md|mdx|rst|txt|adoc)$|(?:^|\/)docs?\//],
  [
    'config',
    /\.(?:json|jsonc|ya?ml|toml|ini|cfg)$|\.config\.[a-z]{1,5}$|(?:^|\/)\.[^/]{1,60}$|(?:^|\/)(?:makefile|dockerfile)$/,
  ],
];

export function fileClass(path: string): FileClass {
  const plain = path.toLowerCase();
  return PATTERNS.find(([, pattern]) => pattern.test(plain))?.[0] ?? 'src';
}

const BETWEEN = /[\s"'`,;|<>]+/;
const BEFORE = '([{*';
const AFTER = ')]}*.!?:';
const LINE = /:\d+(?::\d+)?$/;
const MAX_SEGMENTS = 32;

/** Returns words that may be paths or file names: `src/a.ts` in `see (src/a.ts:12).` */
export function fileWords(text: string): string[] {
  const found = new Set<string>();
  for (const word of text.split(BETWEEN))
    for (const form of [word, unwrapped(word)]) {
      const path = form.replace(LINE, '');
      if (/[^.][./]|[./][^.]/.test(path) || /^[A-Z]/.test(path)) found.add(path);
    }
  return [...found];
}

/** Returns the words of a query that may be paths. Several searches of a prompt need them. */
export const queryPaths = onceFor((query: string): readonly string[] => fileWords(query.slice(0, MAX_QUERY)));

function unwrapped(word: string): string {
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

export function knownAs(path: string): string {
  return oneLine(path).replace(/^\.\//, '');
}
