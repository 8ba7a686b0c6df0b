import { z } from 'zod';
import { cursorOf, readCursor } from '../../contracts/checked.js';
import type { FactShown, FactsFound, FoundFact } from '../../contracts/fact-requests.js';
import type { StatementKind } from '../../contracts/kinds.js';
import type { ToolArguments } from '../../contracts/requests.js';
import { defined } from '../../shared/collections.js';
import { quoted } from '../../shared/text.js';
import { isOfCommand, rankOf, type SessionFact } from './fact-types.js';
import { statementKind } from './statements.js';

const SHORTEST_ID = 4;
const MAX_HISTORY = 50;
/** A cursor: the newest dispatch of the first page, and the number of facts before this page. */
const PLACE = [z.literal('facts'), z.int(), z.int().nonnegative()] as const;

/**
 * Returns one page of the matching facts: valid ones first, those of persons before those of users and of agents, then the
 * newest first. All pages show the list as of the first: newer facts are left out, and facts closed since keep their position.
 *
 * @param facts in dispatch order, closed ones included
 */
export function findFacts(
  facts: readonly SessionFact[],
  args: ToolArguments<'fact-find'>,
): Omit<FactsFound, 'sequence' | 'keeps'> {
  const from = args.cursor === undefined ? undefined : readCursor(args.cursor, PLACE);
  const asOf = from?.[1] ?? facts.reduce((newest, { sourceSequence }) => Math.max(newest, sourceSequence), 0);
  const { kind: wanted, is = 'open' } = args;
  const { task, subject, relation, tag, by } = args;
  const text = (args.text ?? '').toLowerCase();
  const fits = (fact: SessionFact) =>
    (task === undefined || fact.sourceTaskId === task) &&
    (subject === undefined || fact.subject === subject) &&
    (relation === undefined || relation.includes(fact.relation)) &&
    (tag === undefined || tag.some((wanted) => fact.tags.includes(wanted))) &&
    (by === undefined || personOf(fact)?.toLowerCase() === by.toLowerCase()) &&
    holds(fact, text);
  const all = facts.filter((fact) => fact.sourceSequence <= asOf && fits(fact));
  const fitting = all.filter((fact) => is === 'all' || closedAsOf(fact, asOf) === (is === 'closed'));
  const kinds: { [Kind in StatementKind]?: number } = {};
  for (const kind of fitting.flatMap((fact) => kindOf(fact) ?? [])) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const sorted = fitting
    .filter((fact) => wanted === undefined || wanted.some((kind) => kind === kindOf(fact)))
    .map((fact) => ({ fact, isClosed: closedAsOf(fact, asOf) }))
    .sort(
      (a, b) =>
        Number(a.isClosed) - Number(b.isClosed) ||
        rankOf(a.fact) - rankOf(b.fact) ||
        b.fact.sourceSequence - a.fact.sourceSequence ||
        b.fact.eventSequence - a.fact.eventSequence,
    );
  const begin = from?.[2] ?? 0;
  const shown = sorted.slice(begin, begin + args.limit);
  const end = begin + shown.length;
  return {
    facts: shown.map(({ fact }) => foundFact(fact)),
    total: sorted.length,
    kinds,
    past: all.filter((fact) => kindOf(fact) !== undefined && closedAsOf(fact, asOf)).length,
    ...(end < sorted.length && shown.length > 0 && { next: cursorOf('facts', asOf, end) }),
  };
}

function closedAsOf({ closedBy }: SessionFact, asOf: number): boolean {
  return closedBy !== undefined && closedBy <= asOf;
}

function personOf({ by, answer }: SessionFact): string | undefined {
  return by ?? answer?.by;
}

function holds(fact: SessionFact, text: string): boolean {
  if (text.length >= SHORTEST_ID && fact.id.startsWith(text)) return true;
  if (fact.ref?.toLowerCase() === text) return true;
  const { subject, relation, object, fix = '' } = fact;
  const factText = `${subject} ${relation} ${object} ${fix} ${personOf(fact) ?? ''}`.toLowerCase();
  return text.split(/\s+/).every((word) => factText.includes(word));
}

/** The fact, or the candidate ids; empty for none. */
type FactOfId = { readonly fact: SessionFact } | { readonly candidates: readonly string[] };

/** Finds a fact by the id of its statement or note, else the newest one by its own id or a unique prefix of at least four characters. */
export function factOfId(facts: readonly SessionFact[], given: string): FactOfId {
  const id = given.toUpperCase().replace(/^NOT-(?=\d)/, 'N');
  const named = facts.find(({ ref }) => ref?.toUpperCase() === id);
  if (named !== undefined) return { fact: named };
  const wanted = given.toLowerCase();
  const found = new Map<string, SessionFact>();
  for (const fact of facts) {
    const { id } = fact;
    if (id === wanted || (wanted.length >= SHORTEST_ID && id.startsWith(wanted))) found.set(id, fact);
  }
  const whole = found.get(wanted) ?? (found.size === 1 ? [...found.values()][0] : undefined);
  return whole === undefined ? { candidates: [...found.keys()] } : { fact: whole };
}

export function factHistory(
  facts: readonly SessionFact[],
  fact: SessionFact,
): Pick<FactShown, 'fact' | 'history' | 'closed_by'> {
  const others = facts.filter((other) => other !== fact && other.subject === fact.subject);
  const closedBy = closerOf(facts, fact);
  return {
    // Only here the text of a note is whole.
    fact: { ...foundFact(fact), ...(fact.note && { object: quoted(fact.note.content) }) },
    history: others.reverse().slice(0, MAX_HISTORY).map(foundFact),
    ...(closedBy !== undefined && { closed_by: closedBy }),
  };
}

function closerOf(facts: readonly SessionFact[], fact: SessionFact): FactShown['closed_by'] {
  const { closedBy: dispatch, validTo: at } = fact;
  if (dispatch === undefined || at === undefined || fact.retracted !== undefined) return undefined;
  const closer = facts.find(({ sourceSequence, ref }) => sourceSequence === dispatch && !isOfCommand(ref));
  if (closer === undefined) return { dispatch, at };
  return { dispatch, at, event: closer.eventSequence, role: closer.sourceRole, task: closer.sourceTaskId };
}

function kindOf(fact: SessionFact): StatementKind | undefined {
  return fact.ref === undefined ? undefined : statementKind(fact);
}

export function foundFact(fact: SessionFact): FoundFact {
  const { subject, relation, object, severity, fix, confidence, history, closedBy, validTo } = fact;
  const { retracted, corrects, ref, origin, ended, scope } = fact;
  const by = personOf(fact);
  return {
    id: fact.id,
    subject,
    relation,
    object,
    ...defined({ severity, fix }),
    tags: fact.tags,
    task: fact.sourceTaskId,
    role: fact.sourceRole,
    dispatch: fact.sourceSequence,
    eventSequence: fact.eventSequence,
    at: fact.validFrom,
    ...(confidence !== 1 && { confidence }),
    ...defined({ ref, kind: kindOf(fact), origin, by, scope, history }),
    ...(closedBy !== undefined && retracted === undefined && { closed_by: closedBy }),
    ...defined({ closed_at: validTo, retracted, corrects, ended }),
  };
}
