import type { ReplyTo } from '../../contracts/replies/replies.js';
import { Ago, Outcome, Tag } from '../components/fields.js';
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
