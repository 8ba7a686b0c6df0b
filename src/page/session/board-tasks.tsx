import type { ComponentChildren } from 'preact';
import type { ReplyTo } from '../../contracts/requests.js';
import { ask } from '../ask.js';
import { Actions, mayAct } from '../components/act.js';
import { Ago, LongText, Outcome, Tag } from '../components/fields.js';
import { CardHead, Empty } from '../components/states.js';
import { sessionHref, viewHref } from '../route.js';
import { counted, figure, nextText, spaced, statusText, toneOf } from '../words.js';

/** A card of the session view: a list, or a hint with a command while it is empty. */
export function Column(props: {
  readonly title: string;
  /** Remark at the right of the head. */
  readonly remark: ComponentChildren;
  readonly empty: { readonly title: string; readonly command: string; readonly text?: string };
  readonly items: readonly ComponentChildren[];
  /** Number of items that the reply leaves out. */
  readonly more?: number | undefined;
  readonly note?: ComponentChildren;
  /** A form that adds an item, for those who may. */
  readonly add?: ComponentChildren;
}) {
  const { title, empty, items, more } = props;
  const id = `${title.toLowerCase()}-title`;
  return (
    <section class="card" aria-labelledby={id}>
      <CardHead id={id} title={title}>
        {items.length === 0 ? null : props.remark}
      </CardHead>
      {props.note}
      {items.length === 0 ? (
        <Empty title={empty.title} command={empty.command}>
          {empty.text}
        </Empty>
      ) : (
        <ul class="rows task-list">{items}</ul>
      )}
      {more === undefined ? null : <p class="more quiet">{counted(more, 'older one')} not shown</p>}
      {props.add !== undefined && mayAct() ? <div class="column-add">{props.add}</div> : null}
    </section>
  );
}

