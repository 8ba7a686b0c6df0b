import type { FactShown, FoundFact } from '../../contracts/replies/fact-reply.js';
import { ask } from '../ask.js';
import { Actions, mayAct, SendForm } from '../components/act.js';
import { ButtonLink, Clock, Pair, Tag } from '../components/fields.js';
import { Panel, QueryView } from '../components/states.js';
import { factWords } from '../prompt/considered-table.js';
import { promptTitle } from '../prompt/use-prompt.js';
import { sessionHref, setParams } from '../route.js';
import { useAsk } from '../use-ask.js';

/** One fact: its origin, what closed it, the prompts that showed it, and other facts about its subject. */
export function FactPanel({ session, id }: { readonly session: string; readonly id: string }) {
  const query = useAsk('tool.fact-show', { session, id }, `facts:${session}`);
  const title = (
    <>
      Fact <code>{id.slice(0, 12)}</code>
    </>
  );
  return (
    <Panel label="The fact" title={title} opened={id} onClose={() => setParams({ id: undefined })}>
      <QueryView query={query} what="the fact">
        {(shown) => <Shown session={session} shown={shown} />}
      </QueryView>
    </Panel>
  );
}

function Shown({ session, shown }: { readonly session: string; readonly shown: FactShown }) {
  const { fact, history, closedBy, shownIn } = shown;
  return (
    <>
      <p class={`fact-says ${fact.retracted === undefined ? '' : 'struck'}`}>{fact.object}</p>
      <p class="tags">
        {fact.retracted !== undefined ? (
          <Tag tone="bad">retracted</Tag>
        ) : closedBy === undefined ? (
          <Tag tone="good">open</Tag>
        ) : (
          <Tag>closed</Tag>
        )}
        {fact.severity === undefined ? null : <Tag tone="warn">{fact.severity}</Tag>}
        {fact.tags.map((tag) => (
          <Tag key={tag}>{tag}</Tag>
        ))}
      </p>
      {fact.fix === undefined ? null : <p class="quiet">Suggested fix: {fact.fix}</p>}
      <dl class="pairs">
        {fact.ref === undefined ? null : <Pair name="Id">{fact.ref}</Pair>}
        <Pair name="Said by">{fact.origin === undefined ? 'an agent' : `the ${fact.origin}`}</Pair>
        <Pair name="About">{fact.subject}</Pair>
        <Pair name="Relation">{fact.relation}</Pair>
        <Pair name="Task">{`${fact.task}, by the ${fact.role}`}</Pair>
        <Pair name="Result">{`${fact.dispatch}, event ${fact.eventSequence}`}</Pair>
        {(fact.repairs ?? []).map((repair, index) => (
          <Pair key={index} name="Repaired">
            {Object.values(repair).map(String).join(' ')}
          </Pair>
        ))}
      </dl>
      <p class="actions">
        <ButtonLink href={sessionHref(session, 'timeline', { at: fact.eventSequence })}>
          In the timeline
        </ButtonLink>
        <ButtonLink href={sessionHref(session, 'facts', { subject: fact.subject, is: 'all' })}>
          All about this
        </ButtonLink>
        <ButtonLink href={sessionHref(session, 'prompt', { task: fact.task })}>Prompt of the task</ButtonLink>
      </p>
      {fact.closed_at === undefined && mayAct() ? (
        <CorrectFact session={session} fact={fact} onDone={(id) => setParams({ id: id ?? fact.id })} />
      ) : null}
      <h3>What closed it</h3>
      {fact.retracted !== undefined ? (
        <p>
          Retracted by {fact.retracted.by}
          {fact.retracted.reason === undefined ? '' : `: ${fact.retracted.reason}`},{' '}
          <Clock at={fact.retracted.at} />
          {fact.retracted.instead === undefined ? null : (
            <>
              , replaced by{' '}
              <a href={sessionHref(session, 'facts', { id: fact.retracted.instead })}>another fact</a>
            </>
          )}
        </p>
      ) : closedBy === undefined ? (
        <p class="quiet">Nothing: it is open.</p>
      ) : (
        <p>
          Result {closedBy.dispatch}
          {closedBy.task === undefined ? '' : `, task ${closedBy.task}`}
          {closedBy.role === undefined ? '' : `, by the ${closedBy.role}`}, <Clock at={closedBy.at} />{' '}
          <a
            href={sessionHref(session, 'timeline', {
              at: closedBy.event,
              task: closedBy.event === undefined ? closedBy.task : '',
            })}
          >
            in the timeline
          </a>
        </p>
      )}
      <h3>
        Shown in prompts <span class="quiet figure">{shownIn.length}</span>
      </h3>
      {shownIn.length === 0 ? (
        <p class="quiet">In none of the newest 200 prompts.</p>
      ) : (
        <ul class="fact-prompts">
          {shownIn.map((prompt) => (
            <li key={prompt.id}>
              <a href={sessionHref(session, 'prompt', { id: prompt.id })}>{promptTitle(prompt)}</a>{' '}
              <span class="quiet figure">
                seq {prompt.sequence}, <Clock at={prompt.at} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <h3>
        History of its subject <span class="quiet figure">{history.length}</span>
      </h3>
      {history.length === 0 ? (
        <p class="quiet">No other fact is about it.</p>
      ) : (
        <History session={session} facts={history} />
      )}
    </>
  );
}

/**
 * Replaces what a wrong fact says, or withdraws it. Later prompts do not show it either way.
 *
 * @param props.onDone called with the id of the corrected fact, or undefined for a retracted one
 */
export function CorrectFact(props: {
  readonly session: string;
  readonly fact: { readonly id: string; readonly object: string };
  readonly onDone: (id?: string) => void;
}) {
  const { session, fact, onDone } = props;
  const of = { session, id: fact.id };
  return (
    <>
      <h3>Is it wrong?</h3>
      <SendForm
        label="What it should say"
        verb="Correct"
        text={fact.object}
        onSend={async (text) => onDone((await ask('tool.fact-correct', { ...of, text })).fact.id)}
      >
        <Actions
          actions={[
            {
              verb: 'Retract',
              confirm: 'Retract: no prompt shows it again',
              run: () => ask('tool.fact-retract', of).then(() => onDone()),
            },
            {
              verb: 'Erase',
              confirm: 'Erase: its text is overwritten in the log too, for good',
              run: () => ask('tool.fact-erase', of).then(() => onDone()),
            },
          ]}
        />
      </SendForm>
    </>
  );
}

function History({ session, facts }: { readonly session: string; readonly facts: readonly FoundFact[] }) {
  return (
    <ol class="history">
      {facts.map((fact) => (
        <li
          key={`${fact.id} ${fact.eventSequence}`}
          class={fact.closed_at === undefined ? '' : 'fact-closed'}
        >
          <a href={sessionHref(session, 'facts', { id: fact.id, is: 'all' })}>{factWords(fact)}</a>
          <br />
          <span class="quiet figure">
            task {fact.task}, result {fact.dispatch}
            {fact.closed_by === undefined ? '' : `, closed by result ${fact.closed_by}`}
            {fact.retracted === undefined ? '' : `, retracted by ${fact.retracted.by}`}
          </span>
        </li>
      ))}
    </ol>
  );
}
