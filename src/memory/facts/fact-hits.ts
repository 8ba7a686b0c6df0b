import { addTo } from '../../shared/collections.js';
import { knownAs } from '../search/touched-files.js';
import type { FactGroup } from './fact-groups.js';
import type { FactIndex, IndexedFact } from './fact-index.js';
import type { SessionFact, WeighedFact } from './fact-types.js';

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
/** Facts without the word, added when computing its rarity: among few facts, no word is common. */
const PRIOR = 50;
/** Minimum weight of a word that finds facts, and of a word that counts at all. */
const RARE = 0.2;
const NOTHING = 0.05;
/** Weight of a related word, relative to the same word. */
const KIN = 0.5;
/** Weight of a word in the task's summary, relative to one in the fact. */
const CONTEXT = 0.3;
/** BM25's b, the penalty for long facts, and k1, the saturation of repeated hits. */
const LENGTH = 0.4;
const SATURATION = 1.2;
/** Minimum sum of word weights: more than one common word. Long queries need more, since they match by chance. */
const ENOUGH = 0.6;
/** For findings and conventions: missing one costs more than reading it. */
const ENOUGH_HELD = 0.4;
/** Minimum share of the best candidate's sum. */
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

/** A candidate fact with the decisions about it. */
export interface Candidate {
  /** False if it may only take places reserved for its kind. */
  readonly isFree: boolean;
  readonly entry: IndexedFact;
  readonly score: number;
  readonly because: WeighedFact['because'];
  readonly matched: () => string[];
  isChosen: boolean;
  left: WeighedFact['left'];
  /** The near-duplicate. */
  sameAs: SessionFact | undefined;
}

/** A fact that is hardly relevant to the task, with its sum. */
export interface FaintFact {
  readonly entry: IndexedFact;
  readonly sum: number;
}

/** The evidence for one fact, weighted by rarity. Also the candidate itself, since a thousand facts have one each. */
class Hit implements Candidate {
  readonly entry: IndexedFact;
  readonly #hits: FactHits;
  /** Index of its first and last match; -1 for none. */
  first = -1;
  last = -1;
  words = 0;
  file = 0;
  similar = 0;
  /** True if the task names its file, or that is open. */
  isMeant = false;
  /** True for work that is worth a line. */
  isUseful = false;
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
  readonly #index: FactIndex;
  readonly #words: readonly string[];
  readonly #hits: Hit[] = [];
  /** Indexed by the facts' places. */
  readonly #byPlace: (Hit | undefined)[];
  /**
   * Linked lists of matches in three arrays: the matched word, its weight, and the next match of the same fact, 0 for
   * none. Two arrays per fact would take longer to allocate than to fill.
   */
  readonly #matched: number[] = [];
  readonly #weights: number[] = [];
  readonly #next: number[] = [];

  constructor(index: FactIndex, words: readonly string[]) {
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

  /** Adds words from the task's summaries, which put its facts into context. */
  #addContext(): void {
    const summaries = new Map<string, Hit[]>();
    for (const hit of this.#hits) {
      if (!hit.entry.isSummary || hit.words < ENOUGH) continue;
      addTo(summaries, hit.entry.fact.sourceTaskId, hit);
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
    // Rare words first: a common word only adds to facts found by a rare one.
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

  /** Adds the summaries of past tasks, however little else speaks for them. */
  addWork(tasks: ReadonlyMap<string, number>): void {
    for (const [task, use] of tasks)
      for (const entry of this.#index.ofTask(task)) {
        if (!entry.isSummary || entry.isBare) continue;
        this.#raiseSimilar(entry, use);
        this.#hitOf(entry).isUseful = true;
      }
  }

  /** The task's own statements are relevant whatever their words. */
  addOwn(entries: readonly IndexedFact[]): void {
    for (const entry of entries) this.#raiseSimilar(entry, SIMILAR);
  }

  /**
   * Splits the hits into relevant ones and faint ones.
   *
   * @param chance how much likelier than with a short query words match by chance
   */
  found(chance: number): { found: Candidate[]; faint: FaintFact[] } {
    const found: Candidate[] = [];
    const faint: FaintFact[] = [];
    let best = 0;
    for (const { entry, words, similar } of this.#hits)
      if (entry.group !== 'files') best = Math.max(best, words + similar);
    for (const hit of this.#hits) {
      // Beside a good match a weak one is noise, except for findings.
      const { entry, file, similar } = hit;
      const enough = chance * (isHeld(entry) ? ENOUGH_HELD : ENOUGH);
      const words = hit.words >= enough ? hit.words : 0;
      const sum = hit.words + file + similar;
      const isWeak = !isHeld(entry) && !hit.isUseful && sum < LEAST_SHARE * best;
      if (isWeak || (words === 0 && file === 0 && similar === 0)) {
        faint.push({ entry, sum });
        continue;
      }
      hit.because = words >= file && words >= similar ? 'words' : file >= similar ? 'file' : 'similar';
      const speaks = sum * weightOf(entry);
      hit.score = speaks / (1 + speaks);
      // Other findings of a busy file would take all places.
      hit.isFree = !isHeld(entry) || hit.because !== 'file' || hit.isMeant;
      found.push(hit);
    }
    return { found, faint };
  }

  /** Records a match. Called per word in sequence, so a repeated word is always the last. */
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

  #after(at: number): number {
    return (this.#next[at] as number) || -1;
  }

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

/** Returns 1 for a word in one fact, less for a common one. */
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
