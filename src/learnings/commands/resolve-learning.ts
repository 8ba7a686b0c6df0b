import { type Refusal, refuse } from '../../contracts/decision.js';
import type { Learning } from '../learning-types.js';
import type { Entry, LearningState } from '../learnings-state.js';

/** Shortest prefix that may stand for an id; prompts show five characters. */
const SHORTEST_PREFIX = 3;

export type ResolvedLearning<T> = { readonly found: T } | { readonly refusal: Refusal };

/** The proposal that an id, or a prefix of it, stands for. */
export function resolveProposal(
  state: LearningState,
  given: string,
): ResolvedLearning<Entry & { readonly id: string }> {
  const resolved = resolve(state, state.entries.keys(), given, 'proposal');
  if ('refusal' in resolved) return resolved;
  const entry = state.entries.get(resolved.found);
  return entry === undefined
    ? notFound(state, given, 'proposal')
    : { found: { ...entry, id: resolved.found } };
}

/** The learning that an id, or a prefix of it, stands for; a retired one is refused. */
export function resolveLearning(state: LearningState, given: string): ResolvedLearning<Learning> {
  const resolved = resolve(state, state.active.keys(), given, 'learning');
  const learning = 'found' in resolved ? state.active.get(resolved.found) : undefined;
  if (learning !== undefined) return { found: learning };
  if ('refusal' in resolved && resolved.refusal.code === 'ambiguous') return resolved;
  const entry = resolveProposal(state, given);
  if ('refusal' in entry) return notFound(state, given, 'learning');
  const { id, proposal, retired } = entry.found;
  const what =
    retired?.how ??
    (proposal.mergedInto === undefined ? proposal.status : `merged into ${proposal.mergedInto}`);
  return {
    refusal: refuse('not_found', `${id} is not an active learning: it is ${what}`, { id, state: what }),
  };
}

function resolve(
  state: LearningState,
  ids: Iterable<string>,
  given: string,
  what: string,
): ResolvedLearning<string> {
  const wanted = given.trim().toLowerCase();
  const fitting = [...ids].filter(
    (id) => id === wanted || (wanted.length >= SHORTEST_PREFIX && id.startsWith(wanted)),
  );
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return { found: only };
  if (fitting.length === 0) return notFound(state, given, what);
  const message = `${what} ${JSON.stringify(given)} could be ${fitting.slice(0, 5).join(', ')}: give more of the id`;
  return { refusal: refuse('ambiguous', message, { id: given, candidates: fitting.slice(0, 20) }) };
}

function notFound({ project }: LearningState, given: string, what: string): { readonly refusal: Refusal } {
  const list = what === 'proposal' ? 'throughline proposals ls --status all' : 'throughline learnings ls';
  const short =
    given.trim().length < SHORTEST_PREFIX ? `give at least ${SHORTEST_PREFIX} characters, or ` : '';
  const message = `no ${what} ${JSON.stringify(given)} in project ${project}: ${short}see "${list} --project ${project}"`;
  return { refusal: refuse('not_found', message, { id: given, project }) };
}
