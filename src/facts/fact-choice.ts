import { SEVERITIES } from '../contracts/severity.js';
import { knownAs } from '../search/known-path.js';
import { FACT_GROUPS } from './fact-groups.js';
import { type Candidate, isHeld } from './fact-hits.js';
import { factId } from './fact-id.js';
import type { FactRanking, IndexedFact, RankedFact, SessionFact, WeighedFact } from './fact-types.js';
import { Sayings, sayingOf } from './same-saying.js';

/** The first places are given with an eye to what they hold together; what comes after them goes by worth alone. */
export const PLACES = 10;
/** Share of the first places that are held for open findings and conventions. */
const HELD_SHARE = 0.3;
/** Share of the first places that one task may take while others have something to say. */
const TASK_SHARE = 0.5;
const CONSIDERED = 30;
/** Chosen facts that one is compared with. */
const COMPARED = 64;

/** Gives the places of an answer to candidates, the best first. */
export class FactChoice {
  readonly #most: number;
  readonly #room: number;
  #tokens = 0;
  readonly #candidates: readonly Candidate[];
  readonly #chosen = new Set<Candidate>();
  readonly #said = new Sayings(COMPARED);
  readonly #rest: Candidate[] = [];
  #restTotal = 0;
  readonly #left = new Map<Candidate, NonNullable<WeighedFact['left']>>();
  readonly #sameAs = new Map<Candidate, SessionFact>();

