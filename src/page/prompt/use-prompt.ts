import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import type { PromptTrace } from '../../contracts/replies/prompt-trace.js';
import { type AskedReply, useAsk } from '../use-ask.js';
import { type PastRequest, type PromptChoice, pastRequest } from './prompt-request.js';

/** A prompt of a session, compiled as it was, with what is needed to choose another one. */
export interface PromptAsked {
  readonly asked: AskedReply<CompileReply>;
  readonly request: PastRequest | undefined;
  /** The newest sequence of the session; undefined until it is known. */
  readonly newest: number | undefined;
}

/** What is known of a session for choosing prompts; it follows the session live. */
export function useSessionPrompts(session: string) {
  const shown = useAsk('tool.session-show', { session }, session);
  const list = useAsk('tool.prompt-list', { session, limit: 200 }, session);
  const ledgers = useAsk('tool.ledger-list', { session }, session);
  const board = useAsk('tool.task-list', { session }, session);
  const texts = new Map<string, string>();
  for (const { id, content } of board.reply?.tasks ?? []) texts.set(id, content);
  const prompts: readonly PromptTrace[] = list.reply?.prompts ?? [];
  const tasks = new Set([
    ...(ledgers.reply?.tasks ?? []).map(({ task }) => task).reverse(),
    ...prompts.flatMap(({ task }) => task ?? []),
    ...texts.keys(),
  ]);
  return {
    newest: shown.reply?.sequence,
    error: shown.error,
    prompts,
    total: list.reply?.total ?? prompts.length,
    tasks: [...tasks],
    texts,
    /** Whether it is known which prompts there are. */
    ready: !shown.loading && !list.loading && !ledgers.loading && !board.loading,
  };
}
export type SessionPrompts = ReturnType<typeof useSessionPrompts>;

/** Compiles the prompt that a choice names; nothing while `choice` is undefined. */
export function usePrompt(
  session: string,
  choice: PromptChoice | undefined,
  { newest, texts, prompts, ready }: SessionPrompts,
): PromptAsked {
  const ofTask = prompts.find(({ task }) => task !== undefined && task === choice?.task)?.id;
  const baseId =
    choice?.id ?? (choice?.kind === undefined || choice.kind === 'dispatch' ? ofTask : undefined);
  const base = useAsk(
    'tool.prompt-show',
    baseId === undefined || choice === undefined ? null : { session, id: baseId },
  );
  const waits =
    !ready || newest === undefined || choice === undefined || (baseId !== undefined && base.loading);
  const kept = base.reply?.request;
  // Of a task that is only named, the newest is asked for: what a kept prompt gives is its text.
  const { asOf: _, ...timeless } = kept ?? {};
  const from = choice?.id === undefined ? kept && timeless : kept;
  const request =
    waits || newest === 0 ? undefined : pastRequest(session, choice, newest, from, (task) => texts.get(task));
  const error = choice?.id === undefined ? undefined : base.error;
  // A prompt that is not found has no reply: another one must not stand for it.
  const asked = useAsk('prompt.past', error === undefined ? (request ?? null) : null);
  return {
    asked: error === undefined ? asked : { error, loading: false, refresh: base.refresh },
    request,
    newest,
  };
}
