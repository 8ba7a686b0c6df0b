import { useEffect, useRef } from 'preact/hooks';
import type { TimelineEntry } from '../../contracts/result-requests.js';
import { Button, ButtonLink, Clock, Outcome, Pair, Pick, Tag, wholeTime } from '../components/fields.js';
import { sessionHref, setParams } from '../route.js';
import { counted } from '../words.js';

/** An entry on one line, or on two on a narrow screen. */
export function EntryRow(props: {
  readonly entry: TimelineEntry;
  readonly href: string;
  readonly current: boolean;
}) {
  const { entry } = props;
  return (
    <li>
      <Pick class="entry-row" href={props.href} current={props.current}>
        <span class="entry-time small quiet">
          <Clock at={entry.at} />
        </span>
        <span class="entry-kind quiet">{entry.kind}</span>
        <span class="mono one-line">{entry.task}</span>
        <span class="entry-what one-line">
          <Verdict entry={entry} />
          {entry.summary === entry.verdict ? null : entry.summary}
        </span>
        <span class="entry-flow small quiet figure">
          {entry.facts === undefined ? `event ${entry.sequence}` : counted(entry.facts, 'fact')}
        </span>
      </Pick>
    </li>
  );
}

function Verdict({ entry }: { readonly entry: TimelineEntry }) {
  if (entry.kind === 'rejected') return <Tag tone="bad">rejected</Tag>;
  if (entry.kind === 'result') return <Outcome outcome={`${entry.role}_${entry.verdict ?? ''}`} />;
  if (entry.kind === 'prompt') return <Tag tone="info">{entry.role ?? entry.prompt?.kind ?? 'prompt'}</Tag>;
  return entry.failed === true ? <Tag tone="bad">failed</Tag> : null;
}

/** Returns the parts of an entry in the order of the data: result, event and facts, or event and prompt. */
function flowOf({ dispatch, sequence, facts, prompt }: TimelineEntry): string[] {
  return [
    ...(dispatch === undefined ? [] : [`result ${dispatch}`]),
    `event ${sequence}`,
    ...(prompt === undefined ? [] : ['prompt']),
    ...(facts === undefined ? [] : [counted(facts, 'fact')]),
  ];
}

/** Details of an entry, with links to prompts and to what holds of its task; another one is shown from its beginning. */
export function EntryPanel({ session, entry }: { readonly session: string; readonly entry: TimelineEntry }) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.closest('.split-detail')?.scrollTo(0, 0), [entry.key]);
  return (
    <section ref={panel} class="card" aria-label="Details of the entry">
      <div class="card-head">
        <h2>
          {entry.kind} <span class="mono">{entry.task}</span>
        </h2>
        <Button small onClick={() => setParams({ entry: 'none' })}>
          Close
        </Button>
      </div>
      <div class="card-body">
        <p>
          <Verdict entry={entry} /> {entry.summary}
        </p>
        <dl class="pairs">
          <Pair name="When">{wholeTime(entry.at)}</Pair>
          <Pair name="Type">
            <code>{entry.type}</code>
          </Pair>
          <Pair name="Flow">{flowOf(entry).join(' → ')}</Pair>
          {entry.prompt === undefined ? null : (
            <>
              <Pair name="Left out">{counted(entry.prompt.dropped, 'item')}</Pair>
              <Pair name="Took">{entry.prompt.durationMs.toFixed(1)} ms</Pair>
            </>
          )}
        </dl>
        <Links session={session} entry={entry} />
      </div>
    </section>
  );
}

function Links({ session, entry }: { readonly session: string; readonly entry: TimelineEntry }) {
  const { task } = entry;
  if (entry.prompt !== undefined) {
    return (
      <p>
        <ButtonLink href={sessionHref(session, 'prompt', { id: entry.prompt.id })}>
          Read this prompt
        </ButtonLink>
      </p>
    );
  }
  return (
    <p class="actions">
      {task === undefined ? null : (
        <ButtonLink href={sessionHref(session, 'session', { text: task })}>What holds of {task}</ButtonLink>
      )}
      {entry.kind === 'rejected' ? <ButtonLink href={sessionHref(session)}>Body and retry</ButtonLink> : null}
    </p>
  );
}
