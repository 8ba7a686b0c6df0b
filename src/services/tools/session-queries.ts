import { noSuchSession, ThroughlineError } from '../../contracts/errors.js';
import { STATEMENT_KINDS } from '../../contracts/kinds.js';
import { projectOf, type Token } from '../../contracts/names.js';
import { promptTraceBrief } from '../../contracts/prompt-requests.js';
import type { ToolArguments } from '../../contracts/requests.js';
import { questionPrefix, recordedFact, refusalOf, type SessionFact } from '../../memory/facts/fact-types.js';
import { factHistory, factOfId, findFacts, foundFact } from '../../memory/facts/found-facts.js';
import { viewOf } from '../../memory/learnings/learnings-state.js';
import { SESSION_VIEWS, type ViewName } from '../../memory/session/commands/decide-session.js';
import { refuseArchived } from '../../memory/session/commands/lifecycle-commands.js';
import { answer, append, refuse, speakerOf } from '../../memory/session/commands/session-decision.js';
import { factsOf, type SessionState, seenState, tracesOf } from '../../memory/session/session-state.js';
import { intentList } from '../../memory/traces/session-traces.js';
import { defined } from '../../shared/collections.js';
import type { ToolPorts } from '../common/service-context.js';
import type { Handlers, Values } from '../common/service-shell.js';

const MAX_PROMPTS = 20;
const MAX_CANDIDATES = 20;
const MAX_LEARNINGS = 20;

export function createSessionQueries({
  reader,
  command,
  prompts,
  projects,
}: Pick<ToolPorts, 'reader' | 'command' | 'prompts' | 'projects'>): Handlers<
  `tool.${ViewName | 'trace-list'}` | `tool.fact-${'retract' | 'restore' | 'correct' | 'find' | 'show'}`
> {
  const stateOf = async (session: Token): Promise<SessionState> => (await reader.load(session)).folded.state;

  /** Appends what a person says about a fact, and shows the fact; nothing is appended if it is so already. */
  const change = async <Shown extends object>(
    session: Token,
    { id, by, person, reason }: ToolArguments<'fact-retract'>,
    type: 'fact.retracted' | 'fact.restored',
    shown: (now: SessionState, before: SessionFact) => Shown,
    insteadOf?: (before: SessionFact, state: SessionState) => { readonly instead: string },
  ) => {
    const { reply } = await command(session, type, (state) => {
      const before = theFact(state, id);
      const replied = (now: SessionState) => shown(now, before);
      const replacement = insteadOf?.(before, state);
      const holds = before.validTo === undefined;
      const isSame = holds && replacement?.instead === before.object;
      const isSo = type === 'fact.restored' ? holds : before.retracted !== undefined || isSame;
      if (before.retracted?.erased)
        throw new ThroughlineError('conflict', `${id} is erased: what it said is gone`, { details: { id } });
      const { instead: corrected } = before.retracted ?? {};
      if (isSo && insteadOf === undefined && corrected !== undefined)
        return refuse('conflict', `${id} was corrected before: retract ${corrected}, which replaced it`, {
          id,
        });
      if (isSo) return answer(replied);
      if (insteadOf !== undefined && !holds)
        return refuse(
          'conflict',
          `${id} has ended: say or answer it again, or "throughline restore ${id}" before you correct it`,
          { id },
        );
      const ends = type === 'fact.restored' ? factsOf(state).answersInstead(before.ref) : [];
      const [refusal] = [before, ...ends].flatMap((fact) => refusalOf(person, fact) ?? []);
      if (refusal !== undefined) return refuse('conflict', refusal, { id });
      if (state.charter.archived !== undefined) return refuseArchived(state);
      const data = {
        fact: recordedOf(before),
        source: sourceOf(before),
        after: state.dispatches.newest(),
        ...defined({ reason }),
        ...replacement,
        by: speakerOf({ by, person }),
        ...(!person && { agent: true as const }),
      };
      return append({ type, data }, replied);
    });
    return reply as Shown & { readonly sequence: number };
  };
  const learningsOf = async ({ charter }: SessionState) => {
    const project = projectOf(charter.project);
    const { active } = viewOf((await projects.load(project)).folded.state);
    const newest = [...active.values()].slice(-MAX_LEARNINGS).reverse();
    const shown = newest.map(({ id, content }) => ({ id, content }));
    return shown.length > 0 && { learnings: { project, total: active.size, newest: shown } };
  };
  const changed = (now: SessionState, before: SessionFact) => ({
    fact: foundFact(theFact(now, before.ref ?? before.id)),
  });

  const views = (Object.keys(SESSION_VIEWS) as ViewName[]).map((name) => [
    `tool.${name}`,
    async ({ session, ...args }: Values<`tool.${ViewName}`>) => {
      const state = seenState(await stateOf(session));
      // The index type loses the relation between a view and its arguments.
      return { ...SESSION_VIEWS[name](state, args as never), sequence: state.sequence };
    },
  ]);
  return {
    ...(Object.fromEntries(views) as Handlers<`tool.${ViewName}`>),
    'tool.fact-retract': ({ session, ...request }) => change(session, request, 'fact.retracted', changed),
    'tool.fact-restore': ({ session, ...request }) => change(session, request, 'fact.restored', changed),
    'tool.fact-correct'({ session, text, ...request }) {
      const objectOf = (before: SessionFact) => {
        const [content, prefix] = [withoutSubject(text, before), questionPrefix(before.answer)];
        const object = content.startsWith(prefix) ? content : `${prefix}${content}`;
        return recordedFact(before.subject, before.relation, object, [])?.object ?? object;
      };
      const instead = (before: SessionFact, state: SessionState) =>
        defined({ instead: objectOf(before), ref: nextVersion(before, factsOf(state).all()) });
      const corrected = (now: SessionState, before: SessionFact) => {
        const object = objectOf(before);
        const replaced = theFact(now, before.ref ?? before.id);
        if (object === replaced.object && replaced.validTo === undefined)
          return { fact: foundFact(replaced), corrected: foundFact(replaced) };
        const { instead: id } = replaced.retracted ?? {};
        const replacing = id === undefined ? undefined : theFact(now, id);
        if (replacing?.object === object)
          return { fact: foundFact(replacing), corrected: foundFact(replaced) };
        throw new ThroughlineError(
          'conflict',
          `fact ${before.ref ?? before.id} is retracted already: ${id === undefined ? 'add a note of type decision instead' : `correct ${id}, which replaced it`}`,
          { details: { id: before.id } },
        );
      };
      return change(session, request, 'fact.retracted', corrected, instead);
    },
    async 'tool.fact-find'({ session, ...filter }) {
      const state = await stateOf(session);
      if (state.sequence === 0) throw noSuchSession(session);
      const all = factsOf(state).all();
      const { facts, ...page } = findFacts(all, filter);
      const { sequence, limits } = state;
      const full = all.length >= limits.maxFacts && { keeps: limits.maxFacts };
      // With the first page of all that holds; the inspector's page names every kind.
      const { limit: _, is, kind = STATEMENT_KINDS, ...narrower } = filter;
      const isWhole = kind.length === STATEMENT_KINDS.length && Object.keys(narrower).length === 0;
      const learnings = isWhole && is !== 'closed' && (await learningsOf(state));
      return { facts, ...page, ...full, ...learnings, sequence };
    },
    async 'tool.fact-show'({ session, id }) {
      const state = await stateOf(session);
      const { sequence } = state;
      const history = factHistory(factsOf(state).all(), theFact(state, id));
      const shownIn = (await prompts.all(session))
        .filter((prompt) => prompt.facts.some((fact) => fact.id === history.fact.id))
        .slice(0, MAX_PROMPTS)
        .map((prompt) => promptTraceBrief.parse(prompt));
      return { ...history, shownIn, sequence };
    },
    async 'tool.trace-list'({ session, ...page }) {
      const state = await stateOf(session);
      return { ...intentList(tracesOf(state), page), sequence: state.sequence };
    },
  };
}

