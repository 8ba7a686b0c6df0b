import { SEVERITIES } from '../contracts/severity.js';
import { type FileClass, fileClass } from '../search/file-class.js';
import { knownAs } from '../search/known-path.js';
import { endOf, fileWords, isNamed } from '../search/named-files.js';
import { tokens } from '../search/tokens.js';
import { FACT_GROUPS, type FactGroup, isBare, isSummary } from './fact-groups.js';
import { factId } from './fact-id.js';
import type {
  IFactIndex,
  IndexedFact,
  ISessionFactStore,
  RankedFact,
  SessionFact,
  SessionFactTag,
} from './fact-types.js';

export type { FactGroup } from './fact-groups.js';
export type { RankedFact } from './fact-types.js';

/**
 * The facts that a task needs, by the words that they share with it, the files that it will likely touch, and the past
 * results that it is like.
 *
 * A rare word counts 1, a common one less; what speaks for a fact is added up and multiplied by the weight of its group.
 * See docs/explanation/relevance.md for what this reaches and how to measure it.
 */
export interface FactsAsked {
  /** The task in words. */
  readonly text: string;
  /** Its facts are left out: the agent that works on it knows them from its own ledger. */
  readonly taskId: string;
  /** Facts that carry at least one of them; absent means any. */
  readonly tags?: readonly SessionFactTag[] | undefined;
  readonly maxFacts: number;
  /** `recent`: what is left of `maxFacts` goes to the newest facts. */
  readonly fill?: 'relevant' | 'recent' | undefined;
  /** Files that the task will likely touch, best first. */
  readonly files: readonly string[];
  /** Files that are open, relative to the project or absolute. */
  readonly open?: readonly string[] | undefined;
  /**
   * Whether the answer stands beside the task's ledger and its likely files. Then the task's own decisions, conventions and
   * other facts in words are chosen too, which the ledger does not say, and file changes are not unless by `fill` or `tags`.
   */
  readonly besideLedger?: boolean | undefined;
  /** Tasks of similar past results, with the similarity, 0 to 1. */
  readonly similar: ReadonlyMap<string, number>;
}

/** A fact that was looked at, with why, and why it was left out if it was. */
export interface WeighedFact extends RankedFact {
  /** What spoke for it most. */
  readonly because: 'words' | 'file' | 'similar' | 'recent';
  readonly left?: 'rank' | 'near-duplicate' | 'one task' | 'held' | 'likely file' | undefined;
  /** Id of the fact that says the same. */
  readonly duplicateOf?: string;
}

export interface FactRanking {
  /** At most `maxFacts`, best first. */
  readonly chosen: readonly RankedFact[];
  /** The best 30, chosen or not, best first. */
  readonly considered: readonly WeighedFact[];
  /** All that have to do with the task. */
  readonly total: number;
}

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

/** Share of the places that are held for open findings and conventions. */
const HELD_SHARE = 0.3;
/** Share of the places that one task may take while others have something to say. */
const TASK_SHARE = 0.5;
const CONSIDERED = 30;
/** Files that most results touch, whatever they are about. */
const BUSY: ReadonlySet<FileClass> = new Set(['lock', 'manifest', 'changelog']);

/** Longest query that is read, in characters and tokens. */
const MAX_QUERY = 8000;
const MAX_TOKENS = 400;
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
const SHORT_QUERY = 25;
/** What speaks for a fact must be so much of what speaks for the best. */
const LEAST_SHARE = 0.25;
const FILE = 1;
const TASK_FILE = 0.5;
const SIMILAR = 1;
const LEAST_SIMILAR = 0.15;

/** Share of common words from which two facts say the same. */
const SAME = 0.8;
/** Chosen facts that one is compared with. */
const COMPARED = 64;

/** Chooses facts; the same facts and the same request give the same answer, in whatever order the facts came. */
export function rankFacts(store: ISessionFactStore, asked: FactsAsked): FactRanking {
  const index = store.index();
  const withChanges = !asked.besideLedger || asked.tags !== undefined || asked.fill === 'recent';
  const isAsked = (entry: IndexedFact) =>
    (withChanges || entry.group !== 'files') &&
    (asked.tags === undefined || entry.fact.tags.some((tag) => asked.tags?.includes(tag))) &&
    (entry.fact.sourceTaskId !== asked.taskId ||
      (asked.besideLedger === true && isBesideLedger(entry, index)));
  const words = tokens(asked.text.slice(0, MAX_QUERY), MAX_TOKENS);
  const hits = new Hits(index, words);
  hits.addWords();
  hits.addFiles(leadsFrom(asked, index));
  hits.addSimilar(asked.similar);
  hits.addOwn(index.ofTask(asked.taskId).filter(isAsked));
  const chance = Math.max(1, Math.sqrt(words.length / SHORT_QUERY));
  const candidates = hits.found(chance).filter(({ entry }) => isAsked(entry));
  candidates.sort(byWorth);
  const chosen = new Choice(asked.maxFacts, candidates, new Set(asked.files));
  if (asked.fill === 'recent' && chosen.hasRoom()) chosen.fill([...index.all()].filter(isAsked));
  return { chosen: chosen.facts(), considered: chosen.considered(), total: candidates.length };
}

