import { kindOf } from '../../contracts/kinds.js';
import { RELATIONS } from '../../contracts/relations.js';
import { insertSorted } from '../../shared/collections.js';
import type { CoveringTask } from '../search/covering-work.js';
import { BUSY, endOf, fileClass, isNamed, knownAs, queryPaths } from '../search/path-table.js';
import { queryTokens } from '../search/tokens.js';
import { Candidate, FactHits, isReserved, type Lead, type RatedFact } from './fact-hits.js';
import type { FactIndex, IndexedFact } from './fact-index.js';
import type { ISessionFactStore } from './fact-store.js';
import {
  type FactGroup,
  type FactQuery,
  type FactRanking,
  type Here,
  type IFactRetriever,
  isAtHand,
  isElsewhere,
  type RankedFact,
  rankOf,
  type SessionFact,
  type SessionFactTag,
  type WeighedFact,
  workOf,
} from './fact-types.js';

/**
 * Selects the facts that a task needs, by shared words, likely files, similar past results, and meaning.
 *
 * A rare word counts 1, a common one less; the sum of evidence is multiplied by the weight of the group. See
 * docs/contributing/benchmarks.md for quality figures and their measurement.
 */
export interface RankingQuery {
  readonly text: string;
  /** Its facts are left out, since its own ledger shows them. */
  readonly taskId: string;
  readonly tags?: readonly SessionFactTag[] | undefined;
  readonly maxFacts?: number | undefined;
  /** Token budget at which to stop once the first places are filled. */
  readonly room?: number | undefined;
  /** True to fill up to `maxFacts` with the facts that fit the task a little, then the newest. */
  readonly byRecency?: boolean | undefined;
  readonly files: readonly string[];
  /**
   * True if the answer is shown beside the task's ledger and likely files. Then the task's own decisions, conventions
   * and explicit facts are included, which the ledger lacks; file changes are not, unless requested by `tags`; and
   * verdicts and passing tests are not selected for their age.
   */
  readonly besideLedger?: boolean | undefined;
  /** Similarity, 0 to 1, of similar past work, by `workOf`. */
  readonly similar: ReadonlyMap<string, number>;
  /** The past work that is selected, by `workOf`; that of a few others may be for its words. Absent: all work that fits. */
  readonly work?: readonly CoveringTask[] | undefined;
  /** The task works here: statements scoped elsewhere are left out, and rules of its files are always relevant. */
  readonly here?: Here | undefined;
  readonly withoutNotes?: boolean | undefined;
  /** Decisions, conventions and facts in words to select even if nothing speaks for them; absent: none. */
  readonly lasting?: number | undefined;
  /** The likeness of the task and a fact by meaning, up to 1; 0 if it cannot be said. Absent: words alone decide. */
  readonly closeness?: ((text: string) => number) | undefined;
}

/** Past work that is selected for its words alone, at most: it may say what the task must know. */
const SPOKEN = 10;

const SHORT_QUERY = 25;

