import { readNumber, writeNumber, writtenLength } from '../../shared/varint.js';
import { PathTable } from './path-table.js';

/** What a result was about, and what it touched. */
export interface PastResult {
  /** Its place in the order of results. */
  readonly sequence: number;
  readonly task: string;
  /** Tokens of what it says, each once. */
  readonly tokens: readonly string[];
  /** Paths, each once, without line breaks; a result without any is not remembered. */
  readonly files: readonly string[];
}

/** How much is remembered; of what is too much, the oldest goes. */
interface PastLimits {
  readonly results: number;
  /** Bytes of all results with their words and tasks, as they are written. */
  readonly resultBytes: number;
  readonly files: number;
  /** Bytes of all paths. */
  readonly pathBytes: number;
}

export const PAST_LIMITS: PastLimits = {
  results: 2000,
  resultBytes: 160_000,
  files: 5000,
  pathBytes: 240_000,
};

/** The memory as plain JSON; equal memories give equal bytes. */
export interface PastResultsJson {
  /** Results taken in ever. */
  readonly total: number;
  /** All words of the results, by number, in one line. */
  readonly words: string;
  /** Tasks of the results, by number. */
  readonly tasks: readonly string[];
  /** Known files in order, a line each, without the characters that it shares with the one before. */
  readonly paths: string;
  /**
   * Base64 of numbers: how many files; of each how much it shares with the one before, how often it was touched, and how
   * many results ago; then those of each result.
   */
  readonly numbers: string;
}

/** A result by numbers. */
export interface PastRow {
  readonly sequence: number;
  readonly task: string;
  readonly tokens: readonly number[];
  readonly files: readonly number[];
}

/** Words by number; like the table of paths it only grows, and copies share it. */
class WordTable {
  readonly words: string[] = [];
  readonly ids = new Map<string, number>();

  add(word: string): number {
    const known = this.ids.get(word);
    if (known !== undefined) return known;
    const id = this.words.push(word) - 1;
    this.ids.set(word, id);
    return id;
  }
}

/**
 * The newest results in a compact form, and every file that was ever touched with how often and when last: what likely files
 * are found by. Results come in their order. Bounded in number and in bytes, whatever the results hold.
 *
 * A copy shares the tables of words and paths, and the rows, which never change; it has the few arrays of numbers for
 * itself. So a copy takes some microseconds.
 */
export class PastResults {
  readonly #limits: PastLimits;
  #words = new WordTable();
  #paths = new PathTable();
  #rows: PastRow[] = [];
  /** By number of the word: results that hold it. */
  #holders: number[] = [];
  /** By number of the path: how often it was touched; 0 or nothing for a path that is not known. */
  #uses: number[] = [];
  /** By number of the path: which result touched it last. */
  #last: number[] = [];
  #total = 0;
  #files = 0;
  #liveWords = 0;
  #resultBytes = 0;
  #pathBytes = 0;

  constructor(json?: PastResultsJson, limits: PastLimits = PAST_LIMITS) {
    this.#limits = limits;
    if (json !== undefined) this.#restore(json);
  }

