import type { PromptTrace } from '../../contracts/prompt-requests.js';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import type { RequestInput } from '../../contracts/requests.js';
import { type QueryState, useAsk } from '../use-ask.js';

/** Loads the data that a person chooses prompts from, and follows the session live. */
export function useSessionPrompts(session: string) {
  const shown = useAsk('run.status', { session, lists: ['board'] }, session);
  const list = useAsk('tool.prompt-list', { session, limit: 200 }, 'event:prompt');
  const texts = new Map<string, string>();
  for (const { id, content } of shown.reply?.lists?.board ?? []) texts.set(id, content);
  const prompts: readonly PromptTrace[] = list.reply?.prompts ?? [];
  const tasks = new Set([
    ...(shown.reply?.tasks ?? []).map(({ task }) => task).reverse(),
    ...prompts.flatMap(({ task }) => task ?? []),
    ...texts.keys(),
  ]);
  return {
    /** The newest sequence of the session; undefined until it is known. */
    newest: shown.reply?.sequence,
    project: shown.reply?.session.project,
    error: shown.error,
    prompts,
    total: list.reply?.total ?? prompts.length,
    tasks: [...tasks],
    texts,
    /** True once the lists are loaded. */
    ready: !shown.loading && !list.loading,
  };
}
export type SessionPrompts = ReturnType<typeof useSessionPrompts>;

const PARTS = ['facts', 'considered', 'learnings', 'lines'] as const;

export function useStoredPrompt(session: string, id: string | undefined) {
  const stored = useAsk('tool.prompt-show', id === undefined ? null : { session, id });
  const request: Readonly<Record<string, unknown>> | undefined = stored.reply && {
    ...stored.reply.request,
    ...{ session, include: PARTS },
  };
  return useAsk('prompt.past', (request as RequestInput<'prompt.past'>) ?? null).reply;
}

/** Compiles the chosen prompt; sends nothing while `choice` is undefined. */
export function usePrompt(
  session: string,
  choice: PromptChoice | undefined,
  { newest, texts, prompts, ready }: SessionPrompts,
) {
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
  // For a task without a prompt id, its stored prompt only supplies the text: compile as of the newest sequence.
  const { asOf: _, ...timeless } = kept ?? {};
  const from = choice?.id === undefined ? kept && timeless : kept;
  const request =
    waits || newest === 0 ? undefined : pastRequest(session, choice, newest, from, (task) => texts.get(task));
  const error = choice?.id === undefined ? undefined : base.error;
  // A missing prompt has no reply: do not show another one in its place.
  const query: QueryState<CompileReply> = useAsk(
    'prompt.past',
    error === undefined && request !== undefined ? (request as RequestInput<'prompt.past'>) : null,
  );
  const { refresh } = base;
  const failed: QueryState<CompileReply> | undefined = error && { error, loading: false, refresh };
  return { query: failed ?? query, request };
}

export const PROMPT_KINDS = ['dispatch', 'iteration', 'session-start'] as const;
export type PromptKind = (typeof PROMPT_KINDS)[number];

export type PromptChoice = ReturnType<typeof promptChoice>;

/** Reads the choice from the address. Invalid values count as missing. */
export function promptChoice(params: URLSearchParams) {
  const text = (name: string) => params.get(name) || undefined;
  return {
    /** Id of a stored prompt. */
    id: text('id'),
    kind: PROMPT_KINDS.find((known) => known === params.get('kind')),
    task: text('task'),
    role: text('role'),
    /** In tokens. */
    budget: positive(params.get('budget')),
    /** A session sequence. */
    asOf: positive(params.get('asOf')),
    /** The task prompt. */
    text: text('text'),
  };
}

/** Returns an integer of at least 1; undefined for anything else. */
function positive(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

export type PastRequest = Readonly<Record<string, unknown>> & { readonly asOf: number };

/**
 * Returns the request for a prompt of the past.
 *
 * @param base the request of a stored prompt, which the choice changes
 * @param newest the newest sequence of the session, at least 1
 * @param textOf returns the text of a board task
 */
export function pastRequest(
  session: string,
  { kind, task, role, budget, asOf, text }: PromptChoice,
  newest: number,
  base: Readonly<Record<string, unknown>> | undefined,
  textOf: (task: string) => string | undefined,
): PastRequest {
  const { after: _, afterTimeoutMs: __, ...kept } = base ?? {};
  const chosen = kind ?? PROMPT_KINDS.find((known) => known === kept.kind) ?? 'dispatch';
  const sameKind = base === undefined || chosen === (kept.kind ?? 'dispatch');
  const taskId = task ?? (typeof kept.taskId === 'string' ? kept.taskId : undefined);
  const taskText = text ?? (task === undefined || task === kept.taskId ? asText(kept.taskPrompt) : undefined);
  const keptAsOf = typeof kept.asOf === 'number' ? kept.asOf : newest;
  return {
    ...(sameKind ? kept : {}),
    session,
    kind: chosen,
    include: PARTS,
    asOf: Math.min(Math.max(asOf ?? keptAsOf, 1), Math.max(newest, keptAsOf)),
    ...(chosen === 'dispatch' && {
      taskId: taskId ?? '1',
      taskPrompt: taskText ?? textOf(taskId ?? '1') ?? `Task ${taskId ?? '1'}`,
      ...(role !== undefined && { role }),
    }),
    ...(chosen !== 'dispatch' && text !== undefined && { taskPrompt: text }),
    ...(budget !== undefined && { budget: { inputTokens: budget } }),
  };
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns a stored prompt in a few words. */
export function promptTitle({ kind, task, role }: Pick<PromptTrace, 'kind' | 'task' | 'role'>): string {
  if (kind !== 'dispatch') return kind === 'iteration' ? 'iteration' : 'session start';
  return `${task ?? ''} ${role ?? ''}`.trim();
}
