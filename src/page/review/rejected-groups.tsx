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

/** The code of results that are readable, but whose session takes none. */
const CLOSED = 'session_archived';

/** Returns the results that were rejected because of their session, by what it does now: it may be open again. */
export function useClosed(entries: readonly RejectedShown[]) {
  const closed = entries.filter(({ code }) => code === CLOSED);
  const names = [...new Set(closed.flatMap(({ session }) => session ?? []))].slice(0, 200);
  const { reply } = useAsk('tool.session-list', names.length === 0 ? null : { names, limit: 200 });
  const open = new Set((reply?.sessions ?? []).map(({ session }) => session));
  const isOpen = ({ session = '' }: RejectedShown) => open.has(session);
  return { reopened: closed.filter(isOpen), closed: closed.filter((each) => !isOpen(each)) };
}

/** Removes all results of a group, and retries those that can succeed as they are: a session was reopened. */
export function RejectedActions(props: { readonly group: RejectedGroup; readonly onDone: () => void }) {
  const { entries } = props.group;
  const { reopened } = useClosed(entries);
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
          ...(reopened.length === 0
            ? []
            : [
                {
                  verb: `Retry ${figure(reopened.length)}`,
                  confirm: 'Publish them again',
                  run: () => all(reopened, (id) => ask('tool.rejected-retry', { id })),
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
