import { KEPT } from '../../contracts/kept-limits.js';
import { STATEMENT_KINDS, type StatementKind } from '../../contracts/kinds.js';
import { RELATIONS } from '../../contracts/relations.js';
import type { FactRecorded } from '../../contracts/session-events.js';
import { clipText, quoted } from '../../shared/text.js';
import { ANSWERED } from '../../shared/wire-words.js';
import { type Assertion, type TakesBack, takesBack } from './contrast.js';
import { ALL_RULES, factsBy, STATEMENT_RULES } from './event-facts.js';
import {
  factId,
  groupOf,
  isLasting,
  isSameScope,
  outranks,
  type RecordedFact,
  type SessionFact,
} from './fact-types.js';

const KIND_OF: { readonly [relation: string]: StatementKind } = {
  [RELATIONS.requested]: 'decision',
  [RELATIONS.asks]: 'question',
  [RELATIONS.requires]: 'follow-up',
  [RELATIONS.suggested]: 'follow-up',
  [RELATIONS.failed]: 'failed',
  [RELATIONS.found]: 'found',
  [RELATIONS.settled]: 'note',
};

/** Returns the kind of a fact that holds for later agents; undefined for any other fact. */
export function statementKind(fact: RecordedFact): StatementKind | undefined {
  const known = KIND_OF[fact.relation];
  if (known !== undefined) return known;
  if (!isLasting(fact)) return undefined;
  const group = groupOf(fact);
  if (group === 'decisions') return 'decision';
  return group === 'conventions' ? 'rule' : 'note';
}

export function statementsOf(event: FactRecorded): readonly RecordedFact[] {
  return factsBy(STATEMENT_RULES, event).filter((fact) => statementKind(fact) !== undefined);
}

/** All facts of an event, each statement with its id. */
export function factsOfEvent(event: FactRecorded): readonly RecordedFact[] {
  const facts = factsBy(ALL_RULES, event);
  const { refs } = event.data;
  if (refs === undefined) return facts;
  const used: Record<string, number> = {};
  return facts.map(({ replaces: _, not_shown: __, ...fact }) => {
    const ids = refs[fact.relation];
    if (ids === undefined || statementKind(fact) === undefined) return fact;
    const at = used[fact.relation] ?? 0;
    used[fact.relation] = at + 1;
    return { ...fact, ref: ids[at] };
  });
}

export interface StatementsWritten extends Pick<FactRecorded['data'], 'refs' | 'ends' | 'not_ended'> {
  /** Facts that are stored as another one, or not at all, by the id of what the result says. */
  readonly changed: ReadonlyMap<string, RecordedFact | undefined>;
}

/** True if a statement may end others, so that the session's facts are needed. */
export function mayEnd(fact: RecordedFact): boolean {
  return (fact.replaces ?? []).length > 0 || fact.object.includes(ANSWERED) || denying(fact) !== undefined;
}

/** Kinds that a new statement of one of them ends, if it denies what they assert. */
const DENIABLE: ReadonlySet<StatementKind | undefined> = new Set(['decision', 'rule'] as const);
/** A term that more statements assert is too common to end any of them. */
const MAX_CONTRASTS = 3;

function denying(fact: RecordedFact): TakesBack | undefined {
  return DENIABLE.has(statementKind(fact)) ? takesBack(aboutOf(fact)) : undefined;
}

function aboutOf({ subject, object }: RecordedFact): Assertion {
  return subject.startsWith('task:') ? { text: object } : { text: object, subject };
}

/**
 * Gives the statements of a result their ids, and decides what they end. The id is `M7` for the first one of dispatch 7,
 * `M7.2` for the second one. So it needs no counter, and a result that is delivered again has the same ids.
 *
 * @param number of the dispatch, above the numbers of imported statements
 * @param known all facts of the session, ended ones included, which decide what a statement ends
 */
