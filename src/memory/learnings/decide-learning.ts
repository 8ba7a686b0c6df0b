import {
  type DecisionOn,
  type Refusal,
  type ReplyOn,
  refuse,
  type Unstamped,
} from '../../contracts/event.js';
import type { LearningEvent } from '../../contracts/learning-events.js';
import type { LearningRequest, RequestArguments } from '../../contracts/requests.js';
import { noRoomByHand, rulesPaused, SAID_ONCE, sessionsPaused } from './harvest.js';
import {
  type Learning,
  type LearningState,
  learningId,
  learningTags,
  learningText,
  nearDuplicate,
  type Proposal,
  sameText,
} from './learnings-state.js';

/** Requests decided on the project's state alone; a search also needs an index. */
export type LearningCommand = Exclude<LearningRequest, 'learning.search'>;

const COMMANDS: {
  readonly [Name in LearningCommand]: (
    state: LearningState,
    args: RequestArguments<Name>,
  ) => LearningDecision;
} = {
  'learning.propose': propose,
  'learning.list': listLearnings,
  'learning.retract': retractLearning,
  'proposal.list': listProposals,
  'proposal.show': showProposal,
  'proposal.accept': acceptProposal,
  'proposal.reject': rejectProposal,
};

export const LEARNING_COMMANDS = Object.keys(COMMANDS) as LearningCommand[];

export function decideLearning<Name extends LearningCommand>(
  name: Name,
  state: LearningState,
  args: RequestArguments<Name>,
): LearningDecision {
  return COMMANDS[name](state, args);
}

function listLearnings(state: LearningState, request: RequestArguments<'learning.list'>): LearningDecision {
  const page = pageOf([...state.active.values()].reverse(), request);
  if ('kind' in page) return page;
  const { items: learnings, ...more } = page;
  return answer(({ project }) => ({ project, learnings, ...more }));
}

function retractLearning(state: LearningState, args: RequestArguments<'learning.retract'>): LearningDecision {
  const resolved = resolveLearning(state, args.id);
  if ('refusal' in resolved) return resolved.refusal;
  const { id } = resolved.found;
  const reason = args.reason ? { reason: args.reason } : {};
  return append({ type: 'retracted', data: { learning: id, by: args.by, ...reason } }, showing(id));
}

export type LearningDecision = DecisionOn<LearningState, LearningEvent>;
type LearningReplyOn = ReplyOn<LearningState>;

function append(event: Unstamped<LearningEvent>, reply: LearningReplyOn): LearningDecision {
  return { kind: 'append', event, reply };
}

function answer(reply: LearningReplyOn): LearningDecision {
  return { kind: 'answer', reply };
}

function propose(state: LearningState, args: RequestArguments<'learning.propose'>): LearningDecision {
  const content = learningText(args.content);
  if (content === '')
    return refuse('schema_invalid', 'content: must contain visible text', { fields: ['content'] });
  // A proposal of a rule has the id of its demand.
  const same = ({ content: text }: Proposal) => sameText(text, content);
  const id = [...state.proposals.values()].findLast(same)?.id ?? learningId(state.project, content);
  const known = state.proposals.get(id);
  // A person may repeat a rejected or retracted proposal.
  if (known?.status === 'pending' || state.active.has(id)) return answer(showing(id, { existing: true }));
  const { type, source, confidence } = args;
  const refusal = noRoomByHand(state);
  if (refusal !== undefined) return refusal;
  const words = { type, content, tags: learningTags(args.tags), source, method: 'manual' } as const;
  const { evidence = [], confidence: before = SAID_ONCE } = known ?? {};
  const data = { proposal: id, ...words, evidence: [...evidence], confidence: confidence ?? before };
  return append({ type: 'proposed', data }, showing(id, { existing: false }));
}

function listProposals(state: LearningState, { status, ...request }: RequestArguments<'proposal.list'>) {
  const all = [...state.proposals.values()].reverse();
  const page = pageOf(all, request, (proposal) => status === 'all' || proposal.status === status);
  if ('kind' in page) return page;
  const { items: proposals, ...more } = page;
  const paused = sessionsPaused(state);
  return answer(({ project }) => ({
    project,
    proposals,
    ...more,
    ...(rulesPaused(state) && { rulesPaused: true }),
    ...(paused.length > 0 && { sessionsPaused: paused }),
  }));
}

function showProposal(state: LearningState, { id }: RequestArguments<'proposal.show'>): LearningDecision {
  const resolved = resolveProposal(state, id);
  return 'refusal' in resolved ? resolved.refusal : answer(showing(resolved.found.id));
}

