import { type ComponentChildren, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyTo } from '../../contracts/requests.js';
import { ask } from '../ask.js';
import { Actions, mayAct, SendForm } from '../components/act.js';
import { Button, LongText, Outcome, Tag } from '../components/fields.js';
import { CardHead } from '../components/states.js';
import { sessionHref } from '../route.js';
import { claimedBy, counted, figure, leftBy, nextText, spaced, statusText, toneOf } from '../words.js';

/** A task; its name leads to its timeline. */
function Row(props: {
  readonly session: string;
  readonly name: string;
  readonly tags: ComponentChildren;
  readonly text?: string | undefined;
  readonly done?: boolean;
  readonly children?: ComponentChildren;
}) {
  const { session, name } = props;
  return (
    <li class={`task-row ${props.done === true ? 'task-done' : ''}`}>
      <div class="task-head">
        <a
          class="row-link mono one-line"
          href={sessionHref(session, 'timeline', { task: name })}
          title={`Timeline of ${name}`}
        >
          {name}
        </a>
        <span class="task-tags">{props.tags}</span>
      </div>
      {props.text === undefined ? null : <LongText text={props.text} />}
      <div class="task-more quiet small">{props.children}</div>
    </li>
  );
}

type Lists = NonNullable<ReplyTo<'run.status'>['lists']>;
type BoardTask = Lists['board'][number];

const PRIORITIES = ['critical', 'high', 'medium', 'low', 'backlog'];
const ORDER = ['in_progress', 'blocked', 'remaining', 'pending', 'completed', 'cancelled'];

function isDone({ status }: { readonly status: string }): boolean {
  return status === 'completed' || status === 'cancelled';
}

function BoardRow(props: { readonly session: string; readonly task: BoardTask; readonly onAct: () => void }) {
  const { session, task, onAct } = props;
  const waits = task.unresolved.map(({ id, why }) => `${id} (${spaced(statusText(why))})`).join(', ');
  const remarks = [
    leftBy(task.by),
    task.claimed_by && claimedBy(task.claimed_by),
    task.reason,
    waits && `waits for ${waits}`,
  ];
  return (
    <Row
      session={session}
      name={task.id}
      text={task.content}
      done={isDone(task)}
      tags={
        <>
          {task.priority < 2 && !isDone(task) ? (
            <Tag tone={task.priority === 0 ? 'bad' : 'warn'}>{PRIORITIES[task.priority]}</Tag>
          ) : null}
          <Tag>board</Tag>
          <Tag tone={toneOf(task.status)}>{statusText(task.status)}</Tag>
        </>
      }
    >
      {remarks.filter(Boolean).map((remark) => (
        <p key={remark}>{remark}</p>
      ))}
      {task.result === undefined ? null : <Outcome outcome={task.result.outcome} />}
      {mayAct() ? <TaskActions session={session} task={task} onAct={onAct} /> : null}
    </Row>
  );
}

function TaskActions(props: Parameters<typeof BoardRow>[0]) {
  const { session, task } = props;
  const of = { session, id: task.id };
  const set = (status: BoardTask['status']) => (text: string) => {
    props.onAct();
    return ask('tool.task-status', { ...of, status, reason: text || undefined });
  };
  const move = (verb: string, by: number) => ({
    verb,
    run: () => ask('tool.task-priority', { ...of, priority: task.priority + by }),
  });
  return (
    <div class="actions">
      <Actions
        of={task.content}
        actions={
          isDone(task)
            ? [{ verb: 'Reopen', run: set('remaining') }]
            : [
                { verb: 'Done', run: set('completed') },
                task.status === 'blocked'
                  ? { verb: 'Unblock', run: set('remaining') }
                  : { verb: 'Block', asks: 'What blocks it', run: set('blocked') },
                ...(task.priority === 0 ? [] : [move('Sooner', -1)]),
                ...(task.priority < 2 ? [move('Later', 1)] : []),
                {
                  verb: 'Cancel',
                  cost: 'Nobody works on it until you choose “Reopen”.',
                  run: set('cancelled'),
                },
              ]
        }
      />
    </div>
  );
}

function PlanNote({ status: { run: plan, degraded } }: { readonly status: ReplyTo<'run.status'> }) {
  if (plan === null) return null;
  const unsure = plan.problems + plan.guesses;
  return (
    <div class="remarks column-note quiet small">
      <span class="mono one-line">{plan.spec}</span>
      {plan.next_task_id === null ? (
        <span>{plan.why_none === undefined ? 'no next task' : `no next task: ${plan.why_none}`}</span>
      ) : (
        <span>
          next: <span class="mono">{plan.next_task_id}</span>
        </span>
      )}
      {unsure === 0 ? null : (
        <span class="warn">{counted(unsure, 'line')} read with a guess or a problem</span>
      )}
      {degraded === undefined ? null : <span class="warn">{degraded}</span>}
      {(plan.drift ?? []).map(({ task, message }) => (
        <span key={task} class="warn">
          {message}
        </span>
      ))}
    </div>
  );
}

