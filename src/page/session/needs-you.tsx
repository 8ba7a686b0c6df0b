import type { SessionListed } from '../../contracts/replies/session-reply.js';
import { stallText } from '../../shared/wire-words.js';
import { mayAct } from '../components/act.js';
import { sessionHref, viewHref } from '../route.js';
import { useAsk, usePages } from '../use-ask.js';
import { counted } from '../words.js';
import { AnswerForm, Need, NeedsList, quoted, useDrafts } from './needs-list.js';
import { RejectedNeed } from './rejected.js';

interface SessionNeed {
  readonly session: string;
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
function needsOf(sessions: readonly SessionListed[], rejected: ReadonlySet<string>): SessionNeed[] {
  const needs = sessions.flatMap((listed): SessionNeed[] => {
    if (listed.brief || listed.archived !== undefined) return [];
    const { session, asks, waiting, stalled, working } = listed;
    const moving = new Set(working.map(({ task }) => task));
    const isRejected = (text: string) =>
      rejected.has(session) && text.includes('its last result was rejected');
    return [
      ...asks.map((ask) => ({ session, ...ask, tag: 'asks' as const })),
      ...waiting
        .slice(asks.length)
        .filter((text) => !isRejected(text))
        .map((text) => ({ session, text, tag: 'waits' as const })),
      ...stalled
        .filter(({ task }) => !moving.has(task))
        .map(({ task, reason }) => ({ session, task, text: stallText(reason), tag: 'stalled' as const })),
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
  const { shown: needs, settled, keep } = useDrafts(found, keyOf);
  const reviews = (proposals?.projects ?? []).filter(({ pending }) => pending > 0 && !isFiltered);
  const rows = [
    ...needs.map((need) => (
      <NeedRow key={keyOf(need)} need={need} onDraft={(isDraft) => keep(need, isDraft)} />
    )),
    ...reviews.map(({ project, pending }) => (
      <Need
        key={`review ${project}`}
        tone="info"
        tag="review"
        of={<a href={viewHref('learnings', { project })}>{project}</a>}
        text={counted(pending, 'proposed learning')}
      />
    )),
    ...rejected.map((row) => <RejectedNeed key={`rejected ${row.id}`} rejected={row} />),
  ];
  return <NeedsList items={rows} settled={settled} most={MOST_NEEDS} />;
}

function keyOf({ session, tag, task, text }: SessionNeed): string {
  return `${session} ${tag} ${task} ${text}`;
}

function NeedRow(props: { readonly need: SessionNeed; readonly onDraft: (isDraft: boolean) => void }) {
  const { session, tag, task, text, options } = props.need;
  const of = `${text}, ${session}`;
  return (
    <Need
      tone={TONES[tag]}
      tag={tag}
      of={
        <>
          <a href={sessionHref(session)}>{session}</a>
          {task === undefined ? null : <span class="mono task-id">{task}</span>}
        </>
      }
      text={tag === 'asks' ? text : quoted(text)}
      action={
        tag === 'asks' && task !== undefined && mayAct() ? (
          <AnswerForm {...{ session, task, options, of }} question={text} onDraft={props.onDraft} />
        ) : null
      }
    />
  );
}