  add({ sequence, task, tokens, files }: PastResult): void {
    if (files.length === 0) return;
    this.#total += 1;
    const row: PastRow = {
      sequence,
      task,
      tokens: tokens.map((token) => this.#words.add(token)),
      files: files.map((file) => this.#paths.add(file)),
    };
    for (const file of row.files) {
      this.#touch(file, (this.#uses[file] ?? 0) + 1, this.#total);
    }
    this.#push(row);
    while (this.#rows.length > this.#limits.results || this.#resultBytes > this.#limits.resultBytes)
      this.#forgetOldest();
    if (this.#files > this.#limits.files || this.#pathBytes > this.#limits.pathBytes) this.#forgetFiles();
    this.#renew();
  }

  copy(): PastResults {
    const copy = new PastResults(undefined, this.#limits);
    copy.#words = this.#words;
    copy.#paths = this.#paths;
    copy.#rows = this.#rows.slice();
    copy.#holders = this.#holders.slice();
    copy.#uses = this.#uses.slice();
    copy.#last = this.#last.slice();
    copy.#total = this.#total;
    copy.#files = this.#files;
    copy.#resultBytes = this.#resultBytes;
    copy.#pathBytes = this.#pathBytes;
    copy.#liveWords = this.#liveWords;
    return copy;
  }

  /** Results taken in ever. */
  get total(): number {
    return this.#total;
  }

  /** Known files. */
  get fileCount(): number {
    return this.#files;
  }

  /** The results that are remembered, oldest first. */
  get rows(): readonly PastRow[] {
    return this.#rows;
  }

  /** All paths by number, also those that are not known here. */
  get paths(): PathTable {
    return this.#paths;
  }

  /** How often each path was touched, by number; 0 or nothing for one that is not known. */
  get uses(): readonly number[] {
    return this.#uses;
  }

  /** Which result touched each path last, by number. */
  get last(): readonly number[] {
    return this.#last;
  }

  /** Number of a word; `undefined` where no result holds it. */
  wordOf(token: string): number | undefined {
    const id = this.#words.ids.get(token);
    return id !== undefined && (this.#holders[id] ?? 0) > 0 ? id : undefined;
  }

  /** How many results hold each word, by number. */
  get holders(): readonly number[] {
    return this.#holders;
  }

  /** Bytes that the memory takes when it is written, roughly. */
  get bytes(): number {
    return this.#resultBytes + this.#pathBytes;
  }

  toJSON(): PastResultsJson {
    const { paths } = this.#paths;
    const wordNumbers = new Numbering<number>();
    const taskNumbers = new Numbering<string>();
    const fileNumbers: number[] = [];
    const known = this.#paths.inOrder().filter((id) => (this.#uses[id] ?? 0) > 0);
    const numbers = this.#total === 0 ? [] : [known.length];
    let previous = '';
    const rests = known.map((id, index) => {
      fileNumbers[id] = index;
      const path = paths[id] ?? '';
      const shared = sharedStart(previous, path);
      numbers.push(shared, this.#uses[id] ?? 0, this.#total - (this.#last[id] ?? 0));
      previous = path;
      return path.slice(shared);
    });
    let before = 0;
    for (const { sequence, task, tokens, files } of this.#rows) {
      numbers.push(zigzag(sequence - before), taskNumbers.of(task), tokens.length);
      for (const token of tokens) numbers.push(wordNumbers.of(token));
      numbers.push(files.length);
      for (const file of files) numbers.push(fileNumbers[file] ?? 0);
      before = sequence;
    }
    return {
      total: this.#total,
      words: wordNumbers.items.map((id) => this.#words.words[id] ?? '').join(' '),
      tasks: taskNumbers.items,
      paths: rests.join('\n'),
      numbers: packed(numbers),
    };
  }

  #restore({ total, words, tasks, paths, numbers }: PastResultsJson): void {
    this.#total = total;
    const read = unpacked(numbers);
    const wordIds = words === '' ? [] : words.split(' ').map((word) => this.#words.add(word));
    const rests = paths.split('\n');
    let path = '';
    const files = total === 0 ? 0 : Math.min(read(), rests.length);
    const fileIds = Array.from({ length: files }, (_, index) => {
      path = path.slice(0, read()) + (rests[index] ?? '');
      const id = this.#paths.add(path);
      this.#touch(id, read(), total - read());
      // A few bytes can stand for gigabytes, since a path is written as what it does not share with the one before.
      if (this.#files > this.#limits.files || this.#pathBytes > this.#limits.pathBytes)
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
      if (this.#rows.length > this.#limits.results) throw new RangeError('there are too many results');
    }
  }

  #touch(file: number, uses: number, last: number): void {
    while (this.#uses.length <= file) {
      this.#uses.push(0);
      this.#last.push(0);
    }
    if (this.#uses[file] === 0) {
      this.#files += 1;
      this.#pathBytes += bytesOf(this.#paths.paths[file] ?? '') + FILE_BYTES;
    }
    this.#uses[file] = uses;
    this.#last[file] = last;
  }

  #push(row: PastRow): void {
    this.#rows.push(row);
    this.#resultBytes += rowBytes(row);
    for (const word of row.tokens) {
      while (this.#holders.length <= word) this.#holders.push(0);
      const holders = this.#holders[word] ?? 0;
      if (holders === 0) this.#wordLives(word, 1);
      this.#holders[word] = holders + 1;
    }
  }

  #forgetOldest(): void {
    const row = this.#rows.shift();
    if (row === undefined) return;
    this.#resultBytes -= rowBytes(row);
    for (const word of row.tokens) {
      const holders = (this.#holders[word] ?? 0) - 1;
      if (holders === 0) this.#wordLives(word, -1);
      this.#holders[word] = holders;
    }
  }

  #wordLives(word: number, more: 1 | -1): void {
    this.#liveWords += more;
    this.#resultBytes += more * (bytesOf(this.#words.words[word] ?? '') + 1);
  }

  /** Forgets the files that nothing touched for longest, until a tenth of the room is free. */
  #forgetFiles(): void {
    const { paths } = this.#paths;
    const known = paths.flatMap((path, id) => ((this.#uses[id] ?? 0) > 0 ? [{ path, id }] : []));
    const lastOf = ({ id }: { readonly id: number }) => this.#last[id] ?? 0;
    known.sort((a, b) => lastOf(a) - lastOf(b) || (a.path < b.path ? -1 : 1));
    const gone = new Set<number>();
    for (const { path, id } of known) {
      if (this.#files <= this.#limits.files * 0.9 && this.#pathBytes <= this.#limits.pathBytes * 0.9) break;
      this.#uses[id] = 0;
      this.#last[id] = 0;
      this.#files -= 1;
      this.#pathBytes -= bytesOf(path) + FILE_BYTES;
      gone.add(id);
    }
    const rows = this.#rows.map((row) =>
      row.files.some((file) => gone.has(file))
        ? { ...row, files: row.files.filter((file) => !gone.has(file)) }
        : row,
    );
    this.#rows = rows;
    this.#resultBytes = 0;
    this.#liveWords = 0;
    this.#holders = [];
    this.#rows = [];
    for (const row of rows) this.#push(row);
  }

  /** Makes the tables new when most of what they hold is forgotten. */
  #renew(): void {
    const held = this.#words.words.length + this.#paths.paths.length;
    if (held <= 2 * (this.#liveWords + this.#files) + 1000) return;
    const renewed = new PastResults(this.toJSON(), this.#limits);
    this.#words = renewed.#words;
    this.#paths = renewed.#paths;
    this.#rows = renewed.#rows;
    this.#holders = renewed.#holders;
    this.#uses = renewed.#uses;
    this.#last = renewed.#last;
  }
}

/** Of a file as it is written, beside its path. */
const FILE_BYTES = 12;

/** About: each number of a result takes three characters. */
function rowBytes({ task, tokens, files }: PastRow): number {
  return bytesOf(task) + 12 + 3 * (tokens.length + files.length);
}

/** Bytes of a text as UTF-8 at most. */
function bytesOf(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 127) bytes += 2;
  return bytes;
}

/** Numbers things in the order in which they are first asked for. */
class Numbering<Item> {
  readonly items: Item[] = [];
  readonly #numbers = new Map<Item, number>();

  of(item: Item): number {
    const known = this.#numbers.get(item);
    if (known !== undefined) return known;
    this.#numbers.set(item, this.items.length);
    return this.items.push(item) - 1;
  }
}

function sharedStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  // Half of a pair of surrogates is not a character that can be written.
  const code = other.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}

// A dispatch that is older than the window comes after newer ones.
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

/** Reads one number at a call; `list` reads how many follow, and them. */
interface NumberReader {
  (): number;
  list(): number[];
  more(): boolean;
}

function unpacked(text: string): NumberReader {
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
