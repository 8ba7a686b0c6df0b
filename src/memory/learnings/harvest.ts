import type {
  DEMAND_KINDS,
  LearningEvent,
  LearningEventOf,
  LearningEvidence,
} from '../../contracts/learning-events.js';
import type { Unstamped } from '../../contracts/outcome.js';
import type { AnyResult } from '../../contracts/results.js';
import type { NoteType } from '../../contracts/session-meta-events.js';
import { CONVENTION } from '../facts/extraction-rules.js';
import type { Note } from '../session/notebook.js';
import { demandId, learningId, learningText } from './learning-text.js';
import type { LearningState, Observation } from './learnings-state.js';
import { Room } from './proposal-room.js';

/**
 * Where proposals come from, by rule: notes of those types that hold beyond a session, and what reviewers demand again
 * in another task or session.
 */
export type Proposed = Extract<Unstamped<LearningEvent>, { type: 'proposed' }>;

/** Types of notes that are proposed, and the type of the proposal. `stuck` is about one moment. */
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

/** Demands of one review that are remembered. */
const MAX_DEMANDS = 50;

/** The proposals of a session's notes that the project does not have yet, and has room for, in the order of the notes. */
export function noteProposals(project: LearningState, session: string, notes: Iterable<Note>): Proposed[] {
  const found = new Map<string, Proposed>();
  for (const note of notes) {
    const type = NOTES_PROPOSED[note.type];
    const content = learningText(note.content);
    const proposal = learningId(project.project, content);
    if (type === undefined || content === '' || project.entries.has(proposal) || found.has(proposal))
      continue;
    found.set(proposal, {
      type: 'proposed',
      data: {
        proposal,
        type,
        content,
        tags: [note.type],
        method: 'note',
        source: { session, note: note.id },
        evidence: [],
      },
    });
  }
  if (found.size === 0) return [];
  const room = new Room(project);
  return [...found.values()].filter(() => room.take([{ session }]) !== undefined);
}

/** The demands of a review, each once; empty if it has none. */
export function demandsOf(
  project: string,
  result: AnyResult,
): LearningEventOf<'observed'>['data']['demands'] {
  const demands = new Map<string, { id: string; kind: Observation['kind']; text: string }>();
  const add = (kind: Observation['kind'], said: string) => {
    const text = learningText(said);
    const id = demandId(project, text);
    if (text !== '' && !demands.has(id)) demands.set(id, { id, kind, text });
  };
  for (const fix of result.required_fixes ?? []) add('fix', fix);
  for (const { message } of result.issues ?? [])
    add(CONVENTION.test(message) ? 'convention' : 'issue', message);
  return [...demands.values()].slice(0, MAX_DEMANDS);
}

/**
 * The proposals due among these demands, as many as the project has room for: made in at least `threshold` tasks, and
 * never proposed before.
 */
export function dueProposals(state: LearningState, ids: readonly string[], threshold: number): Proposed[] {
  // Most often nothing is due: then no places need be counted.
  let room: Room | undefined;
  return ids.flatMap((id): Proposed[] => {
    const demand = state.observations.get(id);
    if (demand === undefined || demand.evidence.length < threshold || state.entries.has(id)) return [];
    room ??= new Room(state);
    // The first session that made the demand, or another one that made it, if the first has used all its places.
    const source = room.take(demand.evidence);
    if (source === undefined) return [];
    const { session, dispatch } = source;
    return [
      {
        type: 'proposed',
        data: {
          proposal: id,
          type: 'pattern',
          content: demand.text,
          tags: [demand.kind],
          confidence: confidenceOf(demand.evidence),
          method: METHODS[demand.kind],
          source: { session, dispatch },
          evidence: [...demand.evidence],
        },
      },
    ];
  });
}

/** Dispatches kept as evidence of one learning. */
const MAX_EVIDENCE = 20;

/**
 * Adds evidence: one dispatch for each task of a session, since a demand that is repeated until it is met is still
 * one case. The newest dispatches are kept, whatever order they come in.
 */
export function withEvidence(
  known: readonly LearningEvidence[],
  added: readonly LearningEvidence[],
): readonly LearningEvidence[] {
  const byTask = new Map(known.map((each) => [caseOf(each), each]));
  for (const each of added) {
    const earlier = byTask.get(caseOf(each));
    if (earlier === undefined || earlier.dispatch < each.dispatch) byTask.set(caseOf(each), each);
  }
  return [...byTask.values()]
    .sort((a, b) => a.dispatch - b.dispatch || (caseOf(a) < caseOf(b) ? -1 : 1))
    .slice(-MAX_EVIDENCE);
}

/** How sure a demand is that was made in so many tasks: 0.67 for two, 0.75 for three, never 1. */
export function confidenceOf(evidence: readonly LearningEvidence[]): number {
  return Math.round((1 - 1 / (evidence.length + 1)) * 100) / 100;
}

function caseOf({ session, task }: LearningEvidence): string {
  return `${session}\u001f${task}`;
}
