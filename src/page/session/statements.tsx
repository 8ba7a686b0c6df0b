import { useRef, useState } from 'preact/hooks';
import type { FactsFound, FoundFact } from '../../contracts/fact-requests.js';
import type { PromptTrace } from '../../contracts/prompt-requests.js';
import { statementText } from '../../shared/wire-words.js';
import { ask } from '../ask.js';
import { actor, mayAct, SendForm } from '../components/act.js';
import { Clock, FilterField, Pick, SelectField, Toggle } from '../components/fields.js';
import { MoreButton, QueryView } from '../components/states.js';
import { useKeys } from '../keys.js';
import { sessionHref, setParams, viewHref } from '../route.js';
import { useAsk, usePages } from '../use-ask.js';
import { counted, figure } from '../words.js';
import { endText, StatementDetails, whoText } from './statement-details.js';

type Kind = NonNullable<FoundFact['kind']>;

/** Every kind with its name in the plural, in the order of the filter. */
const KINDS: Readonly<Record<Kind, string>> = {
  rule: 'Rules',
  decision: 'Decisions',
  failed: 'Failed',
  found: 'Found',
  question: 'Questions',
  'follow-up': 'Follow-ups',
  note: 'Notes',
};
const NAMES = Object.keys(KINDS) as Kind[];

/** The statements that hold in a session; those that ended are one click away. A row opens in place. */
export function Statements(props: {
  readonly session: string;
  readonly params: URLSearchParams;
  readonly prompts: readonly PromptTrace[];
}) {
  const { session, params, prompts } = props;
  const text = params.get('text') ?? '';
  const kind = NAMES.find((name) => name === params.get('kind'));
  const past = params.get('past') === '1';
  const id = params.get('id') ?? undefined;
  const query = usePages(
    'tool.fact-find',
    { session, text: text || undefined, kind: kind ?? NAMES, is: past ? 'closed' : 'open', limit: 50 },
    `facts:${session}`,
  );
  useKeys([{ keys: ['Escape'], run: () => setParams({ id: undefined }) }]);
  const facts = query.pages.flatMap((page) => page.facts);
  const shownIn = new Map<string, number>();
  for (const fact of prompts.flatMap((prompt) => prompt.facts))
    shownIn.set(fact.id, (shownIn.get(fact.id) ?? 0) + 1);
  const isOpen = (fact: FoundFact) => fact.ref === id || fact.id === id;
  /** The open row stays where it stood when an action ends it, so that it can be undone there. */
  const place = useRef<{ readonly fact: FoundFact; readonly at: number; readonly list: string }>(undefined);
  const list = [text, kind, past].join();
  const at = facts.findIndex(isOpen);
  const listed = facts[at];
  if (listed !== undefined) place.current = { fact: listed, at, list };
  const ended = at < 0 && place.current?.list === list && isOpen(place.current.fact) && place.current;
  const now = useAsk('tool.fact-show', ended && id ? { session, id } : null, `facts:${session}`).reply?.fact;
  if (ended) facts.splice(ended.at, 0, now ?? ended.fact);
  const opened = facts.find(isOpen);
  const isPlain = text === '' && kind === undefined && !past;
  return (
    <section class="card" aria-label="What holds">
      <QueryView query={query} what="what holds">
        {({ kinds, past: pastCount, keeps, learnings }) => (
          <>
            {isPlain && sumOf(kinds) + pastCount === 0 ? null : (
              <div class="card-head">
                <h2>
                  {past ? 'What held' : 'What holds'} <span class="quiet figure">{figure(sumOf(kinds))}</span>
                </h2>
                <Filters kinds={kinds} kind={kind} past={past} ended={pastCount} text={text} />
              </div>
            )}
            {id === undefined || opened !== undefined ? null : <StatementDetails session={session} id={id} />}
            <ul class="rows">
              {facts.map((fact) => (
                <Statement
                  key={`${fact.id} ${fact.eventSequence}`}
                  session={session}
                  fact={fact}
                  params={params}
                  open={fact === opened}
                  prompts={shownIn.get(fact.id) ?? 0}
                />
              ))}
              {learnings?.newest.map(({ id, content }) => (
                <li key={id}>
                  <Pick
                    class="statement"
                    current={false}
                    href={viewHref('learnings', { tab: 'active', project: learnings.project, id })}
                  >
                    <span class="mono quiet">{id.slice(0, 5)}</span>
                    <span>{content}</span>
                    <span class="remarks quiet small">learning</span>
                  </Pick>
                </li>
              ))}
            </ul>
            {facts.length > 0 || isPlain ? null : <p class="card-body quiet">No statement fits.</p>}
            {query.more === undefined ? null : (
              <MoreButton pages={query} shown={facts.length} total={query.reply?.total} />
            )}
            {keeps === undefined ? null : (
              <p class="card-body quiet">
                This session is full: it keeps its {figure(keeps)} newest and most useful facts, and older
                ones are gone.
              </p>
            )}
          </>
        )}
      </QueryView>
      {mayAct() && !past ? <Say session={session} /> : null}
    </section>
  );
}

