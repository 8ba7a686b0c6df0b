import type { Retraction } from '../../contracts/fact-requests.js';
import { KEPT } from '../../contracts/kept-limits.js';
import { kindOf } from '../../contracts/kinds.js';
import type { Ended } from '../../contracts/recorded-fact.js';
import { BLOCKED_BY, RELATIONS } from '../../contracts/relations.js';
import { addTo, lowerBound, onceForEach } from '../../shared/collections.js';
import { clipText, oneSpelling, quoted } from '../../shared/text.js';
import { mentionsIn } from '../search/tokens.js';
import { isDoneBy, neededWords, type WorkDone, wordsOf, workDone } from './done-work.js';
import { FactIndex } from './fact-index.js';
import {
  bytesOfFact,
  type DispatchOrigin,
  isOfCommand,
  isSameScope,
  MOST_VALUE,
  OPEN_VALUE,
  outranks,
  questionPrefix,
  type Restored,
  type SessionFact,
  type SessionFactTag,
  saysTheSame,
  worthOf,
} from './fact-types.js';
import { statementKind } from './statements.js';

/** Limit so that a session's snapshot fits one message. */
export const MAX_FACT_BYTES = 500_000;
/** Share of the kept facts that may have the highest value; the rest is for new ones. */
const DEAR_SHARE = 0.75;
const MAX_REMOVED = 20;

/** Stores one session's facts. Synchronous; never throws. */
export type ISessionFactStore = Pick<
  InMemorySessionFactStore,
  | 'add'
  | 'invalidate'
  | 'retract'
  | 'restore'
  | 'end'
  | 'getValid'
  | 'getValidByTags'
  | 'index'
  | 'count'
  | 'compact'
>;

/**
 * Facts in memory, without duplicates within a dispatch. The next dispatch (in stream order, whatever the order of arrival)
 * with the same subject and relation closes a fact; `endsOpen` says what the outcomes of a task close. The end of a branch
 * closes the questions of earlier results on it. A fact from before the session closes only facts of that time. A retraction
 * closes every fact with its text, earlier and later ones. So any order and repetition of dispatches results in the same facts,
 * as long as nothing was evicted or dropped in between.
 */
export class InMemorySessionFactStore {
  readonly #sayings = new Set<Saying>();
  /** By subject and relation: a newer fact closes the older ones. */
  readonly #groups: Index = new Map();
  /** Findings, suggestions and blockers by task, which its outcomes close. */
  readonly #openByTask: Index = new Map();
  readonly #outcomesByTask: Index = new Map();
  /** The newest dispatch with an outcome: nearly every dispatch comes after it. */
  #newestOutcome = 0;
  readonly #texts: Index = new Map();
  readonly #refs = new Map<string, Saying>();
  /** Statements of commands: notes and answers, closed or not. They are not dropped. */
  readonly #statements = new Set<Saying>();
  /** The follow-ups of results, closed or not, by words of which any work that did them has one. */
  readonly #actionsByWord: Index = new Map();
  readonly #questions = new Set<Saying>();
  /** The git branch of each dispatch that names one. */
  readonly #branches = new Map<number, string>();
  /** Indexes the valid facts; built by the first query and maintained afterwards. */
  #index: FactIndex | undefined;
  #hasRetracted = false;
  #valid = 0;
  #living = 0;
  #bytes = 0;
  #dropped = 0;

  /** Restores a store from `all()`, closed facts included. */
  static of(facts: Iterable<SessionFact>, dropped = 0): InMemorySessionFactStore {
    const store = new InMemorySessionFactStore();
    store.#dropped = dropped;
    for (const fact of facts) store.#put(fact);
    return store;
  }

