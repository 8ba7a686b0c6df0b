import { FILE_CLASSES, fileClass } from './file-class.js';
import { plainWords, tokens } from './tokens.js';

/**
 * Paths by number, with what a query is compared with. It only grows: copies of a memory share one, and each knows which
 * of the paths are its own. What a query needs is made with the first one: a fold may never see any.
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

  /** The number of a path, which is a new one where the path is new. */
  add(path: string): number {
    const known = this.#ids.get(path);
    if (known !== undefined) return known;
    const id = this.paths.push(path) - 1;
    this.#ids.set(path, id);
    return id;
  }

  /** The number of a path; `undefined` for one that was never added. */
  idOf(path: string): number | undefined {
    return this.#ids.get(path);
  }

  /** All numbers, in the order of their paths. */
  inOrder(): readonly number[] {
    if (this.#inOrder.length < this.paths.length) {
      // What is in order already takes a sort no time.
      for (let id = this.#inOrder.length; id < this.paths.length; id += 1) this.#inOrder.push(id);
      const { paths } = this;
      this.#inOrder.sort((a, b) => ((paths[a] ?? '') < (paths[b] ?? '') ? -1 : 1));
    }
    return this.#inOrder;
  }

  /** Index in `FILE_CLASSES`, by number. */
  get classes(): readonly number[] {
    this.#index();
    return this.#classes;
  }

  /** How much a hit in the path counts, by number: less in a long one. */
  get weights(): readonly number[] {
    this.#index();
    return this.#weights;
  }

  /** Number of the folder, by number of the path. */
  get folders(): readonly number[] {
    this.#index();
    return this.#folders;
  }

  /** The paths in a folder, by its number. */
  inFolder(folder: number): readonly number[] {
    this.#index();
    return this.#inFolder[folder] ?? NONE;
  }

  /** The paths that hold a token. */
  withToken(token: string): readonly number[] {
    this.#index();
    return this.#byToken.get(token) ?? NONE;
  }

  /** The paths that have a folder or file of this name, written without anything but letters and digits. */
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
      for (const token of union(folder.tokens, wordsOf(file))) post(this.#byToken, token, id);
      for (const name of union(folder.names, namesOf(file))) post(this.#byName, name, id);
    }
  }

  /** Many files lie in one folder: its words are found once. */
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
  /** Number of its words. */
  readonly length: number;
  readonly tokens: readonly string[];
  readonly names: readonly string[];
}

const NONE: readonly number[] = [];

function post(postings: Map<string, number[]>, key: string, id: number): void {
  const posted = postings.get(key);
  if (posted === undefined) postings.set(key, [id]);
  else posted.push(id);
}

// Behind a slash no word is taken for the verb of a sentence.
function wordsOf(path: string): readonly string[] {
  return tokens(`/${path}`);
}

/** The names of a file: with and without its endings. */
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
