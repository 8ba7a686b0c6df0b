import { readNumber, writeNumber, writtenLength } from '../../shared/varint.js';
import { knownAs, PathTable } from './path-table.js';

export interface PastResult {
  readonly sequence: number;
  readonly task: string;
  readonly tokens: readonly string[];
  /** Distinct paths without line breaks; a result without any is skipped. */
  readonly files: readonly string[];
}

/** The oldest results and files are evicted beyond these. */
export const PAST_LIMITS = {
  results: 2000,
  /** Bytes of all results with words and tasks, as stored. */
  resultBytes: 160_000,
  files: 5000,
  pathBytes: 240_000,
};
type PastLimits = Readonly<typeof PAST_LIMITS>;

/** The memory as plain JSON; equal memories have equal bytes. */
export interface PastResultsJson {
  /** Number of results ever added. */
  readonly total: number;
  /** All words in one line; results refer to them by number. */
  readonly words: string;
  /** Tasks; results refer to them by number. */
  readonly tasks: readonly string[];
  /** Sorted paths, one per line, without the prefix shared with the previous line. */
  readonly paths: string;
  /** Base64: the number of files; for each its shared prefix, uses, and age in results; then the numbers of each result. */
  readonly numbers: string;
}

export interface PastRow {
  readonly sequence: number;
  readonly task: string;
  readonly tokens: readonly number[];
  readonly files: readonly number[];
}

/**
 * Remembers the newest results in compact form, and every file with number of uses and last use, to predict likely
 * files. Results are added in order. Bounded in number and bytes.
 *
 * Only its methods change its fields. Copies take microseconds: they share the append-only tables and immutable rows, and copy only arrays of numbers.
 */
export class PastResults {
  readonly #limits: PastLimits;
  /** Append-only like the path table, and shared by copies. */
  #words = new Numbering<string>();
  /** All interned paths, including unknown ones. */
  paths = new PathTable();
  rows: PastRow[] = [];
  holders: number[] = [];
  /** By path number; 0 or absent for an unknown path. */
  uses: number[] = [];
  last: number[] = [];
  total = 0;
  fileCount = 0;
  #liveWords = 0;
  #resultBytes = 0;
  #pathBytes = 0;

  constructor(json?: PastResultsJson, limits: PastLimits = PAST_LIMITS) {
    this.#limits = limits;
    if (json !== undefined) this.#restore(json);
  }

