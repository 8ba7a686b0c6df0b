import type { PromptTrace } from '../../contracts/prompt-requests.js';
import { Ago, ButtonLink } from '../components/fields.js';
import { CardHead } from '../components/states.js';
import { sessionHref } from '../route.js';
import { counted, figure } from '../words.js';
import { promptTitle } from './use-prompt.js';

/** The newest session start, and the newest prompts of other tasks, each with what is new in it. */
const MOST = 3;

export function LastTold(props: { readonly session: string; readonly prompts: readonly PromptTrace[] }) {
  const { session, prompts } = props;
  const newest = prompts
    .filter(
      (prompt, index) => prompts.findIndex((other) => promptTitle(other) === promptTitle(prompt)) === index,
    )
    .toSorted((a, b) => Number(b.kind === 'session-start') - Number(a.kind === 'session-start'));
  if (newest.length === 0) return null;
  return (
    <section class="card" aria-label="Last told">
      <CardHead title="Last told">{counted(prompts.length, 'stored prompt')}</CardHead>
      <ul class="rows">
        {newest.slice(0, MOST).map((prompt) => (
          <PromptRow key={prompt.id} session={session} prompt={prompt} before={previousOf(prompt, prompts)} />
        ))}
      </ul>
    </section>
  );
}

/** Returns the prompt of the same kind, task and role before this one. */
export function previousOf(
  prompt: PromptTrace | undefined,
  prompts: readonly PromptTrace[],
): PromptTrace | undefined {
  if (prompt === undefined) return undefined;
  const older = prompts.slice(prompts.findIndex(({ id }) => id === prompt.id) + 1);
  return older.find((other) => promptTitle(other) === promptTitle(prompt));
}

function PromptRow(props: {
  readonly session: string;
  readonly prompt: PromptTrace;
  readonly before: PromptTrace | undefined;
}) {
  const { session, prompt, before } = props;
  const known = before?.facts.map(({ id }) => id);
  const added = known && prompt.facts.filter(({ id }) => !known.includes(id)).length;
  return (
    <li class="told">
      <span>{promptTitle(prompt)}</span>
      <span class="quiet figure">
        <Ago at={prompt.at} />, {figure(prompt.tokens)} tokens,{' '}
        {counted(prompt.facts.length, prompt.kind === 'session-start' ? 'statement' : 'fact')}
        {added ? `, ${added} new` : ''}
      </span>
      <ButtonLink href={sessionHref(session, 'prompt', { id: prompt.id })}>Read</ButtonLink>
    </li>
  );
}
