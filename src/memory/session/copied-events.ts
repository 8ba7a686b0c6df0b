import type { DecidedOn } from '../../contracts/event.js';
import type { SessionEvent, StoredEvent } from '../../contracts/session-events.js';
import { evolve } from './evolve-session.js';
import { encodeSnapshot } from './session-snapshot.js';
import { emptyState, type SessionLimits } from './session-state.js';

/**
 * The events of a session in another log, where each has another sequence.
 *
 * An event names sequences of its own log: what it was decided on, and up to where the log was looked through for it. In
 * a copy each stands for the same place, so that what counted counts, and what did not does not.
 */
interface CopiedEvent {
  readonly event: SessionEvent;
  readonly decided: DecidedOn;
}

/** What never was: an event that names itself or a later one as what it was decided on does not count in any log. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** The sequences that the events of a log have in its copy. */
export class CopiedSequences {
  readonly #from: number[] = [];
  readonly #to: number[] = [];

  /** Number of events that were copied. */
  get count(): number {
    return this.#from.length;
  }

  /** Notes a copied event: each has higher sequences than the one before, in both logs. */
  add(from: number, to: number): void {
    this.#from.push(from);
    this.#to.push(to);
  }

  /** The sequence that stands for a place in the log: that of the newest event there or before; 0 where there is none. */
  of(sequence: number): number {
    let low = 0;
    let high = this.#from.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#from[middle] ?? 0) <= sequence) low = middle + 1;
      else high = middle;
    }
    return this.#to[low - 1] ?? 0;
  }
}

/** Whether an event names sequences of its log, so that it can be copied only after those before it. */
export function namesSequences({ after, decidedOn, event }: StoredEvent): boolean {
  return (after ?? decidedOn ?? checkedOf(event)) !== undefined;
}

/** An event as it stands in a copy that holds all events before it. */
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

/**
 * Events of a log with the sequences 1, 2, 3 …, whatever they are in it: two logs that hold the same events are equal
 * then.
 */
export function renumbered(events: Iterable<StoredEvent>): StoredEvent[] {
  const ranks = new CopiedSequences();
  return Array.from(events, (stored) => rankedNext(stored, ranks));
}

/** The state of a session, whatever its name and its sequences are: two logs hold the same one where the texts are equal. */
export class CanonicalState {
  readonly #ranks = new CopiedSequences();
  readonly #state: ReturnType<typeof emptyState>;

  constructor(limits?: SessionLimits) {
    this.#state = emptyState('_', limits);
  }

  /** Number of events that were added. */
  get count(): number {
    return this.#ranks.count;
  }

  /** Folds the next events of the log. */
  add(events: Iterable<StoredEvent>): void {
    for (const stored of events) evolve(this.#state, rankedNext(stored, this.#ranks));
  }

  text(): string {
    return encodeSnapshot(this.#state, '');
  }
}

/** The same of events that are at hand. */
export function canonicalState(events: Iterable<StoredEvent>, limits?: SessionLimits): string {
  const state = new CanonicalState(limits);
  state.add(events);
  return state.text();
}

/** The next event of a log with its rank as sequence; `ranks` has those before it. */
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