function planStatus({ cancelled, blocked, status }: Lists['plan'][number]): string {
  return cancelled === true ? 'cancelled' : blocked === true ? 'blocked' : status;
}

function PlanRow(props: {
  readonly session: string;
  readonly task: Lists['plan'][number];
  readonly active: boolean;
}) {
  const { task } = props;
  const status = planStatus(task);
  const waits = task.waits_for ?? [];
  return (
    <Row
      session={props.session}
      name={task.id}
      text={task.text}
      done={status === 'completed' || status === 'cancelled'}
      tags={
        <>
          {props.active ? <Tag tone="info">active</Tag> : null}
          {task.optional === true ? <Tag>optional</Tag> : null}
          <Tag>plan</Tag>
          <Tag tone={toneOf(status)}>{statusText(status)}</Tag>
        </>
      }
    >
      {waits.length === 0 ? null : <p>waits for {waits.join(', ')}</p>}
      {task.last_outcome === undefined ? null : (
        <>
          <Outcome outcome={task.last_outcome} /> {counted(task.dispatches ?? 0, 'result')}
        </>
      )}
    </Row>
  );
}

type ListedTask = ReplyTo<'run.status'>['tasks'][number];

/** The last result of a task, and its next action. */
function ResultRow({ session, listed }: { readonly session: string; readonly listed: ListedTask }) {
  return (
    <Row
      session={session}
      name={listed.task}
      text={listed.summary}
      tags={
        <>
          {listed.stalled ? <Tag tone="bad">stalled</Tag> : null}
          <Outcome outcome={listed.last_outcome} />
        </>
      }
    >
      {ledgerTexts(listed).join(', ')}
    </Row>
  );
}

/** Returns texts such as `7 results`, `sent back 3 times`, `4 open findings` and `next: the fixes`. */
export function ledgerTexts({ dispatches, rounds, findings, blockers, next_action }: ListedTask): string[] {
  return [
    counted(dispatches, 'result'),
    rounds === 0 ? '' : `sent back ${counted(rounds, 'time')}`,
    findings === 0 ? '' : counted(findings, 'open finding'),
    blockers === 0 ? '' : counted(blockers, 'blocker'),
    `next: ${nextText(next_action)}`,
  ].filter((part) => part !== '');
}

/** Plan, board and what else has results, in one list: open ones first, finished ones folded. */
export function Work(props: { readonly session: string; readonly status: ReplyTo<'run.status'> }) {
  const { session, status } = props;
  const [all, setAll] = useState(false);
  /** Rows stay where they stood before a person acted on them, so that it can be undone there. */
  const [acted, setActed] = useState<Readonly<Record<string, string>>>({});
  const { run, tasks, lists } = status;
  if (lists === undefined) return null;
  const { board, plan, left_out: leftOut } = lists;
  const known = new Set([...board, ...plan].map(({ id }) => id));
  const isGroup = new Set(plan.map(({ parent }) => parent));
  const rows = [
    ...plan
      .filter(({ id }) => !isGroup.has(id))
      .map((task) => ({
        id: `plan ${task.id}`,
        status: planStatus(task),
        row: <PlanRow session={session} task={task} active={task.id === run?.active_task_id} />,
      })),
    ...board.map((task) => ({
      id: `board ${task.id}`,
      status: acted[task.id] ?? task.status,
      row: (
        <BoardRow
          session={session}
          task={task}
          onAct={() => setActed((before) => ({ [task.id]: task.status, ...before }))}
        />
      ),
    })),
    ...tasks
      .filter(({ task }) => !known.has(task))
      .toReversed()
      .map((listed) => ({
        id: `result ${listed.task}`,
        status: listed.next_action === 'next_task' ? 'completed' : 'in_progress',
        row: <ResultRow session={session} listed={listed} />,
      })),
  ].toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
  const open = rows.filter((row) => !isDone(row));
  const settled = board.filter(
    (task) => isDone(task) && open.some(({ id }) => id === `board ${task.id}`),
  ).length;
  const done = rows.length - open.length + (leftOut.board ?? 0) + (leftOut.plan ?? 0);
  return (
    <section class="card" aria-label="Work">
      {rows.length === 0 ? null : (
        <CardHead title="Work">{counted(open.length - settled, 'open', 'open')}</CardHead>
      )}
      <PlanNote status={status} />
      <ul class="rows">
        {(all ? rows : open).map(({ id, row }) => (
          <Fragment key={id}>{row}</Fragment>
        ))}
      </ul>
      {done === 0 ? null : (
        <p class="card-body">
          <Button small open={all} onClick={() => setAll(!all)}>
            {all ? 'Hide what is done' : `${figure(done)} done`}
          </Button>
        </p>
      )}
      {mayAct() ? (
        <div class="card-body">
          <SendForm
            label="A new task"
            verb="Add task"
            onSend={(content) => ask('tool.task-add', { session, content })}
          />
        </div>
      ) : null}
    </section>
  );
}
