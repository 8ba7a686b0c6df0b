import '../styles/prompt.css';
import { useMemo, useState } from 'preact/hooks';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import type { AskError } from '../ask.js';
import { Button, publishCommand, Tag, TypedField } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { CardHead, Empty, ErrorBox, Loading } from '../components/states.js';
import { factWords } from '../prompt/considered-table.js';
import { DiffTable, diffCounts, diffRows } from '../prompt/diff-table.js';
import {
  type PromptAsked,
  type PromptChoice,
  positive,
  promptChoice,
  promptTitle,
  requestTitle,
  type SessionPrompts,
  usePrompt,
  useSessionPrompts,
} from '../prompt/use-prompt.js';
import { type SessionViewProps, sessionHref, setParams } from '../route.js';
import { counted, figure } from '../words.js';

/** Compares two stored prompts, or the prompts of one task as of two sequences. */
export function DiffView({ session, params }: SessionViewProps) {
  const known = useSessionPrompts(session);
  const [a, b] = [params.get('a') ?? undefined, params.get('b') ?? undefined];
  const [first, second] = sides(a, b, promptChoice(params), known);
  const left = usePrompt(session, first, known);
  const right = usePrompt(session, second, known);
  const error = known.error ?? left.asked.error ?? right.asked.error;
  const loading = !known.ready || left.asked.loading || right.asked.loading;
  return (
    <>
      <PageHead title="Prompt diff" of={session} />
      {known.error === undefined ? null : <ErrorBox error={known.error} />}
      <SideError label="Before" choice={first} error={left.asked.error} />
      <SideError label="After" choice={second} error={right.asked.error} />
      {known.newest === 0 ? (
        <Empty title="This session has no events yet" command={publishCommand(session)}>
          There is nothing to compare before the first result.
        </Empty>
      ) : (
        <>
          <div class="tools">
            <SideField
              label="Before"
              value={a}
              known={known}
              choice={first}
              onChoose={(value) => setParams({ a: value, b: b ?? nameOf(second) })}
            />
            <Button onClick={() => setParams({ a: nameOf(second), b: nameOf(first) })}>Swap</Button>
            <SideField
              label="After"
              value={b}
              known={known}
              choice={second}
              onChoose={(value) => setParams({ a: a ?? nameOf(first), b: value })}
            />
          </div>
          {left.asked.reply === undefined || right.asked.reply === undefined ? (
            loading && error === undefined ? (
              <Loading what="both prompts" />
            ) : null
          ) : (
            <Compared
              session={session}
              left={left.asked.reply}
              right={right.asked.reply}
              titles={[sideTitle(left), sideTitle(right)]}
            />
          )}
        </>
      )}
    </>
  );
}

function SideError(props: {
  readonly label: string;
  readonly choice: PromptChoice | undefined;
  readonly error: AskError | undefined;
}) {
  if (props.error === undefined) return null;
  return (
    <section aria-label={props.label}>
      <p class="quiet diff-summary">
        {props.label}: {props.choice?.id === undefined ? 'this prompt' : `the prompt ${props.choice.id}`}{' '}
        cannot be shown, so there is nothing to compare.
      </p>
      <ErrorBox error={props.error} />
    </section>
  );
}

function sideTitle({ asked, request }: PromptAsked): string {
  const at = `sequence ${asked.reply?.sequence ?? 0}`;
  return request === undefined ? at : `${at} · ${requestTitle(request)}`;
}

function Compared(props: {
  readonly titles: readonly [left: string, right: string];
  readonly session: string;
  readonly left: CompileReply;
  readonly right: CompileReply;
}) {
  const { session, left, right, titles } = props;
  const rows = useMemo(() => diffRows(left.prompt, right.prompt), [left.prompt, right.prompt]);
  const { removed, added } = diffCounts(rows);
  const [gone, come] = [factsBeside(left, right), factsBeside(right, left)];
  const tokens = right.budget.used - left.budget.used;
  return (
    <>
      <p class="tags diff-summary">
        <Tag tone="bad">− {counted(removed, 'line')}</Tag>
        <Tag tone="good">+ {counted(added, 'line')}</Tag>
        <Tag>
          {figure(left.budget.used)} → {figure(right.budget.used)} tokens ({tokens < 0 ? '−' : '+'}
          {figure(Math.abs(tokens))})
        </Tag>
        {left.kind === 'dispatch' && right.kind === 'dispatch' ? (
          <Tag tone={left.stablePrefixHash === right.stablePrefixHash ? 'good' : 'warn'}>
            {left.stablePrefixHash === right.stablePrefixHash ? 'same prefix' : 'different prefix'}
          </Tag>
        ) : null}
      </p>
      {removed + added === 0 ? (
        <p class="quiet diff-summary">Both prompts are the same, byte for byte.</p>
      ) : null}
      <DiffTable rows={rows} left={titles[0]} right={titles[1]} />
      {gone.length + come.length === 0 ? null : (
        <div class="diff-facts">
          <FactList title="Facts only before" session={session} facts={gone} />
          <FactList title="Facts only after" session={session} facts={come} />
        </div>
      )}
    </>
  );
}

