import { knownAs } from '../search/path-table.js';
import { rarity, saturation, type WordIndex } from '../search/tokens.js';
import type { FactIndex, IndexedFact } from './fact-index.js';
import { type FactGroup, rankOf, type SessionFact, type WeighedFact } from './fact-types.js';

const GROUP_WEIGHTS: Readonly<Record<FactGroup, number>> = {
  findings: 2,
  conventions: 2,
  decisions: 1.6,
  tests: 1.5,
  requirements: 1.3,
  facts: 1.3,
  work: 1,
  files: 0.3,
};
const BARE_WEIGHT = 0.1;
/** For the words of a person, of the user, and of agents. */
const ORIGIN_WEIGHTS = [1.5, 1.3, 1];
const SEVERITY_WEIGHTS = { critical: 1.3, important: 1.1, minor: 0.9 } as const;
/** Facts without the word, added when computing its rarity: among few facts, no word is common. */
const PRIOR = 50;
/** Minimum weight of a word that finds facts, and of a word that counts at all. */
const RARE = 0.2;
const NOTHING = 0.05;
/** BM25's b, the penalty for long facts, and the share of a word that a fact of average length has once. */
const LENGTH = 0.4;
const ONCE = saturation(1, 1);
/** Minimum sum of word weights: more than one common word. Long queries need more, since they match by chance. */
const ENOUGH = 0.6;
/** For findings and conventions: missing one costs more than reading it. */
const ENOUGH_RESERVED = 0.4;
const LEAST_SHARE = 0.25;
const FILE = 1;
const TASK_FILE = 0.5;
const SIMILAR = 1;
const LEAST_SIMILAR = 0.15;

export interface Lead {
  readonly path: string;
  /** True if the task names the file, or it is open. */
  readonly isMeant: boolean;
}

export class Candidate implements WeighedFact {
  readonly entry: IndexedFact;
  readonly because: WeighedFact['because'];
  readonly score: number;
  /** False if it may only take places reserved for its kind. */
  readonly isFree: boolean;
  readonly #words: readonly string[];
  isChosen = false;
  left: WeighedFact['left'];
  duplicateOf: string | undefined;

  /** @param words of the query; without them, neither words nor files speak for it */
  constructor(
    entry: IndexedFact,
    because: WeighedFact['because'],
    { score = 0, isFree = true, words = [] as readonly string[] } = {},
  ) {
    this.entry = entry;
    this.because = because;
    this.score = score;
    this.isFree = isFree;
    this.#words = words;
  }

  get fact(): SessionFact {
    return this.entry.fact;
  }

  get group(): FactGroup {
    return this.entry.group;
  }

  get tokens(): number {
    return tokensOf(this.fact);
  }

  /** Made when it is asked for: most candidates are not shown. */
  get matched(): readonly string[] {
    const has = new Set(this.entry.words);
    return this.#words.filter((word) => has.has(word));
  }
}

/** At four characters a token. */
export function tokensOf(fact: Pick<SessionFact, 'subject' | 'relation' | 'object'>): number {
  return Math.ceil((fact.subject.length + fact.relation.length + fact.object.length) / 4);
}

/** A fact with its likeness to the task by meaning, up to 1, or with the sum of its evidence. */
export interface RatedFact {
  readonly entry: IndexedFact;
  readonly value: number;
}

/** Bits of a fact: it has evidence; the task names its file, or that is open; it is work that is worth a line; it is near. */
const HIT = 1;
const MEANT = 2;
const USEFUL = 4;
const NEAR = 8;

/** The evidence for facts, weighted by rarity, in arrays by the facts' places: objects for a thousand hits cost more. */
export class FactHits {
  readonly #index: FactIndex;
  readonly #hits: IndexedFact[] = [];
  readonly #bits: Uint8Array;
  readonly #text: Float64Array;
  readonly #file: Float64Array;
  readonly #similar: Float64Array;
  /** The words of the query that count, the rarest first: in texts, and in the paths of changed files. */
  #textWords: readonly string[] = [];
  #pathWords: readonly string[] = [];

  constructor(index: FactIndex) {
    this.#index = index;
    const { places } = index;
    this.#bits = new Uint8Array(places);
    this.#text = new Float64Array(places);
    this.#file = new Float64Array(places);
    this.#similar = new Float64Array(places);
  }

  addWords(words: readonly string[]): void {
    this.#textWords = this.#addFrom(this.#index.text, words);
    this.#pathWords = this.#addFrom(this.#index.changedFiles, words);
  }

  #addFrom(index: WordIndex<IndexedFact>, words: readonly string[]): string[] {
    const { averageLength } = index;
    const weighed = words.map((word) => {
      const { entries, times } = index.of(word);
      return { word, entries, times, weight: weightIn(index.size, entries.length) };
    });
    const counting = weighed.filter(({ weight }) => weight >= NOTHING).sort((a, b) => b.weight - a.weight);
    // Rare words first: a common word only adds to facts found by a rare one.
    for (const { entries, times, weight } of counting) {
      for (let at = 0; at < entries.length; at += 1) {
        const entry = entries[at] as IndexedFact;
        if (weight < RARE && !this.#has(entry.place, HIT)) continue;
        const place = this.#placeOf(entry);
        const share = saturation(times[at] as number, entry.length / averageLength, LENGTH) / ONCE;
        this.#text[place] = (this.#text[place] as number) + weight * share;
      }
    }
    return counting.map(({ word }) => word);
  }

