import { TermIndex } from './term-index.js';
import type { DispatchOrigin, ISessionFactStore, Match, SessionFact, SessionFactTag } from './types.js';

/**
 * Facts in memory, each saying kept as one instance, keyed by dispatch and fact id.
 *
 * A fact is closed by the next dispatch (in stream order, whatever the order of arrival) that says something of the
 * same subject and relation, or, for `must_fix` and `issue`, by the next approval of its task. Since both are looked
 * up on either side of an insertion, any order and any number of repetitions of the same dispatches leave the same
 * facts behind, as long as nothing was compacted away in between.
 */
export class InMemorySessionFactStore implements ISessionFactStore {
  readonly #facts: Map<string, SessionFact>;
  readonly #bySubject: Index;
  /** `must_fix` and `issue` facts by their task: what an approval closes. */
  readonly #findingsByTask: Index;
  readonly #approvalsByTask: Index;
  /** Words of the valid facts; made at the first question, kept up to date from then on. */
  #terms: TermIndex | undefined;
  #valid: number;

  constructor() {
    this.#facts = new Map();
    this.#bySubject = new Map();
    this.#findingsByTask = new Map();
    this.#approvalsByTask = new Map();
    this.#valid = 0;
  }

  /** A store that holds exactly these facts, closed ones included: what `all()` gave. */
  static of(facts: Iterable<SessionFact>): InMemorySessionFactStore {
    const store = new InMemorySessionFactStore();
    for (const fact of facts) store.#put(instanceKey(fact), fact);
    return store;
  }

  add(facts: readonly SessionFact[]): void {
    for (const fact of facts) {
      const key = instanceKey(fact);
      if (this.#facts.has(key)) continue;
      const closer = this.#closerOf(fact);
      this.#put(key, closer === undefined ? fact : closed(fact, closer));
      this.#closeGroup(fact.subject, fact.relation, closing(fact));
      if (isApproval(fact)) this.#closeFindings(fact.sourceTaskId, closing(fact));
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

  best(asked: Iterable<string>, count: number, isWanted: (fact: SessionFact) => boolean): readonly Match[] {
    if (this.#terms === undefined) {
      this.#terms = new TermIndex();
      for (const fact of this.getValid()) this.#terms.add(fact);
    }
    return this.#terms.best(asked, count, isWanted);
  }

  count(): number {
    return this.#valid;
  }

  /** Number of facts held, closed ones included. */
  size(): number {
    return this.#facts.size;
  }

  /** All facts, closed ones included, in the order of their dispatches. */
  all(): readonly SessionFact[] {
    return [...this.#facts.values()].sort(bySequence);
  }

  compact(maxFacts: number): void {
    let excess = this.#facts.size - maxFacts;
    if (excess <= 0) return;
    const [open, done] = [[] as SessionFact[], [] as SessionFact[]];
    for (const fact of this.all()) (fact.validTo === undefined ? open : done).push(fact);
    for (const fact of [...done, ...open]) {
      if (excess <= 0) return;
      this.#remove(fact);
      excess -= 1;
    }
  }

  #closerOf(fact: SessionFact): Closing | undefined {
    let first: SessionFact | undefined;
    for (const key of this.#bySubject.get(fact.subject) ?? []) {
      const other = this.#facts.get(key);
      if (other?.relation === fact.relation) first = earlierCloser(fact, other, first);
    }
    if (isFinding(fact)) {
      for (const key of this.#approvalsByTask.get(fact.sourceTaskId) ?? []) {
        const other = this.#facts.get(key);
        if (other !== undefined) first = earlierCloser(fact, other, first);
      }
    }
    return first && closing(first);
  }

  #closeGroup(subject: string, relation: string, by: Closing): void {
    for (const key of this.#bySubject.get(subject) ?? []) {
      const fact = this.#facts.get(key);
      if (fact?.relation === relation) this.#close(key, fact, by);
    }
  }

  #closeFindings(taskId: string, by: Closing): void {
    for (const key of this.#findingsByTask.get(taskId) ?? []) {
      const fact = this.#facts.get(key);
      if (fact !== undefined) this.#close(key, fact, by);
    }
  }

  #close(key: string, fact: SessionFact, by: Closing): void {
    if (fact.sourceSequence >= by.sequence || (fact.closedBy ?? Number.POSITIVE_INFINITY) <= by.sequence)
      return;
    this.#facts.set(key, closed(fact, by));
    if (fact.validTo === undefined) this.#invalid(fact);
  }

  #put(key: string, fact: SessionFact): void {
    this.#facts.set(key, fact);
    if (fact.validTo === undefined) {
      this.#valid += 1;
      this.#terms?.add(fact);
    }
    index(this.#bySubject, fact.subject, key);
    if (isFinding(fact)) index(this.#findingsByTask, fact.sourceTaskId, key);
    if (isApproval(fact)) index(this.#approvalsByTask, fact.sourceTaskId, key);
  }

  #remove(fact: SessionFact): void {
    const key = instanceKey(fact);
    this.#facts.delete(key);
    if (fact.validTo === undefined) this.#invalid(fact);
    unindex(this.#bySubject, fact.subject, key);
    if (isFinding(fact)) unindex(this.#findingsByTask, fact.sourceTaskId, key);
    if (isApproval(fact)) unindex(this.#approvalsByTask, fact.sourceTaskId, key);
  }

  #invalid(fact: SessionFact): void {
    this.#valid -= 1;
    this.#terms?.remove(fact);
  }
}

type Index = Map<string, Set<string>>;
type Closing = Pick<DispatchOrigin, 'sequence' | 'at'>;

function index(map: Index, name: string, key: string): void {
  const keys = map.get(name);
  if (keys === undefined) map.set(name, new Set([key]));
  else keys.add(key);
}

function unindex(map: Index, name: string, key: string): void {
  const keys = map.get(name);
  keys?.delete(key);
  if (keys?.size === 0) map.delete(name);
}

function instanceKey(fact: SessionFact): string {
  return `${fact.sourceSequence}/${fact.id}`;
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

function isApproval(fact: SessionFact): boolean {
  return fact.sourceRole === 'reviewer' && fact.relation === 'reviewed_as' && fact.object === 'approved';
}

function isFinding(fact: SessionFact): boolean {
  return fact.relation === 'must_fix' || fact.relation === 'issue';
}

function bySequence(a: SessionFact, b: SessionFact): number {
  return a.sourceSequence - b.sourceSequence;
}
