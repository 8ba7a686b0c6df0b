import { type ComponentChildren, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyTo } from '../../contracts/requests.js';
import { stallText, waitsForPerson } from '../../shared/wire-words.js';
import { AskError, ask } from '../ask.js';
import { Actions, actor, mayAct, SendForm } from '../components/act.js';
import { Ago, Button, Outcome, Tag } from '../components/fields.js';
import { QueryView } from '../components/states.js';
import { sessionHref } from '../route.js';
import { useAsk } from '../use-ask.js';
import { nextRole, type Tone } from '../words.js';
import { RejectedNeed } from './rejected.js';
import { ledgerTexts } from './work.js';

type Status = ReplyTo<'run.status'>;
type Task = Status['tasks'][number];

const MOST = 4;

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
  const isStalled = (listed: Task) => listed.stalled && !moving.has(listed.task);
  const stalled = status.tasks.filter(isStalled);
  const found = status.tasks.filter((listed) => !isStalled(listed) && waitsForPerson(listed));
  const { shown: waiting, keep } = useDrafts(found, ({ task }) => task);
  const shown = new Set([...stalled, ...waiting].map(({ task }) => task));
  const blocked = lists.board.filter(({ id, status: is }) => is === 'blocked' && !shown.has(id));
  const items = [
    ...[...waiting, ...stalled].map((listed) => (
      <ListedTask
        key={listed.task}
        session={session}
        listed={listed}
        stalled={isStalled(listed)}
        onDraft={(isDraft) => keep(listed, isDraft)}
      />
    )),
    ...blocked.map(({ id, content, reason }) => (
      <Item key={`blocked ${id}`} tone="warn" tag="blocked">
        <p>
          <span class="mono task-id">{id}</span> {reason ?? content}
        </p>
        {mayAct() ? (
          <div class="actions">
            <Actions
              of={content}
              actions={[
                {
                  verb: 'Unblock',
                  run: () => ask('tool.task-status', { session, id, status: 'remaining' }),
                },
              ]}
            />
          </div>
        ) : null}
      </Item>
    )),
    ...rejected.map((row) => <RejectedNeed key={`rejected ${row.id}`} rejected={row} />),
  ];
  return <NeedsList items={items} most={MOST} />;
}

