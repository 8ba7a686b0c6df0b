import type { CompiledFact, CompileReply, ExplainedFact } from '../contracts/replies/compile-reply.js';
import { factId } from '../facts/fact-id.js';
import type { RankedFact } from '../facts/fact-types.js';

/** The part of a reply that lists the facts shown; with `explain`, why each was chosen. */
export function describeFacts(
  ranked: readonly RankedFact[],
  factsTotal: number,
  explain: boolean,
): Pick<CompileReply, 'facts' | 'factsShown' | 'factsTotal'> {
  return { facts: ranked.map(explain ? explained : compiled), factsShown: ranked.length, factsTotal };
}

function compiled({ fact }: RankedFact): CompiledFact {
  return {
    subject: fact.subject,
    relation: fact.relation,
    object: fact.object,
    taskId: fact.sourceTaskId,
    ...(fact.severity !== undefined && { severity: fact.severity }),
    ...(fact.fix !== undefined && { fix: fact.fix }),
  };
}

/** A fact with where it comes from and why it was chosen. */
export function explained(entry: RankedFact): ExplainedFact {
  return {
    ...compiled(entry),
    id: factId(entry.fact),
    dispatch: entry.fact.sourceSequence,
    eventSequence: entry.fact.eventSequence,
    score: Math.round(entry.score * 1000) / 1000,
    tokens: entry.tokens,
  };
}
