import { type Refusal, refuse, type Unstamped } from '../../contracts/event.js';
import type { DEMAND_KINDS, LearningEvent, LearningEvidence } from '../../contracts/learning-events.js';
import type { AnyResult } from '../../contracts/results.js';
import type { NoteType } from '../../contracts/session-meta-events.js';
import { CONVENTION } from '../facts/fact-extractor.js';
import type { Note } from '../facts/fact-types.js';
import {
  demandId,
  type LearningState,
  learningId,
  learningText,
  type Observation,
  type Proposal,
} from './learnings-state.js';

/** The rules for proposals: from notes of types that outlive a session, and from demands that reviewers repeat elsewhere. */
export type Proposed = Extract<Unstamped<LearningEvent>, { type: 'proposed' }>;
type Rejected = Extract<Unstamped<LearningEvent>, { type: 'rejected' }>;

/** Proposal type by note type; `stuck` notes are about one moment. */
const NOTES_PROPOSED: Readonly<Partial<Record<NoteType, 'insight' | 'pattern'>>> = {
  learning: 'insight',
  tip: 'pattern',
  decision: 'pattern',
};

const METHODS = {
  fix: 'recurring_fix',
  issue: 'recurring_issue',
  convention: 'convention',
} as const satisfies Record<(typeof DEMAND_KINDS)[number], string>;

const MAX_DEMANDS = 50;
/** Matches what `work` writes about a command that failed, because that teaches nothing. */
const OF_A_CHECK = /^(?:Make the check ".*" pass|The check ".*" failed)/s;

/** Rejects proposals whose note is gone; a note that says the same again may propose it again. */
export const NOTE_RULE = 'throughline';

/**
 * Returns rejections of the session's pending proposals that no note states any more, then proposals for notes that the
 * project does not have yet and has capacity for, in the order of the notes.
 */
export function noteProposals(project: LearningState, session: string, notes: Iterable<Note>) {
  const found = new Map<string, Proposed>();
  const stated = new Set<string>();
  for (const note of notes) {
    const type = NOTES_PROPOSED[note.type];
    const content = learningText(note.content);
    const proposal = learningId(project.project, content);
    if (type === undefined || content === '') continue;
    stated.add(proposal);
    const known = project.proposals.get(proposal);
    if (found.has(proposal) || (known !== undefined && known.decidedBy !== NOTE_RULE)) continue;
    const words = { proposal, type, content, tags: [note.type], confidence: SAID_ONCE };
    const from = { method: 'note' as const, source: { session, note: note.id }, evidence: [] };
    found.set(proposal, { type: 'proposed', data: { ...words, ...from } });
  }
  const reason = 'no note of the session says it any more';
  const rejected = [...project.proposals.values()].flatMap(({ id, status, method, source }): Rejected[] => {
    // One that a person repeated keeps its method, but names no note.
    const isOfNote = method === 'note' && source.note !== undefined && source.session === session;
    if (status !== 'pending' || !isOfNote || stated.has(id)) return [];
    return [{ type: 'rejected', data: { proposal: id, by: NOTE_RULE, reason } }];
  });
  if (found.size === 0) return rejected;
  const reserve = capacityOf(project);
  return [...rejected, ...[...found.values()].filter(() => reserve([{ session }]) !== undefined)];
}

export function demandsOf(project: string, result: AnyResult) {
  const demands = new Map<string, { id: string; kind: Observation['kind']; text: string }>();
  const add = (kind: Observation['kind'], statement: string) => {
    const text = learningText(statement);
    const id = demandId(project, text);
    if (text !== '' && !OF_A_CHECK.test(text) && !demands.has(id)) demands.set(id, { id, kind, text });
  };
  for (const fix of result.required_fixes ?? []) add('fix', fix);
  for (const { message } of result.issues ?? [])
    add(CONVENTION.test(message) ? 'convention' : 'issue', message);
  return [...demands.values()].slice(0, MAX_DEMANDS);
}

