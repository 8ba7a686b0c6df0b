import '../styles/session.css';
import { useState } from 'preact/hooks';
import type { ReplyTo, RequestInput } from '../../contracts/requests.js';
import { ask } from '../ask.js';
import { COMMANDS } from '../commands.js';
import { Actions, mayAct, SendForm } from '../components/act.js';
import { Ago, Button, SelectField, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { CardHead, Empty, QueryView } from '../components/states.js';
import { navigate, type SessionViewProps, sessionHref, viewHref } from '../route.js';
import {
  BoardRow,
  Column,
  ordered,
  PlanNote,
  PlanRow,
  ResultRow,
  Row,
  SessionFiguresLine,
} from '../session/board-tasks.js';
import { Stalled } from '../session/stalled.js';
import { useAsk } from '../use-ask.js';
import { counted, type Tone } from '../words.js';

type Status = ReplyTo<'run.status'>;
type Lists = NonNullable<Status['lists']>;

const LISTS: RequestInput<'run.status'>['lists'] = ['board', 'plan', 'iterations', 'notes', 'messages'];

export function SessionView({ session }: SessionViewProps) {
  const query = useAsk('run.status', { session, lists: LISTS }, session);
  return (
    <QueryView query={query} what="the session">
      {(reply) => {
        const { session: view, lists } = reply;
        return view.sequence === 0 || lists === undefined ? (
          <>
            <PageHead title={session} />
            <Empty title="No session has this name" command={COMMANDS.addTask(session)}>
              See <a href={viewHref('sessions')}>the sessions that exist</a>. A first task, result or goal
              begins this one:
            </Empty>
          </>
        ) : (
          <>
            <Head session={session} view={view} />
            <SessionFiguresLine session={view} />
            <Working session={session} working={reply.working} />
            <Stalled session={session} status={reply} lists={lists} />
            <Columns session={session} status={reply} lists={lists} />
          </>
        );
      }}
    </QueryView>
  );
}

function Head({ session, view }: { readonly session: string; readonly view: Status['session'] }) {
  const { title, goal, archived, completed_reason: why } = view;
  return (
    <>
      <PageHead title={session}>
        {archived === undefined ? (
          <Tag tone={view.status === 'completed' ? 'good' : 'info'}>{view.status}</Tag>
        ) : (
          <Tag>archived</Tag>
        )}
        {view.project === undefined ? null : <span class="quiet">project {view.project}</span>}
        {mayAct() ? <Lifecycle session={session} view={view} /> : null}
      </PageHead>
      {title === undefined ? null : <p>{title}</p>}
      {goal === undefined ? null : <p class="goal">{goal}</p>}
      {why === undefined ? null : <p class="quiet">Completed: {why}</p>}
      {archived === undefined ? null : (
        <p class="goal quiet">
          Archived{archived.reason === undefined ? '' : `: ${archived.reason}`}. It rejects results until it
          is reopened.
        </p>
      )}
    </>
  );
}

/** Says who works now, and since when. */
function Working({ session, working }: { readonly session: string; readonly working: Status['working'] }) {
  if (working.length === 0) return null;
  return (
    <section class="card attention" aria-labelledby="working-title">
      <CardHead id="working-title" title="Works now" />
      <ul class="rows">
        {working.map(({ task, agent, since }) => (
          <li key={task} class="attention-row">
            <a class="mono task-id one-line" href={sessionHref(session, 'timeline', { task })}>
              {task}
            </a>
            <p>
              {agent} <span class="quiet">since</span> <Ago at={since} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Columns(props: { readonly session: string; readonly status: Status; readonly lists: Lists }) {
  const { session, status, lists } = props;
  const { session: view, run, tasks } = status;
  const { board, left_out: leftOut } = lists;
  return (
    <>
      <div class="columns">
        <Column
          title="Board"
          remark={`${view.board.remaining + view.board.in_progress + view.board.blocked} open of ${view.board.total}`}
          empty={{
            title: 'No tasks on the board',
            command: COMMANDS.addTask(session),
          }}
          more={leftOut.board}
          items={ordered(board).map((task) => <BoardRow key={task.id} session={session} task={task} />)}
          add={
            <SendForm
              label="A new task"
              verb="Add"
              onSend={(content) => ask('tool.task-add', { session, content })}
            />
          }
        />
        <Column
          title="Plan"
          remark={run && `${run.totals.completed} completed of ${run.totals.total}`}
          empty={{
            title: 'No plan tasks',
            command: COMMANDS.followPlan(session),
          }}
          note={<PlanNote plan={run} />}
          more={leftOut.plan}
          items={lists.plan.map((task) => (
            <PlanRow key={task.id} session={session} task={task} active={task.id === run?.active_task_id} />
          ))}
        />
        <Column
          title="Results"
          remark={counted(tasks.length, 'task')}
          empty={{ title: 'No results yet', command: COMMANDS.publish(session) }}
          items={tasks.toReversed().map((row) => <ResultRow key={row.task} session={session} listed={row} />)}
        />
      </div>
      <div class="columns columns-short">
        <Column
          title="Iterations"
          remark={lists.iterations.length}
          empty={{
            title: 'No iterations yet',
            command: COMMANDS.startIteration(session),
            text: 'A run that starts agents in a loop begins an iteration each time:',
          }}
          more={leftOut.iterations}
          items={lists.iterations.toReversed().map((row) => iterationRow(session, row))}
        />
        <Column
          title="Notes"
          remark={lists.notes.length}
          empty={{
            title: 'No notes yet',
            command: COMMANDS.addNote(session),
            text: 'Information for later agents:',
          }}
          more={leftOut.notes}
          add={<NoteForm session={session} />}
          items={lists.notes
            .toReversed()
            .map((note) => <NoteRow key={note.id} session={session} note={note} />)}
        />
        <Column
          title="Inbox"
          remark={counted(view.unread, 'unread', 'unread')}
          empty={{
            title: 'No messages',
            command: COMMANDS.sendMessage(session),
            text: 'A message to the next agent:',
          }}
          more={leftOut.messages}
          add={
            <SendForm
              label="A message to the next agent"
              verb="Send"
              onSend={(content) => ask('tool.inbox-add', { session, content })}
            />
          }
          items={lists.messages
            .toSorted((a, b) => Number(a.read) - Number(b.read))
            .map((message) => <MessageRow key={message.id} session={session} message={message} />)}
        />
      </div>
    </>
  );
}

function NoteRow({ session, note }: { readonly session: string; readonly note: Lists['notes'][number] }) {
  const { id, type, content, created_at, iteration } = note;
  const [editing, setEditing] = useState(false);
  return (
    <Row
      session={session}
      name={id}
      tags={<Tag tone={NOTE_TONES[type] ?? 'quiet'}>{type}</Tag>}
      text={content}
    >
      <Ago at={created_at} />
      {iteration === 0 ? null : `, iteration ${iteration}`}{' '}
      {mayAct() ? (
        <p class="actions">
          <Button small open={editing} onClick={() => setEditing(!editing)}>
            Edit
          </Button>
          <Actions
            actions={[
              {
                verb: 'Delete',
                confirm: 'Delete the note',
                run: () => ask('tool.note-delete', { session, id }),
              },
            ]}
          />
        </p>
      ) : null}
      {editing ? (
        <SendForm
          label="The note"
          verb="Save"
          text={content}
          onSend={async (text) => {
            await ask('tool.note-edit', { session, id, content: text });
            setEditing(false);
          }}
        />
      ) : null}
    </Row>
  );
}

function MessageRow(props: { readonly session: string; readonly message: Lists['messages'][number] }) {
  const { session } = props;
  const { id, read, content, created_at } = props.message;
  return (
    <Row
      session={session}
      name={id}
      tags={read ? <Tag>read</Tag> : <Tag tone="info">unread</Tag>}
      text={content}
      done={read}
    >
      <Ago at={created_at} />{' '}
      {mayAct() && !read ? (
        <Actions
          actions={[{ verb: 'Mark as read', run: () => ask('tool.inbox-mark-read', { session, id }) }]}
        />
      ) : null}
    </Row>
  );
}

const NOTE_TYPES = ['learning', 'decision', 'tip', 'stuck'] as const;

function NoteForm({ session }: { readonly session: string }) {
  const [type, setType] = useState<(typeof NOTE_TYPES)[number]>('decision');
  return (
    <SendForm
      label="A note for later agents"
      verb="Add"
      onSend={(content) => ask('tool.note-add', { session, content, type })}
    >
      <SelectField
        label="Kind"
        value={type}
        choices={NOTE_TYPES.map((value) => ({ value, label: value }))}
        onChoose={setType}
      />
    </SendForm>
  );
}

/** Completes, restarts, archives or reopens the session. */
function Lifecycle(props: { readonly session: string; readonly view: Status['session'] }) {
  const { session, view } = props;
  const isArchived = view.archived !== undefined;
  const isOpen = view.status === 'open';
  const archive = {
    verb: 'Archive',
    confirm: 'Archive: it takes no results until it is reopened',
    run: () => ask('tool.session-archive', { session }),
  };
  const [forgetting, setForgetting] = useState(false);
  return (
    <div class="actions">
      <Actions
        actions={
          isArchived
            ? [{ verb: 'Reopen', run: () => ask('tool.session-reopen', { session }) }]
            : [
                isOpen
                  ? {
                      verb: 'Complete',
                      confirm: 'Complete the session',
                      run: () => ask('tool.session-complete', { session }),
                    }
                  : { verb: 'Restart', run: () => ask('tool.session-restart', { session }) },
                archive,
              ]
        }
      />
      <Button small open={forgetting} onClick={() => setForgetting(!forgetting)}>
        Forget
      </Button>
      {forgetting ? (
        <SendForm
          label={`Erases events, results and prompts for good. Type ${session} to confirm`}
          verb="Erase for good"
          onSend={async (confirm) => {
            await ask('tool.session-forget', { session, confirm });
            navigate(viewHref('sessions'));
          }}
        />
      ) : null}
    </div>
  );
}

const NOTE_TONES: Readonly<Record<string, Tone>> = { stuck: 'bad', decision: 'info', tip: 'good' };

function iterationRow(session: string, row: Lists['iterations'][number]) {
  return (
    <Row
      key={row.number}
      session={session}
      name={`Iteration ${row.number}`}
      tags={
        row.ended_at === undefined ? (
          <Tag tone="info">running</Tag>
        ) : row.complete ? (
          <Tag tone="good">completed</Tag>
        ) : (
          <Tag>superseded</Tag>
        )
      }
      text={row.summary}
    >
      began <Ago at={row.started_at} />
      {row.tasks_worked.length === 0 ? '' : `, ${row.tasks_worked.join(', ')}`}
    </Row>
  );
}
