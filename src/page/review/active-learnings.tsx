import { useEffect, useRef } from 'preact/hooks';
import type { LearningReply } from '../../contracts/replies/learning-reply.js';
import { Ago, Tag } from '../components/fields.js';
import { AskedView, Empty, MoreButton } from '../components/states.js';
import { onLive } from '../live.js';
import { setParams } from '../route.js';
import { useAsk } from '../use-ask.js';
import { usePages } from '../use-pages.js';

type Learning = LearningReply<'learning.list'>['learnings'][number];

/** The learnings that hold: all of them, or those that fit a text as they would reach a prompt. */
export function ActiveLearnings(props: {
  readonly project: string | undefined;
  readonly text: string;
  readonly id: string | undefined;
}) {
  const of = props.project === undefined ? {} : { project: props.project };
  const searching = props.text !== '';
  const listed = usePages('learning.list', searching ? null : { ...of, limit: 100 });
  const found = useAsk('learning.search', searching ? { ...of, query: props.text, maxResults: 50 } : null);
  const again = useRef(listed.refresh);
  again.current = searching ? found.refresh : listed.refresh;
  useEffect(
    () =>
      onLive(({ event }) => void (event === 'learning' || event === 'lost' ? again.current() : undefined)),
    [],
  );
  if (searching) {
    return (
      <AskedView asked={found} what="learnings">
        {({ results, method, total }) =>
          results.length === 0 ? (
            <Empty title={`None of ${total} learnings fits`}>
              <button type="button" class="button" onClick={() => setParams({ text: undefined })}>
                Show all
              </button>
            </Empty>
          ) : (
            <>
              <p class="quiet review-note">Found by {METHOD_WORDS[method]}, the most relevant first.</p>
              <List
                learnings={results.map(({ learning }) => learning)}
                id={props.id}
                scores={results.map(({ score }) => score)}
              />
            </>
          )
        }
      </AskedView>
    );
  }
  const learnings = listed.pages.flatMap((page) => page.learnings);
  return (
    <AskedView asked={listed} what="learnings">
      {({ total }) =>
        learnings.length === 0 ? (
          <Empty
            title="No learnings yet"
            command="throughline learning propose &quot;Run the linter before you hand in&quot;"
          >
            <p>What is proposed and accepted reaches the prompts of every later session of the project.</p>
          </Empty>
        ) : (
          <>
            <List learnings={learnings} id={props.id} />
            <MoreButton pages={listed} shown={learnings.length} total={total} />
          </>
        )
      }
    </AskedView>
  );
}

const METHOD_WORDS = {
  hybrid: 'words and meaning',
  semantic: 'meaning',
  lexical: 'words',
  recency: 'age, since nothing fits',
} as const;

function List(props: {
  readonly learnings: readonly Learning[];
  readonly id: string | undefined;
  readonly scores?: readonly number[];
}) {
  return (
    <ul class="card learning-list" aria-label="Learnings">
      {props.learnings.map((learning, index) => (
        <li key={learning.id} class={`learning ${learning.id === props.id ? 'learning-current' : ''}`}>
          <p class="learning-text">{learning.content}</p>
          <p class="fact-about quiet">
            <Tag tone="info">{learning.type.replace('_', ' ')}</Tag>
            {learning.tags.map((tag) => (
              <Tag key={tag}>{tag}</Tag>
            ))}
            <code>{learning.id}</code>
            <span class="figure">
              {learning.evidence.length} {learning.evidence.length === 1 ? 'result speaks' : 'results speak'}{' '}
              for it
            </span>
            <span>
              since <Ago at={learning.confirmedAt} />
            </span>
            {props.scores === undefined ? null : (
              <span class="figure">score {props.scores[index]?.toFixed(2)}</span>
            )}
          </p>
        </li>
      ))}
    </ul>
  );
}