/** Tokens of a fact's words, at four characters each. */
export function tokensOf(fact: Pick<SessionFact, 'subject' | 'relation' | 'object'>): number {
  return Math.ceil((fact.subject.length + fact.relation.length + fact.object.length) / 4);
}

interface Lead {
  readonly path: string;
  /** Whether the task names it, or it is open. */
  readonly isMeant: boolean;
}

/** The files whose facts matter, best first: open ones, those that the task names, and those that it will likely touch. */
function leadsFrom({ text, open = [], files }: FactsAsked, index: IFactIndex): Lead[] {
  const words = fileWords(text.slice(0, MAX_QUERY));
  const found = [...open, ...words].flatMap(
    (path) => endOf(path, (end) => index.ofFile(end).length > 0) ?? [],
  );
  const meant = new Set([...found, ...files.filter((path) => isNamed(path, words))]);
  const likely = files.filter((path) => !meant.has(path) && !BUSY.has(fileClass(path)));
  return [
    ...[...meant].map((path) => ({ path, isMeant: true })),
    ...likely.map((path) => ({ path, isMeant: false })),
  ];
}

/** Whether the ledger of its task does not say it: what was decided, and rules and facts in words. */
function isBesideLedger(entry: IndexedFact, index: IFactIndex): boolean {
  const { fact, group } = entry;
  if (group === 'decisions') return true;
  if (group === 'facts') return !isBare(fact);
  const saysSo = (other: IndexedFact) => other.group === 'findings' && saySame(entry, other);
  return group === 'conventions' && !index.ofTask(fact.sourceTaskId).some(saysSo);
}

/** What speaks for one fact, in rare words. */
interface Hit {
  readonly entry: IndexedFact;
  /** Words of the query that it holds, by their places there, and what each adds. */
  readonly matched: number[];
  readonly weights: number[];
  words: number;
  file: number;
  similar: number;
  /** Whether its file is one that the task names, or that is open. */
  isMeant: boolean;
}

interface Candidate {
  /** Whether it may take any place, or only those that are held for its kind. */
  readonly isFree: boolean;
  readonly entry: IndexedFact;
  readonly score: number;
  readonly because: WeighedFact['because'];
  readonly matched: () => string[];
}

