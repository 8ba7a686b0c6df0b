import type { Role } from '../contracts/names.js';
import type { DispatchRejected } from '../contracts/session-events.js';
import { sessionFact } from '../facts/extractor.js';
import { InMemorySessionFactStore } from '../facts/store.js';
import type { RecordedFact, SessionFact } from '../facts/types.js';
import { type DispatchFold, DispatchWindow, type DispatchWindowJson } from './dispatch-window.js';

/** Limits that shape the fold; a snapshot made under other limits is not used. */
export interface SessionLimits {
  /** Facts kept for a session, closed ones included. */
  readonly maxFacts: number;
}

export const DEFAULT_LIMITS: SessionLimits = { maxFacts: 500 };

/** A dispatch as the fold keeps it while it may still be overtaken. */
export type DispatchEntry =
  | {
      readonly kind: 'recorded';
      readonly sequence: number;
      readonly at: string;
      /** Sequence of the session event that brought it. */
      readonly event: number;
      readonly role: Role;
      readonly task: string;
      readonly facts: readonly RecordedFact[];
    }
  | {
      readonly kind: 'rejected';
      readonly sequence: number;
      readonly at: string;
      readonly event: number;
      readonly error: DispatchRejected['data']['error'];
    };

/** Counts since the session began. */
export interface DispatchCounts {
  implementer: number;
  reviewer: number;
  rejected: number;
}

/** What dispatches, in their order, add up to. */
export interface DispatchMemory {
  readonly facts: InMemorySessionFactStore;
  readonly counts: DispatchCounts;
}

/** Everything that a session's events add up to. `evolve` owns and changes it; everybody else only reads. */
export interface SessionState {
  readonly session: string;
  readonly limits: SessionLimits;
  readonly dispatches: DispatchWindow<DispatchEntry, DispatchMemory>;
  /** Sequence up to which the session's log has been folded; 0 before the first event. */
  sequence: number;
  /** Time of the newest event, ISO 8601; empty before the first. Ages in prompts are counted from it. */
  lastEventAt: string;
}

/** The state of a session without events. */
export function emptyState(session: string, limits: SessionLimits = DEFAULT_LIMITS): SessionState {
  return {
    session,
    limits,
    dispatches: new DispatchWindow(
      dispatchFold(limits),
      memory([], { implementer: 0, reviewer: 0, rejected: 0 }),
    ),
    sequence: 0,
    lastEventAt: '',
  };
}

/** A state as plain JSON: what a snapshot holds. Equal states give equal bytes. */
export interface SessionStateJson {
  readonly limits: SessionLimits;
  readonly last_event_at: string;
  readonly counts: DispatchCounts;
  readonly facts: readonly SessionFact[];
  readonly window: DispatchWindowJson<DispatchEntry>;
}

export function stateToJson(state: SessionState): SessionStateJson {
  const settled = state.dispatches.settled();
  return {
    limits: state.limits,
    last_event_at: state.lastEventAt,
    counts: settled.counts,
    facts: settled.facts.all(),
    window: state.dispatches.toJSON(),
  };
}

export function stateFromJson(session: string, sequence: number, json: SessionStateJson): SessionState {
  return {
    session,
    limits: json.limits,
    dispatches: new DispatchWindow(dispatchFold(json.limits), memory(json.facts, json.counts), json.window),
    sequence,
    lastEventAt: json.last_event_at,
  };
}

/** The facts of a session, all dispatches folded. */
export function factsOf(state: SessionState): InMemorySessionFactStore {
  return state.dispatches.current().facts;
}

function memory(facts: Iterable<SessionFact>, counts: DispatchCounts): DispatchMemory {
  return { facts: InMemorySessionFactStore.of(facts), counts: { ...counts } };
}

function dispatchFold(limits: SessionLimits): DispatchFold<DispatchEntry, DispatchMemory> {
  // Compacting sorts the facts, so it waits until a quarter more than the limit has come together.
  const tolerated = limits.maxFacts + Math.floor(limits.maxFacts / 4);
  return {
    apply(folded, entry) {
      if (entry.kind === 'rejected') {
        folded.counts.rejected += 1;
        return;
      }
      folded.counts[entry.role] += 1;
      const origin = { sequence: entry.sequence, at: entry.at, role: entry.role, taskId: entry.task };
      folded.facts.add(entry.facts.map((fact) => sessionFact(fact, origin, entry.event)));
      if (folded.facts.size() > tolerated) folded.facts.compact(limits.maxFacts);
    },
    copy: (folded) => memory(folded.facts.all(), folded.counts),
  };
}
