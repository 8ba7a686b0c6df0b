import type { CompileRequest } from '../contracts/compile-request.js';
import { assertNever } from '../contracts/errors.js';
import { type LearningsInPrompt, NO_LEARNINGS } from '../learnings/format-learnings.js';
import { seenState } from '../session/seen-state.js';
import type { SessionState } from '../session/session-state.js';
import type { TellFacts } from './chosen-facts.js';
import { compileDispatch } from './compile-dispatch.js';
import { compileIteration } from './compile-iteration.js';
import { compileSessionStart } from './compile-session-start.js';
import type { CompiledAs, CompiledPrompt } from './compiled-prompt.js';
import { DEFAULT_BUDGET, type PromptBudget } from './prompt-budget.js';

/**
 * Compiles a prompt of the kind that is asked for.
 *
 * @param learnings those of the session's project, where the request asks for any
 * @param tell told which facts the prompt shows and leaves out
 */
export function compilePrompt<Request extends CompileRequest>(
  state: SessionState,
  request: Request,
  budget?: PromptBudget,
  learnings?: LearningsInPrompt,
  tell?: TellFacts,
): CompiledAs<Request['kind']>;
export function compilePrompt(
  kept: SessionState,
  request: CompileRequest,
  budget: PromptBudget = DEFAULT_BUDGET,
  learnings?: LearningsInPrompt,
  tell?: TellFacts,
): CompiledPrompt {
  const state = seenState(kept);
  switch (request.kind) {
    case 'dispatch':
      return compileDispatch(state, request, budget, learnings, tell);
    case 'iteration':
      return compileIteration(state, request, budget, learnings, tell);
    case 'session-start':
      return compileSessionStart(state, request, budget, learnings ?? NO_LEARNINGS, tell);
    default:
      return assertNever(request);
  }
}
