import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyTo } from '../../contracts/requests.js';
import { stallText, waitsForPerson } from '../../shared/wire-words.js';
import { ask } from '../ask.js';
import { mayAct, SendForm } from '../components/act.js';
import { Button, Outcome, Tag } from '../components/fields.js';
import { CardHead, QueryView } from '../components/states.js';
import { sessionHref, viewHref } from '../route.js';
import { useAsk } from '../use-ask.js';
import { nextRole, type Tone } from '../words.js';
import { ledgerTexts } from './board-tasks.js';

type Status = ReplyTo<'run.status'>;
type Task = Status['tasks'][number];

/** Items shown until a person asks for all. */
const MOST = 8;

/** Stalled and blocked tasks, unreadable results, and differences between plan and session. */
export function Stalled(props: {
  readonly session: string;
  readonly status: Status;
  readonly lists: NonNullable<Status['lists']>;
}) {
  const { session, status, lists } = props;
  const [all, setAll] = useState(false);
  const { run, unreadable, degraded } = status;
  // A task that an agent works on moves.
  const moving = new Set(status.working.map(({ task }) => task));
  const isStalled = (listed: Task) => listed.stalled && !moving.has(listed.task);
  const stalled = status.tasks.filter(isStalled);
  const waiting = status.tasks.filter((listed) => !isStalled(listed) && waitsForPerson(listed));
  const shown = new Set([...stalled, ...waiting].map(({ task }) => task));
  const blocked = lists.board.filter(({ id, status: is }) => is === 'blocked' && !shown.has(id));
  const items = [
    ...[...waiting, ...stalled].map((listed) => (
      <ListedTask key={listed.task} session={session} listed={listed} stalled={isStalled(listed)} />
    )),
    ...blocked.map(({ id, content, reason }) => (
      <Item key={`blocked ${id}`} tone="warn" tag="blocked">
        <p>
          <span class="mono task-id">{id}</span> {reason ?? content}
        </p>
      </Item>
    )),
    ...unreadable.map(({ task, dispatch, code, reason, fix }) => (
      <Item key={`unreadable ${task}`} tone="bad" tag="not readable">
        <p>
          <span class="mono task-id">{task}</span> {reason}
        </p>
        {fix === undefined ? null : <p class="quiet">Fix: {fix}</p>}
        <p class="remarks">
          <a href={viewHref('rejected', { session })}>the rejected result</a>
          <span class="quiet">
            result {dispatch}, {code}
          </span>
        </p>
      </Item>
    )),
    ...(run?.drift ?? []).map(({ task, message }) => (
      <Item key={`drift ${task}`} tone="warn" tag="plan differs">
        <p>{message}</p>
      </Item>
    )),
    ...(degraded === undefined
      ? []
      : [
          <Item key="degraded" tone="warn" tag="plan is old">
            <p>{degraded}</p>
          </Item>,
        ]),
  ];
  if (items.length === 0) return null;
  return (
    <section class="card attention" aria-labelledby="attention-title">
      <CardHead
        id="attention-title"
        title={
          <>
            Needs attention <span class="quiet figure">{items.length}</span>
          </>
        }
      />
      <ul class="rows">{items.slice(0, all ? undefined : MOST)}</ul>
      {all || items.length <= MOST ? null : (
        <p class="more">
          <Button small onClick={() => setAll(true)}>
            Show all {items.length}
          </Button>
        </p>
      )}
    </section>
  );
}

function Item(props: { readonly tone: Tone; readonly tag: string; readonly children: ComponentChildren }) {
  return (
    <li class="attention-row">
      <Tag tone={props.tone}>{props.tag}</Tag>
      <div>{props.children}</div>
    </li>
  );
}

function whyListed({ replan_hint, blockers, questions = [] }: Task, stalled: boolean): string {
  if (stalled) return replan_hint === undefined ? 'It makes no progress.' : stallText(replan_hint);
  if (questions.length > 0) return `It asks: ${questions.map(({ text }) => text).join(' ')}`;
  return blockers > 0 ? 'Its last result names a blocker.' : 'Its review asks for a person.';
}

function ListedTask(props: { readonly session: string; readonly listed: Task; readonly stalled: boolean }) {
  const { session, listed, stalled } = props;
  const { task } = listed;
  const [open, setOpen] = useState(false);
  return (
    <Item tone={stalled ? 'bad' : 'warn'} tag={stalled ? 'stalled' : 'blocked'}>
      <p>
        <span class="mono task-id">{task}</span> {whyListed(listed, stalled)}
      </p>
      {mayAct()
        ? (listed.questions ?? []).map((question) => (
            <AnswerForm key={question.text} session={session} task={task} question={question} />
          ))
        : null}
      <p class="remarks quiet small">
        <Outcome outcome={listed.last_outcome} />
        {ledgerTexts(listed).map((text) => (
          <span key={text}>{text}</span>
        ))}
      </p>
      <p class="remarks">
        <Button small open={open} onClick={() => setOpen(!open)}>
          {open ? 'Hide the evidence' : 'Show the evidence'}
        </Button>
        <a href={sessionHref(session, 'timeline', { task })}>its results</a>
        <a href={sessionHref(session, 'prompt', { task, role: nextRole(listed.next_action) })}>
          its next prompt
        </a>
        <a href={sessionHref(session, 'facts', { task })}>its facts</a>
      </p>
      {open ? <Evidence session={session} task={task} /> : null}
    </Item>
  );
}

/** Answers a question of an agent: later prompts of its task show the answer. */
export function AnswerForm(props: {
  readonly session: string;
  readonly task: string;
  readonly question: { readonly text: string; readonly options?: readonly string[] | undefined };
}) {
  const { session, task, question } = props;
  return (
    <SendForm
      label="Your answer"
      verb="Answer"
      suggestions={question.options}
      onSend={(answer) => ask('tool.blocker-answer', { session, task, question: question.text, answer })}
    />
  );
}

/** Ledger entries of a task. */
function Evidence({ session, task }: { readonly session: string; readonly task: string }) {
  const query = useAsk('run.status', { session, task }, session);
  return (
    <QueryView query={query} what="the evidence">
      {({ task: shown }) => (
        <dl class="evidence">
          {shown?.remark === undefined ? null : <p class="quiet">{shown.remark}</p>}
          {Object.entries(shown?.entries ?? {}).map(([name, value]) => (
            <div key={name}>
              <dt class="mono quiet">{name}</dt>
              <dd>{typeof value === 'string' ? value : <pre>{JSON.stringify(value, null, 2)}</pre>}</dd>
            </div>
          ))}
        </dl>
      )}
    </QueryView>
  );
}
