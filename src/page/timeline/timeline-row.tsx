import { Fragment } from 'preact';
import type { TimelineEntry, TimelineKind } from '../../contracts/replies/dispatch-result.js';
import { Clock, Tag } from '../components/fields.js';
import { counted, spaced, toneOf } from '../words.js';

/** An entry on one line, or on two on a narrow screen. */
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
      <span class="row-time small quiet">
        <Clock at={entry.at} />
      </span>
      <span class="row-kind quiet">{entry.kind}</span>
      <span class="row-task mono one-line">{entry.task}</span>
      <span class="row-what one-line">
        <Verdict entry={entry} />
        {entry.summary === entry.verdict ? null : entry.summary}
      </span>
      <span class="row-flow small quiet figure">
        <Flow entry={entry} />
      </span>
    </>
  );
}

export function Verdict({ entry }: { readonly entry: TimelineEntry }) {
  if (entry.kind === 'rejected') return <Tag tone="bad">rejected</Tag>;
  if (entry.kind === 'result') {
    const said = [entry.role, entry.verdict].filter((each) => each !== undefined).map(spaced);
    return <Tag tone={toneOf(entry.verdict ?? '')}>{said.join(': ')}</Tag>;
  }
  if (entry.kind === 'prompt') return <Tag tone="info">{entry.role ?? entry.prompt?.kind ?? 'prompt'}</Tag>;
  return entry.failed === true ? <Tag tone="bad">failed</Tag> : null;
}

/** The data flow of an entry: result → event → facts, or event → prompt. A narrow screen shows one part. */
export function Flow({ entry }: { readonly entry: TimelineEntry }) {
  const { dispatch, sequence, facts, prompt } = entry;
  const parts = [
    dispatch === undefined ? undefined : `result ${dispatch}`,
    `event ${sequence}`,
    prompt === undefined ? undefined : 'prompt',
    facts === undefined ? undefined : counted(facts, 'fact'),
  ].filter((part) => part !== undefined);
  const main = facts === undefined ? `event ${sequence}` : parts.at(-1);
  return (
    <>
      {parts.map((part, index) => (
        <Fragment key={part}>
          {index === 0 ? null : (
            <span class="flow-arrow flow-extra" aria-hidden="true">
              →
            </span>
          )}
          <span class={part === main ? '' : 'flow-extra'}>{part}</span>
        </Fragment>
      ))}
    </>
  );
}

/** Classes of the rail, which connects a prompt with the event below it, or with a prompt of the same event. */
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

/** Filter of the address: `kind=result,prompt&task=TAS-1&failed=1&at=42`. */
export interface TimelineFilter {
  /** Empty for all kinds. */
  readonly kinds: readonly TimelineKind[];
  readonly task: string;
  readonly failed: boolean;
  /** The newest event sequence. */
  readonly at: number | undefined;
}

export const KINDS: readonly { readonly kind: TimelineKind; readonly label: string }[] = [
  { kind: 'result', label: 'Results' },
  { kind: 'rejected', label: 'Rejected' },
  { kind: 'command', label: 'Commands' },
  { kind: 'trace', label: 'Traces' },
  { kind: 'prompt', label: 'Prompts' },
];

export function filterOf(params: URLSearchParams): TimelineFilter {
  const at = Number(params.get('at') ?? 0);
  const named = (params.get('kind') ?? '').split(',');
  return {
    kinds: KINDS.map(({ kind }) => kind).filter((kind) => named.includes(kind)),
    task: params.get('task') ?? '',
    failed: params.get('failed') === '1',
    at: Number.isSafeInteger(at) && at > 0 ? at : undefined,
  };
}

/** Returns the filter as fields of a request. */
export function asRequest({ kinds, task, failed, at }: TimelineFilter) {
  return {
    kinds: kinds.length === 0 ? undefined : [...kinds],
    task: task || undefined,
    failed: failed || undefined,
    upTo: at,
  };
}
