import { knownAs } from '../search/known-path.js';
import { tokens } from '../search/tokens.js';
import { type FactGroup, groupOf, isBare as isBareFact, isSummary as isSummaryFact } from './fact-groups.js';
import type { IFactIndex, IndexedFact, SessionFact } from './fact-types.js';

type Postings = Map<string, IndexedFact[]>;

/** Longest part that the words of one family may differ by, and shortest that they share, in characters. */
const ENDING = 4;
const STEM = 4;
const MAX_WORDS = 120;
/** What may be a path, if it holds a slash within. */
const PATH = /[\w@./-]+/g;
const DIGIT = /\d/;

/** Facts never change: the words of each are found once, whatever stores hold it. */
const known = new WeakMap<
  SessionFact,
  Pick<IndexedFact, 'words' | 'own' | 'numbers' | 'isBare' | 'isSummary'> & {
    readonly paths: readonly string[];
  }
>();

/**
 * The valid facts of a store by their words, files and tasks. What is said in words and which files changed are counted
 * apart: a folder with many files does not make its name a common word.
 */
export class FactIndex implements IFactIndex {
  readonly #facts = new Map<SessionFact, IndexedFact>();
  readonly #said: Postings = new Map();
  readonly #changed: Postings = new Map();
  readonly #byFile: Postings = new Map();
  readonly #byTask: Postings = new Map();
  /** By their first characters: the words that are there. */
  readonly #families = new Map<string, Set<string>>();
  #slots = 0;
  /** Places that facts have left. */
  readonly #free: number[] = [];
  readonly #saidTotal = { facts: 0, words: 0 };
  readonly #changedTotal = { facts: 0, words: 0 };

  add(fact: SessionFact): void {
    const { words, own, numbers, isBare, isSummary, paths } = contentsOf(fact);
    const place = this.#free.pop() ?? this.#facts.size;
    const group = groupOf(fact);
    const slot = this.#slots;
    const entry: IndexedFact = { fact, group, slot, place, words, own, numbers, isBare, isSummary };
    this.#slots += 1;
    this.#facts.set(fact, entry);
    const postings = this.#postingsOf(entry);
    for (const word of words) {
      if (!postings.has(word)) this.#addToFamily(word);
      post(postings, word, entry);
    }
    for (const path of paths) post(this.#byFile, path, entry);
    post(this.#byTask, fact.sourceTaskId, entry);
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
      if (!this.#said.has(word) && !this.#changed.has(word)) this.#removeFromFamily(word);
    }
    for (const path of contentsOf(fact).paths) unpost(this.#byFile, path, entry);
    unpost(this.#byTask, fact.sourceTaskId, entry);
    this.#count(entry, -1);
  }

  all(): Iterable<IndexedFact> {
    return this.#facts.values();
  }

  get counts(): { readonly said: number; readonly changed: number } {
    return { said: this.#saidTotal.facts, changed: this.#changedTotal.facts };
  }

  get places(): number {
    return this.#facts.size + this.#free.length;
  }

  averageWords(group: FactGroup): number {
    const { facts, words } = this.#totalOf(group);
    return facts === 0 ? 1 : words / facts;
  }

  said(word: string): readonly IndexedFact[] {
    return this.#said.get(word) ?? NONE;
  }

  changed(word: string): readonly IndexedFact[] {
    return this.#changed.get(word) ?? NONE;
  }

  ofFile(path: string): readonly IndexedFact[] {
    return this.#byFile.get(path) ?? NONE;
  }

  ofTask(task: string): readonly IndexedFact[] {
    return this.#byTask.get(task) ?? NONE;
  }

  kin(word: string): string[] {
    const family = this.#families.get(word.slice(0, STEM));
    return family === undefined ? [] : [...family].filter((other) => areKin(word, other)).sort();
  }

  #count({ group, words }: IndexedFact, more: 1 | -1): void {
    const total = this.#totalOf(group);
    total.facts += more;
    total.words += more * words.length;
  }

  #totalOf(group: FactGroup): { facts: number; words: number } {
    return group === 'files' ? this.#changedTotal : this.#saidTotal;
  }

  #postingsOf({ group }: IndexedFact): Postings {
    return group === 'files' ? this.#changed : this.#said;
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

function contentsOf(fact: SessionFact) {
  const found = known.get(fact) ?? contents(fact);
  known.set(fact, found);
  return found;
}

function contents(fact: SessionFact) {
  const { subject, relation, object, sourceTaskId } = fact;
  const isTask = subject === `task:${sourceTaskId}`;
  const changes = groupOf({ relation, tags: [] }) === 'files';
  const said = changes ? [] : tokens(object, MAX_WORDS);
  // Behind a slash no word is taken for the verb of a sentence.
  const of = isTask ? [] : tokens(`/${subject}`, MAX_WORDS);
  const paths = [...(isTask ? [] : [subject]), ...(changes ? [] : pathsIn(object))].map(knownAs);
  return {
    words: [...new Set([...said, ...of])],
    own: said.length,
    numbers: said
      .filter((word) => DIGIT.test(word))
      .sort()
      .join(' '),
    isBare: isBareFact(fact),
    isSummary: isSummaryFact(fact),
    paths: [...new Set(paths)],
  };
}

function pathsIn(text: string): string[] {
  return (text.match(PATH) ?? []).filter((word) => /[^/]\/[^/]/.test(word));
}

function post(postings: Postings, key: string, entry: IndexedFact): void {
  const posted = postings.get(key);
  if (posted === undefined) postings.set(key, [entry]);
  else posted.push(entry);
}

function unpost(postings: Postings, key: string, entry: IndexedFact): void {
  const posted = postings.get(key);
  const at = posted === undefined ? -1 : placeOf(posted, entry.slot);
  if (posted === undefined || posted[at] !== entry) return;
  if (posted.length === 1) postings.delete(key);
  else posted.splice(at, 1);
}

/** Facts are posted in the order of their slots. */
function placeOf(posted: readonly IndexedFact[], slot: number): number {
  let low = 0;
  let high = posted.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((posted[middle]?.slot ?? 0) < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}
