import {
  type CompileRequestInput,
  compileRequest,
  type DispatchRequest,
} from '../../src/contracts/compile-request.js';
import { compileDispatch } from '../../src/prompt/compile-dispatch.js';
import type { CompiledAs } from '../../src/prompt/compiled-prompt.js';
import { DEFAULT_BUDGET, type PromptBudget } from '../../src/prompt/prompt-budget.js';
import type { SessionState } from '../../src/session/session-state.js';
import type { Tokenizer } from '../../src/shared/tokenizer.js';

/** A dispatch prompt taken apart, as a reader would: by its headers alone. */
export interface PromptParts {
  readonly prefix: string;
  readonly head: readonly string[];
  /** That the last result of the task could not be read; empty where it could. */
  readonly unreadable: string;
  /** The delta packet; empty without one. */
  readonly packet: Readonly<Record<string, unknown>>;
  readonly replan: readonly string[];
  readonly guide: string;
  /** The facts of the session context. */
  readonly context: readonly string[];
  /** Its likely files. */
  readonly files: readonly string[];
  readonly taskPrompt: string;
}

const TASK = '\n\nTask prompt:\n';

/** Fails where a section stands twice, out of its order, or is not known. */
export function partsOf({
  prompt,
  messages,
}: Pick<CompiledAs<'dispatch'>, 'prompt' | 'messages'>): PromptParts {
  const prefix = messages[0]?.content ?? '';
  if (!prompt.startsWith(`${prefix}\n\n`)) throw new Error('the prompt does not begin with its system text');
  const tail = prompt.slice(prefix.length + 2);
  const end = tail.indexOf(TASK);
  if (end < 0) throw new Error('the prompt holds no task prompt');
  const sections = tail.slice(0, end).split('\n\n');
  const take = (opening: string) =>
    sections[0]?.startsWith(opening) ? (sections.shift() ?? '').split('\n') : [];
  const head = take('Task: ');
  const unreadable = take('Unreadable: ');
  const ledger = take('Ledger:\n');
  const replan = take('Replan: ');
  const guide = take('Guide: ');
  const context = take('[Session Context]\n');
  const facts = likely < 0 ? context.slice(1) : context.slice(1, likely);
  if (sections.length > 0) throw new Error(`sections that are none of ours: ${JSON.stringify(sections)}`);
  if (ledger.length > 2) throw new Error(`the packet has several lines: ${JSON.stringify(ledger)}`);
  return {
    prefix,
    head,
    unreadable: unreadable.join('\n'),
    packet: ledger[1] === undefined ? {} : JSON.parse(ledger[1]),
    replan,
    guide: guide.join('\n'),
    context: facts,
    files: likely < 0 ? [] : context.slice(likely + 1),
    taskPrompt: tail.slice(end + TASK.length),
  };
}

/** A request for task 1. */
export function dispatchRequest(overrides: Partial<CompileRequestInput> = {}): DispatchRequest {
  const request = compileRequest.parse({
    session: 'demo',
    taskId: '1',
    taskPrompt: 'Change src/store.ts',
    ...overrides,
  });
  if (request.kind !== 'dispatch') throw new Error('a dispatch request was asked for');
  return request;
}

/** A budget that leaves so many tokens for input. */
export function roomOf(room: number, tokenizer: Tokenizer, maxOutputTokens = 1200): PromptBudget {
  const cap = room + maxOutputTokens;
  return {
    ...DEFAULT_BUDGET,
    caps: { implementer: cap, reviewer: cap, observer: cap },
    maxOutputTokens,
    tokenizer,
  };
}

/** What is sent to the model, counted as the budget counts it. */
export function measured({ prompt }: Pick<CompiledAs<'dispatch'>, 'prompt'>, budget: PromptBudget): number {
  return budget.tokenizer.count(prompt);
}

/** Compiles, or gives the error that it throws. */
export function compiledOrError(
  state: SessionState,
  request: DispatchRequest,
  budget: PromptBudget,
):
  | { readonly ok: true; readonly compiled: CompiledAs<'dispatch'> }
  | { readonly ok: false; readonly error: unknown } {
  try {
    return { ok: true, compiled: compileDispatch(state, request, budget) };
  } catch (error) {
    return { ok: false, error };
  }
}