  /** @param files the likely files, which say themselves that they were changed */
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
      if (group === 'files' && files.has(knownAs(fact.subject))) this.#left.set(candidate, 'likely file');
    }
    const first = Math.min(PLACES, most);
    this.#take(Math.ceil(HELD_SHARE * first), ({ entry }) => isHeld(entry));
    const isConvention = ({ entry }: Candidate) => entry.group === 'conventions';
    if (![...this.#chosen].some(isConvention))
      this.#take(Math.min(first, this.#chosen.size + 1), (each) => each.isFree && isConvention(each));
    const open = first - this.#chosen.size;
    const byTask = new Map<string, number>();
    const share = Math.max(1, Math.floor(TASK_SHARE * open));
    this.#take(first, (candidate) => {
      if (!candidate.isFree) this.#left.set(candidate, 'held');
      if (!candidate.isFree) return false;
      const task = candidate.entry.fact.sourceTaskId;
      const taken = byTask.get(task) ?? 0;
      if (taken >= share) this.#left.set(candidate, 'one task');
      else byTask.set(task, taken + 1);
      return taken < share;
    });
    // Places that nothing else wants.
    this.#take(first, ({ isFree }) => isFree);
    this.#take(most, ({ isFree }) => isFree);
  }

  /** Whether what is chosen has as many tokens as there is room for. */
  get isFull(): boolean {
    return this.#chosen.size >= PLACES && this.#tokens > this.#room;
  }

  /** Whether the choice ended for want of room, and not at the limit on the number of facts. */
  get #isCut(): boolean {
    return this.isFull && this.#chosen.size < this.#most;
  }

  /** Adds so many of those that are not chosen and say something new. */
  fill(entries: readonly IndexedFact[], faint: ReadonlyMap<IndexedFact, number>, most: number): void {
    const isKnown = (each: Candidate) => this.#chosen.has(each) || this.#isSaid(each);
    const known = new Set(this.#candidates.filter(isKnown).map(({ entry }) => entry));
    const rest = entries.filter((entry) => !known.has(entry));
    this.#restTotal = rest.length;
    const places = Math.min(most, this.#most - this.#chosen.size);
    const said = new Set([...this.#chosen].map(({ entry }) => sayingOf(entry)));
    for (const entry of nearestFirst(rest, faint)) {
      if (this.#rest.length >= places) return;
      const saying = sayingOf(entry);
      if (said.has(saying)) continue;
      said.add(saying);
      this.#rest.push({ entry, score: 0, because: 'recent', isFree: true, matched: () => [] });
    }
  }

  facts(): Pick<FactRanking, 'chosen' | 'cut' | 'rest' | 'restTotal'> {
    const isCut = (each: Candidate) => each.isFree && !this.#chosen.has(each) && !this.#isSaid(each);
    const cut = this.#isCut ? this.#candidates.filter(isCut).map(({ entry }) => entry) : [];
    const chosen = [...this.#chosen];
    const best = [chosen.slice(0, PLACES), chosen.slice(PLACES)].flatMap((some) => some.sort(byWorth));
    return { chosen: best.map(ranked), cut, rest: this.#rest.map(ranked), restTotal: this.#restTotal };
  }

  considered(): WeighedFact[] {
    const best = [...this.#chosen].sort(byWorth).slice(0, CONSIDERED);
    const filled = new Set(this.#rest.map(({ entry }) => entry));
    for (const candidate of this.#candidates) {
      if (best.length >= CONSIDERED) break;
      if (!this.#chosen.has(candidate) && !filled.has(candidate.entry)) best.push(candidate);
    }
    const recent = this.#rest.slice(0, CONSIDERED - best.length);
    return [...best.sort(byWorth), ...recent].map((candidate) => ({
      ...ranked(candidate),
      because: candidate.because,
      ...(candidate.because !== 'recent' && !this.#chosen.has(candidate) && this.#whyLeft(candidate)),
    }));
  }

  #whyLeft(candidate: Candidate): Pick<WeighedFact, 'left' | 'duplicateOf'> {
    const left = this.#left.get(candidate) ?? (this.#isCut ? undefined : 'rank');
    const other = this.#sameAs.get(candidate);
    return { ...(left && { left }), ...(other && { duplicateOf: factId(other) }) };
  }

  /** Whether another place says it already. */
  #isSaid(candidate: Candidate): boolean {
    const left = this.#left.get(candidate);
    return left === 'near-duplicate' || left === 'likely file';
  }

  /** Takes candidates that say something new, until so many are chosen. */
  #take(most: number, isWanted: (candidate: Candidate) => boolean): void {
    for (const candidate of this.#candidates) {
      if (this.#chosen.size >= most || this.isFull) return;
      if (this.#chosen.has(candidate) || this.#isSaid(candidate)) continue;
      const other = this.#said.sameAs(candidate.entry);
      if (other !== undefined) {
        this.#left.set(candidate, 'near-duplicate');
        this.#sameAs.set(candidate, other.fact);
      } else if (isWanted(candidate)) {
        this.#chosen.add(candidate);
        this.#said.add(candidate.entry);
        this.#tokens += tokensOf(candidate.entry.fact);
      }
    }
  }
}

/** Those that something speaks for, then the newest; what says least last. */
function nearestFirst(
  entries: readonly IndexedFact[],
  faint: ReadonlyMap<IndexedFact, number>,
): IndexedFact[] {
  const near: { readonly entry: IndexedFact; readonly sum: number }[] = [];
  const far: IndexedFact[] = [];
  const dull: IndexedFact[] = [];
  for (const entry of entries) {
    const sum = faint.get(entry);
    if (isDull(entry)) dull.push(entry);
    else if (sum === undefined) far.push(entry);
    else near.push({ entry, sum });
  }
  near.sort((a, b) => b.sum - a.sum || byAge(a.entry, b.entry));
  // They come nearly in the order of their age: the other way around there is less to sort.
  return [...near.map(({ entry }) => entry), ...far.reverse().sort(byAge), ...dull.reverse().sort(byAge)];
}

function ranked({ entry: { fact, group }, score, matched }: Candidate): RankedFact {
  return { fact, group, score, tokens: tokensOf(fact), matched: matched() };
}

/** Tokens of a fact's words, at four characters each. */
export function tokensOf(fact: Pick<SessionFact, 'subject' | 'relation' | 'object'>): number {
  return Math.ceil((fact.subject.length + fact.relation.length + fact.object.length) / 4);
}

/** The best first; of equal ones by group and severity, then the newest, and within one dispatch as its rules gave them. */
export function byWorth(a: Candidate, b: Candidate): number {
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

/** Whether it says only that a file was changed, or that something went as it should. */
export function isDull({ group, isBare }: IndexedFact): boolean {
  return group === 'files' || isBare;
}
