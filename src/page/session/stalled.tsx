import { useState } from 'preact/hooks';
import type { ReplyTo } from '../../contracts/replies/replies.js';
import type { LedgerListed, LedgersListed } from '../../contracts/replies/run-reply.js';
import { stallText } from '../../shared/stall-text.js';
import { Tag } from '../components/fields.js';
import { AskedView } from '../components/states.js';
import { sessionHref, viewHref } from '../route.js';
import { useAsk } from '../use-ask.js';
import { counted, nextRole, nextText } from '../words.js';
import { Outcome } from './outcome.js';

/** What keeps the session from going on: tasks that are stalled or wait for a person, results that could not be read, drift. */
export function Stalled(props: {
  readonly session: string;
  readonly ledgers: LedgersListed;
  readonly plan: ReplyTo<'tool.plan-show'> | undefined;
  readonly board: ReplyTo<'tool.task-list'>['tasks'];
}) {
  const { session, ledgers } = props;
  const stalled = ledgers.tasks.filter((each) => each.stalled);
  const waiting = ledgers.tasks.filter((each) => !each.stalled && waitsForPerson(each));
  const held = new Set([...stalled, ...waiting].map(({ task }) => task));
  const blocked = props.board.filter(({ id, status }) => status === 'blocked' && !held.has(id));
  const drift = props.plan?.plan?.drift ?? [];
  const degraded = props.plan?.degraded;
  const others = blocked.length + ledgers.unreadable.length + drift.length + (degraded === undefined ? 0 : 1);
  const count = stalled.length + waiting.length + others;
  if (count === 0) return null;
  return (
    <section class="card attention" aria-labelledby="attention-title">
      <div class="card-head">
        <h2 id="attention-title">
          Needs attention <span class="quiet figure">{count}</span>
        </h2>
      </div>
      <ul>
        {[...stalled, ...waiting].map((each) => (
          <HeldTask key={each.task} session={session} listed={each} />
        ))}
        {blocked.map(({ id, content, reason }) => (
          <li key={`blocked ${id}`} class="attention-row">
            <Tag tone="warn">blocked</Tag>
            <div>
              <p>
                <span class="mono task-id">{id}</span> {reason ?? content}
              </p>
            </div>
          </li>
        ))}
        {ledgers.unreadable.map(({ task, dispatch, code, reason, fix }) => (
          <li key={`unreadable ${task}`} class="attention-row">
            <Tag tone="bad">not readable</Tag>
            <div>
              <p>
                <span class="mono task-id">{task}</span> {reason}
              </p>
              {fix === undefined ? null : <p class="quiet">What would fix it: {fix}</p>}
              <p class="attention-links">
                <a href={viewHref('rejected', { session })}>the rejected result</a>
                <span class="quiet">
                  dispatch {dispatch}, {code}
                </span>
              </p>
            </div>
          </li>
        ))}
        {drift.map(({ task, message }) => (
          <li key={`drift ${task}`} class="attention-row">
            <Tag tone="warn">plan differs</Tag>
            <p>{message}</p>
          </li>
        ))}
        {degraded === undefined ? null : (
          <li class="attention-row">
            <Tag tone="warn">plan is old</Tag>
            <p>{degraded}</p>
          </li>
        )}
      </ul>
    </section>
  );
}

function waitsForPerson({ blockers, next_action }: LedgerListed): boolean {
  return blockers > 0 || next_action === 'halt_and_escalate';
}

function whyHeld({ stalled, replan_hint, blockers }: LedgerListed): string {
  if (stalled) return replan_hint === undefined ? 'It makes no progress.' : stallText(replan_hint);
  return blockers > 0
    ? 'Its last result names what keeps it from going on.'
    : 'Its review asks for a person.';
}

function HeldTask({ session, listed }: { readonly session: string; readonly listed: LedgerListed }) {
  const { task } = listed;
  const [open, setOpen] = useState(false);
  return (
    <li class="attention-row">
      <Tag tone={listed.stalled ? 'bad' : 'warn'}>{listed.stalled ? 'stalled' : 'blocked'}</Tag>
      <div>
        <p>
          <span class="mono task-id">{task}</span> {whyHeld(listed)}
        </p>
        <p class="quiet attention-facts">
          <Outcome outcome={listed.last_outcome} />
          <span>{counted(listed.dispatches, 'result')}</span>
          {listed.rounds === 0 ? null : <span>sent back {counted(listed.rounds, 'time')}</span>}
          {listed.findings === 0 ? null : <span>{counted(listed.findings, 'open finding')}</span>}
          {listed.blockers === 0 ? null : <span>{counted(listed.blockers, 'blocker')}</span>}
          <span>next: {nextText(listed.next_action)}</span>
        </p>
        <p class="attention-links">
          <button
            type="button"
            class="button button-small"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {open ? 'Hide the evidence' : 'Show the evidence'}
          </button>
          <a href={sessionHref(session, 'timeline', { task })}>its results</a>
          <a href={sessionHref(session, 'prompt', { task, role: nextRole(listed.next_action) })}>
            its next prompt
          </a>
          <a href={sessionHref(session, 'facts', { task })}>its facts</a>
        </p>
        {open ? <Evidence session={session} task={task} /> : null}
      </div>
    </li>
  );
}

/** What the ledgers hold of a task. */
function Evidence({ session, task }: { readonly session: string; readonly task: string }) {
  const asked = useAsk('tool.ledger-show', { session, task }, session);
  return (
    <AskedView asked={asked} what="the evidence">
      {({ entries, remark }) => (
        <dl class="evidence fade-in">
          {remark === undefined ? null : <p class="quiet">{remark}</p>}
          {Object.entries(entries).map(([name, value]) => (
            <div key={name}>
              <dt class="mono">{name}</dt>
              <dd>{typeof value === 'string' ? value : <pre>{JSON.stringify(value, null, 2)}</pre>}</dd>
            </div>
          ))}
        </dl>
      )}
    </AskedView>
  );
}
