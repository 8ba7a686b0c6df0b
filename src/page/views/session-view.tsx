import '../styles/session.css';
import { useState } from 'preact/hooks';
import type { ReplyTo } from '../../contracts/replies/replies.js';
import { ask } from '../ask.js';
import { Actions, mayAct, SendForm } from '../components/act.js';
import { Ago, Command, publishCommand, SelectField, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { AskedView, Empty } from '../components/states.js';
import { type SessionViewProps, viewHref } from '../route.js';
import { BoardRow, Column, isDone, ordered, PlanNote, PlanRow, Row } from '../session/board-tasks.js';
import { ResultRow, SessionFiguresStrip } from '../session/results.js';
import { Stalled } from '../session/stalled.js';
import { useAsk } from '../use-ask.js';
import { counted, type Tone } from '../words.js';

export function SessionView({ session }: SessionViewProps) {
  const of = { session };
  const shown = useAsk('tool.session-show', of, session);
  const board = useAsk('tool.task-list', of, session);
  const plan = useAsk('tool.plan-show', of, session);
  const ledgers = useAsk('tool.ledger-list', of, session);
  const iterations = useAsk('tool.iteration-list', of, session);
  const notes = useAsk('tool.note-list', of, session);
  const inbox = useAsk('tool.inbox-list', { session, all: true }, session);
  return (
    <AskedView asked={shown} what="the session">
      {({ session: view }) => (
        <>
          <PageHead title={session}>
            {view.sequence === 0 || view.archived !== undefined ? null : (
              <Tag tone={view.status === 'completed' ? 'good' : 'info'}>{view.status}</Tag>
            )}
            {view.archived === undefined ? null : <Tag>archived</Tag>}
            {view.project === undefined ? null : <span class="quiet">project {view.project}</span>}
            {view.sequence > 0 && mayAct() ? <Lifecycle session={session} view={view} /> : null}
          </PageHead>
          {view.title === undefined ? null : <p>{view.title}</p>}
          {view.goal === undefined ? null : <p class="goal">{view.goal}</p>}
          {view.completed_reason === undefined ? null : (
            <p class="quiet">Completed: {view.completed_reason}</p>
          )}
          {view.archived === undefined ? null : (
            <div class="archived-note">
              <p class="quiet">
                Archived{view.archived.reason === undefined ? '' : `: ${view.archived.reason}`}. It rejects
                results until it is reopened:
              </p>
              <Command text={`throughline session reopen ${session}`} />
            </div>
          )}
          <SessionFiguresStrip session={view} />
          {view.sequence === 0 ? (
            <Empty
              title="Nothing has happened in this session"
              command={`throughline task add --session ${session} "The first task"`}
            >
              No session of this name has events; see <a href={viewHref('sessions')}>the sessions that do</a>.
              A first task, result or goal begins this one:
            </Empty>
          ) : (
            <>
              {ledgers.reply === undefined ? null : (
                <Stalled
                  session={session}
                  ledgers={ledgers.reply}
                  plan={plan.reply}
                  board={board.reply?.tasks ?? []}
                />
              )}
              <div class="columns">
                <Column
                  title="Board"
                  asked={board}
                  remark={({ tasks }) =>
                    `${tasks.filter((task) => !isDone(task)).length} open of ${tasks.length}`
                  }
                  empty={{
                    title: 'No tasks on the board',
                    command: `throughline task add --session ${session} "…"`,
                  }}
                  items={({ tasks }) =>
                    ordered(tasks).map((task) => <BoardRow key={task.id} session={session} task={task} />)
                  }
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
                  asked={plan}
                  remark={({ plan: of }) => of && `${of.totals.completed} completed of ${of.totals.total}`}
                  empty={{
                    title: 'No plan tasks',
                    command: `throughline init --session ${session} --tasks tasks.md`,
                  }}
                  note={(reply) => <PlanNote plan={reply.plan} />}
                  items={(reply) =>
                    reply.tasks.map((task) => (
                      <PlanRow
                        key={task.id}
                        session={session}
                        task={task}
                        active={task.id === reply.plan?.active_task_id}
                      />
                    ))
                  }
                />
                <Column
                  title="Results"
                  asked={ledgers}
                  remark={({ tasks }) => counted(tasks.length, 'task')}
                  empty={{ title: 'No results yet', command: publishCommand(session) }}
                  items={({ tasks }) =>
                    tasks
                      .toReversed()
                      .map((each) => <ResultRow key={each.task} session={session} listed={each} />)
                  }
                />
              </div>
              <div class="columns columns-short">
                <Column
                  title="Iterations"
                  asked={iterations}
                  remark={(reply) => reply.iterations.length}
                  empty={{
                    title: 'No iterations yet',
                    command: `throughline tool iteration-start --session ${session}`,
                    text: 'A run that starts agents in a loop begins an iteration each time:',
                  }}
                  items={(reply) => reply.iterations.toReversed().map((each) => iterationRow(session, each))}
                />
                <Column
                  title="Notes"
                  asked={notes}
                  remark={(reply) => reply.notes.length}
                  empty={{
                    title: 'No notes yet',
                    command: `throughline note add --session ${session} "The CI machine has no docker"`,
                    text: 'Information for later agents:',
                  }}
                  add={<NoteForm session={session} />}
                  items={(reply) =>
                    reply.notes.toReversed().map(({ id, type, content, created_at, iteration }) => (
                      <Row
                        key={id}
                        session={session}
                        name={id}
                        tags={<Tag tone={NOTE_TONES[type] ?? 'quiet'}>{type}</Tag>}
                        text={content}
                      >
                        <Ago at={created_at} />
                        {iteration === 0 ? null : `, iteration ${iteration}`}{' '}
                        {mayAct() ? (
                          <Actions
                            actions={[
                              {
                                verb: 'Delete',
                                confirm: 'Delete the note',
                                run: () => ask('tool.note-delete', { session, id }),
                              },
                            ]}
                          />
                        ) : null}
                      </Row>
                    ))
                  }
                />
                <Column
                  title="Inbox"
                  asked={inbox}
                  remark={({ messages }) =>
                    counted(messages.filter(({ read }) => !read).length, 'unread', 'unread')
                  }
                  empty={{
                    title: 'No messages',
                    command: `throughline inbox add --session ${session} "Please look at the build first"`,
                    text: 'A message to the next agent:',
                  }}
                  add={
                    <SendForm
                      label="A message to the next agent"
                      verb="Send"
                      onSend={(content) => ask('tool.inbox-add', { session, content })}
                    />
                  }
                  items={({ messages }) =>
                    messages
                      .toSorted((a, b) => Number(a.read) - Number(b.read))
                      .map(({ id, read, content, created_at }) => (
                        <Row
                          key={id}
                          session={session}
                          name={id}
                          tags={read ? <Tag>read</Tag> : <Tag tone="info">unread</Tag>}
                          text={content}
                          done={read}
                        >
                          <Ago at={created_at} />{' '}
                          {mayAct() && !read ? (
                            <Actions
                              actions={[
                                {
                                  verb: 'Mark as read',
                                  run: () => ask('tool.inbox-mark-read', { session, id }),
                                },
                              ]}
                            />
                          ) : null}
                        </Row>
                      ))
                  }
                />
              </div>
            </>
          )}
        </>
      )}
    </AskedView>
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
function Lifecycle(props: {
  readonly session: string;
  readonly view: ReplyTo<'tool.session-show'>['session'];
}) {
  const { session, view } = props;
  const isArchived = view.archived !== undefined;
  const isOpen = view.status === 'open';
  const archive = {
    verb: 'Archive',
    confirm: 'Archive: it takes no results until it is reopened',
    run: () => ask('tool.session-archive', { session }),
  };
  return (
    <p class="actions">
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
    </p>
  );
}

const NOTE_TONES: Readonly<Record<string, Tone>> = { stuck: 'bad', decision: 'info', tip: 'good' };

function iterationRow(session: string, each: ReplyTo<'tool.iteration-list'>['iterations'][number]) {
  return (
    <Row
      key={each.number}
      session={session}
      name={`Iteration ${each.number}`}
      tags={
        each.ended_at === undefined ? (
          <Tag tone="info">running</Tag>
        ) : each.complete ? (
          <Tag tone="good">completed</Tag>
        ) : (
          <Tag>superseded</Tag>
        )
      }
      text={each.summary}
    >
      began <Ago at={each.started_at} />
      {each.tasks_worked.length === 0 ? '' : `, ${each.tasks_worked.join(', ')}`}
    </Row>
  );
}
