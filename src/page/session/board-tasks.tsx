import type { ReplyTo } from '../../contracts/replies/replies.js';
import { Empty } from '../components/empty.js';
import { Tag } from '../components/tag.js';
import { spaced, toneOf } from '../words.js';
import { Outcome } from './outcome.js';
import { ColumnHead, TaskRow } from './task-row.js';

type BoardTask = ReplyTo<'tool.task-list'>['tasks'][number];

const PRIORITIES = ['critical', 'high', 'medium', 'low', 'backlog'];
const ORDER = ['in_progress', 'blocked', 'remaining', 'completed', 'cancelled'];

/** The tasks of the board: what is worked on first, what is done last. */
export function BoardTasks({
  session,
  tasks,
}: {
  readonly session: string;
  readonly tasks: readonly BoardTask[];
}) {
  const ordered = [...tasks].sort(
    (a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || a.priority - b.priority,
  );
  const open = tasks.filter((task) => !isDone(task)).length;
  return (
    <>
      <ColumnHead id="board-title" title="Board">
        {tasks.length === 0 ? null : `${open} open of ${tasks.length}`}
      </ColumnHead>
      {tasks.length === 0 ? (
        <Empty
          title="No tasks on the board"
          command={`throughline tool task-add --session ${session} --content "…"`}
        />
      ) : (
        <ul class="task-list">
          {ordered.map((task) => (
            <BoardRow key={task.id} session={session} task={task} />
          ))}
        </ul>
      )}
    </>
  );
}

function BoardRow({ session, task }: { readonly session: string; readonly task: BoardTask }) {
  const says = [
    task.claimed_by === undefined ? undefined : `taken by ${task.claimed_by}`,
    task.reason,
    task.unresolved.length === 0
      ? undefined
      : `waits for ${task.unresolved.map(({ id, why }) => `${id} (${spaced(why)})`).join(', ')}`,
  ].filter((each) => each !== undefined);
  return (
    <TaskRow
      session={session}
      task={task.id}
      text={task.content}
      done={isDone(task)}
      tags={
        <>
          {task.priority < 2 && !isDone(task) ? (
            <Tag tone={task.priority === 0 ? 'bad' : 'warn'}>{PRIORITIES[task.priority]}</Tag>
          ) : null}
          <Tag tone={toneOf(task.status)}>{spaced(task.status)}</Tag>
        </>
      }
    >
      {says.map((each) => (
        <p key={each}>{each}</p>
      ))}
      {task.result === undefined ? null : <Outcome outcome={task.result.outcome} />}
    </TaskRow>
  );
}

function isDone({ status }: BoardTask): boolean {
  return status === 'completed' || status === 'cancelled';
}
