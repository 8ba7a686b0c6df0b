import type { TimelineEntry } from '../../contracts/replies/timeline-reply.js';
import { Tag } from '../components/tag.js';
import { Clock } from '../components/time.js';
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