/** Merges a near-duplicate into its learning, or keeps it separate if requested; identical text is never kept twice. */
function acceptProposal(state: LearningState, args: RequestArguments<'proposal.accept'>): LearningDecision {
  const resolved = resolveProposal(state, args.id);
  if ('refusal' in resolved) return resolved.refusal;
  const proposal = resolved.found;
  const { id } = proposal;
  if (proposal.status !== 'pending') return alreadyDecided(proposal);
  if (args.merge && args.separate)
    return refuse('schema_invalid', 'merge: cannot be combined with separate', { fields: ['merge'] });
  const near = nearDuplicate(state, proposal.content, id);
  const same = near !== undefined && sameText(near.content, proposal.content);
  if (near !== undefined && !args.merge && (same || !args.separate)) {
    const message =
      `learning ${near.learning} says ${same ? 'the same' : `nearly the same (${near.similarity.toFixed(2)})`}: ` +
      `${JSON.stringify(near.content)}. Accept with merge to add the evidence to it` +
      (same ? ', or reject the proposal' : ', or with separate to keep both');
    return refuse('near_duplicate', message, { proposal: id, ...near });
  }
  if (near === undefined && args.merge) {
    return refuse('not_found', `no learning says nearly the same as ${id}: accept it without merge`, { id });
  }
  const merged = args.merge && near !== undefined ? { merged_into: near.learning } : {};
  return append({ type: 'accepted', data: { proposal: id, by: args.by, ...merged } }, showing(id));
}

function rejectProposal(state: LearningState, args: RequestArguments<'proposal.reject'>): LearningDecision {
  const resolved = resolveProposal(state, args.id);
  if ('refusal' in resolved) return resolved.refusal;
  const { id, status } = resolved.found;
  if (status !== 'pending') return alreadyDecided(resolved.found);
  const reason = args.reason ? { reason: args.reason } : {};
  return append({ type: 'rejected', data: { proposal: id, by: args.by, ...reason } }, showing(id));
}

function alreadyDecided({ id, status, decidedBy, decidedAt }: Proposal): LearningDecision {
  const message = `proposal ${id} was ${status} by ${decidedBy ?? 'unknown'} at ${decidedAt ?? 'an unknown time'}`;
  return refuse('already_decided', message, { id, status, decidedBy, decidedAt });
}

function showing(id: string, more: object = {}): LearningReplyOn {
  return (state) => {
    const proposal = state.proposals.get(id);
    if (proposal === undefined) return { project: state.project, proposal: null, ...more };
    return {
      project: state.project,
      proposal,
      learning: state.active.get(proposal.mergedInto ?? id) ?? null,
      similar: nearDuplicate(state, proposal.content, id) ?? null,
      ...more,
    };
  };
}

/** Prompts show five characters. */
const SHORTEST_PREFIX = 3;

type Resolved<T> = { readonly found: T } | { readonly refusal: Refusal };

function resolveProposal(state: LearningState, given: string): Resolved<Proposal> {
  return resolve(state, state.proposals, given, 'proposal');
}

function resolveLearning(state: LearningState, given: string): Resolved<Learning> {
  const resolved = resolve(state, state.active, given, 'learning');
  if ('found' in resolved || resolved.refusal.code === 'ambiguous') return resolved;
  const proposal = resolveProposal(state, given);
  if ('refusal' in proposal) return resolved;
  const { id, status, mergedInto } = proposal.found;
  const what = mergedInto === undefined ? status : `merged into ${mergedInto}`;
  const message = `${id} is not an active learning: it is ${what}`;
  return { refusal: refuse('not_found', message, { id, state: what }) };
}

function resolve<T>(state: LearningState, records: ReadonlyMap<string, T>, given: string, what: string) {
  const wanted = given.trim().toLowerCase();
  const fitting = [...records].filter(
    ([id]) => id === wanted || (wanted.length >= SHORTEST_PREFIX && id.startsWith(wanted)),
  );
  const [only] = fitting;
  if (only === undefined) return notFound(state, given, what);
  if (fitting.length === 1) return { found: only[1] };
  const ids = fitting.map(([id]) => id);
  const message = `${what} ${JSON.stringify(given)} could be ${ids.slice(0, 5).join(', ')}: give more of the id`;
  return { refusal: refuse('ambiguous', message, { id: given, candidates: ids.slice(0, 20) }) };
}

function notFound({ project }: LearningState, given: string, what: string): { readonly refusal: Refusal } {
  const list = what === 'proposal' ? 'throughline learning ls --status all' : 'throughline learning ls';
  const short =
    given.trim().length < SHORTEST_PREFIX ? `give at least ${SHORTEST_PREFIX} characters, or ` : '';
  const message = `no ${what} ${JSON.stringify(given)} in project ${project}: ${short}see "${list} --project ${project}"`;
  return { refusal: refuse('not_found', message, { id: given, project }) };
}

/**
 * Returns a page of matching items after the cursor's item, which need not match any more: changes between two pages
 * neither repeat nor skip other items. `next` is the cursor of the next page, `total` the size of the whole list.
 */
function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  fits: (item: Item) => boolean = () => true,
): { readonly items: readonly Item[]; readonly next?: string; readonly total: number } | Refusal {
  const at = cursor === undefined ? -1 : items.findIndex(({ id }) => id === cursor);
  if (cursor !== undefined && at < 0) {
    const message = `cursor: ${JSON.stringify(cursor)} is no longer in the list`;
    return refuse('not_found', `${message}: start again with the first page`);
  }
  const rest = items.slice(at + 1).filter(fits);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page,
    total: items.filter(fits).length,
    ...(last !== undefined && rest.length > limit && { next: last.id }),
  };
}
