import '../styles/prompt.css';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import { sectionName } from '../../shared/wire-words.js';
import { CopyButton, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { CardHead, Empty, ErrorBox, QueryView } from '../components/states.js';
import { StackedBar } from '../components/table.js';
import { useKeys } from '../keys.js';
import { ConsideredTable } from '../prompt/considered-table.js';
import { previousOf } from '../prompt/last-told.js';
import { OriginPanel } from '../prompt/origin-panel.js';
import { KeptPrompts, PromptChooser } from '../prompt/prompt-chooser.js';
import { PromptText, promptRows } from '../prompt/prompt-text.js';
import {
  type PromptChoice,
  promptChoice,
  type SessionPrompts,
  usePrompt,
  useSessionPrompts,
  useStoredPrompt,
} from '../prompt/use-prompt.js';
import type { SessionViewProps } from '../route.js';
import { COMMANDS, counted } from '../words.js';

/** The compiled prompt of a task, as of any sequence, with the origin of each line. */
export function PromptView({ session, params }: SessionViewProps) {
  const known = useSessionPrompts(session);
  const choice = chosen(promptChoice(params), known);
  const { newest } = known;
  const { query, request } = usePrompt(session, choice, known);
  // A prompt stays on the screen while the next one is compiled.
  const last = useRef(query.reply);
  last.current = query.reply ?? last.current;
  const shown = last.current;
  const previous = previousOf(
    known.prompts.find(({ id }) => id === choice?.id),
    known.prompts,
  );
  const before = useStoredPrompt(session, previous?.id)?.prompt;
  return (
    <>
      <PageHead title="Prompt" of={session}>
        {request?.kind === 'dispatch' ? <span class="quiet">task {String(request.taskId)}</span> : null}
      </PageHead>
      {known.error === undefined ? null : <ErrorBox error={known.error} />}
      {newest === 0 ? (
        <Empty title="This session has no events yet" command={COMMANDS.publish(session)}>
          A prompt is compiled from results and commands. Publish the first result.
        </Empty>
      ) : (
        <div class="prompt-page">
          <div>
            {request === undefined || newest === undefined ? null : (
              <PromptChooser key={session} request={request} newest={newest} known={known} />
            )}
            <QueryView query={{ ...query, loading: query.loading && shown === undefined }} what="the prompt">
              {() => null}
            </QueryView>
            {shown === undefined || query.error !== undefined ? null : (
              <CompiledView
                session={session}
                project={known.project}
                reply={shown}
                stale={query.reply === undefined}
                before={before}
              />
            )}
          </div>
          <div class="prompt-kept">
            <KeptPrompts session={session} prompts={known.prompts} total={known.total} shown={choice?.id} />
          </div>
        </div>
      )}
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
  const indexOf = (section: string | undefined) => sections.findIndex(({ name }) => name === section);
  // A line that was chosen stays until Escape, so that a person can act on it.
  const line = pinned ?? pointed;
  useKeys([{ keys: ['Escape'], run: () => setPinned(undefined) }]);
  const parts = [
    ...sections.map(({ name, tokens }) => ({ name: sectionName(name), value: tokens })),
    { name: 'Frame', value: Math.max(0, budget.used - inSections) },
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
        <StackedBar parts={parts} room={budget.room} />
      </div>
      <div class="prompt-columns">
        <div class="card prompt-card">
          <CardHead title={`Compiled at event ${reply.sequence}`}>
            <CopyButton text={reply.prompt} label="Copy prompt" />
          </CardHead>
          <PromptText rows={rows} indexOf={indexOf} shown={line} onShow={setPointed} onPin={setPinned} />
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
            reply={reply}
          />
        </div>
      </div>
      {/* A session start chooses among statements, and says so itself: the ranking of facts is not what it is made from. */}
      {reply.considered === undefined || reply.kind === 'session-start' ? null : (
        <ConsideredTable session={session} considered={reply.considered} />
      )}
    </div>
  );
}

/** Returns the choice of the address, or the newest stored prompt, the first task, or a session start. */
function chosen(choice: PromptChoice, { prompts, tasks, ready }: SessionPrompts): PromptChoice | undefined {
  if (choice.id !== undefined || choice.task !== undefined || choice.kind !== undefined) return choice;
  if (!ready) return undefined;
  const [newest] = prompts;
  if (newest !== undefined) return { ...choice, id: newest.id };
  const [task] = tasks;
  return task === undefined ? { ...choice, kind: 'session-start' } : { ...choice, task };
}
