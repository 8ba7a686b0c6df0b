import '../styles/timeline.css';
import { Button, FilterField, Toggle } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { Empty, MoreButton, QueryView } from '../components/states.js';
import { useKeys } from '../keys.js';
import { type SessionViewProps, sessionHref, setParams } from '../route.js';
import { EntryPanel, EntryRow } from '../timeline/entries.js';
import { filterOf, KINDS, type TimelineFilter, useTimeline } from '../timeline/use-timeline.js';
import { COMMANDS } from '../words.js';

export function TimelineView({ session, params }: SessionViewProps) {
  const filter = filterOf(params);
  const listed = useTimeline(session, filter);
  const entries = listed.reply?.entries ?? [];
  const key = params.get('entry');
  // A link to an event opens it.
  const open = entries.find((entry) =>
    key === null ? entry.kind !== 'prompt' && entry.sequence === filter.at : entry.key === key,
  );
  useKeys([{ keys: ['Escape'], run: () => setParams({ entry: 'none' }) }]);
  return (
    <>
      <PageHead title="Timeline" of={session}>
        <Filters filter={filter} />
      </PageHead>
      <div class={`split ${open === undefined ? '' : 'split-open'}`}>
        <div class="split-list">
          <QueryView query={listed} what="the timeline">
            {() =>
              entries.length === 0 && listed.more === undefined ? (
                <NoEntries session={session} filter={filter} />
              ) : (
                <>
                  <ul class="card rows" aria-label="Timeline, the newest first">
                    {entries.map((entry) => (
                      <EntryRow
                        key={entry.key}
                        entry={entry}
                        href={sessionHref(session, 'timeline', {
                          ...Object.fromEntries(params),
                          entry: entry.key,
                        })}
                        current={entry === open}
                      />
                    ))}
                  </ul>
                  <MoreButton pages={listed} shown={entries.length} total={undefined} />
                </>
              )
            }
          </QueryView>
        </div>
        {open === undefined ? null : (
          <div class="split-detail">
            <EntryPanel session={session} entry={open} />
          </div>
        )}
      </div>
    </>
  );
}

function Filters({ filter }: { readonly filter: TimelineFilter }) {
  const withKind = (kind: string, on: boolean) => {
    const kinds = KINDS.map((known) => known.kind).filter((known) =>
      known === kind ? on : filter.kinds.includes(known),
    );
    setParams({ kind: kinds.length === KINDS.length ? '' : kinds.join(',') });
  };
  return (
    <div class="timeline-filters">
      <fieldset class="chips">
        <legend class="visually-hidden">Kinds</legend>
        {KINDS.map(({ kind, label }) => (
          <Toggle key={kind} on={filter.kinds.includes(kind)} onToggle={(on) => withKind(kind, on)}>
            {label}
          </Toggle>
        ))}
        <Toggle on={filter.failed} onToggle={(on) => setParams({ failed: on })}>
          Failed only
        </Toggle>
      </fieldset>
      {filter.at === undefined ? null : (
        <Toggle on onToggle={() => setParams({ at: '' })}>
          Up to event {filter.at} ✕
        </Toggle>
      )}
      <FilterField
        label="Task"
        value={filter.task}
        placeholder="Task, such as TAS-1"
        onFilter={(value) => setParams({ task: value })}
      />
    </div>
  );
}

function NoEntries(props: { readonly session: string; readonly filter: TimelineFilter }) {
  const { session, filter } = props;
  if (filter.kinds.length === 0 && filter.task === '' && !filter.failed && filter.at === undefined) {
    return (
      <Empty title="Nothing has happened in this session" command={COMMANDS.publish(session)}>
        Each result, command, trace and prompt appears here immediately. Publish a first result:
      </Empty>
    );
  }
  return (
    <Empty title="No entry fits the filter">
      <Button onClick={() => setParams({ kind: '', task: '', failed: '', at: '' })}>Show all entries</Button>
    </Empty>
  );
}
