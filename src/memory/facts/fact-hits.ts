import { knownAs } from '../search/touched-files.js';
import type { FactGroup } from './fact-groups.js';
import type { IFactIndex, IndexedFact, SessionFact, WeighedFact } from './fact-types.js';

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
const SEVERITY_WEIGHTS = { critical: 1.3, important: 1.1, minor: 0.9 } as const;
/** Facts without a word that are added when its rarity is found: among few facts, none is common. */
const PRIOR = 50;
/** What a word counts at least that finds facts, and at least to count at all. */
const RARE = 0.2;
const NOTHING = 0.05;
/** What a word of the same family counts, of a word that is the same. */
const KIN = 0.5;
/** What a word of the task's summary counts, of a word of the fact. */
const CONTEXT = 0.3;
/** How much longer facts count less (BM25's b) and how little repeated hits add (its k1). */
const LENGTH = 0.4;
const SATURATION = 1.2;
/** What words must add up to: more than one common word. More is needed of a long query, where chance finds some. */
const ENOUGH = 0.6;
/** Of a finding or a convention: not to know it costs more than to read it. */
const ENOUGH_HELD = 0.4;
/** What speaks for a fact must be so much of what speaks for the best. */
const LEAST_SHARE = 0.25;
const FILE = 1;
const TASK_FILE = 0.5;
const SIMILAR = 1;
const LEAST_SIMILAR = 0.15;

export interface Lead {
  readonly path: string;
  /** Whether the task names it, or it is open. */
  readonly isMeant: boolean;
}

/** A fact that may be in an answer, with what a choice has made of it. */
export interface Candidate {
  /** Whether it may take any place, or only those that are held for its kind. */
  readonly isFree: boolean;
  readonly entry: IndexedFact;
  readonly score: number;
  readonly because: WeighedFact['because'];
  readonly matched: () => string[];
  isChosen: boolean;
  left: WeighedFact['left'];
  /** The fact that says the same. */
  sameAs: SessionFact | undefined;
}

/** A fact that has too little to do with a task, and the sum of what speaks for it. */
export interface FaintFact {
  readonly entry: IndexedFact;
  readonly sum: number;
}

/** What speaks for one fact, in rare words. A thousand facts have one each: it is the candidate as well. */
class Hit implements Candidate {
  readonly entry: IndexedFact;
  readonly #hits: FactHits;
  /** The first and the last of its matches, by number; -1 for none. */
  first = -1;
  last = -1;
  words = 0;
  file = 0;
  similar = 0;
  /** Whether its file is one that the task names, or that is open. */
  isMeant = false;
  isFree = true;
  score = 0;
  because: WeighedFact['because'] = 'words';
  isChosen = false;
  left: WeighedFact['left'];
  sameAs: SessionFact | undefined;

  constructor(entry: IndexedFact, hits: FactHits) {
    this.entry = entry;
    this.#hits = hits;
    this.left = undefined;
    this.sameAs = undefined;
  }

  matched(): string[] {
    return this.#hits.matchedBy(this);
  }
}

export class FactHits {
  readonly #index: IFactIndex;
  readonly #words: readonly string[];
  readonly #hits: Hit[] = [];
  /** By the places of their facts. */
  readonly #byPlace: (Hit | undefined)[];
  /**
   * The words of the query that facts hold, by their places there, what each adds, and the next match of the same fact; 0
   * for none. A thousand facts hold ten each: two lists for each fact would take longer to make than to fill.
   */
  readonly #matched: number[] = [];
  readonly #weights: number[] = [];
  readonly #next: number[] = [];

  constructor(index: IFactIndex, words: readonly string[]) {
    this.#index = index;
    this.#words = words;
    this.#byPlace = new Array(index.places);
  }

  addWords(): void {
    const { said, changed } = this.#index.counts;
    const kin = this.#words.map((word) => this.#index.kin(word));
    this.#addFrom((word) => this.#index.said(word), kin, said);
    this.#addFrom((word) => this.#index.changed(word), kin, changed);
    for (const hit of this.#hits) {
      const average = this.#index.averageWords(hit.entry.group);
      const length = 1 - LENGTH + (LENGTH * hit.entry.words.length) / average;
      const factor = (1 + SATURATION) / (1 + SATURATION * length);
      hit.words *= factor;
    }
    this.#addContext();
  }