export function stated(
  facts: readonly RecordedFact[],
  number: number,
  dispatch: number,
  known: readonly SessionFact[] = [],
): StatementsWritten {
  const refs: Record<string, string[]> = {};
  const ends: Ends[] = [];
  const notEnded: NonNullable<StatementsWritten['not_ended']>[number][] = [];
  const changed = new Map<string, RecordedFact | undefined>();
  const byRef = new Map(
    known.flatMap((fact) => (fact.ref === undefined ? [] : [[fact.ref.toUpperCase(), fact]])),
  );
  const endable = (fact: RecordedFact) =>
    known.filter((older) => whyNot(fact, older, dispatch) === undefined);
  const counted = facts.filter((fact) => {
    if (fact.relation !== RELATIONS.requested) return true;
    const isDecided = contrasts(fact, '', endable(fact)).length > 0;
    changed.set(factId(fact), isDecided ? asDecided(fact) : undefined);
    return isDecided;
  });
  const ranked = [...counted].sort((a, b) => placeOf(a) - placeOf(b));
  for (const [at, fact] of ranked.entries()) {
    const by = idOf(number, at);
    const questions: string[] = [];
    const failedBefore = notEnded.length;
    const isSettled = fact.relation === RELATIONS.settled;
    const vain = (name: string, why: WhyNot = 'unknown') =>
      notEnded.push({ id: clipText(quoted(name), MAX_ID), why });
    for (const name of fact.not_shown ?? []) vain(name, 'not_shown');
    for (const name of fact.replaces ?? []) {
      const target = byRef.get(name.trim().toUpperCase());
      const id = target?.ref ?? '';
      if (ends.some((end) => end.id === id)) continue;
      const why = whyNot(fact, target, dispatch);
      if (target === undefined || why !== undefined) {
        vain(id || name.trim(), why);
        continue;
      }
      const isAnswer = statementKind(target) === 'question';
      if (isAnswer && isSettled) questions.push(target.object);
      ends.push({ id, by, how: isAnswer ? 'answered' : isSettled ? 'settled' : 'replaced' });
    }
    // What settles nothing says nothing on its own.
    if (isSettled && notEnded.length > failedBefore && !ends.some((end) => end.by === by)) {
      changed.set(factId(fact), undefined);
      continue;
    }
    const isNamed = ({ ref }: SessionFact) => ends.some((end) => end.id === ref);
    const others = endable(fact).filter((older) => !isNamed(older));
    ends.push(...contrasts(fact, by, others), ...answers(fact, by, others));
    if (questions.length > 0) changed.set(factId(fact), answered(fact, questions));
  }
  for (const fact of counted) {
    const id = factId(fact);
    const written = changed.has(id) ? changed.get(id) : fact;
    if (written === undefined) continue;
    const ids = refs[written.relation] ?? [];
    ids.push(idOf(number, ranked.indexOf(fact)));
    refs[written.relation] = ids;
  }
  return {
    refs,
    changed,
    ...(ends.length > 0 && { ends }),
    ...(notEnded.length > 0 && { not_ended: notEnded }),
  };
}

/** Returns the end of the newest question of its conversation that a turn says was answered: it repeats how that begins. */
function answers({ object, subject }: RecordedFact, by: string, known: readonly SessionFact[]): Ends[] {
  const [question = '', ...given] = object.split(ANSWERED);
  const isAnswered = (older: SessionFact) =>
    statementKind(older) === 'question' &&
    older.subject === subject &&
    older.object.replaceAll('"', "'").startsWith(question.replace(/\.\.\.$/, ''));
  const older = given.length === 0 ? undefined : known.findLast(isAnswered);
  return older?.ref === undefined ? [] : [{ id: older.ref, by, how: 'answered' }];
}

type Ends = NonNullable<FactRecorded['data']['ends']>[number];

/** Returns the ends of the statements whose term a new one (`by`) denies, of those `known` to hold. */
export function contrasts(fact: RecordedFact, by: string, known: readonly SessionFact[]): Ends[] {
  const takes = denying(fact);
  if (takes === undefined) return [];
  const found = known.flatMap((older) => {
    const isFree =
      DENIABLE.has(statementKind(older)) &&
      older.history !== true &&
      !outranks(older, fact) &&
      isSameScope(fact, older);
    const term = isFree && older.ref !== undefined ? takes(aboutOf(older)) : undefined;
    if (older.ref === undefined || term === undefined) return [];
    return [{ id: older.ref, by, how: 'replaced' as const, term: clipText(term, MAX_ID) }];
  });
  return found.length <= MAX_CONTRASTS ? found : [];
}

/** True if a statement says something else than one of higher rank, which it cannot end. */
export function contradicts(fact: RecordedFact, above: RecordedFact): boolean {
  const { subject, relation } = fact;
  const isSame = !subject.startsWith('task:') && subject === above.subject && relation === above.relation;
  const isAgainst = isSame || denying(fact)?.(aboutOf(above)) !== undefined;
  return isAgainst && outranks(above, fact) && isSameScope(fact, above);
}

const LABELS: { readonly [Kind in StatementKind]: string } = {
  decision: 'Decided',
  rule: 'Rule',
  failed: 'Failed',
  found: 'Found',
  question: 'Open',
  'follow-up': 'Open',
  note: 'Noted',
};
const MAX_KEPT = 60;

export function keptLines(facts: readonly RecordedFact[]): string[] {
  return facts.flatMap((fact) => {
    const kind = statementKind(fact);
    if (kind === undefined || fact.ref === undefined) return [];
    return [`${fact.ref} ${LABELS[kind]}: ${clipText(fact.object, MAX_KEPT)}`];
  });
}

const MAX_ID = 80;

type WhyNot = NonNullable<FactRecorded['data']['not_ended']>[number]['why'];

function whyNot(fact: RecordedFact, target: SessionFact | undefined, dispatch: number): WhyNot | undefined {
  // A statement of a newer result cannot have been meant.
  if (target === undefined || target.sourceSequence >= dispatch) return 'unknown';
  if (target.validTo !== undefined) return 'ended';
  return outranks(target, fact) ? 'rank' : undefined;
}

function answered(fact: RecordedFact, questions: readonly string[]): RecordedFact {
  const object = clipText(`${questions.join(' ')} ${fact.object}`, KEPT.fact.object);
  return asDecided({ ...fact, object });
}

function asDecided(fact: RecordedFact): RecordedFact {
  return { ...fact, relation: RELATIONS.decided, tags: ['decision'] };
}

function idOf(number: number, at: number): string {
  return at === 0 ? `M${number}` : `M${number}.${at + 1}`;
}

function placeOf(fact: RecordedFact): number {
  const kind = statementKind(fact);
  return kind === undefined ? STATEMENT_KINDS.length : STATEMENT_KINDS.indexOf(kind);
}
