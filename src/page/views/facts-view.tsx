import '../styles/lists.css';
import type { FactTag } from '../../contracts/kinds.js';
import type { FoundFact } from '../../contracts/replies/fact-reply.js';
import { COMMANDS } from '../commands.js';
import { Button, Clock, FilterField, SelectField, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { Empty, MoreButton, QueryView } from '../components/states.js';
import { FactPanel } from '../facts/fact-panel.js';
import { useKeys } from '../keys.js';
import { factWords } from '../prompt/considered-table.js';
import { type QueryValues, type SessionViewProps, sessionHref, setParams } from '../route.js';
import { usePages } from '../use-ask.js';
import { figure } from '../words.js';

const TAG_NAMES: Readonly<Record<FactTag, string>> = {
  file_change: 'file change',
  convention: 'convention',
  decision: 'decision',
  error: 'error',
  dependency: 'dependency',
  test: 'test',
};
const TAGS = Object.keys(TAG_NAMES) as FactTag[];

const STATES = [
  { value: 'open', label: 'Open facts' },
  { value: 'closed', label: 'Closed facts' },
  { value: 'all', label: 'All facts' },
] as const;

const FILTERS = [
  ['text', 'Words or id', 'parser bounds'],
  ['subject', 'About', 'src/parser.ts'],
  ['task', 'Task', ''],
  ['relation', 'Relation', 'must_fix'],
] as const;

export function FactsView(props: SessionViewProps) {
  return (
    <>
      <PageHead title="Facts" of={props.session} />
      <FactSearch {...props} />
    </>
  );
}

function FactSearch({ session, params }: SessionViewProps) {
  const filters = {
    text: params.get('text') || undefined,
    subject: params.get('subject') || undefined,
    task: params.get('task') || undefined,
    relation: params.get('relation') || undefined,
  };
  const is = STATES.find(({ value }) => value === params.get('is'))?.value ?? 'open';
  const tag = TAGS.find((known) => known === params.get('tag'));
  const id = params.get('id') ?? undefined;
  const found = usePages('tool.fact-find', { session, is, limit: 50, tag, ...filters }, `facts:${session}`);
  useKeys([{ keys: ['Escape'], run: () => setParams({ id: undefined }) }]);
  const filtered = [tag, ...Object.values(filters)].some(Boolean);
  const facts = found.pages.flatMap((page) => page.facts);
  return (
    <div class={`split ${id === undefined ? '' : 'split-open'}`}>
      <div class="split-list">
        <div class="tools">
          {FILTERS.map(([name, label, placeholder]) => (
            <FilterField
              key={name}
              label={label}
              value={filters[name] ?? ''}
              placeholder={placeholder}
              onFilter={(value) => setParams({ [name]: value })}
            />
          ))}
          <SelectField<FactTag | ''>
            label="Tag"
            value={tag ?? ''}
            choices={[
              { value: '', label: 'any' },
              ...TAGS.map((value) => ({ value, label: TAG_NAMES[value] })),
            ]}
            onChoose={(value) => setParams({ tag: value })}
          />
          <SelectField
            label="State"
            value={is}
            choices={STATES}
            onChoose={(value) => setParams({ is: value === 'open' ? undefined : value })}
          />
        </div>
        <QueryView query={found} what="facts">
          {({ total, keeps }) =>
            facts.length === 0 ? (
              <NoFacts session={session} filtered={filtered || is === 'closed'} />
            ) : (
              <>
                {keeps === undefined ? null : (
                  <p class="quiet block-end">
                    This session is full: it keeps its {figure(keeps)} newest and most useful facts, and older
                    ones are gone.
                  </p>
                )}
                <ul class="card rows facts" aria-label="Facts">
                  {facts.map((fact) => (
                    <FactRow
                      key={`${fact.id} ${fact.eventSequence}`}
                      session={session}
                      fact={fact}
                      params={params}
                      current={id !== undefined && fact.id.startsWith(id)}
                    />
                  ))}
                </ul>
                <MoreButton pages={found} shown={facts.length} total={total} />
              </>
            )
          }
        </QueryView>
      </div>
      <div class="split-detail">
        {id === undefined ? (
          facts.length === 0 ? null : (
            <p class="card card-body quiet">
              Choose a fact to see its origin, what closed it and which prompts showed it.
            </p>
          )
        ) : (
          <FactPanel session={session} id={id} />
        )}
      </div>
    </div>
  );
}

function FactRow(props: {
  readonly session: string;
  readonly fact: FoundFact;
  readonly params: URLSearchParams;
  readonly current: boolean;
}) {
  const { fact } = props;
  const query: QueryValues = { ...Object.fromEntries(props.params), id: fact.id };
  return (
    <li>
      <a
        data-row
        class={`pick fact-row ${fact.closed_at === undefined ? '' : 'fact-closed'}`}
        href={sessionHref(props.session, 'facts', query)}
        aria-current={props.current ? 'true' : undefined}
      >
        <span class="fact-words">{factWords(fact)}</span>
        <span class="remarks quiet small">
          {fact.severity === undefined ? null : <Tag tone="warn">{fact.severity}</Tag>}
          {fact.closed_by === undefined ? null : <Tag>closed by result {fact.closed_by}</Tag>}
          {fact.retracted === undefined ? null : <Tag tone="bad">retracted by {fact.retracted.by}</Tag>}
          <span>task {fact.task}</span>
          <span>{fact.role}</span>
          <span class="figure">result {fact.dispatch}</span>
          <Clock at={fact.at} />
        </span>
      </a>
    </li>
  );
}

function NoFacts({ session, filtered }: { readonly session: string; readonly filtered: boolean }) {
  if (!filtered) {
    return (
      <Empty title="This session has no facts yet" command={COMMANDS.publish(session)}>
        Each result becomes facts: files, tests, findings, decisions. Publish the first one.
      </Empty>
    );
  }
  return (
    <Empty title="No fact fits">
      <Button
        onClick={() => setParams({ text: '', subject: '', task: '', relation: '', tag: '', is: 'all' })}
      >
        Show all facts, closed ones too
      </Button>
    </Empty>
  );
}
