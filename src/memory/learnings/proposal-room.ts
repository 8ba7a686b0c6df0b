import { type Refusal, refuse } from '../../contracts/outcome.js';
import type { LearningState, Proposal } from './learnings-state.js';

/**
 * How many proposals may wait in a project, so that people can keep up with them and no session crowds out the others.
 * Only new proposals are measured: stored events are folded as before.
 */

/** Proposals that rules may have waiting: notes and demands beyond that stay on record, and are proposed when seen again. */
export const MAX_WAITING = 200;
/** Of these, the most that come from one session: what is left is for others. */
export const MAX_WAITING_OF_SESSION = 40;
/** The same for proposals by hand. Those that name no session share the places of one. */
export const MAX_MANUAL = 1000;
export const MAX_MANUAL_OF_SESSION = 200;

/** Whether rules propose nothing more for now. */
export function rulesPaused(state: LearningState): boolean {
  return held(state, isOfRules).all >= MAX_WAITING;
}

/** Sessions of which rules propose nothing more for now, by name. */
export function sessionsPaused(state: LearningState): string[] {
  return [...held(state, isOfRules).bySession]
    .flatMap(([session, count]) =>
      session !== undefined && count >= MAX_WAITING_OF_SESSION ? [session] : [],
    )
    .sort();
}

/** The places that rules may still take. */
export class Room {
  #free: number;
  readonly #held: ReturnType<typeof held>['bySession'];

  constructor(state: LearningState) {
    const { all, bySession } = held(state, isOfRules);
    this.#free = MAX_WAITING - all;
    this.#held = bySession;
  }

  /** Takes a place for the first of some things whose session has one left; `undefined` where none has. */
  take<Thing extends { readonly session: string }>(things: readonly Thing[]): Thing | undefined {
    if (this.#free <= 0) return undefined;
    const taker = things.find(({ session }) => (this.#held.get(session) ?? 0) < MAX_WAITING_OF_SESSION);
    if (taker === undefined) return undefined;
    this.#free -= 1;
    this.#held.set(taker.session, (this.#held.get(taker.session) ?? 0) + 1);
    return taker;
  }
}

/** The refusal of one more proposal by hand where as many wait as may. */
export function noRoomByHand(state: LearningState, session: string | undefined): Refusal | undefined {
  const { all, bySession } = held(state, (proposal) => !isOfRules(proposal));
  const own = bySession.get(session) ?? 0;
  const full = (count: number, of: string, limit: number) =>
    refuse(
      'limit_reached',
      `${count} proposals made by hand ${of} are pending, and the limit is ${limit}: decide on some first with "throughline learning review --project ${state.project}"`,
      { project: state.project, ...(session !== undefined && { session }), limit },
    );
  if (all >= MAX_MANUAL) return full(all, `in project ${state.project}`, MAX_MANUAL);
  if (own < MAX_MANUAL_OF_SESSION) return undefined;
  return full(
    own,
    session === undefined ? 'without a session' : `of session ${session}`,
    MAX_MANUAL_OF_SESSION,
  );
}

function isOfRules({ method }: Proposal): boolean {
  return method !== 'manual';
}

/** Proposals of a kind that wait: of the project, and of each session. */
function held({ entries }: LearningState, isOfKind: (proposal: Proposal) => boolean) {
  const bySession = new Map<string | undefined, number>();
  let all = 0;
  for (const { proposal } of entries.values()) {
    if (proposal.status !== 'pending' || !isOfKind(proposal)) continue;
    const { session } = proposal.source;
    all += 1;
    bySession.set(session, (bySession.get(session) ?? 0) + 1);
  }
  return { all, bySession };
}