  /** A fact says more in the light of what its task did. */
  #addContext(): void {
    const summaries = new Map<string, Hit[]>();
    for (const hit of this.#hits) {
      if (!hit.entry.isSummary || hit.words < ENOUGH) continue;
      const known = summaries.get(hit.entry.fact.sourceTaskId);
      if (known === undefined) summaries.set(hit.entry.fact.sourceTaskId, [hit]);
      else known.push(hit);
    }
    const said = new Float64Array(this.#words.length);
    for (const [task, hits] of summaries) {
      said.fill(0);
      let all = 0;
      for (const hit of hits) {
        for (let at = hit.first; at >= 0; at = this.#after(at)) {
          const word = this.#matched[at] as number;
          const weight = this.#weights[at] as number;
          const more = weight - (said[word] as number);
          if (more <= 0) continue;
          said[word] = weight;
          all += more;
        }
      }
      for (const entry of this.#index.ofTask(task)) {
        if (entry.group === 'files' || entry.isSummary || entry.isBare) continue;
        const hit = this.#hitOf(entry);
        let others = all;
        for (let at = hit.first; at >= 0; at = this.#after(at))
          others -= said[this.#matched[at] as number] as number;
        hit.words += CONTEXT * others;
      }
    }
  }

  #addFrom(
    holding: (word: string) => readonly IndexedFact[],
    kin: readonly (readonly string[])[],
    all: number,
  ): void {
    const weighed = this.#words.map((word, at) => {
      const exact = holding(word);
      return { at, exact, weight: rarity(exact.length, all) };
    });
    // The rare ones first: a common word only adds to what a rare one has found.
    weighed.sort((a, b) => b.weight - a.weight);
    for (const { at, exact, weight } of weighed) {
      for (const entry of weight >= NOTHING ? exact : []) {
        const hit = weight >= RARE ? this.#hitOf(entry) : this.#byPlace[entry.place];
        if (hit !== undefined) this.#matches(hit, at, weight);
      }
      for (const other of kin[at] ?? []) {
        const alike = holding(other);
        const less = KIN * rarity(exact.length + alike.length, all);
        if (less < RARE / 2) continue;
        for (const entry of alike) this.#matches(this.#hitOf(entry), at, less);
      }
    }
  }

  addFiles(leads: readonly Lead[]): void {
    for (const [place, { path, isMeant }] of leads.entries()) {
      const worth = FILE / (1 + place / 5);
      const raise = (entry: IndexedFact, file: number) => {
        const hit = this.#hitOf(entry);
        hit.file = Math.max(hit.file, file);
        hit.isMeant ||= isMeant;
      };
      for (const entry of this.#index.ofFile(path)) {
        if (entry.group !== 'files') raise(entry, worth);
        if (knownAs(entry.fact.subject) !== path) continue;
        for (const other of this.#index.ofTask(entry.fact.sourceTaskId))
          if (isHeld(other)) raise(other, worth * TASK_FILE);
      }
    }
  }

  addSimilar(tasks: ReadonlyMap<string, number>): void {
    for (const [task, similarity] of tasks) {
      if (similarity < LEAST_SIMILAR) continue;
      for (const entry of this.#index.ofTask(task))
        if (entry.group !== 'files' && !entry.isBare) this.#raiseSimilar(entry, SIMILAR * similarity);
    }
  }

  /** What the task has said itself matters to it, whatever the words. */
  addOwn(entries: readonly IndexedFact[]): void {
    for (const entry of entries) this.#raiseSimilar(entry, SIMILAR);
  }

  /**
   * What has to do with the task, and by what speaks for it what has too little to do with it.
   *
   * @param chance how much likelier than with a short query words are shared by chance
   */
  found(chance: number): { found: Candidate[]; faint: FaintFact[] } {
    const found: Candidate[] = [];
    const faint: FaintFact[] = [];
    let best = 0;
    for (const { entry, words, similar } of this.#hits)
      if (entry.group !== 'files') best = Math.max(best, words + similar);
    for (const hit of this.#hits) {
      // Beside what fits well, what fits a little is noise; a finding is worth knowing.
      const { entry, file, similar } = hit;
      const enough = chance * (isHeld(entry) ? ENOUGH_HELD : ENOUGH);
      const words = hit.words >= enough ? hit.words : 0;
      const sum = hit.words + file + similar;
      if ((!isHeld(entry) && sum < LEAST_SHARE * best) || (words === 0 && file === 0 && similar === 0)) {
        faint.push({ entry, sum });
        continue;
      }
      hit.because = words >= file && words >= similar ? 'words' : file >= similar ? 'file' : 'similar';
      const speaks = sum * weightOf(entry);
      hit.score = speaks / (1 + speaks);
      // Others of a busy file would take all places from what the task is about.
      hit.isFree = !isHeld(entry) || hit.because !== 'file' || hit.isMeant;
      found.push(hit);
    }
    return { found, faint };
  }

  /** Notes that a fact holds a word. One after the other: a word that it was noted to hold itself is the last. */
  #matches(hit: Hit, word: number, weight: number): void {
    if (hit.last >= 0 && this.#matched[hit.last] === word) return;
    const at = this.#matched.push(word) - 1;
    this.#weights.push(weight);
    this.#next.push(0);
    if (hit.last < 0) hit.first = at;
    else this.#next[hit.last] = at;
    hit.last = at;
    hit.words += weight;
  }

  /** The match of the same fact after this one; -1 for none. */
  #after(at: number): number {
    return (this.#next[at] as number) || -1;
  }

  /** The words of the query that a fact holds. */
  matchedBy({ first }: Pick<Hit, 'first'>): string[] {
    const words: string[] = [];
    for (let at = first; at >= 0; at = this.#after(at))
      words.push(this.#words[this.#matched[at] as number] ?? '');
    return words;
  }

  #raiseSimilar(entry: IndexedFact, worth: number): void {
    const hit = this.#hitOf(entry);
    hit.similar = Math.max(hit.similar, worth);
  }

  #hitOf(entry: IndexedFact): Hit {
    const known = this.#byPlace[entry.place];
    if (known !== undefined) return known;
    const hit = new Hit(entry, this);
    this.#hits.push(hit);
    this.#byPlace[entry.place] = hit;
    return hit;
  }
}

/** 1 for a word that one fact holds, less for a common one. */
function rarity(holders: number, all: number): number {
  const idf = (held: number) => Math.log(1 + (all + PRIOR - held + 0.5) / (held + 0.5));
  return idf(Math.max(1, holders)) / idf(1);
}

function weightOf({ fact, group, isBare }: IndexedFact): number {
  if (isBare) return BARE_WEIGHT;
  return GROUP_WEIGHTS[group] * (fact.severity === undefined ? 1 : SEVERITY_WEIGHTS[fact.severity]);
}

export function isHeld({ group }: IndexedFact): boolean {
  return group === 'findings' || group === 'conventions';
}
