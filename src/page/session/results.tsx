import type { ComponentChildren } from 'preact';
import type { ReplyTo } from '../../contracts/replies/replies.js';
import { Ago, Outcome, Tag } from '../components/fields.js';
import { Progress } from '../components/table.js';
import { sessionHref, viewHref } from '../route.js';
import { counted, figure, nextText } from '../words.js';
import { Row } from './board-tasks.js';

type Task = ReplyTo<'run.status'>['tasks'][number];

/** The last result of a task, and its next action. */
export function ResultRow({ session, listed }: { readonly session: string; readonly listed: Task }) {
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
export function ledgerTexts({ dispatches, rounds, findings, blockers, next_action }: Task): string[] {
  return [
    counted(dispatches, 'result'),
    rounds === 0 ? '' : `sent back ${counted(rounds, 'time')}`,
    findings === 0 ? '' : counted(findings, 'open finding'),
    blockers === 0 ? '' : counted(blockers, 'blocker'),
    `next: ${nextText(next_action)}`,
  ].filter((part) => part !== '');
}

/** The figures of a session, each with a link to the items. */
export function SessionFiguresStrip({ session }: { readonly session: ReplyTo<'run.status'>['session'] }) {
  const { name, board, plan, dispatches } = session;
  const results = (dispatches.implementer ?? 0) + (dispatches.reviewer ?? 0) + (dispatches.observer ?? 0);
  const rejected = dispatches.rejected ?? 0;
  const open = board.total - board.cancelled;
  return (
    <ul class="figures card">
      <Figure name="results" href={sessionHref(name, 'timeline', { kind: 'result' })} value={results}>
        {dispatches.implementer ?? 0} of implementers, {dispatches.reviewer ?? 0} of reviewers
      </Figure>
      <Figure
        name="rejected"
        href={viewHref('rejected', { session: name })}
        value={rejected}
        tone={rejected > 0 ? 'bad' : ''}
      />
      <Figure name="facts" href={sessionHref(name, 'facts')} value={session.facts} />
      <Figure name="events" href={sessionHref(name, 'timeline')} value={session.sequence}>
        {session.last_event_at === null ? null : (
          <>
            newest <Ago at={session.last_event_at} />
            {session.started_at === null ? null : (
              <>
                , began <Ago at={session.started_at} />
              </>
            )}
          </>
        )}
      </Figure>
      {open === 0 ? null : (
        <li class="figure-bar">
          <Progress label="Board" done={board.completed} total={open} />
          <span class="quiet">
            {board.ready} ready, {board.waiting} waiting
          </span>
        </li>
      )}
      {plan === null ? null : (
        <li class="figure-bar">
          <Progress label="Plan" done={plan.completed} total={plan.total} />
          <span class="quiet">{plan.inProgress} in progress</span>
        </li>
      )}
    </ul>
  );
}

function Figure(props: {
  /** A plural that ends in s, or a word without one. */
  readonly name: string;
  readonly value: number;
  readonly href: string;
  readonly tone?: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <li class="figure-cell">
      <a href={props.href}>
        <span class={`figure-value ${props.tone ?? ''}`}>{figure(props.value)}</span>{' '}
        {props.value === 1 ? props.name.replace(/s$/, '') : props.name}
      </a>
      <span class="quiet">{props.children}</span>
    </li>
  );
}
