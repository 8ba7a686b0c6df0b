import type { FactOfDispatch, TimelineEntry } from '../../contracts/replies/dispatch-result.js';
import { Button, ButtonLink, Pair, Tag, wholeTime } from '../components/fields.js';
import { AskedView } from '../components/states.js';
import { sessionHref, viewHref } from '../route.js';
import { useAsk } from '../use-ask.js';
import { counted, hasPrompts, spaced } from '../words.js';
import { Flow, Verdict } from './timeline-row.js';

/** Details of a timeline entry, with the facts of its result and links to prompts. */
export function EntryDetails(props: {
  readonly session: string;
  readonly entry: TimelineEntry;
  readonly onClose: () => void;
}) {
  const { session, entry } = props;
  return (
    <aside class="details" aria-label="Details of the entry">
      <div class="card-head">
        <h2>
          {entry.kind}
          {entry.task === undefined ? null : <span class="mono"> {entry.task}</span>}
        </h2>
        <Button small onClick={props.onClose}>
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
          <Pair name="Flow">
            <span class="figure">
              <Flow entry={entry} />
            </span>
          </Pair>
          {entry.prompt === undefined ? null : (
            <>
              <Pair name="Left out">{counted(entry.prompt.dropped, 'item')}</Pair>
              <Pair name="Took">{entry.prompt.durationMs.toFixed(1)} ms</Pair>
              <Pair name="Hash">
                <code>{entry.prompt.hash}</code>
              </Pair>
            </>
          )}
        </dl>
        <Links session={session} entry={entry} />
        {entry.dispatch === undefined ? null : <Result session={session} dispatch={entry.dispatch} />}
      </div>
    </aside>
  );
}

function Links({ session, entry }: { readonly session: string; readonly entry: TimelineEntry }) {
  const { task, role, sequence } = entry;
  const of = { task, ...(role !== undefined && hasPrompts(role) && { role }) };
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
      <ButtonLink href={sessionHref(session, 'prompt', { ...of, asOf: sequence })}>
        Prompt after it
      </ButtonLink>
      {task === undefined ? null : (
        <ButtonLink href={sessionHref(session, 'facts', { task })}>Facts of {task}</ButtonLink>
      )}
      {entry.kind === 'rejected' ? (
        <ButtonLink href={viewHref('rejected', { session })}>Body and retry</ButtonLink>
      ) : null}
    </p>
  );
}

/** The facts, repairs or rejection of a result. */
function Result({ session, dispatch }: { readonly session: string; readonly dispatch: number }) {
  const asked = useAsk('tool.dispatch-show', { session, dispatch, timeoutMs: 0 });
  return (
    <AskedView asked={asked} what="the result">
      {(shown) => {
        switch (shown.status) {
          case 'recorded':
            return (
              <>
                <h3>
                  {counted(shown.facts.length, 'fact')}
                  {shown.factsOmitted === undefined ? null : (
                    <span class="quiet">, {shown.factsOmitted} beyond the limit</span>
                  )}
                </h3>
                <ul class="fact-list">
                  {shown.facts.map((fact) => (
                    <FactLine key={`${fact.subject} ${fact.relation} ${fact.object}`} fact={fact} />
                  ))}
                </ul>
                {shown.repairs === undefined ? null : (
                  <>
                    <h3>{counted(shown.repairs.length, 'repair')}</h3>
                    <ul class="fact-list">
                      {shown.repairs.map((repair) => (
                        <li key={`${repair.kind} ${repair.field} ${repair.detail}`}>
                          <code>{repair.field}</code> {spaced(repair.kind)}
                          {repair.count === undefined ? null : `, ${counted(repair.count, 'time')}`}
                          {repair.detail === undefined ? null : <span class="quiet"> {repair.detail}</span>}
                        </li>
                      ))}
                    </ul>
                  </>
                )}
              </>
            );
          case 'rejected':
            return (
              <dl class="pairs">
                <Pair name="Why">
                  {shown.reason} <code class="bad">{shown.code}</code>
                </Pair>
                {shown.fix === undefined ? null : <Pair name="Fix">{shown.fix}</Pair>}
              </dl>
            );
          case 'repeated':
            return <p class="quiet">A duplicate of an earlier result: it changed nothing.</p>;
          case 'counted':
            return <p class="quiet">It was recorded; newer results have replaced its facts.</p>;
        }
      }}
    </AskedView>
  );
}

function FactLine({ fact }: { readonly fact: FactOfDispatch }) {
  return (
    <li>
      {fact.severity === undefined ? null : (
        <>
          <Tag tone={fact.severity === 'critical' ? 'bad' : 'warn'}>{fact.severity}</Tag>{' '}
        </>
      )}
      <span class="fact-subject">{fact.subject}</span> <span class="quiet">{fact.relation}</span>{' '}
      {fact.object}
      {fact.fix === undefined ? null : <span class="quiet"> Fix: {fact.fix}</span>}
    </li>
  );
}
