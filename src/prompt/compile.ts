import type { CompiledFact, CompileReply, CompileRequest, ExplainedFact } from '../contracts/compile.js';
import { formatSessionFacts } from '../facts/format.js';
import { KeywordFactRetriever } from '../facts/retriever.js';
import type { RankedFact } from '../facts/types.js';
import { factsOf, type SessionState } from '../session/state.js';
import { stablePrefix } from './stable-prefix.js';

/** The part of a reply that state and request alone decide: the same two give the same bytes. */
export type CompiledPrompt = Omit<CompileReply, 'sequence' | 'snapshotSequence' | 'replayed'>;

/**
 * Compiles a dispatch prompt: the stable prefix of the role, then the session context, then the task. A session
 * that knows nothing useful has no context header at all.
 */
export function compilePrompt(state: SessionState, request: CompileRequest): CompiledPrompt {
  const store = factsOf(state);
  const ranked = new KeywordFactRetriever(store).rank({
    taskDescription: request.taskPrompt,
    taskId: request.taskId,
    tags: request.tags,
    maxFacts: request.maxFacts,
    maxTokens: request.maxTokens,
  });
  const sessionContext = formatSessionFacts(ranked.map(({ fact }) => fact));
  const sections = [stablePrefix(request.role), sessionContext, `Task prompt:\n${request.taskPrompt}`];
  const prompt = sections.filter((section) => section !== '').join('\n\n');
  return {
    prompt,
    sessionContext,
    facts: ranked.map(request.explain ? explained : compiled),
    factsShown: ranked.length,
    factsTotal: store.count(),
    tokenEstimate: Math.ceil(prompt.length / 4),
  };
}

function compiled({ fact }: RankedFact): CompiledFact {
  return {
    subject: fact.subject,
    relation: fact.relation,
    object: fact.object,
    taskId: fact.sourceTaskId,
  };
}

function explained(entry: RankedFact): ExplainedFact {
  return {
    ...compiled(entry),
    id: entry.fact.id,
    dispatch: entry.fact.sourceSequence,
    eventSequence: entry.fact.eventSequence,
    score: Math.round(entry.score * 1000) / 1000,
    tokens: entry.tokens,
  };
}