/** A fact is shown as "orders has 12 partitions": who corrects it may write all of that again, or the object alone. */
function withoutSubject(text: string, { subject, relation }: SessionFact): string {
  const shown = `${subject} ${relation.replaceAll('_', ' ')} `;
  return text.toLowerCase().startsWith(shown.toLowerCase()) ? text.slice(shown.length) : text;
}

function recordedOf({ subject, relation, object, tags, confidence, ...fact }: SessionFact) {
  const { severity, fix, origin, by, ref, scope } = fact;
  return defined({ subject, relation, object, tags, severity, fix, confidence, origin, by, ref, scope });
}

function sourceOf({ sourceSequence: sequence, sourceTaskId: task, sourceRole: role, ...fact }: SessionFact) {
  const { validFrom: at, eventSequence: event, history } = fact;
  return defined({ sequence, task, at, role, event, history });
}

const VERSION = /V\d+$/i;

/** Returns the id of a correction: `M7v2` for the first one of `M7`. */
function nextVersion({ ref }: SessionFact, facts: readonly SessionFact[]): string | undefined {
  const base = ref?.replace(VERSION, '');
  if (base === undefined) return undefined;
  const versions = facts.filter((fact) => fact.ref?.replace(VERSION, '') === base).length;
  return `${base}v${versions + 1}`;
}

/** Returns the corrections of a statement that hold. */
export function corrections(state: SessionState, ref: string): readonly SessionFact[] {
  const base = ref.replace(VERSION, '');
  const isVersion = (fact: SessionFact) =>
    fact.corrects !== undefined && fact.ref?.replace(VERSION, '') === base;
  return factsOf(state)
    .getValid()
    .filter((fact) => fact.ref !== ref && isVersion(fact));
}

/** @throws ThroughlineError `not_found` or `ambiguous` */
export function theFact(state: SessionState, id: string): SessionFact {
  const found = factOfId(factsOf(state).all(), id);
  if ('candidates' in found) throw noSuchFact(state.session, id, found.candidates);
  return found.fact;
}

function noSuchFact(session: string, id: string, candidates: readonly string[]): ThroughlineError {
  const given = JSON.stringify(id);
  if (candidates.length === 0)
    return new ThroughlineError(
      'not_found',
      `no fact, note or answer ${given} in session ${session}: "throughline facts ${session} --all" lists them with their ids`,
      { details: { id } },
    );
  return new ThroughlineError(
    'ambiguous',
    `fact ${given} could be ${candidates.slice(0, 5).join(', ')}: give the whole id`,
    { details: { id, candidates: candidates.slice(0, MAX_CANDIDATES) } },
  );
}
