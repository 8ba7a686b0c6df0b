import { addTo } from '../../shared/collections.js';
import { FILE_CLASSES, fileClass } from './file-class.js';
import { plainWords, tokens } from './tokens.js';

/**
 * Interned paths with their search data. Append-only: copies of a memory share one table and know which paths are
 * theirs. Search data is built by the first query, since a fold may never need it.
 */
export class PathTable {
  readonly paths: string[] = [];
  readonly #ids = new Map<string, number>();
  readonly #inOrder: number[] = [];
  readonly #classes: number[] = [];
  readonly #weights: number[] = [];
  readonly #folders: number[] = [];
  readonly #inFolder: number[][] = [];
  readonly #known = new Map<string, Folder>();
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

  /** Returns all numbers, sorted by path. */
  inOrder(): readonly number[] {
    if (this.#inOrder.length < this.paths.length) {
      // Sorting a sorted prefix is cheap.
      for (let id = this.#inOrder.length; id < this.paths.length; id += 1) this.#inOrder.push(id);
      const { paths } = this;
      this.#inOrder.sort((a, b) => ((paths[a] ?? '') < (paths[b] ?? '') ? -1 : 1));
    }
    return this.#inOrder;
  }

  /** Index in `FILE_CLASSES` by path number. */
  get classes(): readonly number[] {
    this.#index();
    return this.#classes;
  }

  /** Weight of a match by path number; lower for long paths. */
  get weights(): readonly number[] {
    this.#index();
    return this.#weights;
  }

  /** Folder number by path number. */
  get folders(): readonly number[] {
    this.#index();
    return this.#folders;
  }

  inFolder(folder: number): readonly number[] {
    this.#index();
    return this.#inFolder[folder] ?? NONE;
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
      const slash = path.lastIndexOf('/');
      const folder = this.#folder(path.slice(0, Math.max(0, slash)));
      const file = path.slice(slash + 1);
      this.#classes.push(FILE_CLASSES.indexOf(fileClass(path)));
      this.#folders.push(folder.id);
      const beside = this.#inFolder[folder.id] ?? [];
      this.#inFolder[folder.id] = beside;
      beside.push(id);
      this.#weights.push(1 / (0.5 + 0.5 * Math.sqrt(folder.length + plainWords(file).length)));
      for (const token of union(folder.tokens, wordsOf(file))) addTo(this.#byToken, token, id);
      for (const name of union(folder.names, namesOf(file))) addTo(this.#byName, name, id);
    }
  }

  /** Cached: many files share a folder. */
  #folder(path: string): Folder {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const folder = {
      id: this.#known.size,
      length: plainWords(path).length,
      tokens: wordsOf(path),
      names: path.split('/').map(bare).filter(isName),
    };
    this.#known.set(path, folder);
    return folder;
  }
}

interface Folder {
  readonly id: number;
  /** Number of words. */
  readonly length: number;
  readonly tokens: readonly string[];
  readonly names: readonly string[];
}

const NONE: readonly number[] = [];

// The slash prevents a first word from being read as a verb.
function wordsOf(path: string): readonly string[] {
  return tokens(`/${path}`);
}

/** Returns the names of a file with and without its extensions. */
function namesOf(file: string): readonly string[] {
  const dots = [file.lastIndexOf('.'), file.indexOf('.', 1)].filter((dot) => dot > 0);
  return [file, ...dots.map((dot) => file.slice(0, dot))].map(bare).filter(isName);
}

function isName(name: string): boolean {
  return name.length > 1;
}

function bare(name: string): string {
  return plainWords(name).join('');
}

function union(one: readonly string[], other: readonly string[]): ReadonlySet<string> {
  return new Set([...one, ...other]);
}