  addFiles(leads: readonly Lead[]): void {
    for (const [rank, { path, isMeant }] of leads.entries()) {
      const worth = FILE / (1 + rank / 5);
      const raise = (entry: IndexedFact, worth: number) => {
        const place = this.#raise(this.#file, entry, worth);
        if (isMeant) this.#set(place, MEANT);
      };
      for (const entry of this.#index.ofFile(path)) {
        if (entry.group !== 'files') raise(entry, worth);
        if (knownAs(entry.fact.subject) !== path) continue;
        for (const other of this.#index.ofTask(entry.fact.sourceTaskId))
          if (isReserved(other)) raise(other, worth * TASK_FILE);
      }
    }
  }

  addSimilar(tasks: ReadonlyMap<string, number>): void {
    for (const [task, similarity] of tasks) {
      if (similarity < LEAST_SIMILAR) continue;
      for (const entry of this.#index.ofWork(task))
        if (entry.group !== 'files' && !entry.isBare) this.#raise(this.#similar, entry, SIMILAR * similarity);
    }
  }

  /** Adds the summaries of past tasks, however little else speaks for them. */
  addWork(tasks: ReadonlyMap<string, number>): void {
    for (const [task, use] of tasks)
      for (const entry of this.#index.ofWork(task))
        if (entry.isSummary && !entry.isBare) this.#set(this.#raise(this.#similar, entry, use), USEFUL);
  }

  addNear(facts: readonly RatedFact[]): void {
    for (const { entry, value: likeness } of facts) {
      const known = this.#similar[entry.place] as number;
      const place = this.#raise(this.#similar, entry, likeness);
      if (known < likeness) this.#set(place, NEAR);
    }
  }

  /** The task's own statements, and rules of its files, are relevant whatever their words. */
  addOfTask(entries: readonly IndexedFact[]): void {
    for (const entry of entries) this.#raise(this.#similar, entry, SIMILAR);
  }

  /** Splits the hits into relevant and faint ones. `chance`: how much likelier words match by chance than with a short query. */
  found(chance: number): { found: Candidate[]; faint: () => RatedFact[] } {
    const found: Candidate[] = [];
    const faint: IndexedFact[] = [];
    let best = 0;
    for (const { place, group } of this.#hits)
      if (group !== 'files')
        best = Math.max(best, (this.#text[place] as number) + (this.#similar[place] as number));
    for (const entry of this.#hits) {
      // Beside a good match a weak one is noise, except for findings.
      const { place, group } = entry;
      const text = this.#text[place] as number;
      const file = this.#file[place] as number;
      const similar = this.#similar[place] as number;
      const enough = chance * (isReserved(entry) ? ENOUGH_RESERVED : ENOUGH);
      const byWords = text >= enough ? text : 0;
      const sum = text + file + similar;
      const isWeak = !isReserved(entry) && !this.#has(place, USEFUL | NEAR) && sum < LEAST_SHARE * best;
      if (isWeak || (byWords === 0 && file === 0 && similar === 0)) {
        faint.push(entry);
        continue;
      }
      const alike = this.#has(place, NEAR) ? 'meaning' : 'similar';
      const because = byWords >= file && byWords >= similar ? 'words' : file >= similar ? 'file' : alike;
      const speaks = sum * weightOf(entry);
      const words = text === 0 ? [] : group === 'files' ? this.#pathWords : this.#textWords;
      // Other findings of a busy file would take all places.
      const isFree = !isReserved(entry) || because !== 'file' || this.#has(place, MEANT);
      found.push(new Candidate(entry, because, { score: speaks / (1 + speaks), isFree, words }));
    }
    return { found, faint: () => faint.map((entry) => ({ entry, value: this.#sumOf(entry) })) };
  }

  #sumOf({ place }: IndexedFact): number {
    return (this.#text[place] as number) + (this.#file[place] as number) + (this.#similar[place] as number);
  }

  #raise(evidence: Float64Array, entry: IndexedFact, worth: number): number {
    const place = this.#placeOf(entry);
    evidence[place] = Math.max(evidence[place] as number, worth);
    return place;
  }

  /** Returns the place of a fact, which counts as hit. */
  #placeOf(entry: IndexedFact): number {
    const { place } = entry;
    if (!this.#has(place, HIT)) this.#hits.push(entry);
    this.#set(place, HIT);
    return place;
  }

  #has(place: number, bit: number): boolean {
    return ((this.#bits[place] as number) & bit) !== 0;
  }

  #set(place: number, bit: number): void {
    this.#bits[place] = (this.#bits[place] as number) | bit;
  }
}

/** Returns the weight of a word among so many facts: 1 for one that a single fact has, less for a common one. */
function weightIn(all: number, holders: number): number {
  return rarity(Math.max(1, holders), all + PRIOR) / rarity(1, all + PRIOR);
}

function weightOf({ fact, group, isBare }: IndexedFact): number {
  if (isBare) return BARE_WEIGHT;
  const severity = fact.severity === undefined ? 1 : SEVERITY_WEIGHTS[fact.severity];
  return GROUP_WEIGHTS[group] * severity * (ORIGIN_WEIGHTS[rankOf(fact)] ?? 1);
}

export function isReserved({ group }: IndexedFact): boolean {
  return group === 'findings' || group === 'conventions';
}
