import type { ComponentChildren } from 'preact';
import type { ReplyTo } from '../../contracts/replies/replies.js';
import type { LedgerListed } from '../../contracts/replies/run-reply.js';
import { Ago, publishCommand, Tag } from '../components/fields.js';
import { Empty } from '../components/states.js';
import { Progress } from '../components/table.js';
import { sessionHref, viewHref } from '../route.js';
import { counted, figure, nextText } from '../words.js';
import { ColumnHead, TaskRow } from './board-tasks.js';
import { Outcome } from './outcome.js';

/** What came of each task, the one heard of last at the top. */
export function Results({
  session,
  tasks,
}: {
  readonly session: string;
  readonly tasks: readonly LedgerListed[];
}) {
  return (
    <>
      <ColumnHead id="results-title" title="Results">
        {tasks.length === 0 ? null : counted(tasks.length, 'task')}
      </ColumnHead>
      {tasks.length === 0 ? (
        <Empty title="No results yet" command={publishCommand(session)} />
      ) : (
        <ul class="task-list">
          {tasks.toReversed().map((each) => (
            <TaskRow
              key={each.task}
              session={session}
              task={each.task}
              tags={
                <>
                  {each.stalled ? <Tag tone="bad">stalled</Tag> : null}
                  <Outcome outcome={each.last_outcome} />
                </>
              }
            >
              <p>{resultText(each)}</p>
            </TaskRow>
          ))}
        </ul>
      )}
    </>
  );
}

/** Such as `7 results, sent back 3 times, 4 open findings, next: the fixes`. */
function resultText(listed: LedgerListed): string {
  return [
    counted(listed.dispatches, 'result'),
    listed.rounds === 0 ? '' : `sent back ${counted(listed.rounds, 'time')}`,
    listed.findings === 0 ? '' : counted(listed.findings, 'open finding'),
    listed.blockers === 0 ? '' : counted(listed.blockers, 'blocker'),
    `next: ${nextText(listed.next_action)}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

type SessionShown = ReplyTo<'tool.session-show'>['session'];

/** A session in figures, each of which leads to what it counts. */
export function SessionFiguresStrip({ session }: { readonly session: SessionShown }) {
  const { name, board, plan, dispatches } = session;
  const results = (dispatches.implementer ?? 0) + (dispatches.reviewer ?? 0) + (dispatches.observer ?? 0);
  const rejected = dispatches.rejected ?? 0;
  const open = board.total - board.cancelled;
  return (
    <ul class="figures card">
      <Figure
        name="result"
        many="results"
        href={sessionHref(name, 'timeline', { kind: 'result' })}
        value={results}
      >
        {dispatches.implementer ?? 0} of implementers, {dispatches.reviewer ?? 0} of reviewers
      </Figure>
      <Figure
        name="rejected"
        href={viewHref('rejected', { session: name })}
        value={rejected}
        tone={rejected > 0 ? 'bad' : ''}
      />
      <Figure name="fact" many="facts" href={sessionHref(name, 'facts')} value={session.facts} />
      <Figure name="event" many="events" href={sessionHref(name, 'timeline')} value={session.sequence}>
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
  readonly name: string;
  /** The name of more than one, where that is another. */
  readonly many?: string;
  readonly value: number;
  readonly href: string;
  readonly tone?: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <li class="figure-cell">
      <a href={props.href}>
        <span class={`figure-value ${props.tone ?? ''}`}>{figure(props.value)}</span>{' '}
        {props.value === 1 ? props.name : (props.many ?? props.name)}
      </a>
      <span class="quiet">{props.children}</span>
    </li>
  );
}
