import type { ComponentChildren } from 'preact';
import type { ReplyTo } from '../../contracts/replies/replies.js';
import { Progress } from '../components/bar.js';
import { Ago } from '../components/time.js';
import { sessionHref, viewHref } from '../route.js';
import { figure } from '../words.js';

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
