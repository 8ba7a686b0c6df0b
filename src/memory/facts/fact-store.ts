import { kindOf } from '../../contracts/kinds.js';
import { BLOCKED_BY, RELATIONS } from '../../contracts/relations.js';
import { FactIndex } from './fact-index.js';
import {
  bytesOfFact,
  type DispatchOrigin,
  type ISessionFactStore,
  MOST_VALUE,
  OPEN_VALUE,
  type SessionFact,
  type SessionFactTag,
  saysTheSame,
  worthOf,
} from './fact-types.js';

/** Most bytes that the words of all facts of a session may have, so that its snapshot fits one message. */
export const MAX_FACT_BYTES = 500_000;
/** Of the facts that are kept, the share that may be worth most: the rest is for what is new. */
const DEAR_SHARE = 0.75;

/**
 * Facts in memory, each saying of a dispatch once.
 *
 * A fact is closed by the next dispatch (in stream order, whatever the order of arrival) that says something of the
 * same subject and relation. A finding (`must_fix` or `issue`) is closed by the next review of its task, whatever that
 * review says, and by nothing else: what another task's review says of the same file does not touch it. An approval leaves
 * nothing open: it closes what it found itself as well, and leaves its suggestions, which the next review closes. A blocker of a task is closed by the next result of its work, or by
 * an approval. What an observer says of its own task adds to what observers said before, but for what it left open: that is
 * closed by the next of them, or by work. A fact from before the session closes only facts of that time. Since closers
 * are looked up on either side of an insertion, any order and any number of repetitions of the same dispatches leave the
 * same facts behind, as long as nothing was compacted away in between.
 */
export class InMemorySessionFactStore implements ISessionFactStore {
  readonly #sayings: Set<Saying>;
  /** By subject and relation: what closes what. */
  readonly #groups: Index;
  /** Findings, suggestions and blockers by their task: what its outcomes close. */
  readonly #openByTask: Index;
  readonly #outcomesByTask: Index;
  /** Of the valid facts; built at the first query, kept up to date from then on. */
  #index: FactIndex | undefined;
  #valid: number;
  #bytes: number;

  constructor() {
    this.#sayings = new Set();
    this.#groups = new Map();
    this.#openByTask = new Map();
    this.#outcomesByTask = new Map();
    this.#valid = 0;
    this.#bytes = 0;
  }

  /** A store that holds exactly these facts, closed ones included: what `all()` gave. */
  static of(facts: Iterable<SessionFact>): InMemorySessionFactStore {
    const store = new InMemorySessionFactStore();
    for (const fact of facts) store.#put(fact);
    return store;
  }

  add(facts: readonly SessionFact[]): void {
    for (const fact of facts) {
      if (this.#holds(fact)) continue;
      const closer = this.#closerOf(fact);
      this.#put(closer === undefined ? fact : closed(fact, closer));
      if (!endsWithTask(fact)) this.#closeGroup(fact);
      if (isOutcome(fact)) this.#closeOpen(fact);
    }
  }

  invalidate(subject: string, relation: string, by: Pick<DispatchOrigin, 'sequence' | 'at'>): void {
    const group = this.#groups.get(groupName({ subject, relation })) ?? [];
    for (const saying of group.slice(0, placeOf(group, by.sequence))) this.#close(saying, by);
  }

  getValid(): readonly SessionFact[] {
    return this.all().filter((fact) => fact.validTo === undefined);
  }

  getValidByTags(tags: readonly SessionFactTag[]): readonly SessionFact[] {
    return this.getValid().filter((fact) => fact.tags.some((tag) => tags.includes(tag)));
  }

  index(): FactIndex {
    if (this.#index === undefined) {
      this.#index = new FactIndex();
      for (const fact of this.getValid()) this.#index.add(fact);
    }
    return this.#index;
  }

  count(): number {
    return this.#valid;
  }

  /** The findings of a task that are held, closed ones included, in the order of their dispatches. */
  findingsOf(taskId: string): readonly SessionFact[] {
    const found = [...(this.#openByTask.get(taskId) ?? [])].map(({ fact }) => fact).filter(isFinding);
    return found.sort((a, b) => a.sourceSequence - b.sourceSequence);
  }

  /** Number of facts held, closed ones included. */
  size(): number {
    return this.#sayings.size;
  }

  /** Bytes of their words. */
  bytes(): number {
    return this.#bytes;
  }

  /** All facts, closed ones included, in the order of their dispatches. */
  all(): readonly SessionFact[] {
    return this.#inOrder().map(({ fact }) => fact);
  }

  compact(maxFacts: number, maxBytes = MAX_FACT_BYTES): void {
    const fits = () => this.#sayings.size <= maxFacts && this.#bytes <= maxBytes;
    if (fits()) return;
    for (const saying of this.#byValue(maxFacts)) {
      this.#remove(saying);
      if (fits()) return;
    }
  }

  /** From what is worth least to what is worth most; of equal ones the oldest first. */
  #byValue(maxFacts: number): Saying[] {
    let dear = Math.ceil(DEAR_SHARE * maxFacts);
    // The newest first, so that of what is worth most the oldest is over its share.
    const valued = this.#inOrder()
      .reverse()
      .map((saying) => {
        const value = worthOf(saying.fact);
        if (value < MOST_VALUE) return { saying, value };
        dear -= 1;
        return { saying, value: dear < 0 ? OPEN_VALUE : value };
      });
    return valued
      .reverse()
      .sort((a, b) => a.value - b.value)
      .map(({ saying }) => saying);
  }

  #inOrder(): Saying[] {
    return [...this.#sayings].sort((a, b) => a.fact.sourceSequence - b.fact.sourceSequence);
  }

  #holds(fact: SessionFact): boolean {
    const group = this.#groups.get(groupName(fact)) ?? [];
    for (let at = placeOf(group, fact.sourceSequence); at < group.length; at += 1) {
      const other = group[at]?.fact;
      if (other?.sourceSequence !== fact.sourceSequence) return false;
      if (saysTheSame(other, fact)) return true;
    }
    return false;
  }

  #closerOf(fact: SessionFact): Closing | undefined {
    const ends = endsWithTask(fact);
    const closers = ends ? this.#outcomesByTask.get(fact.sourceTaskId) : this.#groups.get(groupName(fact));
    for (let at = placeOf(closers ?? [], fact.sourceSequence); at < (closers?.length ?? 0); at += 1) {
      const other = closers?.[at]?.fact;
      if (other !== undefined && (ends ? endsOpen(other, fact) : replaces(other, fact)))
        return closing(other);
    }
    return undefined;
  }

