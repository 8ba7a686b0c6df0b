import type { LearningReply } from '../../contracts/replies/learning-reply.js';
import { Ago, Button, Tag } from '../components/fields.js';
import { AskedView, Empty, MoreButton } from '../components/states.js';
import { setParams } from '../route.js';
import { useAsk, usePages } from '../use-ask.js';
import { counted } from '../words.js';

type Learning = LearningReply<'learning.list'>['learnings'][number];

/** The accepted learnings: all of them, or those that a prompt with this text would show. */
export function ActiveLearnings(props: {
  readonly project: string | undefined;
  readonly text: string;
  readonly id: string | undefined;
}) {
  const { project, text: query } = props;
  const searching = query !== '';
  const listed = usePages('learning.list', searching ? null : { project, limit: 100 }, 'event:learning');
  const found = useAsk(
    'learning.search',
    searching ? { project, query, maxResults: 50 } : null,
    'event:learning',
  );
  if (searching) {
    return (
      <AskedView asked={found} what="learnings">
        {({ results, method, total }) =>
          results.length === 0 ? (
            <Empty title={`None of ${total} learnings fits`}>
              <Button onClick={() => setParams({ text: undefined })}>Show all</Button>
            </Empty>
          ) : (
            <>
              <p class="quiet block-end">Found by {METHOD_WORDS[method]}, the most relevant first.</p>
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
            <p>An accepted proposal reaches the prompts of all later sessions of the project.</p>
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
  recency: 'age, because nothing matches',
} as const;

function List(props: {
  readonly learnings: readonly Learning[];
  readonly id: string | undefined;
  readonly scores?: readonly number[];
}) {
  return (
    <ul class="card rows" aria-label="Learnings">
      {props.learnings.map((learning, index) => (
        <li key={learning.id} class={`learning ${learning.id === props.id ? 'learning-current' : ''}`}>
          <p>{learning.content}</p>
          <p class="remarks quiet small">
            <Tag tone="info">{learning.type.replace('_', ' ')}</Tag>
            {learning.tags.map((tag) => (
              <Tag key={tag}>{tag}</Tag>
            ))}
            <code>{learning.id}</code>
            <span class="figure">supported by {counted(learning.evidence.length, 'result')}</span>
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
