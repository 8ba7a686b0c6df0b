import { FILE_CLASSES, fileClass } from './file-class.js';
import { plainWords, tokens } from './tokens.js';

/**
 * Paths by number, with what a query is compared with. It only grows: copies of a memory share one, and each knows which
 * of the paths are its own.
 */
export class PathTable {
  readonly paths: string[] = [];
  /** Index in `FILE_CLASSES`, by number. */
  readonly classes: number[] = [];
  /** How much a hit in the path counts: less in a long one. */
  readonly weights: number[] = [];
  /** Number of the folder, by number of the path. */
  readonly folders: number[] = [];
  readonly #ids = new Map<string, number>();
  readonly #folderIds = new Map<string, number>();
  readonly #byToken = new Map<string, number[]>();
  readonly #byName = new Map<string, number[]>();

  /** The number of a path, which is a new one where the path is new. */
  add(path: string): number {
    const known = this.#ids.get(path);
    if (known !== undefined) return known;
    const id = this.paths.push(path) - 1;
    this.#ids.set(path, id);
    this.classes.push(FILE_CLASSES.indexOf(fileClass(path)));
    this.weights.push(1 / (0.5 + 0.5 * Math.sqrt(plainWords(path).length)));
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    let folderId = this.#folderIds.get(folder);
    if (folderId === undefined) {
      folderId = this.#folderIds.size;
      this.#folderIds.set(folder, folderId);
    }
    this.folders.push(folderId);
    // Behind a slash no word is taken for the verb of a sentence.
    for (const token of tokens(`/${path}`)) post(this.#byToken, token, id);
    for (const name of namesOf(path)) post(this.#byName, name, id);
    return id;
  }

  /** The number of a path; `undefined` for one that was never added. */
  idOf(path: string): number | undefined {
    return this.#ids.get(path);
  }

  /** The paths that hold a token. */
  withToken(token: string): readonly number[] {
    return this.#byToken.get(token) ?? NONE;
  }

  /** The paths that have a folder or file of this name, written without anything but letters and digits. */
  withName(name: string): readonly number[] {
    return this.#byName.get(name) ?? NONE;
  }
}

const NONE: readonly number[] = [];

function post(postings: Map<string, number[]>, key: string, id: number): void {
  const posted = postings.get(key);
  if (posted === undefined) postings.set(key, [id]);
  else posted.push(id);
}

/** Each folder; the file with and without its endings. */
function namesOf(path: string): ReadonlySet<string> {
  const segments = path.split('/');
  const file = segments.at(-1) ?? '';
  const lastDot = file.lastIndexOf('.');
  const firstDot = file.indexOf('.', 1);
  const endings = [lastDot, firstDot].filter((dot) => dot > 0).map((dot) => file.slice(0, dot));
  return new Set([...segments, ...endings].map(bare).filter((name) => name.length > 1));
}

function bare(name: string): string {
  return plainWords(name).join('');
}
