import type { DecidedOn } from '../../contracts/event.js';
import type { SessionEvent, StoredEvent } from '../../contracts/session-events.js';
import { lowerBound } from '../../shared/collections.js';
import { evolve } from './evolve-session.js';
import { encodeSnapshot } from './session-snapshot.js';
import { emptyState, type SessionLimits } from './session-state.js';

/**
 * Copies a session's events to another log with other sequences.
 *
 * An event refers to sequences of its own log: the one that it was decided on, and the one up to which the log was
 * searched. A copy translates them, so that the same events count.
 */
interface CopiedEvent {
  readonly event: SessionEvent;
  readonly decided: DecidedOn;
}

/** Never valid: an event decided on itself or a later one does not count in any log. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** Maps sequences of a log to those of its copy. */
export class CopiedSequences {
  readonly #from: number[] = [];
  readonly #to: number[] = [];

  get count(): number {
    return this.#from.length;
  }

  /** Both sequences must increase. */
  add(from: number, to: number): void {
    this.#from.push(from);
    this.#to.push(to);
  }

  /** Returns the copied sequence of the newest event at or before `sequence`; 0 for none. */
  of(sequence: number): number {
    return this.#to[lowerBound(this.#from, sequence + 1, (each) => each) - 1] ?? 0;
  }
}

/** True if the event refers to sequences, so that it can be copied only after those before it. */
export function namesSequences({ after, decidedOn, event }: StoredEvent): boolean {
  return (after ?? decidedOn ?? checkedOf(event)) !== undefined;
}

export function copiedEvent(stored: StoredEvent, sequences: CopiedSequences): CopiedEvent {
  const { sequence, event, after, decidedOn } = stored;
  const before = (named: number) => sequences.of(Math.min(named, sequence - 1));
  const checked = checkedOf(event);
  return {
    event: checked === undefined ? event : checkedTo(event, before(checked)),
    decided: {
      ...(after !== undefined && { after: before(after) }),
      ...(decidedOn !== undefined && { decidedOn: decidedOn < sequence ? before(decidedOn) : NEVER }),
    },
  };
}

/** The state of a session without its name and sequences: two logs with equal texts have equal states. */
export class CanonicalState {
  readonly #ranks = new CopiedSequences();
  readonly #state: ReturnType<typeof emptyState>;

  constructor(limits?: SessionLimits) {
    this.#state = emptyState('_', limits);
  }

  get count(): number {
    return this.#ranks.count;
  }

  add(events: Iterable<StoredEvent>): void {
    for (const stored of events) evolve(this.#state, rankedNext(stored, this.#ranks));
  }

  text(): string {
    return encodeSnapshot(this.#state, '');
  }
}

/** Renumbers the next event of a log; `ranks` has those before it. */
export function rankedNext(stored: StoredEvent, ranks: CopiedSequences): StoredEvent {
  const { event, decided } = copiedEvent(stored, ranks);
  const rank = ranks.count + 1;
  ranks.add(stored.sequence, rank);
  return { sequence: rank, event, ...decided };
}

function checkedOf(event: SessionEvent): number | undefined {
  return isOfDispatch(event) ? event.data.dispatch.checked : undefined;
}

function checkedTo(event: SessionEvent, checked: number): SessionEvent {
  if (event.type === 'fact.recorded')
    return { ...event, data: { ...event.data, dispatch: { ...event.data.dispatch, checked } } };
  if (event.type === 'dispatch.rejected')
    return { ...event, data: { ...event.data, dispatch: { ...event.data.dispatch, checked } } };
  return event;
}

function isOfDispatch(event: SessionEvent) {
  return event.type === 'fact.recorded' || event.type === 'dispatch.rejected';
}