class Hits {
  readonly #index: IFactIndex;
  readonly #words: readonly string[];
  readonly #hits: Hit[] = [];
  /** By the places of their facts. */
  readonly #byPlace: (Hit | undefined)[];

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
      let sum = 0;
      for (const weight of hit.weights) sum += weight;
      hit.words = factor * sum;
    }
    this.#addContext();
  }

  /** A fact says more in the light of what its task did. */
  #addContext(): void {
    const summaries = new Map<string, Hit[]>();
    for (const hit of this.#hits) {
      if (!isSummary(hit.entry.fact) || hit.words < ENOUGH) continue;
      const known = summaries.get(hit.entry.fact.sourceTaskId);
      if (known === undefined) summaries.set(hit.entry.fact.sourceTaskId, [hit]);
      else known.push(hit);
    }
    const said = new Float64Array(this.#words.length);
    for (const [task, hits] of summaries) {
      said.fill(0);
      let all = 0;
      for (const { matched, weights } of hits) {
        for (let at = 0; at < matched.length; at += 1) {
          const word = matched[at] as number;
          const more = (weights[at] as number) - (said[word] as number);
          if (more <= 0) continue;
          said[word] = weights[at] as number;
          all += more;
        }
      }
      for (const entry of this.#index.ofTask(task)) {
        if (entry.group === 'files' || isSummary(entry.fact) || isBare(entry.fact)) continue;
        const hit = this.#hitOf(entry);
        let others = all;
        for (const word of hit.matched) others -= said[word] as number;
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
        if (hit !== undefined) matches(hit, at, weight);
      }
      for (const other of kin[at] ?? []) {
        const alike = holding(other);
        const less = KIN * rarity(exact.length + alike.length, all);
        if (less < RARE / 2) continue;
        for (const entry of alike) matches(this.#hitOf(entry), at, less);
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
        if (entry.group !== 'files' && !isBare(entry.fact)) this.#raiseSimilar(entry, SIMILAR * similarity);
    }
  }

  /** What the task has said itself matters to it, whatever the words. */
  addOwn(entries: readonly IndexedFact[]): void {
    for (const entry of entries) this.#raiseSimilar(entry, SIMILAR);
  }

  /** @param chance how much likelier than with a short query words are shared by chance */
  found(chance: number): Candidate[] {
    const found: Candidate[] = [];
    let best = 0;
    for (const { entry, words, similar } of this.#hits)
      if (entry.group !== 'files') best = Math.max(best, words + similar);
    for (const hit of this.#hits) {
      // Beside what fits well, what fits a little is noise; a finding is worth knowing.
      if (!isHeld(hit.entry) && hit.words + hit.file + hit.similar < LEAST_SHARE * best) continue;
      const enough = chance * (isHeld(hit.entry) ? ENOUGH_HELD : ENOUGH);
      const words = hit.words >= enough ? hit.words : 0;
      if (words === 0 && hit.file === 0 && hit.similar === 0) continue;
      const { entry, file, similar } = hit;
      const because = words >= file && words >= similar ? 'words' : file >= similar ? 'file' : 'similar';
      const speaks = (hit.words + file + similar) * weightOf(entry);
      found.push({
        entry,
        score: speaks / (1 + speaks),
        because,
        // Others of a busy file would take all places from what the task is about.
        isFree: !isHeld(entry) || because !== 'file' || hit.isMeant,
        matched: () => hit.matched.map((at) => this.#words[at] ?? ''),
      });
    }
    return found;
  }

  #raiseSimilar(entry: IndexedFact, worth: number): void {
    const hit = this.#hitOf(entry);
    hit.similar = Math.max(hit.similar, worth);
  }

  #hitOf(entry: IndexedFact): Hit {
    const known = this.#byPlace[entry.place];
    if (known !== undefined) return known;
    const hit = { entry, matched: [], weights: [], words: 0, file: 0, similar: 0, isMeant: false };
    this.#hits.push(hit);
    this.#byPlace[entry.place] = hit;
    return hit;
  }
}

/** Notes that a fact holds a word. One after the other: a word that it was noted to hold itself is the last. */
function matches(hit: Hit, word: number, weight: number): void {
  if (hit.matched.at(-1) === word) return;
  hit.matched.push(word);
  hit.weights.push(weight);
}

/** 1 for a word that one fact holds, less for a common one. */
function rarity(holders: number, all: number): number {
  const idf = (held: number) => Math.log(1 + (all + PRIOR - held + 0.5) / (held + 0.5));
  return idf(Math.max(1, holders)) / idf(1);
}

function weightOf({ fact, group }: IndexedFact): number {
  if (isBare(fact)) return BARE_WEIGHT;
  return GROUP_WEIGHTS[group] * (fact.severity === undefined ? 1 : SEVERITY_WEIGHTS[fact.severity]);
}

function isHeld({ group }: IndexedFact): boolean {
  return group === 'findings' || group === 'conventions';
}

/** The best first; of equal ones by group and severity, then the newest, and within one dispatch as its rules gave them. */
function byWorth(a: Candidate, b: Candidate): number {
  return b.score - a.score || byGroup(a.entry, b.entry) || byAge(a.entry, b.entry);
}

function byGroup(a: IndexedFact, b: IndexedFact): number {
  const place = ({ group }: IndexedFact) => FACT_GROUPS.indexOf(group);
  const severity = ({ fact }: IndexedFact) =>
    fact.severity === undefined ? SEVERITIES.length : SEVERITIES.indexOf(fact.severity);
  return place(a) - place(b) || severity(a) - severity(b);
}

function byAge(a: IndexedFact, b: IndexedFact): number {
  return b.fact.sourceSequence - a.fact.sourceSequence || a.slot - b.slot;
}

/** Gives the places of an answer to candidates, the best first. */
class Choice {
  readonly #most: number;
  readonly #candidates: readonly Candidate[];
  readonly #chosen = new Set<Candidate>();
  readonly #recent: Candidate[] = [];
  readonly #left = new Map<Candidate, Pick<WeighedFact, 'left' | 'duplicateOf'>>();

  /** @param files the likely files, which say themselves that they were changed */
  constructor(most: number, candidates: readonly Candidate[], files: ReadonlySet<string>) {
    this.#most = most;
    this.#candidates = candidates;
    for (const candidate of candidates) {
      const { fact, group } = candidate.entry;
      if (group === 'files' && files.has(knownAs(fact.subject)))
        this.#left.set(candidate, { left: 'likely file' });
    }
    this.#take(Math.ceil(HELD_SHARE * most), ({ entry }) => isHeld(entry));
    const isConvention = ({ entry }: Candidate) => entry.group === 'conventions';
    if (![...this.#chosen].some(isConvention))
      this.#take(Math.min(most, this.#chosen.size + 1), (each) => each.isFree && isConvention(each));
    const open = most - this.#chosen.size;
    const byTask = new Map<string, number>();
    const share = Math.max(1, Math.floor(TASK_SHARE * open));
    this.#take(most, (candidate) => {
      if (!candidate.isFree) this.#left.set(candidate, { left: 'held' });
      if (!candidate.isFree) return false;
      const task = candidate.entry.fact.sourceTaskId;
      const taken = byTask.get(task) ?? 0;
      if (taken >= share) this.#left.set(candidate, { left: 'one task' });
      else byTask.set(task, taken + 1);
      return taken < share;
    });
    // Places that nothing else wants.
    this.#take(most, ({ isFree }) => isFree);
  }

  hasRoom(): boolean {
    return this.#chosen.size < this.#most;
  }

  fill(entries: readonly IndexedFact[]): void {
    const isDull = ({ fact, group }: IndexedFact) => Number(group === 'files' || isBare(fact));
    const known = new Set(this.#candidates.map(({ entry }) => entry));
    const rest = entries.filter((entry) => !known.has(entry));
    rest.sort((a, b) => isDull(a) - isDull(b) || byAge(a, b));
    for (const entry of rest) {
      if (this.#chosen.size + this.#recent.length >= this.#most) return;
      const candidate: Candidate = { entry, score: 0, because: 'recent', isFree: true, matched: () => [] };
      if (this.#duplicateOf(candidate) === undefined) this.#recent.push(candidate);
    }
  }

  facts(): RankedFact[] {
    return [...this.#best(), ...this.#recent].map(ranked);
  }

  considered(): WeighedFact[] {
    const best = this.#best().slice(0, CONSIDERED);
    for (const candidate of this.#candidates) {
      if (best.length >= CONSIDERED) break;
      if (!this.#chosen.has(candidate)) best.push(candidate);
    }
    const recent = this.#recent.slice(0, CONSIDERED - best.length);
    return [...best.sort(byWorth), ...recent].map((candidate) => ({
      ...ranked(candidate),
      because: candidate.because,
      ...(candidate.because !== 'recent' &&
        !this.#chosen.has(candidate) &&
        (this.#left.get(candidate) ?? { left: 'rank' })),
    }));
  }

  #best(): Candidate[] {
    return [...this.#chosen].sort(byWorth);
  }

  /** Takes candidates that say something new, until so many are chosen. */
  #take(most: number, isWanted: (candidate: Candidate) => boolean): void {
    for (const candidate of this.#candidates) {
      if (this.#chosen.size >= most) return;
      const { left } = this.#left.get(candidate) ?? {};
      if (this.#chosen.has(candidate) || left === 'near-duplicate' || left === 'likely file') continue;
      const other = this.#duplicateOf(candidate);
      if (other !== undefined)
        this.#left.set(candidate, { left: 'near-duplicate', duplicateOf: factId(other) });
      else if (isWanted(candidate)) this.#chosen.add(candidate);
    }
  }

  #duplicateOf({ entry }: Candidate): SessionFact | undefined {
    let compared = 0;
    for (const { entry: other } of [...this.#chosen, ...this.#recent]) {
      if (saySame(entry, other)) return other.fact;
      compared += 1;
      if (compared >= COMPARED) return undefined;
    }
    return undefined;
  }
}

function ranked({ entry: { fact, group }, score, matched }: Candidate): RankedFact {
  return { fact, group, score, tokens: tokensOf(fact), matched: matched() };
}

/** Whether two facts say nearly the same of the same thing. "Case 7" and "case 8" are two matters. */
function saySame(a: IndexedFact, b: IndexedFact): boolean {
  if (a.fact.subject !== b.fact.subject && !isOfTask(a) && !isOfTask(b)) return false;
  if (a.group === 'files' || b.group === 'files') return a.group === b.group;
  const [one, other] = [a.words.slice(0, a.own), b.words.slice(0, b.own)];
  const common = one.filter((word) => other.includes(word)).length;
  if (common < SAME * (one.length + other.length - common)) return false;
  return numbersOf(one) === numbersOf(other);
}

function numbersOf(words: readonly string[]): string {
  return words
    .filter((word) => /\d/.test(word))
    .sort()
    .join(' ');
}

/** Whether a fact is about its task as a whole. */
function isOfTask({ fact }: IndexedFact): boolean {
  return fact.subject === `task:${fact.sourceTaskId}`;
}
