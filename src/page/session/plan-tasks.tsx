import type { ReplyTo } from '../../contracts/replies/replies.js';
import { Empty } from '../components/empty.js';
import { Tag } from '../components/tag.js';
import { counted, spaced, toneOf } from '../words.js';
import { Outcome } from './outcome.js';
import { ColumnHead, TaskRow } from './task-row.js';

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
          command={`throughline init --session ${session} --tasks tasks.md`}
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