/** Selects facts. The same facts and request give the same answer, whatever the order in which facts arrived. */
export function rankFacts(store: ISessionFactStore, query: RankingQuery): FactRanking {
  const index = store.index();
  const { maxFacts = Number.POSITIVE_INFINITY, room = Number.POSITIVE_INFINITY, work } = query;
  const withChanges = !query.besideLedger || query.tags !== undefined;
  const isCandidate = (entry: IndexedFact) =>
    !(entry.isSummary && repeatsAttempt(entry, index)) &&
    !isElsewhere(entry.fact, query.here ?? {}) &&
    !(query.withoutNotes && entry.fact.note !== undefined) &&
    // The prompt of a task has the answers to its questions.
    (entry.fact.answer === undefined || entry.fact.answer.task !== query.taskId) &&
    (withChanges || entry.group !== 'files') &&
    (query.tags === undefined || entry.fact.tags.some((tag) => query.tags?.includes(tag))) &&
    (entry.fact.sourceTaskId !== query.taskId ||
      (query.besideLedger === true && isBesideLedger(entry, index)));
  const words = queryTokens(query.text);
  const hits = new FactHits(index);
  hits.addWords(words);
  hits.addFiles(leadsFrom(query, index));
  hits.addSimilar(query.similar);
  const useful = new Map(work?.map(({ task, use }) => [task, use]));
  hits.addWork(useful);
  hits.addOfTask(index.ofTask(query.taskId).filter(isCandidate));
  const isRuleHere = ({ group, fact }: IndexedFact) =>
    group === 'conventions' && isAtHand(fact, query.here ?? {});
  hits.addOfTask([...index.lasting.newestFirst()].filter((entry) => isRuleHere(entry) && isCandidate(entry)));
  if (query.closeness !== undefined) hits.addNear(nearest(index, query.closeness, isCandidate));
  const chance = Math.max(1, Math.sqrt(words.length / SHORT_QUERY));
  const { found, faint } = hits.found(chance);
  let spoken = 0;
  const isUseful = ({ entry, because }: Candidate) => {
    if (work === undefined) return true;
    if (entry.isBare) return false;
    if (entry.group !== 'work' || entry.fact.sourceTaskId === query.taskId) return true;
    if (because === 'meaning') return true;
    if (useful.has(workOf(entry.fact))) return entry.isSummary;
    if (because === 'words') spoken += 1;
    return because === 'words' && spoken <= SPOKEN;
  };
  const candidates = found
    .filter(({ entry }) => isCandidate(entry))
    .sort(byWorth)
    .filter(isUseful);
  const choice = new FactChoice({ maxFacts, room }, candidates, new Set(query.files));
  const isAllowed = (entry: IndexedFact) => !(query.besideLedger && entry.isDull) && isCandidate(entry);
  if (query.byRecency && !choice.isFull) {
    // Least informative facts last.
    const newest = [false, true].map((isDull) => index.byAge(isDull).newestFirst());
    choice.fill({ index, faint: faint(), newest, isAllowed, because: () => 'recent' }, maxFacts);
  } else if (query.lasting !== undefined && query.lasting > choice.lasting && !choice.isFull) {
    const newest = [lastingFirst(index, faint(), query.closeness)];
    const because = ({ meant }: IndexedFact) =>
      (query.closeness?.(meant) ?? 0) < NEAR ? 'recent' : 'meaning';
    choice.fill({ index, faint: [], newest, isAllowed, because }, query.lasting - choice.lasting);
  }
  return { ...choice.facts(), considered: choice.considered(), total: candidates.length };
}

/** Facts of a group that meaning alone brings into a prompt, at most: other words may say what the task must know. */
const NEAREST: Readonly<Partial<Record<FactGroup, number>>> = { findings: 5, tests: 2, work: 3 };
const NEAR = 0.2;
const NEAR_WORK = 0.25;

/** The newest facts whose meaning is compared: a session of 100,000 must not make all their vectors for a prompt. */
const MAX_COMPARED = 5000;

function nearest(
  index: FactIndex,
  closeness: NonNullable<RankingQuery['closeness']>,
  isCandidate: (entry: IndexedFact) => boolean,
): RatedFact[] {
  const near = new Map<FactGroup, RatedFact[]>();
  let compared = 0;
  for (const entry of index.byAge(false).newestFirst()) {
    const { group } = entry;
    const most = NEAREST[group];
    if (most === undefined || (group === 'work' && !entry.isSummary)) continue;
    compared += 1;
    if (compared > MAX_COMPARED) break;
    const likeness = closeness(entry.meant);
    if (likeness < (group === 'work' ? NEAR_WORK : NEAR) || !isCandidate(entry)) continue;
    const known = near.get(group) ?? [];
    near.set(group, known);
    insertSorted(known, { entry, value: likeness }, most, (one, other) => one.value > other.value);
  }
  return [...near.values()].flat();
}

/** Ranks below this count little: the constant of the fusion of ranks. */
const DEPTH = 10;
/** What the words of a person, of the user, and of agents count as beside the two rankings. */
const ORIGIN_SHARES = [1 / DEPTH, 0.5 / DEPTH, 0];

/**
 * Orders decisions, conventions and facts in words by two rankings: by the words and files that are too few to count, and
 * by meaning. The words of persons and users count more; the newest of equals comes first.
 */
