import type { ReplyTo } from '../../contracts/replies/replies.js';
import { Ago, LongText, Tag, type Tone } from '../components/fields.js';
import { Empty } from '../components/states.js';
import { counted } from '../words.js';
import { ColumnHead } from './board-tasks.js';

const NOTE_TONES: Readonly<Record<string, Tone>> = { stuck: 'bad', decision: 'info', tip: 'good' };

interface OfSession {
  readonly session: string;
}

/** The iterations, the newest first. */
export function Iterations({
  session,
  iterations,
}: OfSession & Pick<ReplyTo<'tool.iteration-list'>, 'iterations'>) {
  return (
    <>
      <ColumnHead id="iterations-title" title="Iterations">
        {iterations.length === 0 ? null : iterations.length}
      </ColumnHead>
      {iterations.length === 0 ? (
        <Empty title="No iterations yet" command={`throughline tool iteration-start --session ${session}`}>
          A run that starts an agent again and again begins one each time:
        </Empty>
      ) : null}
      <ul class="task-list">
        {iterations.toReversed().map((each) => (
          <li key={each.number} class="task-row">
            <div class="task-head">
              <span class="task-name figure">Iteration {each.number}</span>
              <span class="task-tags">
                {each.ended_at === undefined ? (
                  <Tag tone="info">running</Tag>
                ) : each.complete ? (
                  <Tag tone="good">completed</Tag>
                ) : (
                  <Tag>overtaken</Tag>
                )}
              </span>
            </div>
            {each.summary === undefined ? null : <LongText text={each.summary} />}
            <div class="task-more quiet">
              began <Ago at={each.started_at} />
              {each.tasks_worked.length === 0 ? null : (
                <>
                  , <span class="mono">{each.tasks_worked.join(', ')}</span>
                </>
              )}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Notes for later agents, the newest first. */
export function Notes({ session, notes }: OfSession & Pick<ReplyTo<'tool.note-list'>, 'notes'>) {
  return (
    <>
      <ColumnHead id="notes-title" title="Notes">
        {notes.length === 0 ? null : notes.length}
      </ColumnHead>
      {notes.length === 0 ? (
        <Empty
          title="No notes yet"
          command={`throughline note add --session ${session} "The CI machine has no docker"`}
        >
          What later agents should know:
        </Empty>
      ) : null}
      <ul class="task-list">
        {notes.toReversed().map((note) => (
          <li key={note.id} class="task-row">
            <div class="task-head">
              <span class="mono task-name">{note.id}</span>
              <span class="task-tags">
                <Tag tone={NOTE_TONES[note.type] ?? 'quiet'}>{note.type}</Tag>
              </span>
            </div>
            <LongText text={note.content} />
            <div class="task-more quiet">
              <Ago at={note.created_at} />
              {note.iteration === 0 ? null : `, iteration ${note.iteration}`}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Messages for the next agent: unread ones first. */
export function Inbox({ session, messages }: OfSession & Pick<ReplyTo<'tool.inbox-list'>, 'messages'>) {
  const ordered = [...messages.filter(({ read }) => !read), ...messages.filter(({ read }) => read)];
  const unread = messages.filter(({ read }) => !read).length;
  return (
    <>
      <ColumnHead id="inbox-title" title="Inbox">
        {messages.length === 0 ? null : counted(unread, 'unread', 'unread')}
      </ColumnHead>
      {messages.length === 0 ? (
        <Empty
          title="No messages"
          command={`throughline inbox add --session ${session} "Please look at the build first"`}
        >
          What you tell the next agent:
        </Empty>
      ) : null}
      <ul class="task-list">
        {ordered.map((message) => (
          <li key={message.id} class={`task-row ${message.read ? 'task-done' : ''}`}>
            <div class="task-head">
              <span class="mono task-name">{message.id}</span>
              <span class="task-tags">{message.read ? <Tag>read</Tag> : <Tag tone="info">unread</Tag>}</span>
            </div>
            <LongText text={message.content} />
            <div class="task-more quiet">
              <Ago at={message.created_at} />
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
