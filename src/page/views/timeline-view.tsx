import '../styles/timeline.css';
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { COMMANDS } from '../commands.js';
import { Button, FilterField, Toggle } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { Empty, ErrorBox, Loading } from '../components/states.js';
import { WindowedList } from '../components/table.js';
import { useKeys } from '../keys.js';
import { type SessionViewProps, setParams } from '../route.js';
import { EntryDetails } from '../timeline/entry-details.js';
import { filterOf, KINDS, railClass, type TimelineFilter, TimelineRow } from '../timeline/timeline-row.js';
import { type TimelineStore, useTimeline } from '../timeline/timeline-store.js';
import { asAskError } from '../use-ask.js';
import { counted, figure } from '../words.js';

/** Height of a row in pixels: on one line, or on two on a narrow screen. */
const [ROW, NARROW_ROW] = [36, 80];
/** The same width as in timeline.css. */
const NARROW = matchMedia('(max-width: 760px)');
const narrow = signal(NARROW.matches);
NARROW.addEventListener('change', ({ matches }) => (narrow.value = matches));

export function TimelineView({ session, params }: SessionViewProps) {
  const filter = filterOf(params);
  const { store, version } = useTimeline(session, filter);
  return (
    <div class="timeline">
      <PageHead title="Timeline" of={session}>
        <Filters filter={filter} />
      </PageHead>
      {store.error === undefined ? null : (
        <ErrorBox error={asAskError(store.error)} retry={() => store.retry()} />
      )}
      {!store.ready && store.error === undefined ? <Loading what="the timeline" /> : null}
      {store.ready && store.count === 0 && !store.more ? (
        <NoEntries session={session} filter={filter} />
      ) : (
        <Entries
          key={JSON.stringify([session, filter])}
          session={session}
          store={store}
          version={version}
          at={filter.at}
        />
      )}
    </div>
  );
}

function Entries(props: {
  readonly session: string;
  readonly store: TimelineStore;
  readonly version: number;
  readonly at: number | undefined;
}) {
  const { session, store, at } = props;
  /** The chosen row: its `index - added` within a generation. */
  const [choice, setChoice] = useState<{ readonly place: number; readonly generation: number }>();
  const [open, setOpen] = useState(false);
  const [seen, setSeen] = useState({ added: 0, generation: 0 });
  const body = useRef<HTMLDivElement>(null);

  const chosen = choice?.generation === store.generation ? choice.place + store.added : -1;
  const entry = chosen < 0 ? undefined : store.at(chosen);
  const unseen = (seen.generation === store.generation ? store.added - seen.added : 0) + store.missed;

  const choose = (index: number) => {
    const place = Math.min(store.count - 1, Math.max(0, index)) - store.added;
    setChoice({ place, generation: store.generation });
  };
  const toTop = () => {
    const list = body.current?.querySelector<HTMLElement>('.windowed');
    if (store.missed > 0) void store.restart();
    list?.scrollTo({ top: 0 });
    list?.focus({ preventScroll: true });
  };
  // A link to an event opens it once it is loaded.
  useEffect(() => {
    if (at === undefined || !store.ready) return;
    const index = indexOfEvent(store, at);
    if (index < 0) return;
    choose(index);
    setOpen(true);
  }, [at, store.ready, store.generation]);
  useKeys([
    { keys: ['j', 'ArrowDown'], run: () => choose(chosen + 1) },
    { keys: ['k', 'ArrowUp'], run: () => choose(chosen - 1) },
    { keys: ['Enter'], run: () => setOpen(chosen >= 0) },
    { keys: ['Escape'], run: () => setOpen(false) },
    { keys: ['.'], run: toTop },
  ]);
  return (
    <div ref={body} class={`timeline-body card ${open && entry !== undefined ? 'with-details' : ''}`}>
      <div class="timeline-list">
        {unseen > 0 ? (
          <button type="button" class="pill" onClick={toTop}>
            {figure(unseen)} new
          </button>
        ) : null}
        <WindowedList
          label="Timeline, the newest first"
          count={store.count}
          rowHeight={narrow.value ? NARROW_ROW : ROW}
          added={store.added}
          generation={store.generation}
          chosen={chosen}
          onChoose={(index) => {
            choose(index);
            setOpen(true);
          }}
          onRange={(_, last, atTop) => {
            store.atTop = atTop;
            store.want(last);
            if (!atTop) return;
            if (store.missed > 0) void store.restart();
            setSeen((old) =>
              old.added === store.added && old.generation === store.generation
                ? old
                : { added: store.added, generation: store.generation },
            );
          }}
          rowClass={(index) => railClass(store.at(index - 1), store.at(index), store.at(index + 1))}
          row={(index) => <TimelineRow entry={store.at(index)} />}
        />
        <p class="timeline-end quiet figure" role="status">
          {!store.ready
            ? ''
            : store.more
              ? `${counted(store.count, 'entry', 'entries')} loaded; scroll for older ones`
              : `${counted(store.count, 'entry', 'entries')} in all`}
        </p>
      </div>
      {open && entry !== undefined ? (
        <EntryDetails session={session} entry={entry} onClose={() => setOpen(false)} />
      ) : null}
    </div>
  );
}

/** Returns the row of an event in the first page; -1 if the filter excludes it. */
function indexOfEvent(store: TimelineStore, sequence: number): number {
  for (let index = 0; index < store.count; index += 1) {
    const entry = store.at(index);
    if (entry === undefined || entry.sequence < sequence) return -1;
    if (entry.kind !== 'prompt' && entry.sequence === sequence) return index;
  }
  return -1;
}

function Filters({ filter }: { readonly filter: TimelineFilter }) {
  const withKind = (kind: string, on: boolean) => {
    const kinds = KINDS.map((each) => each.kind).filter((each) =>
      each === kind ? on : filter.kinds.includes(each),
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