function lastingFirst(
  { lasting }: FactIndex,
  faint: readonly RatedFact[],
  closeness: RankingQuery['closeness'],
): IndexedFact[] {
  const entries = [...lasting.newestFirst()];
  const sums = new Map(faint.map(({ entry, value }) => [entry, value]));
  const byWords = ranksOf(entries, (entry) => sums.get(entry) ?? 0);
  const byMeaning = ranksOf(entries, ({ meant }) => closeness?.(meant) ?? 0);
  const shareOf = (rank: number | undefined) => (rank === undefined ? 0 : 1 / (DEPTH + rank));
  return entries
    .map((entry, age) => {
      const rank = entry.fact.corrects === undefined ? rankOf(entry.fact) : 0;
      const origin = ORIGIN_SHARES[rank] ?? 0;
      return { entry, age, score: shareOf(byWords.get(entry)) + shareOf(byMeaning.get(entry)) + origin };
    })
    .sort((a, b) => b.score - a.score || a.age - b.age)
    .map(({ entry }) => entry);
}

/** Returns the ranks of entries from 0, the highest value first; equal ones share a rank, and others than positive ones have none. */
function ranksOf(
  entries: readonly IndexedFact[],
  worthIn: (entry: IndexedFact) => number,
): Map<IndexedFact, number> {
  const valued = entries.map((entry) => ({ entry, value: worthIn(entry) })).filter(({ value }) => value > 0);
  valued.sort((a, b) => b.value - a.value);
  const ranks = new Map<IndexedFact, number>();
  let [rank, last] = [0, 0];
  for (const [at, { entry, value }] of valued.entries()) {
    if (value !== last) rank = at;
    last = value;
    ranks.set(entry, rank);
  }
  return ranks;
}

/** Returns the files whose facts matter, best first: those that the task names, likely ones. */
function leadsFrom({ text, files }: RankingQuery, index: FactIndex): Lead[] {
  const words = queryPaths(text);
  const found = words.flatMap((path) => endOf(path, (end) => index.ofFile(end).length > 0) ?? []);
  const meant = new Set([...found, ...files.filter((path) => isNamed(path, words))]);
  const likely = files.filter((path) => !meant.has(path) && !BUSY.has(fileClass(path)));
  return [
    ...[...meant].map((path) => ({ path, isMeant: true })),
    ...likely.map((path) => ({ path, isMeant: false })),
  ];
}

/** True if the ledger of its task lacks it: decisions, conventions, explicit facts. */
function isBesideLedger(entry: IndexedFact, index: FactIndex): boolean {
  const { fact, group, isBare } = entry;
  if (group === 'decisions') return !index.ofTask(fact.sourceTaskId).some((other) => says(other, fact));
  // The ledger has the tries and the questions of its task.
  if (group === 'facts') return !isBare && !isAttempt(entry) && fact.relation !== RELATIONS.asks;
  // What an observer remarks changes no ledger.
  if (group === 'work') return entry.isSummary && !isBare && kindOf(fact.sourceRole).part === 'note';
  const saysSo = (other: IndexedFact) => other.group === 'findings' && saySame(entry, other);
  return group === 'conventions' && !index.ofTask(fact.sourceTaskId).some(saysSo);
}

function isAttempt({ fact, isOfTask }: IndexedFact): boolean {
  return fact.relation === RELATIONS.failed && isOfTask;
}

/** True for a summary that stands as a failed attempt already. */
function repeatsAttempt({ fact }: IndexedFact, index: FactIndex): boolean {
  return index
    .ofTask(fact.sourceTaskId)
    .some((other) => isAttempt(other) && fact.object.endsWith(other.fact.object));
}

/** True for a summary that holds a fact, whose first letter may be another one. */
function says({ isSummary, fact: summary }: IndexedFact, { object }: SessionFact): boolean {
  return isSummary && summary.object.includes(object.slice(1));
}

/** The first places balance kinds and tasks; later ones are ordered by score alone. */
export const PLACES = 10;
/** Share of the first places reserved for open findings and conventions. */
const RESERVED_SHARE = 0.3;
/** Share of the first places that one task may take while others have candidates. */
const TASK_SHARE = 0.5;
const CONSIDERED = 30;
const COMPARED = 64;

