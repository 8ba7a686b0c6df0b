import { useState } from 'preact/hooks';
import type { Considered, ConsideredFact } from '../../contracts/replies/compile-reply.js';
import { whyLeft, whyShown } from '../../shared/wire-words.js';
import { Tag, Toggle } from '../components/fields.js';
import { MoreButton } from '../components/states.js';
import { Table } from '../components/table.js';
import { sessionHref } from '../route.js';
import { spaced } from '../words.js';

const STEP = 50;

/** The facts and files that were candidates for a prompt, with the reason why each is in or out. */
export function ConsideredTable(props: { readonly session: string; readonly considered: Considered }) {
  const { session, considered } = props;
  const [only, setOnly] = useState<'all' | 'in' | 'out'>('all');
  const fits = ({ shown }: { readonly shown: boolean }) => only === 'all' || shown === (only === 'in');
  // A session has up to 2,000 facts: rows are made as a person scrolls.
  const [most, setMost] = useState(STEP);
  const facts = considered.facts.filter(fits).slice(0, most);
  const files = considered.files.filter(fits).slice(0, most - facts.length);
  const all = [...considered.facts, ...considered.files];
  const [shown, fitting] = [facts.length + files.length, all.filter(fits).length];
  const count = (shown: boolean) => all.filter((row) => row.shown === shown).length;
  return (
    <section class="block" aria-labelledby="considered-title">
      <div class="block-head">
        <h2 id="considered-title">What is in, what is out and why</h2>
        <div class="chips">
          <Toggle on={only === 'in'} onToggle={(on) => setOnly(on ? 'in' : 'all')}>
            In {count(true)}
          </Toggle>
          <Toggle on={only === 'out'} onToggle={(on) => setOnly(on ? 'out' : 'all')}>
            Out {count(false)}
          </Toggle>
        </div>
      </div>
      {all.length === 0 ? (
        <p class="quiet">No fact or file of this session was considered for this prompt.</p>
      ) : (
        <>
          <Table
            label="Facts and files that were considered"
            columns={[
              { name: '' },
              { name: 'Fact or file' },
              { name: 'Kind', wide: true },
              { name: 'Score', number: true },
              { name: 'Why' },
            ]}
          >
            {facts.map((fact) => (
              <tr key={`${fact.id} ${fact.dispatch}`}>
                <InOut shown={fact.shown} />
                <td>
                  <a href={sessionHref(session, 'session', { id: fact.id })}>{factWords(fact)}</a>{' '}
                  <span class="quiet">task {fact.taskId}</span>
                </td>
                <td class="only-wide">{fact.kind}</td>
                <td class="number">{fact.score.toFixed(2)}</td>
                <td>{fact.shown ? whyShown(fact) : whyLeft(fact)}</td>
              </tr>
            ))}
            {files.map((file) => (
              <tr key={file.path}>
                <InOut shown={file.shown} />
                <td>
                  <span class="mono">{file.path}</span>
                </td>
                <td class="only-wide">file</td>
                <td class="number">{file.score.toFixed(2)}</td>
                <td>{file.shown ? reasonsOf(file.reasons) : whyLeft(file)}</td>
              </tr>
            ))}
          </Table>
          <MoreButton
            pages={{ loadingMore: false, ...(shown < fitting && { more: () => setMost(most + STEP) }) }}
            shown={shown}
            total={fitting}
          />
        </>
      )}
    </section>
  );
}

function InOut({ shown }: { readonly shown: boolean }) {
  return <td>{shown ? <Tag tone="good">in</Tag> : <Tag>out</Tag>}</td>;
}

/** Returns a fact in words, with its subject unless that is its own task. */
export function factWords(fact: Pick<ConsideredFact, 'subject' | 'relation' | 'object'>): string {
  const { subject, relation, object } = fact;
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
