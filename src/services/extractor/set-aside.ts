import type { ErrorCode } from '../../contracts/error-codes.js';
import { clipText, oneLine } from '../../shared/text.js';
import type { Trouble } from './session-lane.js';

/** The part of an extractor's health about sessions whose logs accept nothing. */
export interface SetAside {
  readonly sessions: number;
  /** About how many dispatches of theirs wait, of those that this extractor has seen. */
  readonly dispatches: number;
  /** Those that have been set aside for longest. */
  readonly worst: readonly {
    readonly session: string;
    readonly code: ErrorCode;
    readonly reason: string;
    /** ISO 8601 in UTC. */
    readonly since: string;
  }[];
}

const MAX_TOLD = 10;
const MAX_REASON = 300;

export function setAsideOf(aside: {
  readonly troubles: readonly Trouble[];
  readonly dispatches: number;
}): SetAside {
  return {
    sessions: aside.troubles.length,
    dispatches: aside.dispatches,
    worst: aside.troubles.slice(0, MAX_TOLD).map(({ session, code, reason, since }) => ({
      session,
      code,
      reason: clipText(oneLine(reason), MAX_REASON),
      since: isoOf(since),
    })),
  };
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
