import { useEffect, useRef } from 'preact/hooks';
import type { FactShown, FoundFact } from '../../contracts/fact-requests.js';
import { resultName, speakerText, statementText } from '../../shared/wire-words.js';
import { ask } from '../ask.js';
import { type Action, Actions, actor, mayAct, SendForm } from '../components/act.js';
import { Clock, Pair } from '../components/fields.js';
import { QueryView } from '../components/states.js';
import { promptTitle } from '../prompt/use-prompt.js';
import { sessionHref, setParams } from '../route.js';
import { useAsk } from '../use-ask.js';
import { hasPrompts, spaced } from '../words.js';

/** A statement or another fact: where it comes from, what it replaced, what ended it, and the prompts that showed it. */
export function StatementDetails({ session, id }: { readonly session: string; readonly id: string }) {
  const query = useAsk('tool.fact-show', { session, id }, `facts:${session}`);
  const place = useRef<HTMLElement>(null);
  // A link from a prompt may open one far down.
  useEffect(() => place.current?.scrollIntoView({ block: 'nearest' }), [query.loading]);
  return (
    <section ref={place} class="details" aria-label="The fact">
      <QueryView query={query} what="the fact">
        {(shown) => <Details session={session} shown={shown} />}
      </QueryView>
    </section>
  );
}

function Details({ session, shown }: { readonly session: string; readonly shown: FactShown }) {
  const { fact, history, shownIn } = shown;
  const replaced = history.filter(
    ({ ended, id }) => id === fact.corrects || (ended && ended.by === fact.ref),
  );
  return (
    <>
      <p class={fact.retracted ? 'fact-says struck' : 'fact-says'}>{statementText(fact, fact.task)}</p>
      {fact.fix === undefined ? null : <p class="quiet">Suggested fix: {fact.fix}</p>}
      <dl class="pairs">
        <Pair name="Says">
          {whoText(fact)}, as {fact.kind ?? spaced(fact.relation)}
        </Pair>
        {fact.subject === `task:${fact.task}` ? null : <Pair name="About">{fact.subject}</Pair>}
        {fact.scope === undefined ? null : (
          <Pair name="Holds for">{Object.values(fact.scope).flat().join(', ')}</Pair>
        )}
        <Pair name="From">
          <a href={sessionHref(session, 'timeline', { at: fact.eventSequence })}>
            task {fact.task}, {fact.role}
            {fact.ref?.startsWith('N') ? '' : `, ${resultName(fact.dispatch)}`}, event {fact.eventSequence},{' '}
            <Clock at={fact.at} />
          </a>
        </Pair>
        {replaced.map((before) => (
          <Pair key={before.id} name="Replaces">
            <a href={sessionHref(session, 'session', { id: before.ref ?? before.id })}>{before.object}</a>
          </Pair>
        ))}
        <EndedBy session={session} fact={fact} />
        <Pair name="Shown in">
          {shownIn.length === 0
            ? 'none of the newest 200 prompts'
            : shownIn.map((prompt) => (
                <a key={prompt.id} class="listed" href={sessionHref(session, 'prompt', { id: prompt.id })}>
                  {promptTitle(prompt)} <Clock at={prompt.at} />
                </a>
              ))}
        </Pair>
      </dl>
      {mayAct() ? <Correcting key={fact.id} session={session} fact={fact} /> : null}
    </>
  );
}

/** Names who said a fact: `you`, `ana`, `the user`, `an agent`, or the task and role of its result. */
export function whoText(fact: FoundFact): string {
  if (fact.by !== undefined && fact.by === actor()) return 'you';
  if (fact.origin !== undefined) return speakerText(fact);
  if (fact.by !== undefined) return fact.by;
  return fact.task === fact.ref
    ? 'an agent'
    : `${fact.task} ${hasPrompts(fact.role) ? fact.role : ''}`.trim();
}

function EndedBy({ session, fact }: { readonly session: string; readonly fact: FoundFact }) {
  const { retracted, ended, closed_at: at } = fact;
  if (at === undefined) return null;
  const by = retracted?.instead ?? ended?.by;
  return (
    <Pair name="Ended">
      {endText(fact)}
      {retracted?.reason === undefined ? '' : `: ${retracted.reason}`}
      {ended?.term === undefined ? '' : `, both are about ${ended.term}`}, <Clock at={at} />{' '}
      {by === undefined ? null : <a href={sessionHref(session, 'session', { id: by })}>what holds instead</a>}
    </Pair>
  );
}

/** Returns what ended a fact: `replaced by M12`, `corrected by ana` or `ended by result 12`. */
export function endText({ retracted, ended, closed_by: dispatch }: FoundFact): string {
  if (retracted !== undefined)
    return `${retracted.instead === undefined ? 'retracted' : 'corrected'} by ${retracted.by}`;
  return ended === undefined ? `ended by ${resultName(dispatch)}` : `${ended.how} by ${ended.by}`;
}

/** Drafts of corrections by id of their fact: another person may have ended it meanwhile. */
const drafts = new Map<string, string>();

/** Corrects what holds, or makes it hold again. */
function Correcting({ session, fact }: { readonly session: string; readonly fact: FoundFact }) {
  const of = { session, id: fact.ref ?? fact.id, by: actor() };
  const open = (id: string) => setParams({ id });
  const erase: Action = {
    verb: 'Erase',
    cost: 'Its text is overwritten in the log too. It cannot be undone.',
    run: () => ask('tool.fact-erase', of).then(({ fact: { id } }) => open(fact.ref ?? id)),
  };
  const retract: Action = {
    verb: 'Retract',
    cost: 'No prompt shows it until you choose “Restore”.',
    run: () => ask('tool.fact-retract', of).then(({ fact: { id } }) => open(id)),
  };
  const restore: Action = { verb: 'Restore', run: () => ask('tool.fact-restore', of) };
  const first = fact.closed_at === undefined ? retract : restore;
  const actions = fact.ref === undefined ? [first] : [first, erase];
  return (
    <>
      {fact.closed_at === undefined || drafts.get(fact.id) ? (
        <SendForm
          label="What it should say"
          verb="Correct"
          long
          text={fact.object}
          draft={drafts.get(fact.id)}
          onDraft={(draft) => drafts.set(fact.id, draft)}
          onSend={async (text) => open((await ask('tool.fact-correct', { ...of, text })).fact.id)}
        />
      ) : null}
      <div class="actions">
        <Actions of={fact.object} actions={fact.retracted?.erased === true ? [] : actions} />
      </div>
    </>
  );
}