  copy(): InMemorySessionFactStore {
    const store = InMemorySessionFactStore.of([], this.#dropped);
    for (const { fact, actionWords } of inOrder(this.#sayings)) store.#put(fact, actionWords);
    return store;
  }

  /** Adds facts, in any order of dispatches and any number of times. */
  add(facts: readonly SessionFact[]): void {
    for (const fact of facts) if (isOnBranch(fact)) this.#branches.set(fact.sourceSequence, fact.object);
    // Saying again what holds changes nothing, not its date or its origin.
    const again = new Set(facts.flatMap((fact) => this.#earlierStatement(fact) ?? []));
    for (const fact of facts) {
      if (this.#holds(fact) || this.#earlierStatement(fact) !== undefined) continue;
      const retracted = this.#retractionOf(fact);
      const closer = retracted === undefined ? (this.#endByCommand(fact) ?? this.#closerOf(fact)) : undefined;
      this.#put(retracted ?? (closer === undefined ? fact : closed(fact, closer)));
      if (!endsWithTask(fact)) this.#closeGroup(retracted ?? fact, again);
      if (isOutcome(fact)) this.#closeOpen(fact);
    }
    this.#closeDone(facts);
    const ended = facts.filter(({ relation }) => relation === RELATIONS.branchEnded);
    if (ended.length > 0 || facts.some(isQuestion))
      for (const saying of this.#questions) this.#closeWithBranch(saying);
    for (const { subject } of ended) this.#unite(subject);
  }

  #closeWithBranch(saying: Saying): void {
    const { branch, end } = this.#branchOf(saying.fact, saying.fact.scope?.branch);
    if (end !== undefined && saying.fact.validTo === undefined)
      this.#close(saying, closingFor(end, { by: `${branch}, ${end.object}`, how: 'settled' }));
  }

  /** Applies what the statements of a branch say about others, and others about them: it was merged or deleted. */
  #unite(ended: string): void {
    for (const saying of this.#sayings) {
      const { fact } = saying;
      if (!isFromCommand(fact) && fact.retracted === undefined)
        for (const { id, ...how } of fact.ends ?? []) this.end(id, closingFor(fact, how));
      if (fact.ref === undefined || `branch:${this.#branchOf(fact).branch}` !== ended) continue;
      const closer = this.#closerOf(fact);
      if (closer !== undefined) this.#close(saying, closer);
      if (!endsWithTask(fact)) this.#closeGroup(fact, new Set());
    }
  }

  /** Returns the branch on which a fact was said, and the fact that it has been merged or deleted since. */
  #branchOf(fact: SessionFact, branch = this.#saidOn(fact)) {
    const ends = this.#groups.get(
      groupName({ subject: `branch:${branch}`, relation: RELATIONS.branchEnded }),
    );
    return { branch, end: ends?.find(({ fact: other }) => other.sourceSequence > fact.sourceSequence)?.fact };
  }

  /** Notes and answers carry the number of the newest result, whose branch is not theirs. */
  #saidOn({ ref, sourceSequence }: SessionFact): string | undefined {
    return isOfCommand(ref) ? undefined : this.#branches.get(sourceSequence);
  }

  /** Returns the branch that a fact was said on, unless others begin at it, or it has been merged or deleted since. */
  openBranchOf(fact: SessionFact): string | undefined {
    const { branch, end } = this.#branchOf(fact);
    return end !== undefined || TRUNK.test(branch ?? 'main') ? undefined : branch;
  }

  /** True if a statement does not count yet where an older one was said, on another branch that is open. */
  #areApart(newer: SessionFact, older: SessionFact): boolean {
    const [on, before] = [newer, older].map((fact) => this.#saidOn(fact));
    const isOne = on === undefined || on === before || newer.ref === undefined || older.ref === undefined;
    return !isOne && this.openBranchOf(newer) !== this.openBranchOf(older);
  }

  /** Closes the valid facts with this subject and relation, in the name of `by`. */
  invalidate(subject: string, relation: string, by: Pick<DispatchOrigin, 'sequence' | 'at'>): void {
    const group = this.#groups.get(groupName({ subject, relation })) ?? [];
    for (const saying of group.slice(0, placeOf(group, by.sequence))) this.#close(saying, by);
  }

  /** Closes a fact for good, wherever it is stated, by a person also in other tasks; `instead` replaces it. `after`: the newest dispatch that counts before. */
  retract(fact: SessionFact, given: Retraction, instead?: SessionFact, after = fact.sourceSequence): void {
    const before = instead && this.#sayingOf(instead)?.fact;
    const { id, ref } = before ?? instead ?? {};
    const by = id === undefined ? given : { ...given, instead: ref ?? id };
    let noteOrAnswer: Pick<SessionFact, 'note' | 'answer'> = {};
    for (const saying of this.#alike(fact)) {
      const { fact: stored } = saying;
      if (!saysTheSame(stored, fact) && (given.agent || stored.validTo !== undefined)) continue;
      if (saysTheSame(stored, fact)) noteOrAnswer = commandFields(stored, instead);
      saying.fact = retracted(stored, by);
      this.#hasRetracted = true;
      if (stored.validTo === undefined) this.#invalid(stored);
    }
    if (!this.#holds(fact)) this.#put(retracted(fact, by));
    if (instead === undefined) return;
    // Corrected back.
    if (before === undefined) this.add([{ ...instead, ...noteOrAnswer }]);
    else this.restore(before, { by: by.by, at: by.at, after });
  }

  /** Makes a fact valid again, whatever ended it; dispatches after `by.after` may close it. Corrections and other answers end. */
  restore(fact: SessionFact, by: Restored): void {
    const isOf = (stored: SessionFact) => stored.sourceSequence === fact.sourceSequence;
    for (const saying of this.#alike(fact))
      if (isOf(saying.fact) || saying.fact.retracted !== undefined)
        // Commands come in order: the next answer ends this one, whatever dispatches there are.
        this.#reopen(saying, isOf(saying.fact) && saying.fact.answer === undefined ? by : undefined);
    const ends = this.answersInstead(fact.ref).flatMap(({ ref = '' }) => this.#refs.get(ref) ?? []);
    for (const saying of this.#groups.get(groupName(fact)) ?? []) {
      const { fact: stored } = saying;
      const isSameSource = isOf(stored);
      if (isSameSource && isRemoved(stored))
        for (const { id, ...ended } of stored.ends ?? []) this.end(id, closingFor(stored, ended));
      if (isSameSource && stored.corrects === fact.id) ends.push(saying);
    }
    for (const saying of ends) {
      const { restored: _, ...other } = saying.fact;
      saying.fact = other;
      this.#close(saying, {
        sequence: by.after,
        at: by.at,
        ...(fact.ref && { ended: replacedBy(fact.ref) }),
      });
    }
    if (!this.#holds(fact)) this.#put({ ...fact, restored: by });
  }

  /** Returns the answers that hold instead of one that another answer has replaced. */
  answersInstead(ref: string | undefined): readonly SessionFact[] {
    const earlier = this.#refs.get(ref ?? '')?.fact.answer;
    return this.statements().filter(
      ({ ref: other, answer }) =>
        other !== ref &&
        answer?.task === earlier?.task &&
        earlier?.questions.every((question) => answer?.questions.includes(question)),
    );
  }

  #reopen(saying: Saying, restored: Restored | undefined): void {
    const isClosed = saying.fact.validTo !== undefined;
    const { retracted: _, ended: __, validTo: ___, closedBy: ____, ...open } = saying.fact;
    saying.fact = { ...open, ...(restored && { restored }) };
    if (isClosed) this.#opened(saying.fact);
    const closer = this.#closerOf(saying.fact);
    if (closer !== undefined) this.#close(saying, closer);
  }

  /** Closes the statement with this id in the name of another one, from another branch once that has ended. */
  end(ref: string, by: Closing): void {
    const saying = this.#refs.get(ref);
    const other = by.ended?.how === 'replaced' ? this.#refs.get(by.ended.by) : undefined;
    if (saying === undefined) return;
    if (other !== undefined && this.#areApart(other.fact, saying.fact)) {
      const ends = (other.fact.ends ?? []).filter(({ id }) => id !== ref);
      other.fact = { ...other.fact, ends: [...ends, { id: ref, ...(by.ended as Ended) }] };
    } else this.#close(saying, by);
  }

  /** Adds the statement of a command, or replaces it as it was. */
  say(fact: SessionFact): void {
    const before = fact.ref === undefined ? undefined : this.#refs.get(fact.ref);
    if (before !== undefined) this.#remove(before);
    this.#put(fact);
    for (const { id, ...ended } of fact.ends ?? []) this.end(id, closingFor(fact, ended));
    if (fact.answer === undefined) return;
    const question = { subject: `task:${fact.answer.task}`, relation: RELATIONS.asks };
    for (const saying of this.#groups.get(groupName(question)) ?? [])
      if (isAnswerTo(fact, saying.fact)) this.#close(saying, answering(fact, saying.fact));
  }

  endStuck(task: string, at: Pick<DispatchOrigin, 'sequence' | 'at'>): void {
    for (const saying of this.#statements) {
      const { note } = saying.fact;
      if (note?.type === 'stuck' && mentionsIn(note.content).has(task.toLowerCase()))
        this.#close(saying, { ...at, ended: { by: task, how: 'settled' } });
    }
  }

  /**
   * Ends the statements of commands that fit, the last of which can be restored; what they ended holds again. What a person
   * takes back, only a person brings back.
   */
  unsay(fits: (fact: SessionFact) => boolean, by: Closing, isOfPerson = false): void {
    for (const saying of this.#statements) {
      const { ref, ends = [], validTo } = saying.fact;
      if (validTo !== undefined || !fits(saying.fact)) continue;
      this.#invalid(saying.fact);
      saying.fact = closed(saying.fact, by);
      if (isOfPerson) {
        saying.fact = { ...saying.fact, retracted: { by: by.ended?.by ?? '', at: by.at } };
        this.#hasRetracted = true;
      }
      for (const { id } of ends) {
        const before = this.#refs.get(id);
        if (before !== undefined && before.fact.ended?.by === ref) this.#reopen(before, undefined);
      }
    }
    const removed = [...this.#statements]
      .filter(({ fact }) => isRemoved(fact))
      .sort(({ fact: { validTo: one = '', ...a } }, { fact: { validTo: other = '', ...b } }) =>
        one === other ? a.eventSequence - b.eventSequence : one < other ? -1 : 1,
      );
    for (const oldest of removed.slice(0, -MAX_REMOVED)) this.#remove(oldest);
  }

  /** Returns the notes and answers that hold, in the order of their events. */
  statements(): readonly SessionFact[] {
    return [...this.#statements]
      .flatMap(({ fact }) => (fact.validTo === undefined ? fact : []))
      .sort((a, b) => a.eventSequence - b.eventSequence);
  }

  inWordsOf(statement: Worded): readonly SessionFact[] {
    return (this.#texts.get(textOf(statement)) ?? []).map(({ fact }) => fact);
  }

  /** Valid facts, oldest dispatch first. */
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

  /** Returns the findings of a task, closed ones included and retracted ones not, in dispatch order. */
  findingsOf(taskId: string): readonly SessionFact[] {
    const found = [...(this.#openByTask.get(taskId) ?? [])]
      .map(({ fact }) => fact)
      .filter((fact) => isFinding(fact) && fact.retracted === undefined);
    return found.sort((a, b) => a.sourceSequence - b.sourceSequence);
  }

  /** Returns the texts of retracted facts of each task, with what replaces them. */
  retracted(): ReadonlyMap<string, ReadonlyMap<string, string | undefined>> {
    const found = new Map<string, Map<string, string | undefined>>();
    if (!this.#hasRetracted) return found;
    const facts = this.all();
    for (const { retracted, sourceTaskId: task, object } of facts) {
      if (retracted === undefined) continue;
      const instead = facts.find(
        ({ corrects, id, ref }) => corrects !== undefined && [id, ref].includes(retracted.instead ?? ''),
      );
      const texts = found.get(task) ?? new Map<string, string | undefined>();
      found.set(task, texts.set(object, instead?.object));
    }
    return found;
  }

  /** Returns what statements replaced, by their ids: the newest of each. */
  replaced(): ReadonlyMap<string, SessionFact> {
    const ended = [...this.#sayings].filter(({ fact }) => fact.ended?.how === 'replaced');
    return new Map(inOrder(ended).map(({ fact }) => [fact.ended?.by ?? '', fact]));
  }

  /** Returns what is answered, by task: the questions that another statement has ended, and what people's answers name. */
  answered(): ReadonlyMap<string, { question: string; answer: string; by: string }[]> {
    const found = new Map<string, { question: string; answer: string; by: string }[]>();
    const newest = new Map(
      inOrder(this.#questions).map(({ fact }) => [`${fact.sourceTaskId}\n${fact.object}`, fact]),
    );
    for (const { sourceTaskId, object: question, ended } of newest.values()) {
      const by = this.#refs.get(ended?.by ?? '')?.fact;
      const answer = by?.object.replace(`${question} `, '');
      if (answer !== undefined) addTo(found, sourceTaskId, { question, answer, by: by?.origin ?? 'agent' });
    }
    for (const { answer: given } of this.statements())
      for (const question of given?.questions ?? [])
        addTo(found, given?.task ?? '', { question, answer: given?.answer ?? '', by: given?.by ?? '' });
    return found;
  }

  asking(task: string): readonly string[] {
    const group = this.#groups.get(groupName({ subject: `task:${task}`, relation: RELATIONS.asks })) ?? [];
    return group.flatMap(({ fact }) => (fact.validTo === undefined && isQuestion(fact) ? fact.object : []));
  }

  /** Returns the open questions of conversations, the newest first. */
  questionsOfTurns(): readonly SessionFact[] {
    const isOpen = ({ fact }: Saying) =>
      fact.validTo === undefined && fact.history === undefined && kindOf(fact.sourceRole).part === 'note';
    const open = inOrder([...this.#questions].filter(isOpen));
    return open.map(({ fact }) => fact).reverse();
  }

  living(): number {
    return this.#living;
  }

  size(): number {
    return this.#sayings.size - this.#statements.size;
  }

  statementCount(): number {
    return this.#statements.size;
  }

  /** Returns the size of the texts of dispatches in bytes. */
  bytes(): number {
    return this.#bytes;
  }

  /** Returns how many facts compaction has dropped. */
  dropped(): number {
    return this.#dropped;
  }

  /** Returns all facts, closed ones included, in dispatch order. */
  all(): readonly SessionFact[] {
    return inOrder(this.#sayings).map(({ fact }) => fact);
  }

  /** Ends statements beyond the limit until `left` hold, the oldest first: follow-ups, then what agents found and noted. */
  evict(limit: number, by: Pick<DispatchOrigin, 'sequence' | 'at'>, left = limit): void {
    if (this.#living <= limit) return;
    const ended = { by: `the limit of ${limit} statements`, how: 'evicted' as const };
    const mayEnd = inOrder(this.#sayings).filter(
      ({ fact: { ref, validTo, restored, origin, sourceSequence: from } }) =>
        ref && !validTo && !restored && origin !== 'person' && from <= by.sequence,
    );
    const isOf = (kinds: string[]) => (saying: Saying) => kinds.includes(statementKind(saying.fact) ?? '');
    const byAgents = mayEnd.filter(({ fact }) => fact.origin === undefined);
    const oldest = [...mayEnd.filter(isOf(['follow-up'])), ...byAgents.filter(isOf(['found', 'note']))];
    for (const saying of oldest.slice(0, this.#living - left)) this.#close(saying, { ...by, ended });
  }

  /** Drops facts until `maxFacts` with `maxBytes` of text remain, those of least worth first, and of equal worth the oldest. */
  compact(maxFacts: number, maxBytes = MAX_FACT_BYTES): void {
    const fits = () => this.size() <= maxFacts && this.#bytes <= maxBytes;
    if (fits()) return;
    for (const saying of this.#byValue(maxFacts)) {
      this.#remove(saying);
      this.#dropped += 1;
      if (fits()) return;
    }
  }

  /** Sorts by ascending value, then oldest first. */
  #byValue(maxFacts: number): Saying[] {
    let dear = Math.ceil(DEAR_SHARE * maxFacts);
    // Newest first, so that the oldest of the most valuable exceed their share.
    const valued = inOrder(this.#sayings)
      .filter((saying) => !this.#statements.has(saying))
      .reverse()
      .map((saying) => {
        const value = worthOf(saying.fact);
        if (value !== MOST_VALUE) return { saying, value };
        dear -= 1;
        return { saying, value: dear < 0 ? OPEN_VALUE : value };
      });
    return valued
      .reverse()
      .sort((a, b) => a.value - b.value)
      .map(({ saying }) => saying);
  }

  #holds(fact: SessionFact): boolean {
    return this.#sayingOf(fact) !== undefined;
  }

  #sayingOf(fact: SessionFact): Saying | undefined {
    const group = this.#groups.get(groupName(fact)) ?? [];
    for (let at = placeOf(group, fact.sourceSequence); at < group.length; at += 1) {
      const saying = group[at];
      if (saying?.fact.sourceSequence !== fact.sourceSequence) return undefined;
      if (saysTheSame(saying.fact, fact)) return saying;
    }
    return undefined;
  }

  /** Returns the statement that says the same, holds, and is of the same rank or above. */
  #earlierStatement(fact: SessionFact): Saying | undefined {
    const asks = isQuestion(fact);
    if (fact.ref === undefined || (endsWithTask(fact) && !asks) || isAction(fact)) return undefined;
    return this.#texts
      .get(textOf(fact))
      ?.find(
        ({ fact: older }) =>
          older.validTo === undefined &&
          (!asks || older.sourceTaskId === fact.sourceTaskId) &&
          older.sourceSequence < fact.sourceSequence &&
          older.history === fact.history &&
          !outranks(fact, older) &&
          isSameScope(fact, older),
      );
  }

  #retractionOf(fact: SessionFact): SessionFact | undefined {
    if (!this.#hasRetracted) return undefined;
    const by = [...this.#alike(fact)].find(({ fact: other }) => other.retracted)?.fact.retracted;
    // Only a person brings it back.
    const isBack = by !== undefined && fact.origin === 'person' && fact.validFrom > by.at;
    return by === undefined || isBack ? undefined : retracted(fact, by);
  }

  /** Returns what says the same: also statements in the same words that other tasks made. */
  #alike(fact: SessionFact): ReadonlySet<Saying> {
    const group = this.#groups.get(groupName(fact)) ?? [];
    const isOfTask = fact.ref === undefined || endsWithTask(fact) || isAction(fact);
    return new Set([
      ...group.filter((saying) => saysTheSame(saying.fact, fact)),
      ...(isOfTask ? [] : (this.#texts.get(textOf(fact)) ?? [])),
    ]);
  }

  /** Returns how the statement of a command ends this one: its answer, or a note that ends it. */
  #endByCommand(fact: SessionFact): Closing | undefined {
    for (const { fact: statement } of this.#statements) {
      if (statement.retracted !== undefined || isRemoved(statement)) continue;
      const { id, ...ended } = statement.ends?.find(({ id }) => id === fact.ref) ?? {};
      if (id !== undefined) return closingFor(statement, ended as Ended);
    }
    if (!isQuestion(fact) || this.#statements.size === 0) return undefined;
    const given = this.statements().find((answer) => isAnswerTo(answer, fact));
    return given && answering(given, fact);
  }

  #closerOf(fact: SessionFact): Closing | undefined {
    const ends = endsWithTask(fact);
    const closers = ends ? this.#outcomesByTask.get(fact.sourceTaskId) : this.#groups.get(groupName(fact));
    for (let at = placeOf(closers ?? [], fact.sourceSequence); at < (closers?.length ?? 0); at += 1) {
      const other = closers?.[at]?.fact;
      if (other === undefined || isClosedBy(fact, other.sourceSequence)) continue;
      if (ends ? endsOpen(other, fact) : this.#replaces(other, fact)) return closing(other);
    }
    return undefined;
  }

  #closeGroup(fact: SessionFact, kept: ReadonlySet<Saying>): void {
    const group = this.#groups.get(groupName(fact)) ?? [];
    let before = Number.NEGATIVE_INFINITY;
    for (let at = placeOf(group, fact.sourceSequence) - 1; at >= 0; at -= 1) {
      const saying = group[at] as Saying;
      // Older facts have been closed by this one.
      if (saying.fact.sourceSequence < before) return;
      if (
        !endsWithTask(saying.fact) &&
        !isSeen(saying.fact) &&
        !outranks(fact, saying.fact) &&
        isSameScope(fact, saying.fact) &&
        this.#branches.get(fact.sourceSequence) === this.#branches.get(saying.fact.sourceSequence) &&
        !(saying.fact.history === true && fact.history !== true)
      )
        before = saying.fact.sourceSequence;
      if (this.#replaces(fact, saying.fact) && !kept.has(saying)) this.#close(saying, closing(fact));
    }
  }

  #replaces(newer: SessionFact, older: SessionFact): boolean {
    // What was corrected does not end its correction.
    const isCorrection = newer.retracted !== undefined && newer.retracted.instead === (older.ref ?? older.id);
    return !isCorrection && replaces(newer, older) && !this.#areApart(newer, older);
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

  /** Closes what these facts of a dispatch say to be done, and their own actions that a later one did: they came late. */
  #closeDone(facts: readonly SessionFact[]): void {
    const done = workDone(facts);
    for (const word of done?.words ?? [])
      for (const saying of this.#actionsByWord.get(word) ?? []) this.#closeIfDone(saying, done as WorkDone);
    const [{ sourceSequence: from } = { sourceSequence: 0 }] = facts;
    const actions = facts.filter(isAction).flatMap((fact) => this.#sayingOf(fact) ?? []);
    if (from >= this.#newestOutcome || actions.length === 0) return;
    for (const later of this.#laterThan(from)) for (const saying of actions) this.#closeIfDone(saying, later);
  }

  #closeIfDone(saying: Saying, done: WorkDone): void {
    const { fact } = saying;
    if (fact.sourceSequence >= done.sequence || fact.origin === 'person' || isClosedBy(fact, done.sequence))
      return;
    if (isDoneBy(saying.actionWords, fact, done))
      this.#close(saying, { ...done, ended: { by: done.task, how: 'done' } });
  }

  #laterThan(dispatch: number): WorkDone[] {
    const later = new Map<number, SessionFact[]>();
    for (const outcomes of this.#outcomesByTask.values())
      if ((outcomes.at(-1)?.fact.sourceSequence ?? 0) > dispatch)
        for (const { fact } of outcomes.slice(placeOf(outcomes, dispatch + 1)))
          later.set(fact.sourceSequence, []);
    if (later.size > 0) for (const { fact } of this.#sayings) later.get(fact.sourceSequence)?.push(fact);
    return [...later].sort(([a], [b]) => a - b).flatMap(([, facts]) => workDone(facts) ?? []);
  }

  #close(saying: Saying, by: Closing): void {
    const { fact } = saying;
    if (isClosedBy(fact, by.sequence)) return;
    saying.fact = closed(fact, by);
    if (fact.validTo === undefined) this.#invalid(fact);
  }

  #put(fact: SessionFact, actionWords = actionWordsOf(fact)): void {
    const saying = { fact, actionWords };
    this.#sayings.add(saying);
    if (isOnBranch(fact)) this.#branches.set(fact.sourceSequence, fact.object);
    if (isFromCommand(fact)) this.#statements.add(saying);
    else this.#bytes += bytesOfFact(fact);
    if (fact.retracted !== undefined) this.#hasRetracted = true;
    if (fact.validTo === undefined) this.#opened(fact);
    if (fact.ref !== undefined && !this.#refs.has(fact.ref)) this.#refs.set(fact.ref, saying);
    for (const word of neededWords(actionWords)) index(this.#actionsByWord, word, saying);
    if (isQuestion(fact)) this.#questions.add(saying);
    if (fact.ref !== undefined) index(this.#texts, textOf(fact), saying);
    index(this.#groups, groupName(fact), saying);
    if (endsWithTask(fact)) index(this.#openByTask, fact.sourceTaskId, saying);
    if (!isOutcome(fact)) return;
    index(this.#outcomesByTask, fact.sourceTaskId, saying);
    this.#newestOutcome = Math.max(this.#newestOutcome, fact.sourceSequence);
  }

  #remove(saying: Saying): void {
    const { fact } = saying;
    this.#sayings.delete(saying);
    if (isOnBranch(fact)) this.#branches.delete(fact.sourceSequence);
    for (const word of neededWords(saying.actionWords)) unindex(this.#actionsByWord, word, saying);
    this.#questions.delete(saying);
    if (!this.#statements.delete(saying)) this.#bytes -= bytesOfFact(fact);
    if (fact.validTo === undefined) this.#invalid(fact);
    if (fact.ref !== undefined && this.#refs.get(fact.ref) === saying) this.#refs.delete(fact.ref);
    if (fact.ref !== undefined) unindex(this.#texts, textOf(fact), saying);
    unindex(this.#groups, groupName(fact), saying);
    if (endsWithTask(fact)) unindex(this.#openByTask, fact.sourceTaskId, saying);
    if (isOutcome(fact)) unindex(this.#outcomesByTask, fact.sourceTaskId, saying);
  }

  #opened(fact: SessionFact): void {
    this.#valid += 1;
    if (fact.ref !== undefined) this.#living += 1;
    this.#index?.add(fact);
  }

  #invalid(fact: SessionFact): void {
    this.#valid -= 1;
    if (fact.ref !== undefined) this.#living -= 1;
    this.#index?.remove(fact);
  }
}

/** A fact by its text, open or closed, so that closing it does not touch the indexes. */
interface Saying {
  fact: SessionFact;
  readonly actionWords: readonly string[];
}

const actionWordsOf = onceForEach((fact: SessionFact): readonly string[] =>
  isAction(fact) ? wordsOf(fact.object) : [],
);

/** Sorted by dispatch, so that neighbours in time are found by binary search. */
type Index = Map<string, Saying[]>;
/** The branches that others begin at: what is said there holds on all. */
const TRUNK = /^(?:main|master|trunk|develop)$/;

function isOnBranch({ relation, subject, sourceTaskId }: SessionFact): boolean {
  return relation === RELATIONS.branch && subject === `task:${sourceTaskId}`;
}

interface Closing extends Pick<DispatchOrigin, 'sequence' | 'at'> {
  /** The statement that closes it, if one does. */
  readonly ended?: Ended;
}

function groupName({ subject, relation }: Pick<SessionFact, 'subject' | 'relation'>): string {
  return `${relation}\n${subject}`;
}

type Worded = Pick<SessionFact, 'subject' | 'relation' | 'object' | 'sourceTaskId'>;

/** The words of a statement, with its subject unless it is about its own task. */
function textOf({ subject, relation, object, sourceTaskId }: Worded): string {
  return `${relation}\n${subject === `task:${sourceTaskId}` ? '' : subject}\n${oneSpelling(object)}`;
}

/** Returns the index of the dispatch's first saying, or its insertion point. */
function placeOf(sayings: readonly Saying[], dispatch: number): number {
  return lowerBound(sayings, dispatch, ({ fact }) => fact.sourceSequence);
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

function closing({ sourceSequence: sequence, validFrom: at, ref }: SessionFact): Closing {
  return { sequence, at, ...(ref !== undefined && { ended: replacedBy(ref) }) };
}

/** An answer was given after its question, whatever dispatch it had seen. */
function answering(answer: SessionFact, { sourceSequence }: SessionFact): Closing {
  const ended = { by: answer.ref ?? '', how: 'answered' as const };
  return { sequence: Math.max(answer.sourceSequence, sourceSequence), at: answer.validFrom, ended };
}

function closingFor({ sourceSequence: sequence, validFrom: at }: SessionFact, ended: Ended): Closing {
  return { sequence, at, ended };
}

function replacedBy(ref: string): Ended {
  return { by: ref, how: 'replaced' };
}

function closed({ ended: _, ...fact }: SessionFact, { at, sequence, ended }: Closing): SessionFact {
  return { ...fact, validTo: at, closedBy: sequence, ...(ended && { ended }) };
}

/** Retracted facts count as closed by their own dispatch, so that no other one closes them. */
function retracted({ ended: _, restored: __, ...fact }: SessionFact, by: Retraction): SessionFact {
  return { ...fact, validTo: by.at, closedBy: fact.sourceSequence, retracted: by };
}

/** True if nothing that this dispatch says closes the fact, since it is closed already or was restored later. */
function isClosedBy(fact: SessionFact, sequence: number): boolean {
  const { closedBy = Number.POSITIVE_INFINITY, restored } = fact;
  return closedBy <= sequence || (restored !== undefined && sequence <= restored.after);
}

function replaces(newer: SessionFact, fact: SessionFact): boolean {
  if (endsWithTask(newer) || endsWithTask(fact) || (isSeen(newer) && isSeen(fact))) return false;
  // Another attempt that failed does not make the first one work.
  if (fact.relation === RELATIONS.failed || outranks(fact, newer) || !isSameScope(fact, newer)) return false;
  return newer.sourceSequence > fact.sourceSequence && reaches(newer, fact);
}

function endsOpen(outcome: SessionFact, fact: SessionFact): boolean {
  const { part } = kindOf(outcome.sourceRole);
  const isReview = part === 'review';
  const isApproval = isReview && outcome.object === 'approved';
  const isSameResult = outcome.sourceSequence === fact.sourceSequence;
  if (outcome.sourceSequence < fact.sourceSequence || (isSameResult && !(isApproval && !isSuggestion(fact))))
    return false;
  // Another turn leaves open what the one before left open.
  if (part === 'note') return false;
  if (isQuestion(fact)) return isApproval && reaches(outcome, fact);
  if (isSeenOpen(fact)) return (isApproval || !isReview) && reaches(outcome, fact);
  return (isApproval || isReview === !isBlocker(fact)) && reaches(outcome, fact);
}

function reaches(closer: SessionFact, fact: SessionFact): boolean {
  return closer.history !== true || fact.history === true;
}

/** True for the outcome of work or of a review, and for an observer's summary. */
function isOutcome({ sourceRole, relation }: SessionFact): boolean {
  const { verdict, summary } = kindOf(sourceRole).relations;
  return relation === (verdict ?? summary);
}

/** True if outcomes of its task close the fact, rather than facts about its subject. */
function endsWithTask(fact: SessionFact): boolean {
  return isFinding(fact) || isSuggestion(fact) || isBlocker(fact) || isSeenOpen(fact) || isQuestion(fact);
}

/** True for an observer's statement about its own task, which may span several conversations. */
function isSeen({ subject, sourceTaskId, sourceRole }: SessionFact): boolean {
  return kindOf(sourceRole).part === 'note' && subject === `task:${sourceTaskId}`;
}

function isSeenOpen(fact: SessionFact): boolean {
  return isSeen(fact) && fact.relation === RELATIONS.requires;
}

/** True for a question about the task itself: its approval closes it, if no answer does. */
function isQuestion({ subject, relation, sourceTaskId }: SessionFact): boolean {
  return relation === RELATIONS.asks && subject === `task:${sourceTaskId}`;
}

function isAnswerTo({ answer }: SessionFact, { object, sourceTaskId }: SessionFact): boolean {
  return (
    answer?.task === sourceTaskId &&
    answer.questions.some(
      (question) => oneSpelling(clipText(quoted(question), KEPT.fact.object)) === oneSpelling(object),
    )
  );
}

function isFinding({ relation }: SessionFact): boolean {
  return relation === 'must_fix' || relation === 'issue';
}

function isFromCommand({ note, answer }: SessionFact): boolean {
  return note !== undefined || answer !== undefined;
}

function commandFields(
  { note, answer }: SessionFact,
  instead: SessionFact | undefined,
): Pick<SessionFact, 'note' | 'answer'> {
  const object = instead?.object ?? '';
  const prefix = questionPrefix(answer);
  return {
    ...(note && { note: { ...note, content: object } }),
    ...(answer && {
      answer: { ...answer, answer: object.startsWith(prefix) ? object.slice(prefix.length) : object },
    }),
  };
}

function isRemoved({ ended }: SessionFact): boolean {
  return ended?.how === 'removed';
}

function isAction({ relation }: SessionFact): boolean {
  return relation === RELATIONS.requires || relation === RELATIONS.suggested;
}

function isSuggestion({ subject, relation, sourceTaskId, sourceRole }: SessionFact): boolean {
  return (
    relation === RELATIONS.suggested &&
    subject === `task:${sourceTaskId}` &&
    kindOf(sourceRole).part === 'review'
  );
}

/** Only for the task itself: agents may state `blocked_by` about other things. */
function isBlocker({ subject, relation, sourceTaskId, sourceRole }: SessionFact): boolean {
  return relation === BLOCKED_BY && subject === `task:${sourceTaskId}` && kindOf(sourceRole).part === 'work';
}

function inOrder(sayings: Iterable<Saying>): Saying[] {
  return [...sayings].sort((a, b) => a.fact.sourceSequence - b.fact.sourceSequence);
}
