import type { SessionListed } from '../../contracts/replies/session-reply.js';
import { stallText } from '../../shared/wire-words.js';
import { mayAct } from '../components/act.js';
import { Tag } from '../components/fields.js';
import { sessionHref, viewHref } from '../route.js';
import { useAsk, usePages } from '../use-ask.js';
import { counted } from '../words.js';
import { RejectedNeed } from './rejected.js';
import { AnswerForm, NeedsList, useDrafts } from './stalled.js';

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

/** Returns what the sessions need of a person, questions first; a rejected result among `rejected` has a row of its own. */
function needsOf(sessions: readonly SessionListed[], rejected: ReadonlySet<string>): Need[] {
  const needs = sessions.flatMap((listed): Need[] => {
    if (listed.brief) return [];
    const { session, title = session, asks, waiting, stalled, working } = listed;
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
  return needs.sort((a, b) => TAGS.indexOf(a.tag) - TAGS.indexOf(b.tag));
}

/** Lists what the shown sessions need of a person, with the action in the row; without a filter also what has no session. */
export function NeedsYou(props: {
  readonly sessions: readonly SessionListed[];
  readonly isFiltered: boolean;
}) {
  const { sessions, isFiltered } = props;
  const proposals = useAsk('proposal.list', { limit: 1, projects: true }, 'event:learning').reply;
  const listed = usePages('tool.rejected-list', { limit: 200 }, 'event:rejected');
  const names = new Set(sessions.map(({ session }) => session));
  const rejected = listed.pages
    .flatMap((page) => page.rejected)
    .filter(({ session = '' }) => !isFiltered || names.has(session));
  const found = needsOf(sessions, new Set(rejected.flatMap(({ session }) => session ?? [])));
  const { shown: needs, keep } = useDrafts(found, keyOf);
  const reviews = (proposals?.projects ?? []).filter(({ pending }) => pending > 0 && !isFiltered);
  const rows = [
    ...needs.map((need) => (
      <NeedRow key={keyOf(need)} need={need} onDraft={(isDraft) => keep(need, isDraft)} />
    )),
    ...reviews.map(({ project, pending }) => (
      <li key={`review ${project}`} class="need-row">
        <Tag tone="info">review</Tag>
        <a data-row href={viewHref('learnings', { project })}>
          {counted(pending, 'proposed learning')} of {project}
        </a>
      </li>
    )),
    ...rejected.map((row) => <RejectedNeed key={`rejected ${row.id}`} rejected={row} />),
  ];
  return <NeedsList items={rows} most={MOST_NEEDS} />;
}

function keyOf({ session, tag, task, text }: Need): string {
  return `${session} ${tag} ${task} ${text}`;
}

function NeedRow(props: { readonly need: Need; readonly onDraft: (isDraft: boolean) => void }) {
  const { need, onDraft } = props;
  const { session, title, tag, task, text, options } = need;
  return (
    <li class={`need-row need-${tag}`}>
      <Tag tone={TONES[tag]}>{tag}</Tag>
      <div class="need-text">
        <a data-row href={sessionHref(session)}>
          {title}
        </a>
        <p>
          {task === undefined ? null : <span class="mono task-id">{task} </span>}
          {text}
        </p>
      </div>
      {tag === 'asks' && task !== undefined && mayAct() ? (
        <AnswerForm session={session} task={task} question={{ text, options }} onDraft={onDraft} />
      ) : null}
    </li>
  );
}
