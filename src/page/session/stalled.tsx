import { useState } from 'preact/hooks';
import type { ReplyTo } from '../../contracts/requests.js';
import { stallText, waitsForPerson } from '../../shared/wire-words.js';
import { ask } from '../ask.js';
import { Actions, mayAct } from '../components/act.js';
import { Button, Outcome, Pair } from '../components/fields.js';
import { QueryView } from '../components/states.js';
import { sessionHref } from '../route.js';
import { useAsk } from '../use-ask.js';
import { spaced } from '../words.js';
import { AnswerForm, Need, NeedsList, quoted, useDrafts } from './needs-list.js';
import { RejectedNeed } from './rejected.js';
import { ledgerTexts } from './work.js';

type Status = ReplyTo<'run.status'>;
type Task = Status['tasks'][number];

const MOST = 4;

interface Row {
  readonly key: string;
  readonly listed: Task;
  readonly tag: 'asks' | 'blocked' | 'stalled';
  readonly text: string;
  readonly options?: readonly string[] | undefined;
}

/** Questions first, then blocked tasks, then stalled ones. */
const TAGS = ['asks', 'blocked', 'stalled'] as const;

/** Returns what a task needs of a person; `isStalled` also for one with questions. */
function rowsOf(listed: Task, isStalled: boolean): Row[] {
  const { task, questions = [], replan_hint: hint, blocker, next_action: next } = listed;
  const asks = questions.map(({ text, options }): Row => {
    return { key: `${task} asks ${text}`, listed, tag: 'asks', text, options };
  });
  const stalled = hint === undefined ? 'It makes no progress.' : stallText(hint);
  if (isStalled) return [...asks, { key: `${task} stalled`, listed, tag: 'stalled', text: stalled }];
  if (asks.length > 0) return asks;
  const halted = next === 'halt_and_escalate' ? 'Its review asks for a person.' : 'It is blocked.';
  return [{ key: `${task} blocked`, listed, tag: 'blocked', text: blocker ?? halted }];
}

/** What the session needs of a person: questions, stalled and blocked tasks, and rejected results. */
export function Stalled(props: {
  readonly session: string;
  readonly status: Status;
  readonly lists: NonNullable<Status['lists']>;
}) {
  const { session, status, lists } = props;
  const rejected =
    useAsk('tool.rejected-list', { session, limit: 50 }, 'event:rejected').reply?.rejected ?? [];
  // A task that an agent works on moves.
  const moving = new Set(status.working.map(({ task }) => task));
  const found = status.tasks
    .flatMap((listed) => {
      const isStalled = listed.stalled && !moving.has(listed.task);
      return isStalled || waitsForPerson(listed) ? rowsOf(listed, isStalled) : [];
    })
    .toSorted((a, b) => TAGS.indexOf(a.tag) - TAGS.indexOf(b.tag));
  const { shown, settled, keep } = useDrafts(found, ({ key }) => key);
  const inTurns = status.asks.filter(({ task }) => status.tasks.every((other) => other.task !== task));
  const questions = useDrafts(inTurns, ({ task }) => task);
  const known = new Set(shown.map(({ listed }) => listed.task));
  const blocked = lists.board.filter(({ id, status: is }) => is === 'blocked' && !known.has(id));
  const unblock = (id: string) => ask('tool.task-status', { session, id, status: 'remaining' });
  const items = [
    ...shown.map((row) => (
      <TaskNeed
        key={row.key}
        session={session}
        row={row}
        now={status.tasks.find(({ task }) => task === row.listed.task) ?? row.listed}
        onDraft={(isDraft) => keep(row, isDraft)}
      />
    )),
    ...questions.shown.map((question) => {
      const { task, text } = question;
      const onDraft = (isDraft: boolean) => questions.keep(question, isDraft);
      const id = <span class="mono task-id">{task}</span>;
      const form = <AnswerForm {...{ session, task, onDraft }} question={text} of={`${text}, ${task}`} />;
      return <Need key={task} tone="warn" tag="asks" of={id} text={text} action={mayAct() ? form : null} />;
    }),
    ...blocked.map(({ id, content, reason = content }) => (
      <Need
        key={`blocked ${id}`}
        tone="warn"
        tag="blocked"
        of={<span class="mono task-id">{id}</span>}
        text={reason}
        action={
          mayAct() ? (
            <div class="actions">
              <Actions
                of={`${content}, task ${id}`}
                actions={[{ verb: 'Unblock', run: () => unblock(id) }]}
              />
            </div>
          ) : null
        }
      />
    )),
    ...rejected.map((row) => <RejectedNeed key={`rejected ${row.id}`} rejected={row} />),
  ];
  return <NeedsList items={items} settled={settled + questions.settled} most={MOST} />;
}

function TaskNeed(props: {
  readonly session: string;
  readonly row: Row;
  readonly now: Task;
  readonly onDraft: (isDraft: boolean) => void;
}) {
  const { session, row, now, onDraft } = props;
  const { listed, tag, text, options } = row;
  const { task } = listed;
  const [open, setOpen] = useState(false);
  const isAnswerable = tag === 'asks' || (tag === 'blocked' && listed.last_outcome.endsWith('_blocked'));
  return (
    <Need
      tone={tag === 'stalled' ? 'bad' : 'warn'}
      tag={tag}
      of={<span class="mono task-id">{task}</span>}
      text={tag === 'stalled' ? quoted(text) : text}
      action={
        isAnswerable && mayAct() ? (
          <AnswerForm
            {...{ session, task, options, onDraft }}
            question={tag === 'asks' ? text : undefined}
            of={`${text}, task ${task}`}
          />
        ) : null
      }
    >
      <div class="remarks quiet small">
        <Outcome outcome={now.last_outcome} />
        {ledgerTexts(now).map((part) => (
          <span key={part}>{part}</span>
        ))}
        <Button small open={open} of={`task ${task}`} onClick={() => setOpen(!open)}>
          {open ? 'Hide the evidence' : 'Show the evidence'}
        </Button>
        <a href={sessionHref(session, 'timeline', { task })} aria-label={`its results: task ${task}`}>
          its results
        </a>
      </div>
      {open ? <Evidence session={session} task={task} /> : null}
    </Need>
  );
}

/** What a task's ledger entries begin with; those that are neither a summary nor a list are counts and codes. */
const TASK = 'ledger.task.';

/** Returns a text, or the texts of an object such as an issue. */
function lineOf(item: unknown): string {
  return Object.values(typeof item === 'string' ? [item] : Object(item))
    .flat()
    .filter((part) => typeof part === 'string')
    .join(' · ');
}

function Evidence({ session, task }: { readonly session: string; readonly task: string }) {
  const query = useAsk('run.status', { session, task }, session);
  return (
    <QueryView query={query} what="the evidence">
      {({ task: shown }) => (
        <dl class="evidence pairs">
          {shown?.remark === undefined ? null : <Pair name="Remark">{shown.remark}</Pair>}
          {Object.entries(shown?.entries ?? {})
            .filter(
              ([name, value]) => name === `${TASK}summary` || (name.startsWith(TASK) && Array.isArray(value)),
            )
            .map(([name, value]) => (
              <Pair key={name} name={spaced(name.slice(TASK.length))}>
                {[value].flat().map((item, index) => (
                  <p key={index}>{lineOf(item)}</p>
                ))}
              </Pair>
            ))}
        </dl>
      )}
    </QueryView>
  );
}
