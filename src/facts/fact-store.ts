import { kindOf } from '../contracts/kinds.js';
import { saysTheSame } from './fact-id.js';
import type {
  DispatchOrigin,
  FactSelection,
  ISessionFactStore,
  Match,
  SessionFact,
  SessionFactTag,
} from './fact-types.js';
import { TermIndex } from './term-index.js';

/**
 * Facts in memory, each saying of a dispatch once.
 *
 * A fact is closed by the next dispatch (in stream order, whatever the order of arrival) that says something of the
 * same subject and relation. A finding (`must_fix` or `issue`) is closed by the next review of its task, whatever that
 * review says, and by nothing else: what another task's review says of the same file does not touch it. Since closers
 * are looked up on either side of an insertion, any order and any number of repetitions of the same dispatches leave the
 * same facts behind, as long as nothing was compacted away in between.
 */
export class InMemorySessionFactStore implements ISessionFactStore {
  readonly #sayings: Set<Saying>;
  readonly #bySubject: Index;
  /** Findings by their task: what a review of it closes. */
  readonly #findingsByTask: Index;
  readonly #reviewsByTask: Index;
  /** Words of the valid facts; built at the first query, kept up to date from then on. */
  #terms: TermIndex | undefined;
  #valid: number;

  constructor() {
    this.#sayings = new Set();
    this.#bySubject = new Map();
    this.#findingsByTask = new Map();
    this.#reviewsByTask = new Map();
    this.#valid = 0;
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
      if (!isFinding(fact)) this.#closeGroup(fact.subject, fact.relation, closing(fact));
      if (isReview(fact)) this.#closeFindings(fact.sourceTaskId, closing(fact));
    }
  }

  invalidate(subject: string, relation: string, by: Pick<DispatchOrigin, 'sequence' | 'at'>): void {
    this.#closeGroup(subject, relation, by);
  }

  getValid(): readonly SessionFact[] {
    return this.all().filter((fact) => fact.validTo === undefined);
  }

  getValidByTags(tags: readonly SessionFactTag[]): readonly SessionFact[] {
    return this.getValid().filter((fact) => fact.tags.some((tag) => tags.includes(tag)));
  }

  best(asked: Iterable<string>, query: FactSelection): readonly Match[] {
    if (this.#terms === undefined) {
      this.#terms = new TermIndex();
      for (const fact of this.getValid()) this.#terms.add(fact);
    }
    return this.#terms.best(asked, query);
  }

  count(): number {
    return this.#valid;
  }

  /** Number of facts held, closed ones included. */
  size(): number {
    return this.#sayings.size;
  }

  /** All facts, closed ones included, in the order of their dispatches. */
  all(): readonly SessionFact[] {
    return this.#inOrder().map(({ fact }) => fact);
  }

  compact(maxFacts: number): void {
    let excess = this.#sayings.size - maxFacts;
    if (excess <= 0) return;
    const [open, done] = [[] as Saying[], [] as Saying[]];
    for (const saying of this.#inOrder()) (saying.fact.validTo === undefined ? open : done).push(saying);
    for (const saying of [...done, ...open]) {
      if (excess <= 0) return;
      this.#remove(saying);
      excess -= 1;
    }
  }

  #inOrder(): Saying[] {
    return [...this.#sayings].sort((a, b) => a.fact.sourceSequence - b.fact.sourceSequence);
  }

  #holds(fact: SessionFact): boolean {
    for (const { fact: other } of this.#bySubject.get(fact.subject) ?? []) {
      if (other.sourceSequence === fact.sourceSequence && saysTheSame(other, fact)) return true;
    }
    return false;
  }

  #closerOf(fact: SessionFact): Closing | undefined {
    const finding = isFinding(fact);
    const closers = finding ? this.#reviewsByTask.get(fact.sourceTaskId) : this.#bySubject.get(fact.subject);
    let first: SessionFact | undefined;
    for (const { fact: other } of closers ?? []) {
      if (finding || other.relation === fact.relation) first = earlierCloser(fact, other, first);
    }
    return first && closing(first);
  }

  #closeGroup(subject: string, relation: string, by: Closing): void {
    for (const saying of this.#bySubject.get(subject) ?? []) {
      if (saying.fact.relation === relation) this.#close(saying, by);
    }
  }

  #closeFindings(taskId: string, by: Closing): void {
    for (const saying of this.#findingsByTask.get(taskId) ?? []) this.#close(saying, by);
  }

  #close(saying: Saying, by: Closing): void {
    const { fact } = saying;
    if (fact.sourceSequence >= by.sequence || (fact.closedBy ?? Number.POSITIVE_INFINITY) <= by.sequence)
      return;
    saying.fact = closed(fact, by);
    if (fact.validTo === undefined) this.#invalid(fact);
  }

  #put(fact: SessionFact): void {
    const saying = { fact };
    this.#sayings.add(saying);
    if (fact.validTo === undefined) {
      this.#valid += 1;
      this.#terms?.add(fact);
    }
    index(this.#bySubject, fact.subject, saying);
    if (isFinding(fact)) index(this.#findingsByTask, fact.sourceTaskId, saying);
    if (isReview(fact)) index(this.#reviewsByTask, fact.sourceTaskId, saying);
  }

  #remove(saying: Saying): void {
    const { fact } = saying;
    this.#sayings.delete(saying);
    if (fact.validTo === undefined) this.#invalid(fact);
    unindex(this.#bySubject, fact.subject, saying);
    if (isFinding(fact)) unindex(this.#findingsByTask, fact.sourceTaskId, saying);
    if (isReview(fact)) unindex(this.#reviewsByTask, fact.sourceTaskId, saying);
  }

  #invalid(fact: SessionFact): void {
    this.#valid -= 1;
    this.#terms?.remove(fact);
  }
}

/** A fact by what it says, whether open or closed: closing it leaves the indexes as they are. */
interface Saying {
  fact: SessionFact;
}
type Index = Map<string, Set<Saying>>;
type Closing = Pick<DispatchOrigin, 'sequence' | 'at'>;

function index(map: Index, name: string, saying: Saying): void {
  const sayings = map.get(name);
  if (sayings === undefined) map.set(name, new Set([saying]));
  else sayings.add(saying);
}

function unindex(map: Index, name: string, saying: Saying): void {
  const sayings = map.get(name);
  sayings?.delete(saying);
  if (sayings?.size === 0) map.delete(name);
}

function closing(fact: SessionFact): Closing {
  return { sequence: fact.sourceSequence, at: fact.validFrom };
}

function closed(fact: SessionFact, by: Closing): SessionFact {
  return { ...fact, validTo: by.at, closedBy: by.sequence };
}

/** Of two facts that might close `fact`, the one that did so first. */
function earlierCloser(
  fact: SessionFact,
  other: SessionFact,
  first: SessionFact | undefined,
): SessionFact | undefined {
  if (other.sourceSequence <= fact.sourceSequence) return first;
  return first === undefined || other.sourceSequence < first.sourceSequence ? other : first;
}

function isReview(fact: SessionFact): boolean {
  const { part, relations } = kindOf(fact.sourceRole);
  return part === 'review' && fact.relation === relations.verdict;
}

function isFinding(fact: SessionFact): boolean {
  return fact.relation === 'must_fix' || fact.relation === 'issue';
}
