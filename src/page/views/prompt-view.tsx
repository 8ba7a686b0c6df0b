import '../styles/prompt.css';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { PromptTrace } from '../../contracts/prompt-requests.js';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import { sectionName } from '../../shared/wire-words.js';
import { Clock, CopyButton, Pick, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { CardHead, Empty, QueryView } from '../components/states.js';
import { useKeys } from '../keys.js';
import { previousOf } from '../prompt/last-told.js';
import { OriginPanel } from '../prompt/origin-panel.js';
import { PromptText, promptRows } from '../prompt/prompt-text.js';
import { promptTitle, useStoredPrompt } from '../prompt/use-prompt.js';
import { type SessionViewProps, sessionHref } from '../route.js';
import { useAsk } from '../use-ask.js';
import { COMMANDS, counted, figure } from '../words.js';

/** A stored prompt with the origin of each line and what is new in it; the newest one if the address names none. */
export function PromptView({ session, params }: SessionViewProps) {
  const listed = useAsk('tool.prompt-list', { session, limit: 200 }, 'event:prompt');
  const { session: view } = useAsk('run.status', { session }).reply ?? {};
  const prompts = listed.reply?.prompts ?? [];
  const id = params.get('id') || prompts[0]?.id;
  const chosen = prompts.find((prompt) => prompt.id === id);
  const query = useStoredPrompt(session, id);
  // A prompt stays on the screen while the next one loads, but not in the place of one that is missing.
  const last = useRef(query.reply);
  last.current = query.error === undefined ? (query.reply ?? last.current) : undefined;
  const shown = last.current;
  const before = useStoredPrompt(session, previousOf(chosen, prompts)?.id).reply?.prompt;
  return (
    <>
      <PageHead title="Prompt" of={session}>
        {chosen === undefined ? null : <span class="quiet">{promptTitle(chosen)}</span>}
      </PageHead>
      <QueryView query={listed} what="the prompts">
        {({ total }) =>
          id === undefined ? (
            <Empty title="No prompt of this session is stored" command={COMMANDS.prompt(session)}>
              The newest 200 prompts that agents get are kept for 30 days. This command compiles one:
            </Empty>
          ) : (
            <div class="prompt-page">
              <div>
                <QueryView
                  query={shown === undefined ? query : { ...query, reply: shown, loading: false }}
                  what="the prompt"
                >
                  {(reply) => (
                    <CompiledView
                      session={session}
                      project={view?.project}
                      reply={reply}
                      stale={query.reply === undefined}
                      before={before}
                    />
                  )}
                </QueryView>
              </div>
              <div class="prompt-kept">
                <KeptPrompts session={session} prompts={prompts} total={total} shown={id} />
              </div>
            </div>
          )
        }
      </QueryView>
    </>
  );
}

function CompiledView(props: {
  readonly session: string;
  readonly project: string | undefined;
  readonly reply: CompileReply;
  readonly stale: boolean;
  /** The text of the prompt before it. */
  readonly before: string | undefined;
}) {
  const { session, reply, stale, before } = props;
  const rows = useMemo(() => promptRows(reply, before), [reply, before]);
  const kept = new Set(rows.map(({ text }) => text));
  const removed = (before ?? '').split('\n').filter((line) => line.trim() !== '' && !kept.has(line));
  const [pointed, setPointed] = useState<number | undefined>(undefined);
  const [pinned, setPinned] = useState<number | undefined>(undefined);
  const { budget } = reply;
  const sections = budget.sections.filter(({ tokens }) => tokens > 0);
  const inSections = sections.reduce((sum, { tokens }) => sum + tokens, 0);
  // A line that was chosen stays until Escape, so that a person can act on it.
  const line = pinned ?? pointed;
  useKeys([{ keys: ['Escape'], run: () => setPinned(undefined) }]);
  const parts = [
    ...sections.map(({ name, tokens }) => `${sectionName(name)} ${figure(tokens)}`),
    `Frame ${figure(Math.max(0, budget.used - inSections))}`,
    `${figure(budget.used)} of ${figure(budget.room)} tokens`,
  ];
  return (
    <div class={stale ? 'is-stale' : ''} aria-busy={stale}>
      <div class="prompt-figures">
        <p class="tags">
          <Tag tone={budget.dropped === 0 ? 'good' : 'warn'}>
            {budget.dropped > 0
              ? `${budget.dropped} over budget`
              : reply.factsShown < reply.factsTotal
                ? 'nothing over budget'
                : 'nothing left out'}
          </Tag>
          <Tag>
            {reply.factsShown} of {counted(reply.factsTotal, 'fact')}
          </Tag>
        </p>
        <p class="small quiet">{parts.join(' · ')}</p>
      </div>
      <div class="prompt-columns">
        <div class="card prompt-card">
          <CardHead title={`Compiled at event ${reply.sequence}`}>
            <CopyButton text={reply.prompt} label="Copy prompt" />
          </CardHead>
          <PromptText rows={rows} shown={line} onShow={setPointed} onPin={setPinned} />
          {removed.length === 0 ? null : (
            <section class="card-body prompt-gone" aria-label="Gone since the prompt before">
              <h3>Gone since the prompt before</h3>
              {removed.map((text) => (
                <p key={text} class="struck quiet">
                  {text}
                </p>
              ))}
            </section>
          )}
        </div>
        <div class="prompt-origin">
          <OriginPanel
            session={session}
            project={props.project}
            row={line === undefined ? undefined : rows[line - 1]}
          />
        </div>
      </div>
    </div>
  );
}

function KeptPrompts(props: {
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
