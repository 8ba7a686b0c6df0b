import type { TimelineEntry } from '../../contracts/replies/timeline-reply.js';
import type { TimelineKind } from '../../contracts/timeline-kinds.js';
import { Clock, Tag } from '../components/fields.js';
import { counted, spaced, toneOf } from '../words.js';

/** One thing that happened, on one line; on a narrow screen on two. */
export function TimelineRow({ entry }: { readonly entry: TimelineEntry | undefined }) {
  if (entry === undefined) {
    return (
      <>
        <span class="rail" />
        <span class="row-pending" />
      </>
    );
  }
  return (
    <>
      <span class="rail" aria-hidden="true" />
      <span class="row-time quiet">
        <Clock at={entry.at} />
      </span>
      <span class="row-kind">{entry.kind}</span>
      <span class="row-task mono one-line">{entry.task ?? ''}</span>
      <span class="row-what one-line">
        <Verdict entry={entry} />
        {entry.summary === entry.verdict ? null : entry.summary}
      </span>
      <span class="row-flow quiet figure">
        <Flow entry={entry} />
      </span>
    </>
  );
}

/** Role and verdict of a result, or why it is none. */
export function Verdict({ entry }: { readonly entry: TimelineEntry }) {
  if (entry.kind === 'rejected') return <Tag tone="bad">rejected</Tag>;
  if (entry.kind === 'result') {
    const said = [entry.role, entry.verdict].filter((each) => each !== undefined).map(spaced);
    return <Tag tone={toneOf(entry.verdict ?? '')}>{said.join(': ')}</Tag>;
  }
  if (entry.kind === 'prompt') return <Tag tone="info">{entry.role ?? entry.prompt?.kind ?? 'prompt'}</Tag>;
  return entry.failed === true ? <Tag tone="bad">failed</Tag> : null;
}

/** What led to what: dispatch → event → facts, and event → prompt. */
export function Flow({ entry }: { readonly entry: TimelineEntry }) {
  const { dispatch, sequence, facts, prompt } = entry;
  if (prompt !== undefined) {
    // Its summary says how large it is.
    return (
      <>
        <span class="flow-part">event {sequence}</span>
        <Arrow />
        <span class="flow-part flow-extra">prompt</span>
      </>
    );
  }
  return (
    <>
      {dispatch === undefined ? null : (
        <>
          <span class="flow-part flow-extra">dispatch {dispatch}</span>
          <Arrow />
        </>
      )}
      <span class={`flow-part ${facts === undefined ? '' : 'flow-extra'}`}>event {sequence}</span>
      {facts === undefined ? null : (
        <>
          <Arrow />
          <span class="flow-part">{counted(facts, 'fact')}</span>
        </>
      )}
    </>
  );
}

function Arrow() {
  return (
    <span class="flow-arrow flow-extra" aria-hidden="true">
      →
    </span>
  );
}

/**
 * How a row hangs together with its neighbours: a prompt hangs on the event below it that it reflects, or on a prompt of
 * the same event.
 */
export function railClass(
  above: TimelineEntry | undefined,
  entry: TimelineEntry | undefined,
  below: TimelineEntry | undefined,
): string {
  if (entry === undefined) return '';
  const classes = [`row-${entry.kind}`];
  if (entry.failed === true)
    classes.push(toneOf(entry.verdict ?? '') === 'warn' ? 'row-warned' : 'row-failed');
  if (hangsOn(entry, below)) classes.push('rail-down');
  if (above !== undefined && hangsOn(above, entry)) classes.push('rail-up');
  else classes.push('row-begins');
  return classes.join(' ');
}

function hangsOn(prompt: TimelineEntry, below: TimelineEntry | undefined): boolean {
  if (prompt.kind !== 'prompt' || below === undefined) return false;
  return below.kind === 'prompt' ? below.sequence === prompt.sequence : below.sequence <= prompt.sequence;
}

/** What is left of a timeline by its address: `kind=result,prompt&task=TAS-1&failed=1&at=42`. */
export interface TimelineFilter {
  /** Empty for all. */
  readonly kinds: readonly TimelineKind[];
  readonly task: string;
  readonly failed: boolean;
  /** The event sequence that the list begins at: later ones are left out. */
  readonly at?: number;
}

export const KINDS: readonly { readonly kind: TimelineKind; readonly label: string }[] = [
  { kind: 'result', label: 'Results' },
  { kind: 'rejected', label: 'Rejected' },
  { kind: 'command', label: 'Commands' },
  { kind: 'trace', label: 'Traces' },
  { kind: 'prompt', label: 'Prompts' },
];

/** Reads the filter of an address. */
export function filterOf(params: URLSearchParams): TimelineFilter {
  const at = Number(params.get('at') ?? 0);
  const named = (params.get('kind') ?? '').split(',');
  return {
    kinds: KINDS.map(({ kind }) => kind).filter((kind) => named.includes(kind)),
    task: params.get('task') ?? '',
    failed: params.get('failed') === '1',
    ...(Number.isSafeInteger(at) && at > 0 && { at }),
  };
}

/** The filter as a request says it. */
export function asRequest({ kinds, task, failed, at }: TimelineFilter) {
  return {
    ...(kinds.length === 0 ? {} : { kinds: [...kinds] }),
    ...(task === '' ? {} : { task }),
    ...(failed ? { failed } : {}),
    ...(at === undefined ? {} : { upTo: at }),
  };
}

/** Whether an entry is left by the filter: the same as the service decides. */
export function fitsFilter({ kinds, task, failed, at }: TimelineFilter, entry: TimelineEntry): boolean {
  if (at !== undefined && entry.sequence > at) return false;
  if (kinds.length > 0 && !kinds.includes(entry.kind)) return false;
  if (task !== '' && entry.task !== task) return false;
  return !failed || entry.failed === true;
}
