import type { FoundFact } from '../../contracts/replies/fact-reply.js';
import type { ToolArguments } from '../../contracts/tool-requests.js';
import { factId } from '../../facts/fact-id.js';
import type { SessionFact } from '../../facts/fact-types.js';
import { factsOf, type SessionState } from '../session-state.js';
import { answer, type Decision } from './session-decision.js';

const SHORTEST_ID = 4;

/** Facts of the session by id or words: the valid ones first, each the newest first. */
export function findFacts(_state: SessionState, args: ToolArguments<'fact-find'>): Decision {
  return answer((state) => {
    const store = factsOf(state);
    const asked = (args.text ?? '').toLowerCase();
    const fitting = (args.closed ? store.all() : store.getValid()).filter(
      (fact) => (args.task === undefined || fact.sourceTaskId === args.task) && holds(fact, asked),
    );
    const sorted = fitting.toSorted((a, b) => closedLast(a, b) || b.sourceSequence - a.sourceSequence);
    return { facts: sorted.slice(0, args.limit).map(found), total: fitting.length };
  });
}

function holds(fact: SessionFact, asked: string): boolean {
  if (asked.length >= SHORTEST_ID && factId(fact).startsWith(asked)) return true;
  const { subject, relation, object, fix = '' } = fact;
  const said = `${subject} ${relation} ${object} ${fix}`.toLowerCase();
  return asked.split(/\s+/).every((word) => said.includes(word));
}

function closedLast(a: SessionFact, b: SessionFact): number {
  return Number(a.closedBy !== undefined) - Number(b.closedBy !== undefined);
}

function found(fact: SessionFact): FoundFact {
  const { subject, relation, object, severity, fix, closedBy, validTo } = fact;
  return {
    id: factId(fact),
    subject,
    relation,
    object,
    ...(severity !== undefined && { severity }),
    ...(fix !== undefined && { fix }),
    tags: fact.tags,
    task: fact.sourceTaskId,
    role: fact.sourceRole,
    dispatch: fact.sourceSequence,
    eventSequence: fact.eventSequence,
    at: fact.validFrom,
    ...(closedBy !== undefined && { closed_by: closedBy }),
    ...(validTo !== undefined && { closed_at: validTo }),
  };
}
