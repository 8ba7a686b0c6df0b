import { SEVERITIES } from '../../contracts/kinds.js';
import { addTo, lowerBound } from '../../shared/collections.js';
import { clipText, oneSpelling } from '../../shared/text.js';
import { knownAs } from '../search/path-table.js';
import { tokens } from '../search/tokens.js';
import {
  FACT_GROUPS,
  type FactGroup,
  groupOf,
  isBare,
  isLasting,
  isSummary,
  type SessionFact,
} from './fact-types.js';

type Postings = Map<string, IndexedFact[]>;

/** Maximum difference between related words, and their minimum common prefix, in characters. */
const ENDING = 4;
const STEM = 4;

/**
 * Indexes the valid facts of a store by words, files and tasks. Text and changed files are counted separately, so that
 * a folder with many files does not make its name a common word.
 */
export class FactIndex {
  readonly #facts = new Map<SessionFact, IndexedFact>();
  readonly #inText: Postings = new Map();
  readonly #changed: Postings = new Map();
  readonly #byFile: Postings = new Map();
  readonly #byTask: Postings = new Map();
  readonly #telling = new FactsByAge();
  readonly #dull = new FactsByAge();
  /** Decisions, conventions and facts in words. */
  readonly lasting = new FactsByAge();
  #findings = 0;
  /** Indexed words by their first characters. */
  readonly #families = new Map<string, Set<string>>();
  #slots = 0;
  /** Free places. */
  readonly #free: number[] = [];
  readonly #textTotal = { facts: 0, words: 0 };
  readonly #changedTotal = { facts: 0, words: 0 };

