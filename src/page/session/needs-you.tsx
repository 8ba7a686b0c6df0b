import { useState } from 'preact/hooks';
import type { RejectedShown } from '../../contracts/replies/dispatch-result.js';
import type { SessionListed } from '../../contracts/replies/session-reply.js';
import { stallText } from '../../shared/wire-words.js';
import { mayAct } from '../components/act.js';
import { Button, Tag } from '../components/fields.js';
import { sessionHref, viewHref } from '../route.js';
import { useAsk, usePages } from '../use-ask.js';
import { counted, figure } from '../words.js';
import { AnswerForm } from './stalled.js';

interface Need {
  readonly session: string;
  readonly title: string;
  readonly tag: 'asks' | 'waits' | 'stalled';
  readonly task?: string;
  readonly text: string;
  readonly options?: readonly string[] | undefined;
}

/** Questions first, then what else waits for a person, then stalled tasks. */
const TAGS = ['asks', 'waits', 'stalled'] as const;
const TONES = { asks: 'info', waits: 'warn', stalled: 'bad' } as const;
const MOST_NEEDS = 20;

/** Returns what the sessions need of a person; a rejected result among `rejected` has a row of its own. */
function needsOf(sessions: readonly SessionListed[], rejected: ReadonlySet<string>): Need[] {
  return sessions.flatMap((each): Need[] => {
    if (each.brief) return [];
    const { session, title = session, asks, waiting, stalled, working } = each;
    const of = { session, title };
    const moving = new Set(working.map(({ task }) => task));
    const isRejected = (text: string) =>
      rejected.has(session) && text.includes('its last result was rejected');
    return [
      ...asks.map((ask) => ({ ...of, ...ask, tag: 'asks' as const })),
      ...waiting
        .slice(asks.length)
        .filter((text) => !isRejected(text))
        .map((text) => ({ ...of, text, tag: 'waits' as const })),
      ...stalled
        .filter(({ task }) => !moving.has(task))
        .map(({ task, reason }) => ({ ...of, task, text: stallText(reason), tag: 'stalled' as const })),
    ];
  });
}

/** Groups needs with one cause: texts that differ in a task, a name or a number alone. A question stays alone. */
export function groupNeeds(needs: readonly Need[]): Need[][] {
  const groups = new Map<string, Need[]>();
  for (const need of needs) {
    const { tag, session, task, text } = need;
    const cause = text.replace(/(task|message) \S+/g, '$1').replace(/"[^"]*"|\d+/g, '#');
    const key = JSON.stringify(tag === 'asks' ? [tag, session, task, text] : [tag, cause]);
    groups.set(key, [...(groups.get(key) ?? []), need]);
  }
  return [...groups.values()].sort(
    ([a], [b]) => TAGS.indexOf(a?.tag ?? 'stalled') - TAGS.indexOf(b?.tag ?? 'stalled'),
  );
}

/** Lists what all shown sessions need of a person, a row for each cause, with the action in the row. */
export function NeedsYou({ sessions }: { readonly sessions: readonly SessionListed[] }) {
  const [all, setAll] = useState(false);
  const proposals = useAsk('proposal.list', { limit: 1, projects: true }, 'event:learning').reply;
  const listed = usePages('tool.rejected-list', { limit: 200 }, 'event:rejected');
  const rejected = listed.pages.flatMap((page) => page.rejected);
  const needs = groupNeeds(needsOf(sessions, new Set(rejected.flatMap(({ session }) => session ?? []))));
  const reviews = (proposals?.projects ?? []).filter(({ pending }) => pending > 0);
  const rows = [
    ...needs.map((group) => <NeedRow key={rowKey(group)} group={group} />),
    ...reviews.map(({ project, pending }) => (
      <li key={`review ${project}`} class="need-row">
        <Tag tone="info">review</Tag>
        <a data-row href={viewHref('learnings', { project })}>
          {counted(pending, 'proposed learning')} of {project}
        </a>
      </li>
    )),
    ...(rejected.length === 0 ? [] : [<RejectedRow key="rejected" rejected={rejected} />]),
  ];
  if (rows.length === 0) return null;
  return (
    <section class="session-group" aria-labelledby="needs-you">
      <h2 id="needs-you">
        Needs you <span class="quiet figure">{rows.length}</span>
      </h2>
      <ul class="card rows">{rows.slice(0, all ? undefined : MOST_NEEDS)}</ul>
      {all || rows.length <= MOST_NEEDS ? null : (
        <p class="more">
          <Button small onClick={() => setAll(true)}>
            Show all {rows.length}
          </Button>
        </p>
      )}
    </section>
  );
}

function rowKey([first]: readonly Need[]): string {
  return `${first?.session} ${first?.tag} ${first?.task} ${first?.text}`;
}

/** Sessions that a row of a group names before it is opened. */
const MOST_NAMED = 4;

function NeedRow({ group }: { readonly group: readonly Need[] }) {
  const [open, setOpen] = useState(false);
  const [need, ...others] = group;
  if (need === undefined) return null;
  const { session, tag, task, text } = need;
  const named = group.filter(
    (each, index) =>
      each.task !== undefined || group.findIndex((other) => other.session === each.session) === index,
  );
  const shown = named.slice(0, open ? undefined : MOST_NAMED);
  return (
    <li class={`need-row need-${tag}`}>
      <Tag tone={TONES[tag]}>{tag}</Tag>
      <div class="need-text">
        {others.length === 0 ? null : <strong class="figure">{figure(group.length)} × </strong>}
        {shown.map((each, index) => (
          <span key={`${each.session} ${each.task} ${each.text}`}>
            {index === 0 ? '' : ', '}
            <a data-row={index === 0} href={sessionHref(each.session)}>
              {each.title}
            </a>
            {others.length > 0 && each.task !== undefined ? ` ${each.task}` : ''}
          </span>
        ))}
        {shown.length === named.length ? null : (
          <Button small onClick={() => setOpen(true)}>
            {named.length - shown.length} more
          </Button>
        )}
        <p>
          {task === undefined || others.length > 0 ? null : <span class="mono task-id">{task} </span>}
          {text}
        </p>
      </div>
      {tag === 'asks' && task !== undefined && mayAct() ? (
        <AnswerForm session={session} task={task} question={{ text, options: need.options }} />
      ) : null}
    </li>
  );
}

function RejectedRow({ rejected: [first, ...others] }: { readonly rejected: readonly RejectedShown[] }) {
  return (
    <li class="need-row need-asks">
      <Tag tone="bad">rejected</Tag>
      <div class="need-text">
        <a data-row href={viewHref('rejected', {})}>
          {counted(others.length + 1, 'rejected result')}
        </a>
        <p>
          {first?.reason} <code class="quiet">{first?.code}</code>
        </p>
      </div>
    </li>
  );
}