/** A row of a column; `task` links the name to the timeline of that task. */
export function Row(props: {
  readonly session: string;
  readonly name: string;
  readonly task?: boolean;
  readonly tags: ComponentChildren;
  readonly text?: string | undefined;
  /** Nesting of a plan task. */
  readonly depth?: number;
  readonly done?: boolean;
  readonly children?: ComponentChildren;
}) {
  const { session, name, depth = 0 } = props;
  return (
    <li
      class={`task-row ${props.done === true ? 'task-done' : ''}`}
      style={depth === 0 ? {} : { paddingLeft: `${14 + 18 * Math.min(depth, 3)}px` }}
    >
      <div class="task-head">
        {props.task === true ? (
          <a
            class="row-link mono one-line"
            data-row
            href={sessionHref(session, 'timeline', { task: name })}
            title={`Timeline of ${name}`}
          >
            {name}
          </a>
        ) : (
          <span class="mono task-name">{name}</span>
        )}
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
const ORDER = ['in_progress', 'blocked', 'remaining', 'completed', 'cancelled'];

/** Sorts the tasks of the board: those in progress first, the finished ones last. */
export function ordered(tasks: readonly BoardTask[]): readonly BoardTask[] {
  return tasks.toSorted(
    (a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || a.priority - b.priority,
  );
}

function isDone({ status }: BoardTask): boolean {
  return status === 'completed' || status === 'cancelled';
}

export function BoardRow({ session, task }: { readonly session: string; readonly task: BoardTask }) {
  const waits = task.unresolved.map(({ id, why }) => `${id} (${spaced(statusText(why))})`).join(', ');
  const remarks = [
    task.claimed_by && `claimed by ${task.claimed_by}`,
    task.reason,
    waits && `waits for ${waits}`,
  ];
  return (
    <Row
      session={session}
      name={task.id}
      task
      text={task.content}
      done={isDone(task)}
      tags={
        <>
          {task.priority < 2 && !isDone(task) ? (
            <Tag tone={task.priority === 0 ? 'bad' : 'warn'}>{PRIORITIES[task.priority]}</Tag>
          ) : null}
          <Tag tone={toneOf(task.status)}>{statusText(task.status)}</Tag>
        </>
      }
    >
      {remarks.filter(Boolean).map((remark) => (
        <p key={remark}>{remark}</p>
      ))}
      {task.result === undefined ? null : <Outcome outcome={task.result.outcome} />}
      {mayAct() ? <TaskActions session={session} task={task} /> : null}
    </Row>
  );
}

function TaskActions({ session, task }: { readonly session: string; readonly task: BoardTask }) {
  const of = { session, id: task.id };
  const set = (status: BoardTask['status']) => () => ask('tool.task-status', { ...of, status });
  return (
    <p class="actions">
      <Actions
        actions={
          isDone(task)
            ? [{ verb: 'Reopen', run: set('remaining') }]
            : [
                { verb: 'Done', run: set('completed') },
                task.status === 'blocked'
                  ? { verb: 'Unblock', run: set('remaining') }
                  : { verb: 'Block', run: set('blocked') },
                ...(task.priority === 0
                  ? []
                  : [
                      {
                        verb: 'Sooner',
                        run: () => ask('tool.task-priority', { ...of, priority: task.priority - 1 }),
                      },
                    ]),
                { verb: 'Cancel', confirm: 'Cancel the task', run: set('cancelled') },
              ]
        }
      />
    </p>
  );
}

export function PlanNote({ plan }: { readonly plan: ReplyTo<'run.status'>['run'] }) {
  if (plan === null) return null;
  const unsure = plan.problems + plan.guesses;
  return (
    <div class="remarks column-note quiet small">
      <span class="mono one-line">{plan.spec}</span>
      {plan.next_task_id === null ? (
        <span>{plan.held === undefined ? 'no next task' : `no next task: ${plan.held}`}</span>
      ) : (
        <span>
          next: <span class="mono">{plan.next_task_id}</span>
        </span>
      )}
      {unsure === 0 ? null : (
        <span class="warn">{counted(unsure, 'line')} read with a guess or a problem</span>
      )}
    </div>
  );
}

export function PlanRow(props: {
  readonly session: string;
  readonly task: Lists['plan'][number];
  readonly active: boolean;
}) {
  const { task } = props;
  const status = task.cancelled === true ? 'cancelled' : task.blocked === true ? 'blocked' : task.status;
  const waits = task.waits_for ?? [];
  return (
    <Row
      session={props.session}
      name={task.id}
      task
      text={task.text}
      depth={task.depth}
      done={status === 'completed' || status === 'cancelled'}
      tags={
        <>
          {props.active ? <Tag tone="info">active</Tag> : null}
          {task.optional === true ? <Tag>optional</Tag> : null}
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
export function ResultRow({ session, listed }: { readonly session: string; readonly listed: ListedTask }) {
  return (
    <Row
      session={session}
      name={listed.task}
      task
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

/** The figures of a session in one line, each with a link to the items. */
export function SessionFiguresLine({ session }: { readonly session: ReplyTo<'run.status'>['session'] }) {
  const { name, dispatches } = session;
  const { implementer = 0, reviewer = 0, observer = 0, rejected = 0 } = dispatches;
  return (
    <p class="remarks figure block-end">
      <a href={sessionHref(name, 'timeline', { kind: 'result' })}>
        {counted(implementer + reviewer + observer, 'result')}
      </a>
      {rejected === 0 ? null : (
        <a class="bad" href={viewHref('rejected', { session: name })}>
          {figure(rejected)} rejected
        </a>
      )}
      <a href={sessionHref(name, 'facts')}>{counted(session.facts, 'fact')}</a>
      <a href={sessionHref(name, 'timeline')}>{counted(session.sequence, 'event')}</a>
      {session.last_event_at === null || session.started_at === null ? null : (
        <span class="quiet">
          newest <Ago at={session.last_event_at} />, began <Ago at={session.started_at} />
        </span>
      )}
    </p>
  );
}
