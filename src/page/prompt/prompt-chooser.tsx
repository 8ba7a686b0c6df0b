import { useEffect, useRef, useState } from 'preact/hooks';
import type { PromptTrace } from '../../contracts/replies/prompt-trace.js';
import { Clock, SelectField, useDraft } from '../components/fields.js';
import { sessionHref, setParams } from '../route.js';
import { ROLE_NAMES } from '../words.js';
import {
  type PastRequest,
  PROMPT_KINDS,
  type PromptKind,
  promptTitle,
  type SessionPrompts,
} from './use-prompt.js';

/** How long a slider rests before its prompt is compiled, in milliseconds. */
const REST_MS = 150;

/** Chooses task, role, budget and the sequence that a prompt is compiled as of. */
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
    <div class="chooser">
      <div class="tools">
        <SelectField<PromptKind>
          label="Kind"
          value={kind}
          choices={[
            { value: 'dispatch', label: 'Dispatch' },
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
          number
          placeholder="by settings"
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

/** A slider over the sequences of the session, with a mark where a kept prompt was compiled. */
function AsOf({
  value,
  newest,
  known,
}: {
  readonly value: number;
  readonly newest: number;
  readonly known: SessionPrompts;
}) {
  const [at, setAt] = useState(value);
  const [draft, setDraft] = useDraft(String(at));
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
      <label class="as-of-number">
        <span class="visually-hidden">Sequence</span>
        <input
          type="number"
          min={1}
          max={newest}
          value={draft}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onChange={(event) => choose(event.currentTarget.valueAsNumber)}
        />
        <span class="quiet figure">of {newest}</span>
      </label>
      <button
        type="button"
        class="button button-small"
        disabled={at === newest}
        onClick={() => choose(newest)}
      >
        Newest
      </button>
    </div>
  );
}

/** A value that counts once it is typed: at Enter, or when the field is left. */
function TypedField(props: {
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly list?: readonly string[];
  readonly number?: boolean;
  readonly wide?: boolean;
  readonly onType: (value: string) => void;
}) {
  const id = `list-${props.label.replace(/\W/g, '')}`;
  const [draft, setDraft] = useDraft(props.value);
  return (
    <label
      class={`field ${props.wide === true ? 'field-grow' : ''} ${props.number === true ? 'field-number' : ''}`}
    >
      <span class="field-label">{props.label}</span>
      <input
        type={props.number === true ? 'number' : 'text'}
        min={props.number === true ? 1 : undefined}
        value={draft}
        placeholder={props.placeholder ?? ''}
        list={props.list === undefined ? undefined : id}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onChange={(event) => {
          const value = event.currentTarget.value.trim();
          if (value !== props.value) props.onType(value);
        }}
      />
      {props.list === undefined ? null : (
        <datalist id={id}>
          {props.list.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </label>
  );
}

function inputTokens(budget: unknown): number | undefined {
  const tokens =
    typeof budget === 'object' && budget !== null ? Reflect.get(budget, 'inputTokens') : undefined;
  return typeof tokens === 'number' ? tokens : undefined;
}

/** The prompts of a session that are kept, the newest first. */
export function KeptPrompts(props: {
  readonly session: string;
  readonly prompts: readonly PromptTrace[];
  readonly total: number;
  readonly shown: string | undefined;
}) {
  const { session, prompts, shown } = props;
  return (
    <section class="card kept" aria-labelledby="kept-title">
      <div class="card-head">
        <h2 id="kept-title">Kept prompts</h2>
        <span class="quiet figure">{props.total}</span>
      </div>
      {prompts.length === 0 ? (
        <p class="kept-empty quiet">
          None yet: each prompt that is compiled for this session is listed here, the newest 200.
        </p>
      ) : (
        <ol class="kept-list">
          {prompts.map((prompt, index) => {
            const older = prompts.slice(index + 1).find((each) => promptTitle(each) === promptTitle(prompt));
            return (
              <li key={prompt.id} class="kept-item">
                <a
                  class="kept-link"
                  href={sessionHref(session, 'prompt', { id: prompt.id })}
                  aria-current={prompt.id === shown ? 'true' : undefined}
                >
                  <span class="kept-title one-line">{promptTitle(prompt)}</span>
                  <span class="kept-when quiet">
                    <Clock at={prompt.at} />
                  </span>
                  <span class="kept-figures quiet figure">
                    seq {prompt.sequence} · {prompt.tokens.toLocaleString('en')} tokens
                    {prompt.dropped === 0 ? '' : ` · ${prompt.dropped} left out`}
                  </span>
                </a>
                {older === undefined ? null : (
                  <a
                    class="kept-diff"
                    href={sessionHref(session, 'diff', { a: older.id, b: prompt.id })}
                    aria-label={`diff of ${promptTitle(prompt)} at sequence ${prompt.sequence} with the one before`}
                  >
                    diff
                  </a>
                )}
              </li>
            );
          })}
        </ol>
      )}
    </section>
  );
}
