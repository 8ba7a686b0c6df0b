import type { CompiledFact } from '../../contracts/replies/compile-reply.js';
import { sectionName, statementsIn } from '../../shared/wire-words.js';
import { ButtonLink, Pair, Tag } from '../components/fields.js';
import { sessionHref, viewHref } from '../route.js';
import type { PromptRow } from './prompt-text.js';

/** The origin of a prompt line: its section, fact, result and event, with links to them. */
export function OriginPanel(props: {
  readonly session: string;
  readonly project: string | undefined;
  readonly row: PromptRow | undefined;
}) {
  const { session, row } = props;
  if (row === undefined) {
    return (
      <section class="card card-body origin origin-empty" aria-label="Origin of the line">
        <p class="quiet">Point at a line, or move to it with the arrow keys, to see its origin.</p>
      </section>
    );
  }
  return (
    <section class="card card-body origin" aria-label="Origin of the line" aria-live="polite">
      <p>
        <strong>{sectionName(row.section)}</strong> <span class="quiet figure">line {row.number}</span>
      </p>
      {row.fact === undefined ? null : <FactOrigin fact={row.fact} />}
      {row.learning === undefined ? null : <p>{row.learning.content}</p>}
      {row.file === undefined ? null : <p class="mono">{row.file}</p>}
      <dl class="pairs">
        {row.why === undefined ? null : <Pair name="Why">{row.why}</Pair>}
        {row.task === undefined ? null : <Pair name="Task">{row.task}</Pair>}
        {row.dispatch === undefined ? null : <Pair name="Result">{String(row.dispatch)}</Pair>}
        {row.eventSequence === undefined ? null : <Pair name="Event">{String(row.eventSequence)}</Pair>}
      </dl>
      <p class="actions">
        {row.fact === undefined ? null : (
          <ButtonLink href={sessionHref(session, 'session', { id: row.fact.id })}>Open the fact</ButtonLink>
        )}
        {statementsIn(row.text).map((id) => (
          <ButtonLink key={id} href={sessionHref(session, 'session', { id })}>
            Open {id}
          </ButtonLink>
        ))}
        {row.learning === undefined ? null : (
          <ButtonLink
            href={viewHref('learnings', {
              tab: 'active',
              project: props.project ?? 'default',
              id: row.learning.id,
            })}
          >
            Open the learning
          </ButtonLink>
        )}
        {row.eventSequence === undefined && row.task === undefined ? null : (
          <ButtonLink
            href={sessionHref(
              session,
              'timeline',
              row.eventSequence === undefined ? { task: row.task } : { at: row.eventSequence },
            )}
          >
            In the timeline
          </ButtonLink>
        )}
      </p>
    </section>
  );
}

function FactOrigin({ fact }: { readonly fact: CompiledFact }) {
  return (
    <>
      <p>
        <span class="quiet">
          {fact.subject} · {fact.relation}
        </span>
        <br />
        {fact.object}
      </p>
      <p class="tags">
        {fact.severity === undefined ? null : <Tag tone="warn">{fact.severity}</Tag>}
        <Tag>score {fact.score.toFixed(2)}</Tag>
        <Tag>{fact.tokens} tokens</Tag>
      </p>
      {fact.fix === undefined ? null : <p class="quiet">Suggested fix: {fact.fix}</p>}
    </>
  );
}
