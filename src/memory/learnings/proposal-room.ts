import { type Refusal, refuse } from '../../contracts/outcome.js';
import type { LearningState, Proposal } from './learnings-state.js';

/**
 * Limits of pending proposals, so that people can keep up and no session crowds out the others. They apply to new
 * proposals only; stored events are always folded.
 */

/** Limit of pending proposals made by rules; further ones are proposed when seen again. */
export const MAX_WAITING = 200;
/** Limit per session. */
export const MAX_WAITING_OF_SESSION = 40;
/** Limits of manual proposals. Those without a session share the limit of one session. */
export const MAX_MANUAL = 1000;
export const MAX_MANUAL_OF_SESSION = 200;

/** True while rules propose nothing. */
export function rulesPaused(state: LearningState): boolean {
  return held(state, isOfRules).all >= MAX_WAITING;
}

/** Returns the sessions for which rules pause. */
export function sessionsPaused(state: LearningState): string[] {
  return [...held(state, isOfRules).bySession]
    .flatMap(([session, count]) =>
      session !== undefined && count >= MAX_WAITING_OF_SESSION ? [session] : [],
    )
    .sort();
}

/** The remaining capacity for rules. */
export class Room {
  #free: number;
  readonly #held: ReturnType<typeof held>['bySession'];

  constructor(state: LearningState) {
    const { all, bySession } = held(state, isOfRules);
    this.#free = MAX_WAITING - all;
    this.#held = bySession;
  }

  /** Reserves a place for the first item whose session has capacity; `undefined` if none has. */
  take<Thing extends { readonly session: string }>(things: readonly Thing[]): Thing | undefined {
    if (this.#free <= 0) return undefined;
    const taker = things.find(({ session }) => (this.#held.get(session) ?? 0) < MAX_WAITING_OF_SESSION);
    if (taker === undefined) return undefined;
    this.#free -= 1;
    this.#held.set(taker.session, (this.#held.get(taker.session) ?? 0) + 1);
    return taker;
  }
}

/** Returns the refusal of a manual proposal beyond the limits. */
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

/** Counts pending proposals of a kind, in the project and by session. */
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