  #closeGroup(fact: SessionFact): void {
    const group = this.#groups.get(groupName(fact)) ?? [];
    let before = Number.NEGATIVE_INFINITY;
    for (let at = placeOf(group, fact.sourceSequence) - 1; at >= 0; at -= 1) {
      const saying = group[at] as Saying;
      // What is older has been closed by this one.
      if (saying.fact.sourceSequence < before) return;
      if (
        !endsWithTask(saying.fact) &&
        !isSeen(saying.fact) &&
        !(saying.fact.history === true && fact.history !== true)
      )
        before = saying.fact.sourceSequence;
      if (replaces(fact, saying.fact)) this.#close(saying, closing(fact));
    }
  }

  #closeOpen(outcome: SessionFact): void {
    const open = this.#openByTask.get(outcome.sourceTaskId) ?? [];
    const end = placeOf(open, outcome.sourceSequence + 1);
    for (let at = 0; at < end; at += 1) {
      const saying = open[at] as Saying;
      if (!isClosedBy(saying.fact, outcome.sourceSequence) && endsOpen(outcome, saying.fact))
        this.#close(saying, closing(outcome));
    }
  }

  #close(saying: Saying, by: Closing): void {
    const { fact } = saying;
    if (isClosedBy(fact, by.sequence)) return;
    saying.fact = closed(fact, by);
    if (fact.validTo === undefined) this.#invalid(fact);
  }

  #put(fact: SessionFact): void {
    const saying = { fact };
    this.#sayings.add(saying);
    this.#bytes += bytesOfFact(fact);
    if (fact.validTo === undefined) {
      this.#valid += 1;
      this.#index?.add(fact);
    }
    index(this.#groups, groupName(fact), saying);
    if (endsWithTask(fact)) index(this.#openByTask, fact.sourceTaskId, saying);
    if (isOutcome(fact)) index(this.#outcomesByTask, fact.sourceTaskId, saying);
  }

  #remove(saying: Saying): void {
    const { fact } = saying;
    this.#sayings.delete(saying);
    this.#bytes -= bytesOfFact(fact);
    if (fact.validTo === undefined) this.#invalid(fact);
    unindex(this.#groups, groupName(fact), saying);
    if (endsWithTask(fact)) unindex(this.#openByTask, fact.sourceTaskId, saying);
    if (isOutcome(fact)) unindex(this.#outcomesByTask, fact.sourceTaskId, saying);
  }

  #invalid(fact: SessionFact): void {
    this.#valid -= 1;
    this.#index?.remove(fact);
  }
}

/** A fact by what it says, whether open or closed: closing it leaves the indexes as they are. */
interface Saying {
  fact: SessionFact;
}
/** In the order of their dispatches, so that neighbours in time are found without a look at all others. */
type Index = Map<string, Saying[]>;
type Closing = Pick<DispatchOrigin, 'sequence' | 'at'>;

function groupName({ subject, relation }: Pick<SessionFact, 'subject' | 'relation'>): string {
  return `${relation}\n${subject}`;
}

/** Where the sayings of this dispatch begin, or would. */
function placeOf(sayings: readonly Saying[], sequence: number): number {
  let low = 0;
  let high = sayings.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sayings[middle] as Saying).fact.sourceSequence < sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}

function index(map: Index, name: string, saying: Saying): void {
  const sayings = map.get(name);
  if (sayings === undefined) map.set(name, [saying]);
  else sayings.splice(placeOf(sayings, saying.fact.sourceSequence + 1), 0, saying);
}

function unindex(map: Index, name: string, saying: Saying): void {
  const sayings = map.get(name) ?? [];
  const at = sayings.indexOf(saying, placeOf(sayings, saying.fact.sourceSequence));
  if (at >= 0) sayings.splice(at, 1);
  if (sayings.length === 0) map.delete(name);
}

function closing(fact: SessionFact): Closing {
  return { sequence: fact.sourceSequence, at: fact.validFrom };
}

function closed(fact: SessionFact, by: Closing): SessionFact {
  return { ...fact, validTo: by.at, closedBy: by.sequence };
}

/** Whether a fact was closed by this dispatch or an older one. */
function isClosedBy({ closedBy = Number.POSITIVE_INFINITY }: SessionFact, sequence: number): boolean {
  return closedBy <= sequence;
}

/** Whether a fact closes another one of its subject and relation, by saying it again. */
function replaces(newer: SessionFact, fact: SessionFact): boolean {
  if (endsWithTask(newer) || endsWithTask(fact) || (isSeen(newer) && isSeen(fact))) return false;
  return newer.sourceSequence > fact.sourceSequence && reaches(newer, fact);
}

/** Whether an outcome closes a finding, a suggestion or a blocker of its task. */
function endsOpen(outcome: SessionFact, fact: SessionFact): boolean {
  const { part } = kindOf(outcome.sourceRole);
  const isReview = part === 'review';
  const isApproval = isReview && outcome.object === 'approved';
  const isOwn = outcome.sourceSequence === fact.sourceSequence;
  if (outcome.sourceSequence < fact.sourceSequence || (isOwn && !(isApproval && !isSuggestion(fact))))
    return false;
  if (isSeenOpen(fact)) return (isApproval || !isReview) && reaches(outcome, fact);
  if (part === 'note') return false;
  return (isApproval || isReview === !isBlocker(fact)) && reaches(outcome, fact);
}

/** What is from before the session closes nothing of the session. */
function reaches(closer: SessionFact, fact: SessionFact): boolean {
  return closer.history !== true || fact.history === true;
}

/** Whether a fact says the outcome of work or of a review, or what an observer saw. */
function isOutcome({ sourceRole, relation }: SessionFact): boolean {
  const { verdict, summary } = kindOf(sourceRole).relations;
  return relation === (verdict ?? summary);
}

/** Whether a fact is closed by outcomes of its task, and not by what is said of its subject. */
function endsWithTask(fact: SessionFact): boolean {
  return isFinding(fact) || isSuggestion(fact) || isBlocker(fact) || isSeenOpen(fact);
}

/** What an observer says of its own task: several conversations may be about it. */
function isSeen({ subject, sourceTaskId, sourceRole }: SessionFact): boolean {
  return kindOf(sourceRole).part === 'note' && subject === `task:${sourceTaskId}`;
}

function isSeenOpen(fact: SessionFact): boolean {
  return isSeen(fact) && (fact.relation === RELATIONS.requires || fact.relation === RELATIONS.asks);
}

function isFinding({ relation }: SessionFact): boolean {
  return relation === 'must_fix' || relation === 'issue';
}

/** What an approval would still like to have done. */
function isSuggestion({ subject, relation, sourceTaskId, sourceRole }: SessionFact): boolean {
  return (
    relation === RELATIONS.suggested &&
    subject === `task:${sourceTaskId}` &&
    kindOf(sourceRole).part === 'review'
  );
}

/** One of the task itself: of other things an agent may say that they are blocked as of anything else. */
function isBlocker({ subject, relation, sourceTaskId, sourceRole }: SessionFact): boolean {
  return relation === BLOCKED_BY && subject === `task:${sourceTaskId}` && kindOf(sourceRole).part === 'work';
}
