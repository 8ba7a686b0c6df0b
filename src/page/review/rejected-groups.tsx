import type { RejectedShown } from '../../contracts/replies/rejected-reply.js';
import { ask } from '../ask.js';
import { Actions, forEach, mayAct } from '../components/act.js';
import { useAsk } from '../use-ask.js';
import { figure } from '../words.js';

/** Rejected results with one code and one reason, whatever names and numbers the reason holds. */
export interface RejectedGroup {
  readonly key: string;
  readonly entries: readonly RejectedShown[];
}

/** Groups rejected results by their cause, the largest group first. */
export function groupRejected(rejected: readonly RejectedShown[]): RejectedGroup[] {
  const groups = new Map<string, RejectedShown[]>();
  for (const entry of rejected) {
    const { code, session = '', reason } = entry;
    const plain = (session === '' ? reason : reason.replaceAll(session, '#')).replace(/"[^"]*"|\d+/g, '#');
    const key = `${code} ${plain}`;
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return [...groups]
    .map(([key, entries]) => ({ key, entries }))
    .sort((a, b) => b.entries.length - a.entries.length);
}

/** The codes of results that the same body is accepted with once the session takes results again. */
const CLOSED = new Set(['session_archived', 'session_forgotten']);

/** Returns those that a retry may help: a session that is archived still rejects every result. */
export function useRetryable(entries: readonly RejectedShown[]): readonly RejectedShown[] {
  const names = [
    ...new Set(entries.flatMap(({ code, session }) => (CLOSED.has(code) && session ? [session] : []))),
  ].slice(0, 200);
  const open = useAsk('tool.session-list', names.length === 0 ? null : { names, limit: 200 });
  const takes = new Set((open.reply?.sessions ?? []).map(({ session }) => session));
  return entries.filter(({ code, session = '' }) => !CLOSED.has(code) || takes.has(session));
}

/** Retries or removes all results of a group. */
export function RejectedActions(props: { readonly group: RejectedGroup; readonly onDone: () => void }) {
  const { entries } = props.group;
  const retryable = useRetryable(entries);
  if (!mayAct()) return null;
  const all = async (some: typeof entries, work: (id: number) => Promise<unknown>) => {
    try {
      await forEach(some, ({ id }) => work(id));
    } finally {
      props.onDone();
    }
  };
  return (
    <p class="actions">
      <Actions
        actions={[
          ...(retryable.length === 0
            ? []
            : [
                {
                  verb: `Retry ${figure(retryable.length)}`,
                  confirm: 'Publish them again',
                  run: () => all(retryable, (id) => ask('tool.rejected-retry', { id })),
                },
              ]),
          {
            verb: `Remove ${figure(entries.length)}`,
            confirm: 'Remove for good',
            run: () => all(entries, (id) => ask('tool.rejected-remove', { id })),
          },
        ]}
      />
    </p>
  );
}
