import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import type { PromptTrace } from '../../contracts/replies/prompt-trace.js';
import { type AskedReply, useAsk } from '../use-ask.js';
import { ROLE_NAMES } from '../words.js';

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

/** Which prompt is looked at, by the address, and the request that compiles it again. */

export const PROMPT_KINDS = ['dispatch', 'iteration', 'session-start'] as const;
export type PromptKind = (typeof PROMPT_KINDS)[number];

export interface PromptChoice {
  /** A prompt that was compiled and is kept. */
  readonly id?: string;
  readonly kind?: PromptKind;
  readonly task?: string;
  readonly role?: string;
  /** Tokens of the whole prompt. */
  readonly budget?: number;
  /** A session sequence. */
  readonly asOf?: number;
  /** What the agent is asked to do. */
  readonly text?: string;
}

/** What the address says. What cannot be read is left out. */
export function promptChoice(params: URLSearchParams): PromptChoice {
  const text = (name: string) => params.get(name) || undefined;
  const number = (name: string) => positive(params.get(name));
  const kind = PROMPT_KINDS.find((each) => each === params.get('kind'));
  const [id, task, role, said] = [text('id'), text('task'), text('role'), text('text')];
  const [budget, asOf] = [number('budget'), number('asOf')];
  return {
    ...(id !== undefined && { id }),
    ...(kind !== undefined && { kind }),
    ...(task !== undefined && { task }),
    ...(role !== undefined && { role }),
    ...(budget !== undefined && { budget }),
    ...(asOf !== undefined && { asOf }),
    ...(said !== undefined && { text: said }),
  };
}

/** The longest text that stands in an address, in characters: servers and browsers refuse long addresses. */
const MOST_ADDRESS_TEXT = 1_000;

/** Where a text that was typed is kept: a short one in the address, a longer one in the view. */
export function typedText(text: string): { readonly address: string; readonly view: string | undefined } {
  return text.length > MOST_ADDRESS_TEXT ? { address: '', view: text } : { address: text, view: undefined };
}

/** A whole number from 1 on; undefined for anything else. */
export function positive(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

export type PastRequest = Readonly<Record<string, unknown>> & { readonly asOf: number };

/**
 * The request for a prompt of the past.
 *
 * @param base the request of a kept prompt, which the choice changes
 * @param newest the newest sequence of the session, 1 or more
 * @param textOf what a task is about, where that is known
 */
export function pastRequest(
  session: string,
  { kind, task, role, budget, asOf, text }: PromptChoice,
  newest: number,
  base: Readonly<Record<string, unknown>> | undefined,
  textOf: (task: string) => string | undefined,
): PastRequest {
  const { after: _, afterTimeoutMs: __, ...kept } = base ?? {};
  const own = kind ?? PROMPT_KINDS.find((each) => each === kept.kind) ?? 'dispatch';
  const sameKind = base === undefined || own === (kept.kind ?? 'dispatch');
  const taskId = task ?? (typeof kept.taskId === 'string' ? kept.taskId : undefined);
  const said = text ?? (task === undefined || task === kept.taskId ? asText(kept.taskPrompt) : undefined);
  const keptAsOf = typeof kept.asOf === 'number' ? kept.asOf : newest;
  return {
    ...(sameKind ? kept : {}),
    session,
    kind: own,
    explain: true,
    asOf: Math.min(Math.max(asOf ?? keptAsOf, 1), Math.max(newest, keptAsOf)),
    ...(own === 'dispatch' && {
      taskId: taskId ?? '1',
      taskPrompt: said ?? textOf(taskId ?? '1') ?? `Task ${taskId ?? '1'}`,
      ...(role !== undefined && { role }),
    }),
    ...(own !== 'dispatch' && text !== undefined && { taskPrompt: text }),
    ...(budget !== undefined && { budget: { inputTokens: budget } }),
  };
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A kept prompt in a few words. */
export function promptTitle({ kind, task, role }: Pick<PromptTrace, 'kind' | 'task' | 'role'>): string {
  if (kind !== 'dispatch') return kind === 'iteration' ? 'iteration' : 'session start';
  return `${task ?? ''} ${role ?? ''}`.trim();
}

/** What a request asks for, such as `task TAS-1, reviewer`. */
export function requestTitle({ kind, taskId, role }: Readonly<Record<string, unknown>>): string {
  if (kind === 'iteration') return 'iteration';
  if (kind === 'session-start') return 'session start';
  return [`task ${asText(taskId) ?? '1'}`, asText(role) ?? ROLE_NAMES[0]].join(', ');
}
