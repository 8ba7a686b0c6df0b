import { useState } from 'preact/hooks';
import type { Considered, ConsideredFact } from '../../contracts/replies/compile-reply.js';
import { whyLeft, whyShown } from '../../shared/wire-words.js';
import { Tag, Toggle } from '../components/fields.js';
import { Table } from '../components/table.js';
import { sessionHref } from '../route.js';
import { spaced } from '../words.js';

/** The facts and files that were candidates for a prompt, with the reason why each is in or out. */
export function ConsideredTable(props: { readonly session: string; readonly considered: Considered }) {
  const { session, considered } = props;
  const [only, setOnly] = useState<boolean | undefined>(undefined);
  const rows = [
    ...considered.facts.map((fact) => ({
      ...fact,
      key: `${fact.id} ${fact.dispatch}`,
      what: (
        <>
          <a href={sessionHref(session, 'session', { id: fact.id })}>{factWords(fact)}</a>{' '}
          <span class="quiet">task {fact.taskId}</span>
        </>
      ),
      why: whyShown(fact),
    })),
    ...considered.files.map((file) => ({
      ...file,
      key: file.path,
      what: <span class="mono">{file.path}</span>,
      kind: 'file',
      why: reasonsOf(file.reasons),
    })),
  ];
  if (rows.length === 0) return null;
  return (
    <section class="block" aria-labelledby="considered-title">
      <div class="block-head">
        <h2 id="considered-title">What is in, what is out and why</h2>
        <div class="chips">
          {[true, false].map((shown) => (
            <Toggle
              key={String(shown)}
              on={only === shown}
              onToggle={(on) => setOnly(on ? shown : undefined)}
            >
              {shown ? 'In' : 'Out'} {rows.filter((row) => row.shown === shown).length}
            </Toggle>
          ))}
        </div>
      </div>
      <Table
        label="Facts and files that were considered"
        columns={[
          { name: '' },
          { name: 'Fact or file' },
          { name: 'Kind', wide: true },
          { name: 'Score' },
          { name: 'Why' },
        ]}
      >
        {rows
          .filter(({ shown }) => only === undefined || shown === only)
          .map((row) => (
            <tr key={row.key}>
              <td>{row.shown ? <Tag tone="good">in</Tag> : <Tag>out</Tag>}</td>
              <td>{row.what}</td>
              <td class="only-wide">{row.kind}</td>
              <td class="figure">{row.score.toFixed(2)}</td>
              <td>{row.shown ? row.why : whyLeft(row)}</td>
            </tr>
          ))}
      </Table>
    </section>
  );
}

/** Returns a fact in words, with its subject unless that is its own task. */
function factWords({ subject, relation, object }: ConsideredFact): string {
  if (subject.startsWith('task:')) return `${spaced(relation)}: ${object}`;
  return relation === 'issue' ? `${subject}: ${object}` : `${subject} ${spaced(relation)} ${object}`;
}

/** Returns the largest parts of the score of a file. */
function reasonsOf(reasons: Readonly<Record<string, number>>): string {
  return Object.entries(reasons)
    .filter(([, value]) => value > 0)
    .sort(([, one], [, other]) => other - one)
    .slice(0, 4)
    .map(([name]) => name)
    .join(', ');
}
