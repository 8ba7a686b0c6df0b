import type { PromptTrace } from '../../contracts/replies/prompt-trace.js';
import { Clock } from '../components/time.js';
import { sessionHref } from '../route.js';
import { promptTitle } from './prompt-request.js';

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