function sumOf(kinds: FactsFound['kinds']): number {
  return Object.values(kinds).reduce((sum, count) => sum + count, 0);
}

function Filters(props: {
  readonly kinds: FactsFound['kinds'];
  readonly kind: Kind | undefined;
  readonly past: boolean;
  readonly ended: number;
  readonly text: string;
}) {
  const { kinds, kind, past, ended, text } = props;
  return (
    <div class="chips">
      <Toggle on={kind === undefined} onToggle={() => setParams({ kind: undefined })}>
        All
      </Toggle>
      {NAMES.filter((name) => kinds[name] !== undefined || name === kind).map((name) => (
        <Toggle key={name} on={kind === name} onToggle={(on) => setParams({ kind: on ? name : undefined })}>
          {KINDS[name]} {figure(kinds[name] ?? 0)}
        </Toggle>
      ))}
      {ended === 0 && !past ? null : (
        <Toggle on={past} onToggle={(on) => setParams({ past: on, id: undefined })}>
          Past {figure(ended)}
        </Toggle>
      )}
      <FilterField
        label="Filter"
        value={text}
        placeholder="words, a name, or M7"
        onFilter={(value) => setParams({ text: value })}
      />
    </div>
  );
}

function Statement(props: {
  readonly session: string;
  readonly fact: FoundFact;
  readonly params: URLSearchParams;
  readonly open: boolean;
  readonly prompts: number;
}) {
  const { session, fact, params, open } = props;
  const name = fact.ref ?? fact.id;
  const query = { ...Object.fromEntries(params), id: open ? undefined : name };
  return (
    <li>
      <Pick class="statement" href={sessionHref(session, 'session', query)} open={open} current={open}>
        <span class="mono quiet">{name}</span>
        <span class={fact.closed_at === undefined ? undefined : 'struck quiet'}>
          {statementText(fact, fact.task)}
        </span>
        <span class="remarks quiet small">
          {fact.kind === undefined ? null : <span>{fact.kind}</span>} <span>{whoText(fact)}</span>{' '}
          {fact.closed_at === undefined ? null : <span>{endText(fact)}</span>}{' '}
          <Clock at={fact.closed_at ?? fact.at} />{' '}
          {props.prompts === 0 ? null : <span>in {counted(props.prompts, 'prompt')}</span>}
        </span>
      </Pick>
      {open ? <StatementDetails session={session} id={name} /> : null}
    </li>
  );
}

const SAYS = [
  { value: 'decision', label: 'decision' },
  { value: 'rule', label: 'rule' },
  { value: 'learning', label: 'found' },
  { value: 'stuck', label: 'failed' },
  { value: 'tip', label: 'note' },
  { value: 'message', label: 'message to the next agent' },
] as const;

/** A person says something to later agents, or to the next one alone. */
function Say({ session }: { readonly session: string }) {
  const [type, setType] = useState<(typeof SAYS)[number]['value']>('decision');
  return (
    <div class="card-body">
      <SendForm
        label="Say something to later agents"
        verb="Add"
        onSend={(content) =>
          type === 'message'
            ? ask('tool.inbox-add', { session, content })
            : ask('tool.note-add', { session, content, type, by: actor() })
        }
      >
        <SelectField label="As" value={type} choices={SAYS} onChoose={setType} />
      </SendForm>
    </div>
  );
}