/** Returns new proposals for demands made in at least `threshold` tasks, within the project's capacity. */
export function dueProposals(state: LearningState, ids: readonly string[], threshold: number): Proposed[] {
  // Usually nothing is due, so capacity is computed lazily.
  let reserve: Reserve | undefined;
  return ids.flatMap((id): Proposed[] => {
    const demand = state.observations.get(id);
    if (demand === undefined || demand.evidence.length < threshold || state.proposals.has(id)) return [];
    reserve ??= capacityOf(state);
    // The first session with the demand, or another one if the first has no capacity.
    const source = reserve(demand.evidence);
    if (source === undefined) return [];
    const { session, dispatch } = source;
    const { kind, text: content, evidence } = demand;
    const words = { type: 'pattern' as const, content, tags: [kind], confidence: confidenceOf(evidence) };
    const from = { method: METHODS[kind], source: { session, dispatch }, evidence: [...evidence] };
    return [{ type: 'proposed', data: { proposal: id, ...words, ...from } }];
  });
}

const MAX_EVIDENCE = 20;

/** Adds evidence, one result per task: a demand repeated until it is met is one case. Keeps the newest results. */
export function withEvidence(known: readonly LearningEvidence[], added: readonly LearningEvidence[]) {
  const byTask = new Map(known.map((item) => [caseOf(item), item]));
  for (const item of added) {
    const earlier = byTask.get(caseOf(item));
    if (earlier === undefined || earlier.dispatch < item.dispatch) byTask.set(caseOf(item), item);
  }
  return [...byTask.values()]
    .sort((a, b) => a.dispatch - b.dispatch || (caseOf(a) < caseOf(b) ? -1 : 1))
    .slice(-MAX_EVIDENCE);
}

/** Confidence of what a note or a person said: that of one task. */
export const SAID_ONCE = 0.5;

/** Returns 0.67 for two tasks, 0.75 for three, never 1. */
export function confidenceOf(evidence: readonly LearningEvidence[]): number {
  return Math.round((1 - 1 / (evidence.length + 1)) * 100) / 100;
}

function caseOf({ session, task }: LearningEvidence): string {
  return `${session}\u001f${task}`;
}

/** Limits of new pending proposals, so that people can keep up and no session crowds out the others. */

/** Limit of pending proposals made by rules; further ones are proposed when seen again. */
export const MAX_WAITING = 200;
export const MAX_WAITING_OF_SESSION = 40;
export const MAX_MANUAL = 1000;

export function rulesPaused(state: LearningState): boolean {
  return countPending(state, isOfRules).all >= MAX_WAITING;
}

export function sessionsPaused(state: LearningState): string[] {
  return [...countPending(state, isOfRules).bySession]
    .flatMap(([session, count]) =>
      session !== undefined && count >= MAX_WAITING_OF_SESSION ? [session] : [],
    )
    .sort();
}

/** Reserves a place for the first item whose session has capacity; `undefined` if none has. */
type Reserve = <Item extends { readonly session: string }>(items: readonly Item[]) => Item | undefined;

function capacityOf(state: LearningState): Reserve {
  const { all, bySession } = countPending(state, isOfRules);
  let free = MAX_WAITING - all;
  return (items) => {
    const taker = items.find(({ session }) => (bySession.get(session) ?? 0) < MAX_WAITING_OF_SESSION);
    if (free <= 0 || taker === undefined) return undefined;
    free -= 1;
    bySession.set(taker.session, (bySession.get(taker.session) ?? 0) + 1);
    return taker;
  };
}

export function noRoomByHand(state: LearningState): Refusal | undefined {
  const { all } = countPending(state, (proposal) => !isOfRules(proposal));
  if (all < MAX_MANUAL) return undefined;
  return refuse(
    'limit_reached',
    `${all} proposals made by hand in project ${state.project} are pending, and the limit is ${MAX_MANUAL}: decide on some first with "throughline learning ls --project ${state.project}"`,
    { project: state.project, limit: MAX_MANUAL },
  );
}

function isOfRules({ method }: Proposal): boolean {
  return method !== 'manual';
}

/** True for a demand that reviews repeat: its evidence says how sure it is. */
export function isRecurring({ method }: Proposal): boolean {
  return method !== 'note' && method !== 'manual';
}

function countPending({ proposals }: LearningState, isOfKind: (proposal: Proposal) => boolean) {
  const bySession = new Map<string | undefined, number>();
  let all = 0;
  for (const proposal of proposals.values()) {
    if (proposal.status !== 'pending' || !isOfKind(proposal)) continue;
    const { session } = proposal.source;
    all += 1;
    bySession.set(session, (bySession.get(session) ?? 0) + 1);
  }
  return { all, bySession };
}