interface Filling {
  readonly index: FactIndex;
  readonly faint: readonly RatedFact[];
  readonly newest: readonly Iterable<IndexedFact>[];
  /** True if the answer may contain the fact at all. */
  readonly isAllowed: (entry: IndexedFact) => boolean;
  readonly because: (entry: IndexedFact) => 'meaning' | 'recent';
}

class FactChoice {
  readonly #most: number;
  readonly #room: number;
  #tokens = 0;
  readonly #candidates: readonly Candidate[];
  readonly #chosen: Candidate[] = [];
  readonly #rest: Candidate[] = [];

  /** @param files likely files; facts that they changed are redundant */
  constructor(
    { maxFacts: most, room }: { readonly maxFacts: number; readonly room: number },
    candidates: readonly Candidate[],
    files: ReadonlySet<string>,
  ) {
    this.#most = most;
    this.#room = room;
    this.#candidates = candidates;
    for (const candidate of candidates) {
      const { fact, group } = candidate.entry;
      if (group === 'files' && files.has(knownAs(fact.subject))) candidate.left = 'likely file';
    }
    const first = Math.min(PLACES, most);
    this.#take(Math.ceil(RESERVED_SHARE * first), ({ entry }) => isReserved(entry));
    const isConvention = ({ entry }: Candidate) => entry.group === 'conventions';
    if (!this.#chosen.some(isConvention))
      this.#take(
        Math.min(first, this.#chosen.length + 1),
        (candidate) => candidate.isFree && isConvention(candidate),
      );
    const open = first - this.#chosen.length;
    const byTask = new Map<string, number>();
    const share = Math.max(1, Math.floor(TASK_SHARE * open));
    this.#take(first, (candidate) => {
      if (!candidate.isFree) candidate.left = 'reserved';
      if (!candidate.isFree) return false;
      const task = candidate.entry.fact.sourceTaskId;
      const taken = byTask.get(task) ?? 0;
      if (taken >= share) candidate.left = 'one task';
      else byTask.set(task, taken + 1);
      return taken < share;
    });
    // Places that nothing else wants.
    this.#take(first, ({ isFree }) => isFree);
    this.#take(most, ({ isFree }) => isFree);
  }

  /** True once the chosen facts fill the token budget. */
  get isFull(): boolean {
    return this.#chosen.length >= PLACES && this.#tokens > this.#room;
  }

  get #isCut(): boolean {
    return this.isFull && this.#chosen.length < this.#most;
  }

  get lasting(): number {
    return this.#chosen.filter(({ entry }) => entry.isLasting).length;
  }

  /** Adds up to `most` new facts: those with some relevance first, then the newest. */
  fill({ index, faint, newest, isAllowed, because }: Filling, most: number): void {
    const known = this.#candidates.filter((candidate) => candidate.isChosen || isRepeat(candidate));
    const places = Math.min(most, this.#most - this.#chosen.length);
    if (places <= 0) return;
    const sayings = new Set(this.#chosen.map(({ entry }) => entry.saying));
    const passed = new Uint8Array(index.places);
    for (const { entry } of known) passed[entry.place] = 1;
    const add = (entry: IndexedFact) => {
      if (passed[entry.place] === 1 || !isAllowed(entry)) return;
      passed[entry.place] = 1;
      if (sayings.has(entry.saying)) return;
      sayings.add(entry.saying);
      this.#rest.push(new Candidate(entry, because(entry)));
    };
    const near = faint.filter(({ entry }) => !entry.isDull);
    near.sort((a, b) => b.value - a.value || byAge(a.entry, b.entry));
    for (const { entry } of near) {
      if (this.#rest.length >= places) return;
      add(entry);
    }
    for (const entries of newest) {
      for (const entry of entries) {
        if (this.#rest.length >= places) return;
        add(entry);
      }
    }
  }

  facts(): Pick<FactRanking, 'chosen' | 'cut' | 'rest'> {
    const isCut = (candidate: Candidate) => candidate.isFree && !candidate.isChosen && !isRepeat(candidate);
    const cut = this.#isCut ? this.#candidates.filter(isCut).map(({ entry }) => entry) : [];
    const chosen = this.#chosen;
    const best = [chosen.slice(0, PLACES), chosen.slice(PLACES)].flatMap((some) => some.sort(byWorth));
    return { chosen: best, cut, rest: this.#rest };
  }

  considered(): WeighedFact[] {
    const best = this.#chosen.toSorted(byWorth).slice(0, CONSIDERED);
    const filled = new Set(this.#rest.map(({ entry }) => entry));
    for (const candidate of this.#candidates) {
      if (best.length >= CONSIDERED) break;
      if (candidate.isChosen || filled.has(candidate.entry)) continue;
      if (!this.#isCut) candidate.left ??= 'rank';
      best.push(candidate);
    }
    return [...best.sort(byWorth), ...this.#rest.slice(0, CONSIDERED - best.length)];
  }

  #take(most: number, isWanted: (candidate: Candidate) => boolean): void {
    for (const candidate of this.#candidates) {
      if (this.#chosen.length >= most || this.isFull) return;
      if (candidate.isChosen || isRepeat(candidate)) continue;
      const compared = this.#chosen.slice(0, COMPARED);
      const other = compared.find(({ entry }) => saySame(candidate.entry, entry));
      if (other !== undefined) {
        candidate.left = 'near-duplicate';
        candidate.duplicateOf = other.fact.id;
      } else if (isWanted(candidate)) {
        candidate.isChosen = true;
        candidate.left = undefined;
        this.#chosen.push(candidate);
        this.#tokens += candidate.tokens;
      }
    }
  }
}

/** True if another item says it already. */
function isRepeat({ left }: Candidate): boolean {
  return left === 'near-duplicate' || left === 'likely file';
}

/** Orders by score, then group and severity, then newest first; within a dispatch in the order of its rules. */
function byWorth(a: Candidate, b: Candidate): number {
  return b.score - a.score || a.entry.standing - b.entry.standing || byAge(a.entry, b.entry);
}

function byAge(a: IndexedFact, b: IndexedFact): number {
  return b.fact.sourceSequence - a.fact.sourceSequence || a.slot - b.slot;
}

/** Share of common words at which two facts count as the same. */
const SAME = 0.8;

/** True if two facts say nearly the same about one subject. "Case 7" and "case 8" differ. */
function saySame(a: IndexedFact, b: IndexedFact): boolean {
  if (a.fact.subject !== b.fact.subject && !a.isOfTask && !b.isOfTask) return false;
  if (a.group === 'files' || b.group === 'files') return a.group === b.group;
  if (a.numbers !== b.numbers) return false;
  // The shorter one cannot contain enough of the longer one.
  if (Math.min(a.objectWords, b.objectWords) < SAME * Math.max(a.objectWords, b.objectWords)) return false;
  let common = 0;
  for (let at = 0; at < a.objectWords; at += 1) {
    const found = b.words.indexOf(a.words[at] as string);
    if (found >= 0 && found < b.objectWords) common += 1;
  }
  return common >= SAME * (a.objectWords + b.objectWords - common);
}

/** Selects facts by shared words alone, then by recency: `rankFacts` without files and past results. */
export class KeywordFactRetriever implements IFactRetriever {
  readonly #store: ISessionFactStore;

  constructor(store: ISessionFactStore) {
    this.#store = store;
  }

  retrieve(query: FactQuery): SessionFact[] {
    return this.rank(query).map(({ fact }) => fact);
  }

  rank({ taskDescription: text, maxTokens, ...query }: FactQuery): RankedFact[] {
    const ranking = rankFacts(this.#store, {
      ...query,
      byRecency: true,
      text,
      files: [],
      similar: new Map(),
    });
    const kept: RankedFact[] = [];
    let spent = 0;
    for (const { fact, group, score, tokens, matched } of [...ranking.chosen, ...ranking.rest]) {
      spent += tokens;
      if (spent > maxTokens) break;
      kept.push({ fact, group, score, tokens, matched });
    }
    return kept;
  }
}
