import '../styles/session.css';
import { useEffect, useState } from 'preact/hooks';
import type { ReplyTo, RequestInput } from '../../contracts/requests.js';
import { ask, me } from '../ask.js';
import { Actions, archivedSession, mayAct } from '../components/act.js';
import { Ago, Button, LongText, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { CardHead, Empty, QueryView, say } from '../components/states.js';
import { LastTold } from '../prompt/last-told.js';
import { navigate, type SessionViewProps, sessionHref, viewHref } from '../route.js';
import { Stalled } from '../session/stalled.js';
import { Statements } from '../session/statements.js';
import { Work } from '../session/work.js';
import { useAsk } from '../use-ask.js';
import { COMMANDS, counted, leftBy } from '../words.js';

type Status = ReplyTo<'run.status'>;
type Lists = NonNullable<Status['lists']>;

const LISTS: RequestInput<'run.status'>['lists'] = ['board', 'plan', 'messages'];

/** What needs a person, what holds, the work, and what the last agent was told. */
export function SessionView({ session, params }: SessionViewProps) {
  const query = useAsk('run.status', { session, lists: LISTS }, session);
  const listed = useAsk('tool.prompt-list', { session, limit: 200 }, 'event:prompt').reply;
  return (
    <QueryView query={query} what="the session">
      {(status) => {
        const { session: view, lists } = status;
        return view.sequence === 0 || lists === undefined ? (
          <>
            <PageHead title={session} />
            <Empty title="No session has this name" command={COMMANDS.addTask(session)}>
              See <a href={viewHref('sessions')}>the sessions that exist</a>. A first task, result or goal
              begins this one:
            </Empty>
          </>
        ) : (
          <div class="session-page">
            <Head session={session} status={status} />
            <Stalled session={session} status={status} lists={lists} />
            <Statements session={session} params={params} prompts={listed?.prompts ?? []} />
            <Work session={session} status={status} />
            <Messages session={session} messages={lists.messages} />
            <LastTold session={session} prompts={listed?.prompts ?? []} />
          </div>
        );
      }}
    </QueryView>
  );
}

function Head({ session, status }: { readonly session: string; readonly status: Status }) {
  const { session: view, working } = status;
  const { title, goal, archived, completed_reason: why, board, plan, dispatches } = view;
  const { implementer = 0, reviewer = 0, observer = 0 } = dispatches;
  const results = implementer + reviewer + observer;
  const { completed: done, total } = plan ?? { ...board, total: board.total - board.cancelled };
  useEffect(() => {
    archivedSession.value = archived && session;
  }, [archived && session]);
  return (
    <div>
      <PageHead title={session}>
        {archived === undefined ? (
          <Tag tone={view.status === 'completed' ? 'good' : 'info'}>{view.status}</Tag>
        ) : (
          <Tag>archived</Tag>
        )}
        {total === 0 ? null : (
          <span class="figure">
            {done} of {total} done
          </span>
        )}
        {me.value?.decides === true ? <Lifecycle session={session} view={view} /> : null}
      </PageHead>
      {title === undefined ? null : <p class="goal">{title}</p>}
      {goal === undefined ? null : <p class="goal">{goal}</p>}
      {why === undefined ? null : <p class="quiet">Completed: {why}</p>}
      {archived === undefined ? null : (
        <p class="goal quiet">
          Archived{archived.reason === undefined ? '' : `: ${archived.reason}`}. It rejects results until it
          is reopened.
        </p>
      )}
      {working.map(({ task, agent, since }) => (
        <p key={task}>
          {agent} works on{' '}
          <a class="mono" href={sessionHref(session, 'timeline', { task })}>
            {task}
          </a>
          <span class="quiet">
            {' '}
            since <Ago at={since} />
          </span>
        </p>
      ))}
      <p class="remarks figure quiet">
        {view.project === undefined ? null : <span>project {view.project}</span>}
        {results === 0 ? null : (
          <a href={sessionHref(session, 'timeline', { kind: 'result' })}>{counted(results, 'result')}</a>
        )}
        <a href={sessionHref(session, 'timeline')}>{counted(view.sequence, 'event')}</a>
        {view.last_event_at === null || view.started_at === null ? null : (
          <span>
            newest <Ago at={view.last_event_at} />, began <Ago at={view.started_at} />
          </span>
        )}
      </p>
      {results + total + board.total > 0 || archived !== undefined ? null : (
        <p>Nothing is planned or done yet: add a first task, or let an agent work in this session.</p>
      )}
    </div>
  );
}

/** The messages that the next agent will read. */
function Messages(props: { readonly session: string; readonly messages: Lists['messages'] }) {
  const { session, messages } = props;
  /** Messages whose mark a person has changed stay, so that it can be taken back. */
  const [marked, setMarked] = useState<readonly string[]>([]);
  const shown = messages.filter(({ id, read }) => !read || marked.includes(id));
  if (shown.length === 0) return null;
  return (
    <section class="card" aria-label="Messages to the next agent">
      <CardHead title="Messages to the next agent">{shown.filter(({ read }) => !read).length}</CardHead>
      <ul class="rows">
        {shown.map(({ id, by, content, read, created_at }) => (
          <li key={id} class="attention-row">
            <span class="mono quiet">{id}</span>
            <div>
              <LongText text={content} />
              <div class="actions quiet small">
                {leftBy(by)} <Ago at={created_at} />
                {mayAct() ? (
                  <Actions
                    of={content}
                    actions={[
                      {
                        verb: read ? 'Mark as unread' : 'Mark as read',
                        run: () => {
                          setMarked([...marked, id]);
                          return ask('tool.inbox-mark-read', { session, id, unread: read });
                        },
                      },
                    ]}
                  />
                ) : null}
              </div>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Completes, restarts, archives, reopens or erases the session. */
function Lifecycle(props: { readonly session: string; readonly view: Status['session'] }) {
  const { session, view } = props;
  const [more, setMore] = useState(false);
  const archive = {
    verb: 'Archive',
    cost: 'Its timeline and its prompts are erased for good; what holds stays. It takes no results until you choose “Reopen”.',
    run: () => ask('tool.session-archive', { session }),
  };
  const forget = {
    verb: 'Forget',
    cost: 'Erases events, results and prompts for good.',
    asks: `Type ${session} to confirm`,
    run: async (confirm: string) => {
      await ask('tool.session-forget', { session, confirm });
      say(`The session ${session} is erased: its events, results and prompts.`);
      navigate(viewHref('sessions'));
    },
  };
  const reopen = { verb: 'Reopen', run: () => ask('tool.session-reopen', { session }) };
  const restart = { verb: 'Restart', run: () => ask('tool.session-restart', { session }) };
  const complete = {
    verb: 'Complete',
    cost: 'It takes no results until you choose “Restart”.',
    run: () => ask('tool.session-complete', { session }),
  };
  const isArchived = view.archived !== undefined;
  const first = isArchived ? reopen : view.status === 'open' ? complete : restart;
  return (
    <div class="actions">
      <Actions actions={[first, ...(more && !isArchived ? [archive] : []), ...(more ? [forget] : [])]} />
      {more ? null : (
        <Button small open={false} onClick={() => setMore(true)}>
          More
        </Button>
      )}
    </div>
  );
}
