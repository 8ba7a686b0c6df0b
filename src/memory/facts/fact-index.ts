import { SEVERITIES } from '../../contracts/kinds.js';
import { addTo, lowerBound, onceForEach } from '../../shared/collections.js';
import { clipText, oneSpelling } from '../../shared/text.js';
import type { PastResults } from '../search/past-results.js';
import { knownAs } from '../search/path-table.js';
import { type IndexedText, placeIn, tokenCounts, WordIndex } from '../search/tokens.js';
import {
  FACT_GROUPS,
  type FactGroup,
  groupOf,
  isBare,
  isLasting,
  isSummary,
  type SessionFact,
  turnOf,
  workOf,
} from './fact-types.js';

/**
 * Indexes the valid facts of a store by words, files and tasks. Text and changed files are counted separately, so that
 * a folder with many files does not make its name a common word.
 */
export class FactIndex {
  readonly #facts = new Map<SessionFact, IndexedFact>();
  readonly text = new WordIndex<IndexedFact>();
  readonly changedFiles = new WordIndex<IndexedFact>();
  readonly #byFile = new Map<string, IndexedFact[]>();
  readonly #byTask = new Map<string, IndexedFact[]>();
  /** The facts of tasks, and of turns of conversations. */
  readonly #byWork = new Map<string, IndexedFact[]>();
  readonly #telling = new FactsByAge();
  readonly #dull = new FactsByAge();
  readonly lasting = new FactsByAge();
  #findings = 0;
  #slots = 0;
  readonly #free: number[] = [];