  add({ sequence, task, tokens, files }: PastResult): void {
    if (files.length === 0) return;
    this.total += 1;
    const row: PastRow = {
      sequence,
      task,
      tokens: tokens.map((token) => this.#words.of(token)),
      files: files.map((file) => this.paths.add(file)),
    };
    for (const file of row.files) {
      this.#touch(file, (this.uses[file] ?? 0) + 1, this.total);
    }
    this.#push(row);
    while (this.rows.length > this.#limits.results || this.#resultBytes > this.#limits.resultBytes)
      this.#forgetOldest();
    if (this.fileCount > this.#limits.files || this.#pathBytes > this.#limits.pathBytes) this.#forgetFiles();
    this.#renew();
  }

  changeFiles(
    renamed: readonly { readonly from: string; readonly to: string }[],
    deleted: readonly string[],
  ): void {
    const idOf = (path: string) => this.paths.idOf(knownAs(path));
    const moves = [...renamed, ...deleted.map((from) => ({ from, to: undefined }))].flatMap(
      ({ from, to }) => {
        const id = idOf(from);
        const uses = this.uses[id ?? -1] ?? 0;
        if (id === undefined || uses === 0) return [];
        const target = to === undefined ? undefined : this.paths.add(knownAs(to));
        return [{ id, uses, last: this.last[id] ?? 0, target }];
      },
    );
    if (moves.length === 0) return;
    for (const { id } of moves) this.#untouch(id);
    for (const { uses, last, target } of moves)
      if (target !== undefined)
        this.#touch(target, (this.uses[target] ?? 0) + uses, Math.max(this.last[target] ?? 0, last));
    this.#moveFiles(new Map(moves.map(({ id, target }) => [id, target])));
  }

  knows(path: string): boolean {
    return (this.uses[this.paths.idOf(knownAs(path)) ?? -1] ?? 0) > 0;
  }

  /** Forgets the words of some results, and keeps their files. */
  forgetWords(sequences: ReadonlySet<number>): void {
    this.#replaceRows(this.rows.map((row) => (sequences.has(row.sequence) ? { ...row, tokens: [] } : row)));
  }

  /** Returns a copy whose results have lower sequences, 0 or less. */
  lowered(by: number): PastResults {
    const copy = this.copy();
    copy.rows = copy.rows.map((row) => ({ ...row, sequence: Math.min(0, row.sequence - by) }));
    return copy;
  }

  copy(): PastResults {
    const copy = new PastResults(undefined, this.#limits);
    copy.#words = this.#words;
    copy.#resultBytes = this.#resultBytes;
    copy.#pathBytes = this.#pathBytes;
    copy.#liveWords = this.#liveWords;
    const { paths, total, fileCount } = this;
    const [holders, uses, last] = [this.holders, this.uses, this.last].map((numbers) => numbers.slice());
    return Object.assign(copy, { paths, total, fileCount, rows: this.rows.slice(), holders, uses, last });
  }

  /** Returns undefined if no result contains the word. */
  wordOf(token: string): number | undefined {
    const id = this.#words.numbers.get(token);
    return id !== undefined && (this.holders[id] ?? 0) > 0 ? id : undefined;
  }

  get bytes(): number {
    return this.#resultBytes + this.#pathBytes;
  }

  toJSON(): PastResultsJson {
    const { paths } = this.paths;
    const wordNumbers = new Numbering<number>();
    const taskNumbers = new Numbering<string>();
    const fileNumbers: number[] = [];
    const known = [...paths.keys()].filter((id) => (this.uses[id] ?? 0) > 0);
    known.sort((a, b) => ((paths[a] ?? '') < (paths[b] ?? '') ? -1 : 1));
    const numbers = this.total === 0 ? [] : [known.length];
    let previous = '';
    const rests = known.map((id, index) => {
      fileNumbers[id] = index;
      const path = paths[id] ?? '';
      const shared = sharedStart(previous, path);
      numbers.push(shared, this.uses[id] ?? 0, this.total - (this.last[id] ?? 0));
      previous = path;
      return path.slice(shared);
    });
    let before = 0;
    for (const { sequence, task, tokens, files } of this.rows) {
      numbers.push(zigzag(sequence - before), taskNumbers.of(task), tokens.length);
      for (const token of tokens) numbers.push(wordNumbers.of(token));
      numbers.push(files.length);
      for (const file of files) numbers.push(fileNumbers[file] ?? 0);
      before = sequence;
    }
    return {
      total: this.total,
      words: wordNumbers.items.map((id) => this.#words.items[id] ?? '').join(' '),
      tasks: taskNumbers.items,
      paths: rests.join('\n'),
      numbers: packed(numbers),
    };
  }

  #restore({ total, words, tasks, paths, numbers }: PastResultsJson): void {
    this.total = total;
    const read = unpacked(numbers);
    const wordIds = words === '' ? [] : words.split(' ').map((word) => this.#words.of(word));
    const rests = paths.split('\n');
    let path = '';
    const files = total === 0 ? 0 : Math.min(read(), rests.length);
    const fileIds = Array.from({ length: files }, (_, index) => {
      path = path.slice(0, read()) + (rests[index] ?? '');
      const id = this.paths.add(path);
      this.#touch(id, read(), total - read());
      // Prefix compression could expand a few bytes to gigabytes.
      if (this.fileCount > this.#limits.files || this.#pathBytes > this.#limits.pathBytes)
        throw new RangeError('the paths take more room than there is');
      return id;
    });
    let sequence = 0;
    while (read.more()) {
      sequence += unzigzag(read());
      const task = tasks[read()] ?? '';
      const tokens = read.list().map((word) => wordIds[word] ?? 0);
      const files = read.list().map((file) => fileIds[file] ?? 0);
      this.#push({ sequence, task, tokens, files });
      if (this.rows.length > this.#limits.results) throw new RangeError('there are too many results');
    }
  }

  #touch(file: number, uses: number, last: number): void {
    while (this.uses.length <= file) {
      this.uses.push(0);
      this.last.push(0);
    }
    if (this.uses[file] === 0) {
      this.fileCount += 1;
      this.#pathBytes += bytesOf(this.paths.paths[file] ?? '') + FILE_BYTES;
    }
    this.uses[file] = uses;
    this.last[file] = last;
  }

  #untouch(file: number): void {
    this.uses[file] = 0;
    this.last[file] = 0;
    this.fileCount -= 1;
    this.#pathBytes -= bytesOf(this.paths.paths[file] ?? '') + FILE_BYTES;
  }

  #push(row: PastRow): void {
    this.rows.push(row);
    this.#resultBytes += rowBytes(row);
    for (const word of row.tokens) {
      while (this.holders.length <= word) this.holders.push(0);
      const holders = this.holders[word] ?? 0;
      if (holders === 0) this.#wordLives(word, 1);
      this.holders[word] = holders + 1;
    }
  }

  #forgetOldest(): void {
    const row = this.rows.shift();
    if (row === undefined) return;
    this.#resultBytes -= rowBytes(row);
    for (const word of row.tokens) {
      const holders = (this.holders[word] ?? 0) - 1;
      if (holders === 0) this.#wordLives(word, -1);
      this.holders[word] = holders;
    }
  }

  #wordLives(word: number, more: 1 | -1): void {
    this.#liveWords += more;
    this.#resultBytes += more * (bytesOf(this.#words.items[word] ?? '') + 1);
  }

  /** Evicts the least recently touched files until a tenth of the capacity is free. */
  #forgetFiles(): void {
    const { paths } = this.paths;
    const known = paths.flatMap((path, id) => ((this.uses[id] ?? 0) > 0 ? [{ path, id }] : []));
    const lastOf = ({ id }: { readonly id: number }) => this.last[id] ?? 0;
    known.sort((a, b) => lastOf(a) - lastOf(b) || (a.path < b.path ? -1 : 1));
    const removed = new Map<number, undefined>();
    for (const { id } of known) {
      if (this.fileCount <= this.#limits.files * 0.9 && this.#pathBytes <= this.#limits.pathBytes * 0.9)
        break;
      this.#untouch(id);
      removed.set(id, undefined);
    }
    this.#moveFiles(removed);
  }

  /** Replaces files in the results; one without a target is left out. */
  #moveFiles(targets: ReadonlyMap<number, number | undefined>): void {
    const moved = (file: number) => (targets.has(file) ? (targets.get(file) ?? []) : file);
    this.#replaceRows(
      this.rows.map((row) =>
        row.files.some((file) => targets.has(file))
          ? { ...row, files: [...new Set(row.files.flatMap(moved))] }
          : row,
      ),
    );
  }

