import type { PromptTrace } from '../../contracts/prompt-requests.js';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import type { RequestInput } from '../../contracts/requests.js';
import { type QueryState, useAsk } from '../use-ask.js';

const PARTS = ['facts', 'learnings', 'lines'] as const;

/** Compiles a stored prompt again as it was, with the origin of each line; sends nothing while `id` is undefined. */
export function useStoredPrompt(session: string, id: string | undefined): QueryState<CompileReply> {
  const stored = useAsk('tool.prompt-show', id === undefined ? null : { session, id });
  const request: Readonly<Record<string, unknown>> | undefined = stored.reply && {
    ...stored.reply.request,
    session,
    include: PARTS,
  };
  const compiled = useAsk('prompt.past', (request as RequestInput<'prompt.past'>) ?? null);
  const { error, refresh } = stored;
  return error === undefined ? compiled : { error, loading: false, refresh };
}

/** Returns a stored prompt in a few words. */
export function promptTitle({ kind, task, role }: Pick<PromptTrace, 'kind' | 'task' | 'role'>): string {
  if (kind !== 'dispatch') return kind === 'iteration' ? 'iteration' : 'session start';
  return `${task ?? ''} ${role ?? ''}`.trim();
}