/** What needs a person, the first few until a person asks for all. */
export function NeedsList({
  items,
  most,
}: {
  readonly items: readonly ComponentChildren[];
  readonly most: number;
}) {
  const [all, setAll] = useState(false);
  if (items.length === 0) return null;
  return (
    <section class="card attention" aria-labelledby="needs-you">
      <div class="card-head">
        <h2 id="needs-you">
          Needs you <span class="quiet figure">{items.length}</span>
        </h2>
      </div>
      <ul class="rows">{items.slice(0, all ? undefined : most)}</ul>
      {all || items.length <= most ? null : (
        <p class="card-body">
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

function whyListed({ replan_hint, blocker, next_action }: Task, stalled: boolean): string {
  if (stalled) return replan_hint === undefined ? 'It makes no progress.' : stallText(replan_hint);
  return (
    blocker ?? (next_action === 'halt_and_escalate' ? 'Its review asks for a person.' : 'It is blocked.')
  );
}

function ListedTask(props: {
  readonly session: string;
  readonly listed: Task;
  readonly stalled: boolean;
  readonly onDraft: (isDraft: boolean) => void;
}) {
  const { session, listed, stalled, onDraft } = props;
  const { task, questions = [] } = listed;
  const [open, setOpen] = useState(false);
  return (
    <Item
      tone={stalled ? 'bad' : 'warn'}
      tag={stalled ? 'stalled' : questions.length > 0 ? 'asks' : 'blocked'}
    >
      {questions.length > 0 && !stalled ? null : (
        <p>
          <span class="mono task-id">{task}</span> {whyListed(listed, stalled)}
        </p>
      )}
      {questions.map((question) => (
        <Fragment key={question.text}>
          <p>
            <span class="mono task-id">{task}</span> {question.text}
          </p>
          {mayAct() ? (
            <AnswerForm session={session} task={task} question={question} onDraft={onDraft} />
          ) : null}
        </Fragment>
      ))}
      {mayAct() && questions.length === 0 && listed.last_outcome.endsWith('_blocked') ? (
        <SendForm
          label="Say something"
          verb="Say"
          of={`task ${task}`}
          onSend={(answer) => ask('tool.blocker-answer', { session, task, answer, by: actor() })}
        />
      ) : null}
      <p class="remarks quiet small">
        <Outcome outcome={listed.last_outcome} />
        {ledgerTexts(listed).map((text) => (
          <span key={text}>{text}</span>
        ))}
      </p>
      <p class="remarks">
        <Button small open={open} of={`task ${task}`} onClick={() => setOpen(!open)}>
          {open ? 'Hide the evidence' : 'Show the evidence'}
        </Button>
        <a href={sessionHref(session, 'timeline', { task })} aria-label={`its results: task ${task}`}>
          its results
        </a>
        <a
          href={sessionHref(session, 'prompt', { task, role: nextRole(listed.next_action) })}
          aria-label={`its next prompt: task ${task}`}
        >
          its next prompt
        </a>
      </p>
      {open ? <Evidence session={session} task={task} /> : null}
    </Item>
  );
}

/** Keeps an item in a list while a person writes about it, even if someone else has settled it meanwhile. */
export function useDrafts<Item>(items: readonly Item[], keyOf: (item: Item) => string) {
  const [drafts, setDrafts] = useState<readonly Item[]>([]);
  const known = new Set(items.map(keyOf));
  const keep = (item: Item, isDraft: boolean) =>
    setDrafts((before) => [
      ...before.filter((draft) => keyOf(draft) !== keyOf(item)),
      ...(isDraft ? [item] : []),
    ]);
  return { shown: [...drafts.filter((draft) => !known.has(keyOf(draft))), ...items], keep };
}

/**
 * Answers a question of an agent: later prompts of its task show the answer. If another person was faster, it says who answered
 * what, and offers to replace that.
 */
export function AnswerForm(props: {
  readonly session: string;
  readonly task: string;
  readonly question: { readonly text: string; readonly options?: readonly string[] | undefined };
  readonly onDraft?: (isDraft: boolean) => void;
}) {
  const { session, task, question, onDraft } = props;
  const [other, setOther] = useState<{ readonly given: GivenAnswer; readonly answer: string }>();
  const send = async (answer: string, replaces = '') => {
    try {
      await ask('tool.blocker-answer', {
        session,
        task,
        question: question.text,
        answer,
        replaces,
        by: actor(),
      });
      settle();
    } catch (error) {
      if (!(error instanceof AskError && error.code === 'conflict')) throw error;
      setOther({ given: error.details as GivenAnswer, answer });
      onDraft?.(true);
    }
  };
  const settle = () => {
    setOther(undefined);
    onDraft?.(false);
  };
  if (other === undefined)
    return (
      <SendForm
        label="Your answer"
        verb="Answer"
        of={question.text}
        suggestions={question.options}
        onSend={send}
        onDraft={onDraft}
      />
    );
  const { given, answer } = other;
  return (
    <div class="asked" role="alert">
      <p>
        {given.by} answered “{given.answer}” <Ago at={given.at} />. Yours is “{answer}”.
      </p>
      <Actions
        of={question.text}
        actions={[
          { verb: 'Replace it', run: () => send(answer, given.answer) },
          { verb: 'Keep it', run: async () => settle() },
        ]}
      />
    </div>
  );
}

/** What the error `conflict` says about the answer that holds. */
interface GivenAnswer {
  readonly by: string;
  readonly answer: string;
  readonly at: string;
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
