import { useEffect, useRef, useState } from 'preact/hooks';
import type { PromptTrace } from '../../contracts/replies/prompt-trace.js';
import { Button, Clock, SelectField, TypedField } from '../components/fields.js';
import { CardHead } from '../components/states.js';
import { sessionHref, setParams } from '../route.js';
import { figure, ROLE_NAMES } from '../words.js';
import {
  type PastRequest,
  PROMPT_KINDS,
  type PromptKind,
  promptTitle,
  type SessionPrompts,
} from './use-prompt.js';

/** Pause of the slider after which its prompt is compiled, in milliseconds. */
const REST_MS = 150;

export function PromptChooser(props: {
  readonly request: PastRequest;
  readonly newest: number;
  readonly known: SessionPrompts;
  readonly onText: (text: string) => void;
}) {
  const { request, newest, known } = props;
  const kind = PROMPT_KINDS.find((each) => each === request.kind) ?? 'dispatch';
  const budget = inputTokens(request.budget);
  return (
    <div>
      <div class="tools">
        <SelectField<PromptKind>
          label="Kind"
          value={kind}
          choices={[
            { value: 'dispatch', label: 'Task' },
            { value: 'iteration', label: 'Iteration' },
            { value: 'session-start', label: 'Session start' },
          ]}
          onChoose={(value) => setParams({ kind: value, id: undefined, asOf: request.asOf })}
        />
        {kind === 'dispatch' ? (
          <>
            <TypedField
              label="Task"
              value={String(request.taskId)}
              list={known.tasks}
              onType={(task) => setParams({ task, id: undefined, text: undefined, asOf: request.asOf })}
            />
            <SelectField
              label="Role"
              value={String(request.role ?? ROLE_NAMES[0])}
              choices={ROLE_NAMES.map((role) => ({ value: role, label: role }))}
              onChoose={(role) => setParams({ role })}
            />
          </>
        ) : null}
        <TypedField
          label="Budget, tokens"
          value={budget === undefined ? '' : String(budget)}
          max={2_000_000}
          placeholder="default"
          onType={(text) => setParams({ budget: text })}
        />
        <TypedField
          label="Task prompt"
          value={typeof request.taskPrompt === 'string' ? request.taskPrompt : ''}
          placeholder="goal and ready tasks"
          wide
          onType={props.onText}
        />
      </div>
      <AsOf value={Math.min(request.asOf, newest)} newest={newest} known={known} />
    </div>
  );
}

/** A slider over the sequences of the session, with a mark at each stored prompt. */
function AsOf(props: { readonly value: number; readonly newest: number; readonly known: SessionPrompts }) {
  const { value, newest, known } = props;
  const [at, setAt] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setAt(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const choose = (next: number) => {
    if (!Number.isInteger(next) || next < 1) return;
    const sequence = Math.min(newest, next);
    setAt(sequence);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setParams({ asOf: sequence }), REST_MS);
  };
  const marks = [...new Set(known.prompts.map(({ sequence }) => sequence))].filter((each) => each > 0);
  return (
    <div class="as-of">
      <label class="as-of-slider">
        <span class="field-label">As of sequence</span>
        <input
          type="range"
          min={1}
          max={Math.max(1, newest)}
          value={at}
          list="as-of-marks"
          onInput={(event) => choose(event.currentTarget.valueAsNumber)}
        />
        <datalist id="as-of-marks">
          {marks.map((sequence) => (
            <option key={sequence} value={sequence} />
          ))}
        </datalist>
      </label>
      <TypedField
        label={`Sequence of ${newest}`}
        value={String(at)}
        max={newest}
        onType={(typed) => choose(Number(typed))}
      />
      <Button disabled={at === newest} onClick={() => choose(newest)}>
        Newest
      </Button>
    </div>
  );
}

function inputTokens(budget: unknown): number | undefined {
  const tokens =
    typeof budget === 'object' && budget !== null ? Reflect.get(budget, 'inputTokens') : undefined;
  return typeof tokens === 'number' ? tokens : undefined;
}

export function KeptPrompts(props: {
  readonly session: string;
  readonly prompts: readonly PromptTrace[];
  readonly total: number;
  readonly shown: string | undefined;
}) {
  const { session, prompts, shown } = props;
  return (
    <section class="card" aria-labelledby="kept-title">
      <CardHead id="kept-title" title="Stored prompts">
        {props.total}
      </CardHead>
      {prompts.length === 0 ? (
        <p class="card-body quiet">None yet. The newest 200 prompts of the session are listed here.</p>
      ) : (
        <ol class="rows kept-list">
          {prompts.map((prompt) => (
            <li key={prompt.id}>
              <a
                class="pick kept-link"
                href={sessionHref(session, 'prompt', { id: prompt.id })}
                aria-current={prompt.id === shown ? 'true' : undefined}
              >
                <span class="kept-title one-line">{promptTitle(prompt)}</span>
                <span class="small quiet">
                  <Clock at={prompt.at} />
                </span>
                <span class="kept-figures small quiet figure">
                  seq {prompt.sequence} · {figure(prompt.tokens)} tokens
                  {prompt.dropped === 0 ? '' : ` · ${prompt.dropped} left out`}
                </span>
              </a>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