  add(fact: SessionFact): void {
    const place = this.#free.pop() ?? this.#facts.size;
    const entry = new IndexedFact(fact, this.#slots, place);
    this.#slots += 1;
    this.#facts.set(fact, entry);
    const postings = this.#postingsOf(entry);
    for (const word of entry.words) {
      if (!postings.has(word)) this.#addToFamily(word);
      addTo(postings, word, entry);
    }
    for (const path of entry.paths) addTo(this.#byFile, path, entry);
    addTo(this.#byTask, fact.sourceTaskId, entry);
    this.byAge(entry.isDull).add(entry);
    if (entry.isLasting) this.lasting.add(entry);
    this.#count(entry, 1);
  }

  remove(fact: SessionFact): void {
    const entry = this.#facts.get(fact);
    if (entry === undefined) return;
    this.#facts.delete(fact);
    this.#free.push(entry.place);
    const postings = this.#postingsOf(entry);
    for (const word of entry.words) {
      unpost(postings, word, entry);
      if (!this.#inText.has(word) && !this.#changed.has(word)) this.#removeFromFamily(word);
    }
    for (const path of entry.paths) unpost(this.#byFile, path, entry);
    unpost(this.#byTask, fact.sourceTaskId, entry);
    this.byAge(entry.isDull).remove(entry);
    if (entry.isLasting) this.lasting.remove(entry);
    this.#count(entry, -1);
  }

  all(): Iterable<IndexedFact> {
    return this.#facts.values();
  }

  /** Dull facts or all others. */
  byAge(isDull: boolean): FactsByAge {
    return isDull ? this.#dull : this.#telling;
  }

  get counts(): { readonly text: number; readonly changed: number } {
    return { text: this.#textTotal.facts, changed: this.#changedTotal.facts };
  }

  get findings(): number {
    return this.#findings;
  }

  /** Greater than any place. */
  get places(): number {
    return this.#facts.size + this.#free.length;
  }

  /** Average number of words per fact, separately for file changes and text. */
  get averageWords(): { readonly text: number; readonly changed: number } {
    const averageOf = ({ facts, words }: { facts: number; words: number }) =>
      facts === 0 ? 1 : words / facts;
    return { text: averageOf(this.#textTotal), changed: averageOf(this.#changedTotal) };
  }

  /** Facts whose text has this word. */
  inText(word: string): readonly IndexedFact[] {
    return this.#inText.get(word) ?? NONE;
  }

  /** Facts of changed files whose path has this word. */
  changed(word: string): readonly IndexedFact[] {
    return this.#changed.get(word) ?? NONE;
  }

  /** Facts about a file, or that mention it. */
  ofFile(path: string): readonly IndexedFact[] {
    return this.#byFile.get(path) ?? NONE;
  }

  ofTask(task: string): readonly IndexedFact[] {
    return this.#byTask.get(task) ?? NONE;
  }

  /** Words with the same beginning and another ending: `parser` and `parse`. */
  kin(word: string): string[] {
    const family = this.#families.get(word.slice(0, STEM));
    return family === undefined ? [] : [...family].filter((other) => areKin(word, other)).sort();
  }

  #count({ group, words }: IndexedFact, more: 1 | -1): void {
    const total = this.#totalOf(group);
    total.facts += more;
    total.words += more * words.length;
    if (group === 'findings') this.#findings += more;
  }

  #totalOf(group: FactGroup): { facts: number; words: number } {
    return group === 'files' ? this.#changedTotal : this.#textTotal;
  }

  #postingsOf({ group }: IndexedFact): Postings {
    return group === 'files' ? this.#changed : this.#inText;
  }

  #addToFamily(word: string): void {
    if (word.length < STEM) return;
    const stem = word.slice(0, STEM);
    const family = this.#families.get(stem);
    if (family === undefined) this.#families.set(stem, new Set([word]));
    else family.add(word);
  }

  #removeFromFamily(word: string): void {
    const stem = word.slice(0, STEM);
    const family = this.#families.get(stem);
    family?.delete(word);
    if (family?.size === 0) this.#families.delete(stem);
  }
}

const NONE: readonly IndexedFact[] = [];

function areKin(one: string, other: string): boolean {
  if (one === other || Math.abs(one.length - other.length) > ENDING) return false;
  const least = Math.max(STEM, Math.min(one.length, other.length) - 1);
  let shared = STEM;
  while (shared < least && one.charCodeAt(shared) === other.charCodeAt(shared)) shared += 1;
  return shared >= least;
}

function unpost(postings: Postings, key: string, entry: IndexedFact): void {
  const posted = postings.get(key);
  // Postings are sorted by slot.
  const at = posted === undefined ? -1 : lowerBound(posted, entry.slot, ({ slot }) => slot);
  if (posted === undefined || posted[at] !== entry) return;
  if (posted.length === 1) postings.delete(key);
  else posted.splice(at, 1);
}

/** The facts of one dispatch, in the order of its rules. */
interface OfDispatch {
  readonly sequence: number;
  readonly entries: IndexedFact[];
}

/** Facts sorted by age as they are added and removed, so that a query for the newest need not sort. */
class FactsByAge {
  /** Oldest first, since nearly all new facts are the newest. */
  readonly #dispatches: OfDispatch[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The entry's slot must be the highest. */
  add(entry: IndexedFact): void {
    const sequence = entry.fact.sourceSequence;
    const at = this.#placeOf(sequence);
    const known = this.#dispatches[at];
    if (known?.sequence === sequence) known.entries.push(entry);
    else this.#dispatches.splice(at, 0, { sequence, entries: [entry] });
    this.#size += 1;
  }

  remove(entry: IndexedFact): void {
    const place = this.#placeOf(entry.fact.sourceSequence);
    const entries = this.#dispatches[place]?.entries ?? [];
    const at = entries.indexOf(entry);
    if (at < 0) return;
    this.#size -= 1;
    if (entries.length === 1) this.#dispatches.splice(place, 1);
    else entries.splice(at, 1);
  }

  /** Yields the newest dispatch first, each in the order of its rules. */
  *newestFirst(): Generator<IndexedFact, void> {
    for (let at = this.#dispatches.length - 1; at >= 0; at -= 1)
      yield* (this.#dispatches[at] as OfDispatch).entries;
  }

  /** Returns the index of a dispatch, or its insertion point. */
  #placeOf(sequence: number): number {
    const newest = this.#dispatches.at(-1)?.sequence ?? 0;
    if (newest < sequence) return this.#dispatches.length;
    return lowerBound(this.#dispatches, sequence, (dispatch) => dispatch.sequence);
  }
}

const MAX_WORDS = 120;
/** In characters. */
const MAX_MEANT = 300;
/** May be a path if it contains a slash. */
const PATH = /[\w@./-]+/g;
const DIGIT = /\d/;

/** Data derived from the fact alone. */
type Contents = Pick<
  IndexedFact,
  | 'words'
  | 'objectWords'
  | 'numbers'
  | 'group'
  | 'standing'
  | 'isOfTask'
  | 'isBare'
  | 'isSummary'
  | 'isLasting'
> & { readonly paths: readonly string[] };

/** Cached: facts are immutable and may be in several stores. */
const known = new WeakMap<SessionFact, Contents>();

/** A fact with its search data. */
export class IndexedFact {
  readonly fact: SessionFact;
  /** Order within a dispatch. */
  readonly slot: number;
  /** Index position, reused after removal. */
  readonly place: number;
  readonly group: FactGroup;
  /** Group and severity as a number; lower is more important. */
  readonly standing: number;
  /** Distinct tokens of object and subject, without the task, whose id says nothing. */
  readonly words: readonly string[];
  /** Number of words from the object, which come first. */
  readonly objectWords: number;
  /** Sorted words with a digit; facts with different ones are different matters. */
  readonly numbers: string;
  /** True if it is about its task as a whole. */
  readonly isOfTask: boolean;
  readonly isBare: boolean;
  readonly isSummary: boolean;
  /** True if it only states a file change, or success. */
  readonly isDull: boolean;
  readonly isLasting: boolean;
  /** Paths that it is about or mentions. */
  readonly paths: readonly string[];
  #saying: string | undefined;
  #meant: string | undefined;

  constructor(fact: SessionFact, slot: number, place: number) {
    const contents = known.get(fact) ?? contentsOf(fact);
    known.set(fact, contents);
    this.fact = fact;
    this.slot = slot;
    this.place = place;
    this.group = contents.group;
    this.standing = contents.standing;
    this.words = contents.words;
    this.objectWords = contents.objectWords;
    this.numbers = contents.numbers;
    this.isOfTask = contents.isOfTask;
    this.isBare = contents.isBare;
    this.isSummary = contents.isSummary;
    this.isLasting = contents.isLasting;
    this.isDull = this.group === 'files' || this.isBare;
    this.paths = contents.paths;
  }

  /** The text whose meaning counts. One string, since its vector is found by it. */
  get meant(): string {
    if (this.#meant === undefined) {
      const { subject, object } = this.fact;
      this.#meant = clipText(this.isOfTask ? object : `${subject} ${object}`, MAX_MEANT);
    }
    return this.#meant;
  }

  /** Object and subject: of two equal ones the newer is enough. Lazy, since it is rarely needed. */
  get saying(): string {
    if (this.#saying === undefined) {
      const spelling = oneSpelling(this.fact.object);
      this.#saying = this.isOfTask ? spelling : `${this.fact.subject}\n${spelling}`;
    }
    return this.#saying;
  }
}

function contentsOf(fact: SessionFact): Contents {
  const { subject, relation, object, sourceTaskId } = fact;
  const isOfTask = subject === `task:${sourceTaskId}`;
  const changes = groupOf({ relation, tags: [] }) === 'files';
  const objectTokens = changes ? [] : tokens(object, MAX_WORDS);
  // The slash prevents a first word from being read as a verb.
  const of = isOfTask ? [] : tokens(`/${subject}`, MAX_WORDS);
  const paths = [...(isOfTask ? [] : [subject]), ...(changes ? [] : pathsIn(object))].map(knownAs);
  const group = groupOf(fact);
  return {
    words: [...new Set([...objectTokens, ...of])],
    objectWords: objectTokens.length,
    numbers: objectTokens
      .filter((word) => DIGIT.test(word))
      .sort()
      .join(' '),
    group,
    standing: standingOf(fact, group),
    isOfTask,
    isBare: isBare(fact),
    isSummary: isSummary(fact),
    isLasting: isLasting(fact),
    paths: [...new Set(paths)],
  };
}

function standingOf({ severity }: SessionFact, group: FactGroup): number {
  const place = severity === undefined ? SEVERITIES.length : SEVERITIES.indexOf(severity);
  return FACT_GROUPS.indexOf(group) * (SEVERITIES.length + 1) + place;
}

function pathsIn(text: string): string[] {
  return (text.match(PATH) ?? []).filter((word) => /[^/]\/[^/]/.test(word));
}
