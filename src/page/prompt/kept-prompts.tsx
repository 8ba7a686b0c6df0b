import type { PromptTrace } from '../../contracts/prompt-requests.js';
import { Clock, Pick } from '../components/fields.js';
import { CardHead } from '../components/states.js';
import { sessionHref } from '../route.js';
import { figure } from '../words.js';
import { promptTitle } from './use-prompt.js';

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