function FactList(props: {
  readonly title: string;
  readonly session: string;
  readonly facts: ReturnType<typeof factsBeside>;
}) {
  return (
    <section class="card" aria-label={props.title}>
      <CardHead title={props.title}>{props.facts.length}</CardHead>
      <ul class="rows plain-list">
        {props.facts.map((fact) => (
          <li key={`${fact.id} ${fact.taskId}`}>
            <a href={sessionHref(props.session, 'facts', { id: fact.id })}>{factWords(fact)}</a>{' '}
            <span class="quiet">task {fact.taskId}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Returns the facts that only the first prompt shows. */
function factsBeside(one: CompileReply, other: CompileReply) {
  const known = new Set(other.facts?.map(({ id }) => id));
  return (one.facts ?? []).filter(({ id }) => !known.has(id));
}

/** Chooses one side: a stored prompt, or a sequence. */
function SideField(props: {
  readonly label: string;
  readonly value: string | undefined;
  readonly known: SessionPrompts;
  readonly choice: PromptChoice | undefined;
  readonly onChoose: (value: string) => void;
}) {
  const { known, choice } = props;
  const [typed, setTyped] = useState(false);
  const value = nameOf(choice) ?? '';
  const bySequence = typed || value.startsWith('seq:');
  const newest = known.newest ?? 1;
  return (
    <div class="side-field">
      <label class="field">
        <span class="field-label">{props.label}</span>
        <select
          value={bySequence ? 'seq' : value}
          onChange={(event) => {
            const chosen = event.currentTarget.value;
            setTyped(chosen === 'seq');
            props.onChoose(chosen === 'seq' ? `seq:${newest}` : chosen);
          }}
        >
          <option value="seq">As of a sequence …</option>
          {known.prompts.map((prompt) => (
            <option key={prompt.id} value={prompt.id}>
              {promptTitle(prompt)} · seq {prompt.sequence} · {prompt.at.slice(11, 19)}
            </option>
          ))}
        </select>
      </label>
      {bySequence ? (
        <TypedField
          label={`Sequence of ${newest}`}
          value={String(choice?.asOf ?? newest)}
          max={newest}
          onType={(typed) => {
            const sequence = positive(typed);
            if (sequence !== undefined) props.onChoose(`seq:${Math.min(sequence, newest)}`);
          }}
        />
      ) : null}
    </div>
  );
}

/** Returns both sides; without a choice the two newest prompts of one task, or the last two events. */
function sides(
  a: string | undefined,
  b: string | undefined,
  { task, role, kind, text, budget }: PromptChoice,
  { prompts, tasks, newest, ready }: SessionPrompts,
): readonly [PromptChoice | undefined, PromptChoice | undefined] {
  if (!ready || newest === undefined || newest === 0) return [undefined, undefined];
  const of = { kind, role, text, budget };
  const about = task ?? prompts[0]?.task ?? tasks[0];
  const asOf = (sequence: number): PromptChoice => ({
    ...of,
    ...(kind === undefined || kind === 'dispatch' ? { task: about ?? '1' } : {}),
    asOf: sequence,
  });
  const named = (name: string): PromptChoice => {
    const sequence = name.startsWith('seq:') ? positive(name.slice(4)) : undefined;
    return name.startsWith('seq:') ? asOf(Math.min(sequence ?? newest, newest)) : { id: name };
  };
  const pair = prompts.flatMap((prompt, index) => {
    const older = prompts.slice(index + 1).find((each) => promptTitle(each) === promptTitle(prompt));
    return older === undefined ? [] : [[older.id, prompt.id] as const];
  })[0];
  if (a === undefined && b === undefined && pair !== undefined) return [named(pair[0]), named(pair[1])];
  return [
    a === undefined ? asOf(Math.max(1, newest - 1)) : named(a),
    b === undefined ? asOf(newest) : named(b),
  ];
}

function nameOf(choice: PromptChoice | undefined): string | undefined {
  if (choice === undefined) return undefined;
  return choice.id ?? (choice.asOf === undefined ? undefined : `seq:${choice.asOf}`);
}
