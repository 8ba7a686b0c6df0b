import '../styles/prompt.css';
import { useMemo, useState } from 'preact/hooks';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import { Button, publishCommand, Tag, TypedField } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { Empty, ErrorBox, Loading } from '../components/states.js';
import { type DiffLine, DiffTable, diffLines } from '../prompt/diff-table.js';
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
import { type SessionViewProps, setParams } from '../route.js';
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
      {[['Before', first, left.asked.error] as const, ['After', second, right.asked.error] as const].map(
        ([label, choice, fault]) =>
          fault === undefined ? null : (
            <section key={label} aria-label={label}>
              <p class="quiet">
                {label}: {choice?.id === undefined ? 'this prompt' : `the prompt ${choice.id}`} cannot be
                shown, so there is nothing to compare.
              </p>
              <ErrorBox error={fault} />
            </section>
          ),
      )}
      {known.newest === 0 ? (
        <Empty title="This session has no events yet" command={publishCommand(session)}>
          There is nothing to compare before the first result.
        </Empty>
      ) : (
        <>
          <div class="tools">
            <SideField
              label="Before"
              known={known}
              choice={first}
              onChoose={(value) => setParams({ a: value, b: b ?? nameOf(second) })}
            />
            <Button onClick={() => setParams({ a: nameOf(second), b: nameOf(first) })}>Swap</Button>
            <SideField
              label="After"
              known={known}
              choice={second}
              onChoose={(value) => setParams({ a: a ?? nameOf(first), b: value })}
            />
          </div>
          {left.asked.reply !== undefined && right.asked.reply !== undefined ? (
            <Compared
              left={left.asked.reply}
              right={right.asked.reply}
              title={`${sideTitle(left)} → ${sideTitle(right)}`}
            />
          ) : loading && error === undefined ? (
            <Loading what="both prompts" />
          ) : null}
        </>
      )}
    </>
  );
}

function sideTitle({ asked, request }: PromptAsked): string {
  const at = `sequence ${asked.reply?.sequence ?? 0}`;
  return request === undefined ? at : `${at} · ${requestTitle(request)}`;
}

function Compared(props: {
  readonly title: string;
  readonly left: CompileReply;
  readonly right: CompileReply;
}) {
  const { left, right } = props;
  const lines = useMemo(() => diffLines(left.prompt, right.prompt), [left.prompt, right.prompt]);
  const count = (which: DiffLine['kind']) => lines.filter(({ kind }) => kind === which).length;
  const tokens = right.budget.used - left.budget.used;
  return (
    <>
      <p class="tags block-end">
        <Tag tone="bad">− {counted(count('removed'), 'line')}</Tag>
        <Tag tone="good">+ {counted(count('added'), 'line')}</Tag>
        <Tag>
          {figure(left.budget.used)} → {figure(right.budget.used)} tokens ({tokens < 0 ? '−' : '+'}
          {figure(Math.abs(tokens))})
        </Tag>
        {left.kind === 'dispatch' && right.kind === 'dispatch' ? (
          <Tag tone={left.stablePrefixHash === right.stablePrefixHash ? 'good' : 'warn'}>
            {left.stablePrefixHash === right.stablePrefixHash ? 'same prefix' : 'different prefix'}
          </Tag>
        ) : null}
        {left.prompt === right.prompt ? 'Both prompts are the same, byte for byte.' : ''}
      </p>
      <DiffTable lines={lines} title={props.title} />
    </>
  );
}

/** Chooses one side: a stored prompt, or a sequence. */
function SideField(props: {
  readonly label: string;
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
