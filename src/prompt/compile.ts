import type { CompileRequest } from '../contracts/compile.js';
import { assertNever } from '../errors.js';
import type { SessionState } from '../session/state.js';
import { DEFAULT_BUDGET, type PromptBudget } from './budget.js';
import { compileDispatch } from './compile-dispatch.js';
import { compileIteration } from './compile-iteration.js';
import type { CompiledPrompt } from './compiled-prompt.js';

/** Compiles a prompt of the kind that is asked for. */
export function compilePrompt(
  state: SessionState,
  request: CompileRequest,
  budget: PromptBudget = DEFAULT_BUDGET,
): CompiledPrompt {
  switch (request.kind) {
    case 'dispatch':
      return compileDispatch(state, request, budget);
    case 'iteration':
      return compileIteration(state, request, budget);
    default:
      return assertNever(request);
  }
}
