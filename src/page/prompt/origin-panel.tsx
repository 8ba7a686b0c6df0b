import type { CompileReply, ExplainedFact } from '../../contracts/replies/compile-reply.js';
import { Pair, Tag } from '../components/fields.js';
import { sessionHref, viewHref } from '../route.js';
import { type PromptRow, sectionAbout, sectionName, whyChosen } from './prompt-text.js';

/** Where a line of a prompt comes from: its section, fact, dispatch, event, and the ways to them. */
export function OriginPanel(props: {
  readonly session: string;
  readonly row: PromptRow | undefined;
  readonly reply: CompileReply;
}) {
  const { session, row, reply } = props;
  if (row === undefined) {
    return (
      <section class="card origin" aria-label="Origin of the line">
        <p class="quiet">Point at a line, or move to it with the arrow keys, to see where it comes from.</p>
      </section>
    );
  }
  const about = sectionAbout(row.section);
  return (
    <section class="card origin" aria-label="Origin of the line" aria-live="polite">
      <p class="origin-head">
        <strong>{sectionName(row.section)}</strong> <span class="quiet figure">line {row.number}</span>
      </p>
      {row.fact === undefined ? <p class="quiet origin-about">{about}</p> : null}
      {row.fact === undefined ? null : <FactOrigin fact={row.fact} reply={reply} />}
      {row.learning === undefined ? null : <p class="origin-says">{row.learning.content}</p>}
      {row.file === undefined ? null : <FileOrigin path={row.file} reply={reply} />}
      {row.section === 'ledger' ? <LedgerFields text={row.text} /> : null}
      <dl class="pairs">
        {row.task === undefined ? null : <Pair name="Task">{row.task}</Pair>}
        {row.dispatch === undefined ? null : <Pair name="Dispatch">{String(row.dispatch)}</Pair>}
        {row.event === undefined ? null : <Pair name="Event">{String(row.event)}</Pair>}
      </dl>
      <p class="origin-links">
        {row.fact === undefined ? null : (
          <a class="button button-small" href={sessionHref(session, 'facts', { id: row.fact.id })}>
            Open the fact
          </a>
        )}
        {row.file === undefined ? null : (
          <a
            class="button button-small"
            href={sessionHref(session, 'facts', { tab: 'files', file: row.file })}
          >
            Open the file
          </a>
        )}
        {row.learning === undefined ? null : (
          <a class="button button-small" href={viewHref('learnings', { tab: 'active', id: row.learning.id })}>
            Open the learning
          </a>
        )}
        {row.event === undefined && row.task === undefined ? null : (
          <a
            class="button button-small"
            href={sessionHref(
              session,
              'timeline',
              row.event === undefined ? { task: row.task } : { at: row.event },
            )}
          >
            In the timeline
          </a>
        )}
      </p>
    </section>
  );
}

function FactOrigin({ fact, reply }: { readonly fact: ExplainedFact; readonly reply: CompileReply }) {
  const considered = reply.considered?.facts.find(({ id }) => id === fact.id);
  return (
    <>
      <p class="origin-says">
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
        {fact.repairs === undefined ? null : <Tag tone="warn">{fact.repairs.length} repaired</Tag>}
      </p>
      {fact.fix === undefined ? null : <p class="quiet">Suggested fix: {fact.fix}</p>}
      {considered === undefined ? null : <p class="quiet">Chosen for {whyChosen(considered)}.</p>}
    </>
  );
}

function FileOrigin({ path, reply }: { readonly path: string; readonly reply: CompileReply }) {
  const reasons = reply.considered?.files.find((file) => file.path === path)?.reasons ?? {};
  const said = Object.entries(reasons).filter(([, value]) => value > 0);
  return (
    <>
      <p class="origin-says mono">{path}</p>
      {said.length === 0 ? null : (
        <dl class="pairs">
          {said.map(([name, value]) => (
            <Pair key={name} name={name}>
              {value.toFixed(2)}
            </Pair>
          ))}
        </dl>
      )}
    </>
  );
}

/** The ledger is one line of JSON: here each of its fields has a line. */
function LedgerFields({ text }: { readonly text: string }) {
  const fields = jsonFields(text);
  if (fields.length === 0) return null;
  return (
    <dl class="pairs pairs-long">
      {fields.map(([name, value]) => (
        <Pair key={name} name={name.replaceAll('_', ' ')}>
          {asLine(value)}
        </Pair>
      ))}
    </dl>
  );
}

function jsonFields(text: string): [string, unknown][] {
  if (!text.startsWith('{')) return [];
  try {
    return Object.entries(JSON.parse(text) as object);
  } catch {
    return [];
  }
}

function asLine(value: unknown): string {
  if (Array.isArray(value)) return value.map(asLine).join(' · ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