  #replaceRows(rows: readonly PastRow[]): void {
    this.#resultBytes = 0;
    this.#liveWords = 0;
    this.holders = [];
    this.rows = [];
    for (const row of rows) this.#push(row);
  }

  /** Rebuilds the tables when most of their entries are unused. */
  #renew(): void {
    const stored = this.#words.items.length + this.paths.paths.length;
    if (stored <= 2 * (this.#liveWords + this.fileCount) + 1000) return;
    const renewed = new PastResults(this.toJSON(), this.#limits);
    this.#words = renewed.#words;
    const { paths, rows, holders, uses, last } = renewed;
    Object.assign(this, { paths, rows, holders, uses, last });
  }
}

/** Storage per file besides its path. */
const FILE_BYTES = 12;

/** Approximate: each number takes three characters. */
function rowBytes({ task, tokens, files }: PastRow): number {
  return bytesOf(task) + 12 + 3 * (tokens.length + files.length);
}

function bytesOf(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 127) bytes += 2;
  return bytes;
}

class Numbering<Item> {
  readonly items: Item[] = [];
  readonly numbers = new Map<Item, number>();

  of(item: Item): number {
    const known = this.numbers.get(item);
    if (known !== undefined) return known;
    this.numbers.set(item, this.items.length);
    return this.items.push(item) - 1;
  }
}

function sharedStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  // Half a surrogate pair cannot be encoded.
  const code = other.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}

// A dispatch older than the window follows newer ones, so steps may be negative.
function zigzag(step: number): number {
  return step < 0 ? -2 * step - 1 : 2 * step;
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function packed(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(numbers.reduce((sum, value) => sum + writtenLength(value), 0));
  let at = 0;
  for (const value of numbers) at = writeNumber(bytes, at, value);
  return bytes.toString('base64');
}

/** Returns a function that reads one number per call; its `list` reads a length and as many numbers. */
function unpacked(text: string) {
  const bytes = Buffer.from(text, 'base64');
  let at = 0;
  const read = () => {
    const { value, next } = readNumber(bytes, at);
    at = next;
    return value;
  };
  const list = () => {
    const length = read();
    if (length > bytes.length - at) throw new RangeError('the numbers end too early');
    return Array.from({ length }, read);
  };
  return Object.assign(read, { list, more: () => at < bytes.length });
}