  add(fact: SessionFact): void {
    const place = this.#free.pop() ?? this.#facts.size;
    const entry = new IndexedFact(fact, this.#slots, place);
    this.#slots += 1;
    this.#facts.set(fact, entry);
    this.#wordsOf(entry).add(entry);
    for (const path of entry.paths) addTo(this.#byFile, path, entry);
    addTo(this.#byTask, fact.sourceTaskId, entry);
    addTo(this.#byWork, workOf(fact), entry);
    this.byAge(entry.isDull).add(entry);
    if (entry.isLasting) this.lasting.add(entry);
    if (entry.group === 'findings') this.#findings += 1;
  }

  remove(fact: SessionFact): void {
    const entry = this.#facts.get(fact);
    if (entry === undefined) return;
    this.#facts.delete(fact);
    this.#free.push(entry.place);
    this.#wordsOf(entry).remove(entry);
    for (const path of entry.paths) removeFrom(this.#byFile, path, entry);
    removeFrom(this.#byTask, fact.sourceTaskId, entry);
    removeFrom(this.#byWork, workOf(fact), entry);
    this.byAge(entry.isDull).remove(entry);
    if (entry.isLasting) this.lasting.remove(entry);
    if (entry.group === 'findings') this.#findings -= 1;
  }

  byAge(isDull: boolean): FactsByAge {
    return isDull ? this.#dull : this.#telling;
  }

  get findings(): number {
    return this.#findings;
  }

  /** Greater than any place. */
  get places(): number {
    return this.#facts.size + this.#free.length;
  }

  ofFile(path: string): readonly IndexedFact[] {
    return this.#byFile.get(path) ?? NONE;
  }

  ofTask(task: string): readonly IndexedFact[] {
    return this.#byTask.get(task) ?? NONE;
  }

  ofWork(work: string): readonly IndexedFact[] {
    return this.#byWork.get(work) ?? NONE;
  }

  /** Returns past results by the work that they are from, as `workOf` names it, in place of the task. */
  byWork(past: PastResults): PastResults {
    const rows = past.rows.map((row) => {
      const turn = turnOf(row.task, row.sequence);
      return this.#byWork.has(turn) ? { ...row, task: turn } : row;
    });
    return Object.assign(past.copy(), { rows });
  }

  #wordsOf({ group }: IndexedFact): WordIndex<IndexedFact> {
    return group === 'files' ? this.changedFiles : this.text;
  }
}

const NONE: readonly IndexedFact[] = [];

function removeFrom(lists: Map<string, IndexedFact[]>, key: string, entry: IndexedFact): void {
  const entries = lists.get(key) ?? [];
  const at = placeIn(entries, entry);
  if (at >= 0 && entries.length === 1) lists.delete(key);
  else if (at >= 0) entries.splice(at, 1);
}

/** Facts sorted by age as they are added and removed, so that a query for the newest need not sort. */
class FactsByAge {
  /** Oldest dispatch first, since nearly all new facts are the newest; the facts of a dispatch against the order of its rules. */
  readonly #entries: IndexedFact[] = [];

  /** The entry's slot must be the highest. */
  add(entry: IndexedFact): void {
    this.#entries.splice(this.#placeOf(entry), 0, entry);
  }

  remove(entry: IndexedFact): void {
    const at = this.#entries.indexOf(entry, this.#placeOf(entry));
    if (at >= 0) this.#entries.splice(at, 1);
  }

  /** Yields the newest dispatch first, each in the order of its rules. */
  *newestFirst(): Generator<IndexedFact, void> {
    for (let at = this.#entries.length - 1; at >= 0; at -= 1) yield this.#entries[at] as IndexedFact;
  }

  #placeOf({ fact }: IndexedFact): number {
    return lowerBound(this.#entries, fact.sourceSequence, (other) => other.fact.sourceSequence);
  }
}

const MAX_WORDS = 120;
const MAX_MEANT = 300;
/** May be a path if it contains a slash. */
const PATH = /[\w@./-]+/g;
const DIGIT = /\d/;

type Contents = Omit<IndexedFact, 'fact' | 'slot' | 'place' | 'meant' | 'saying'>;

export class IndexedFact implements IndexedText {
  readonly fact: SessionFact;
  readonly slot: number;
  /** Index position, reused after removal. */
  readonly place: number;
  readonly group!: FactGroup;
  /** Group and severity as a number; lower is more important. */
  readonly standing!: number;
  /** Distinct tokens of object and subject, without the task, whose id says nothing. */
  readonly words!: readonly string[];
  readonly times!: readonly number[];
  readonly length!: number;
  /** Number of words from the object, which come first. */
  readonly objectWords!: number;
  /** Sorted words with a digit; facts with different ones are different matters. */
  readonly numbers!: string;
  readonly isOfTask!: boolean;
  readonly isBare!: boolean;
  readonly isSummary!: boolean;
  /** True if it only states a file change, or success. */
  readonly isDull!: boolean;
  readonly isLasting!: boolean;
  readonly paths!: readonly string[];
  #saying: string | undefined;
  #meant: string | undefined;

  constructor(fact: SessionFact, slot: number, place: number) {
    this.fact = fact;
    this.slot = slot;
    this.place = place;
    Object.assign(this, contentsOf(fact));
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

/** Cached: facts are immutable and may be in several stores. */
const contentsOf = onceForEach((fact: SessionFact): Contents => {
  const { subject, relation, object, sourceTaskId } = fact;
  const isOfTask = subject === `task:${sourceTaskId}`;
  const changes = groupOf({ relation, tags: [] }) === 'files';
  const counts = changes ? new Map<string, number>() : tokenCounts(object, MAX_WORDS);
  const objectTokens = [...counts.keys()];
  // The slash prevents a first word from being read as a verb.
  if (!isOfTask)
    for (const [word, times] of tokenCounts(`/${subject}`, MAX_WORDS))
      counts.set(word, times + (counts.get(word) ?? 0));
  const paths = [...(isOfTask ? [] : [subject]), ...(changes ? [] : pathsIn(object))].map(knownAs);
  const group = groupOf(fact);
  const bare = isBare(fact);
  return {
    words: [...counts.keys()],
    times: [...counts.values()],
    length: counts.size,
    objectWords: objectTokens.length,
    numbers: objectTokens
      .filter((word) => DIGIT.test(word))
      .sort()
      .join(' '),
    group,
    standing: standingOf(fact, group),
    isOfTask,
    isBare: bare,
    isDull: group === 'files' || bare,
    isSummary: isSummary(fact),
    isLasting: isLasting(fact),
    paths: [...new Set(paths)],
  };
});

function standingOf({ severity }: SessionFact, group: FactGroup): number {
  const place = severity === undefined ? SEVERITIES.length : SEVERITIES.indexOf(severity);
  return FACT_GROUPS.indexOf(group) * (SEVERITIES.length + 1) + place;
}

function pathsIn(text: string): string[] {
  return (text.match(PATH) ?? []).filter((word) => /[^/]\/[^/]/.test(word));
}
