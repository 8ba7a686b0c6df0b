import type { ComponentChildren } from 'preact';
import type { ReplyTo } from '../../contracts/replies/replies.js';
import { LongText, Tag } from '../components/fields.js';
import { Empty } from '../components/states.js';
import { sessionHref } from '../route.js';
import { counted, spaced, toneOf } from '../words.js';
import { Outcome } from './outcome.js';

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
        <Empty title="No tasks on the board" command={`throughline task add --session ${session} "…"`} />
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

type PlanReply = ReplyTo<'tool.plan-show'>;
type PlanTask = PlanReply['tasks'][number];

/** The tasks of the plan, in its order. */
export function PlanTasks({ session, shown }: { readonly session: string; readonly shown: PlanReply }) {
  const { plan, tasks } = shown;
  if (plan === null) {
    return (
      <>
        <ColumnHead id="plan-title" title="Plan" />
        <Empty
          title="No plan is followed"
          command={`throughline plan follow --session ${session} tasks.md`}
        />
      </>
    );
  }
  const unplaced = plan.problems + plan.guesses;
  return (
    <>
      <ColumnHead id="plan-title" title="Plan">
        {`${plan.totals.completed} done of ${plan.totals.total}`}
      </ColumnHead>
      <div class="column-note">
        <span class="mono one-line">{plan.spec}</span>
        {plan.next_task_id === null ? (
          <span>{plan.held === undefined ? 'nothing is next' : `nothing is next: ${plan.held}`}</span>
        ) : (
          <span>
            next: <span class="mono">{plan.next_task_id}</span>
          </span>
        )}
        {unplaced === 0 ? null : <span class="warn">{counted(unplaced, 'line')} not read for certain</span>}
      </div>
      <ul class="task-list">
        {tasks.map((task) => (
          <PlanRow key={task.id} session={session} task={task} active={task.id === plan.active_task_id} />
        ))}
      </ul>
    </>
  );
}

function PlanRow(props: { readonly session: string; readonly task: PlanTask; readonly active: boolean }) {
  const { task } = props;
  const status = task.cancelled === true ? 'cancelled' : task.blocked === true ? 'blocked' : task.status;
  const waits = task.waits_for ?? [];
  return (
    <TaskRow
      session={props.session}
      task={task.id}
      text={task.text}
      depth={task.depth}
      done={status === 'completed' || status === 'cancelled'}
      tags={
        <>
          {props.active ? <Tag tone="info">active</Tag> : null}
          {task.optional === true ? <Tag>optional</Tag> : null}
          <Tag tone={toneOf(status)}>{spaced(status)}</Tag>
        </>
      }
    >
      {waits.length === 0 ? null : <p>waits for {waits.join(', ')}</p>}
      {task.last_outcome === undefined ? null : (
        <span class="task-outcome">
          <Outcome outcome={task.last_outcome} />
          <span>{counted(task.dispatches ?? 0, 'result')}</span>
        </span>
      )}
    </TaskRow>
  );
}

/** A task in a column of the session: its id, how it stands, what it is, and what more there is to say. */
export function TaskRow(props: {
  readonly session: string;
  readonly task: string;
  readonly tags: ComponentChildren;
  readonly text?: string;
  /** How many tasks it is a part of. */
  readonly depth?: number;
  readonly done?: boolean;
  readonly children?: ComponentChildren;
}) {
  const depth = Math.min(props.depth ?? 0, 4);
  return (
    <li class={`task-row depth-${depth} ${props.done === true ? 'task-done' : ''}`}>
      <div class="task-head">
        <a
          class="row-link mono one-line"
          data-row
          href={sessionHref(props.session, 'timeline', { task: props.task })}
          title={`Timeline of ${props.task}`}
        >
          {props.task}
        </a>
        <span class="task-tags">{props.tags}</span>
      </div>
      {props.text === undefined ? null : <LongText text={props.text} />}
      {props.children === undefined ? null : <div class="task-more quiet">{props.children}</div>}
    </li>
  );
}

/** The head of a column. */
export function ColumnHead(props: {
  readonly id: string;
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="card-head">
      <h2 id={props.id}>{props.title}</h2>
      <span class="quiet figure">{props.children}</span>
    </div>
  );
}
