import type { PromptTrace } from '../../contracts/prompt-requests.js';
import { Button, Clock, FilterField, Pick, SelectField } from '../components/fields.js';
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

export function PromptChooser(props: {
  readonly request: PastRequest;
  readonly newest: number;
  readonly known: SessionPrompts;
}) {
  const { request, newest, known } = props;
  const kind = PROMPT_KINDS.find((known) => known === request.kind) ?? 'dispatch';
  const budget = inputTokens(request.budget);
  const asOf = Math.min(request.asOf, newest);
  return (
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
          <FilterField
            label="Task"
            value={String(request.taskId)}
            list={known.tasks}
            onFilter={(task) => setParams({ task, id: undefined, text: undefined, asOf: request.asOf })}
          />
          <SelectField
            label="Role"
            value={String(request.role ?? ROLE_NAMES[0])}
            choices={ROLE_NAMES.map((role) => ({ value: role, label: role }))}
            onChoose={(role) => setParams({ role })}
          />
        </>
      ) : null}
      <FilterField
        label="Budget, tokens"
        value={budget === undefined ? '' : String(budget)}
        max={2_000_000}
        placeholder="default"
        onFilter={(text) => setParams({ budget: text })}
      />
      <FilterField
        label="Task prompt"
        value={typeof request.taskPrompt === 'string' ? request.taskPrompt : ''}
        placeholder="goal and ready tasks"
        wide
        onFilter={(text) => setParams({ text })}
      />
      <FilterField
        label={`As of sequence, of ${newest}`}
        value={String(asOf)}
        max={newest}
        onFilter={(typed) => setParams({ asOf: Math.min(newest, Math.max(1, Number(typed))) })}
      />
      <Button disabled={asOf === newest} onClick={() => setParams({ asOf: newest })}>
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
  if (prompts.length === 0) return null;
  return (
    <section class="card" aria-label="Stored prompts">
      <CardHead title="Stored prompts">{props.total}</CardHead>
      <ol class="rows kept-list">
        {prompts.map((prompt) => (
          <li key={prompt.id}>
            <Pick
              class="kept-link"
              href={sessionHref(session, 'prompt', { id: prompt.id })}
              current={prompt.id === shown}
            >
              <span class="kept-title one-line">{promptTitle(prompt)}</span>
              <span class="small quiet">
                <Clock at={prompt.at} />
              </span>
              <span class="kept-figures small quiet figure">
                seq {prompt.sequence} · {figure(prompt.tokens)} tokens
                {prompt.dropped === 0 ? '' : ` · ${prompt.dropped} left out`}
              </span>
            </Pick>
          </li>
        ))}
      </ol>
    </section>
  );
}
