import type { RoleResult } from '../../../src/contracts/results.js';
import type { DispatchRejected, FactRecorded, StoredEvent } from '../../../src/contracts/session-events.js';
import { resultsToJson, WINDOW_LENGTH } from '../../../src/memory/session/dispatch-window.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { stateToJson } from '../../../src/memory/session/session-snapshot.js';
import {
  emptyState,
  factsOf,
  rejectionsOf,
  type SessionLimits,
  type SessionState,
  tracesOf,
} from '../../../src/memory/session/session-state.js';
import { tracesToJson } from '../../../src/memory/traces/session-traces.js';
import { recorded, rejected, roleResults, stored } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

/** An event of a dispatch. */
export type DispatchEvent = FactRecorded | DispatchRejected;

/** The same dispatches twice: as they were published, and as their events arrived. */
export interface Arrivals {
  /** One event for each dispatch, in the order of the `DISPATCH` stream. */
  readonly clean: readonly DispatchEvent[];
  /** The same events late, early and repeated. */
  readonly arrived: readonly DispatchEvent[];
}

/** What is published: a result that is recorded or not. */
interface Publication {
  readonly returned: RoleResult;
  /** Under which it is published: one that another has as well is published again. */
  readonly id: string | undefined;
  readonly fate: 'recorded' | 'rejected';
  /** Where its events arrive: one event for each key. */
  readonly keys: readonly number[];
}

// Other sessions publish too: the sequences of one session have gaps.
const sequenceOf = (index: number) => 3 * index + 2;

/** The event of the same dispatch, had it been rejected: of some the task could be read, of some not. */
function unread({ data: { dispatch } }: FactRecorded): DispatchRejected {
  return rejected(dispatch.sequence, dispatch.sequence % 4 === 0 ? {} : { task: dispatch.task });
}

function arrivalsOf(publications: readonly Publication[]): Arrivals {
  const placed = publications.map((publication, index) => {
    const sequence = sequenceOf(index);
    const result = recorded(sequence, publication.returned, publication.id);
    const event = publication.fate === 'rejected' ? unread(result) : result;
    return { event, arrivals: publication.keys.map((key) => ({ event, key })) };
  });
  return {
    clean: placed.map(({ event }) => event),
    arrived: placed
      .flatMap(({ arrivals }) => arrivals)
      .sort((a, b) => a.key - b.key)
      .map(({ event }) => event),
  };
}

const fates = fc.constantFrom<Publication['fate'][]>('recorded', 'recorded', 'recorded', 'rejected');
/** None, one that others seldom have, or one of very few. */
const ids: fc.Arbitrary<string | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.nat(1000).map((n) => `id-${n}`),
  fc.constantFrom('r1', 'r2', 'r3'),
);
const results = (maxLength: number) => fc.array(fc.tuple(roleResults, fates), { minLength: 1, maxLength });

/** Up to `maxLength` dispatches whose events arrive in any order at all, each up to three times. */
export function permuted(maxLength: number, idOf: typeof ids = ids): fc.Arbitrary<Arrivals> {
  const keys = fc.array(fc.nat(10_000), { minLength: 1, maxLength: 3 });
  return fc
    .array(fc.tuple(roleResults, idOf, fates, keys), { minLength: 1, maxLength })
    .map((entries) =>
      arrivalsOf(entries.map(([returned, id, fate, keys]) => ({ returned, id, fate, keys }))),
    );
}

/** More dispatches than the window holds, each overtaken by fewer than that, some repeated at any later time. */
export function jittered(length: number): fc.Arbitrary<Arrivals> {
  const delays = fc.tuple(fc.nat(WINDOW_LENGTH - 1), fc.array(fc.nat(length), { maxLength: 2 }), ids);
  return fc.tuple(results(8), fc.array(delays, { minLength: length, maxLength: length })).map(([pool, all]) =>
    arrivalsOf(
      all.map(([delay, later, id], index) => {
        const [returned, fate] = pool[(index * 7) % pool.length] ?? fail();
        const first = index + delay;
        return { returned, id, fate, keys: [first, ...later.map((more) => first + more)] };
      }),
    ),
  );
}

function fail(): never {
  throw new Error('the pool is never empty');
}

export function folded(events: readonly StoredEvent[], limits: SessionLimits): SessionState {
  return events.reduce(evolve, emptyState('demo', limits));
}

export function foldedInOrder(events: readonly DispatchEvent[], limits: SessionLimits): SessionState {
  return folded(stored(events), limits);
}

/** The same dispatches without those whose result was recorded before under another sequence. */
export function withoutRepeats(clean: readonly DispatchEvent[]): DispatchEvent[] {
  const known = new Set<string>();
  return clean.filter(({ type, data }) => {
    const key = type === 'fact.recorded' ? data.dispatch.result_key : undefined;
    if (key === undefined) return true;
    const isNew = !known.has(key);
    known.add(key);
    return isNew;
  });
}

/** Everything that a state says, but for where in the session's log the events happened to stand. */
export function said(state: SessionState) {
  const { facts, window, rejections, ...json } = stateToJson(state);
  return {
    ...json,
    facts: facts.map((fact) => ({ ...fact, eventSequence: 0 })),
    rejections: rejections.map((rejection) => ({ ...rejection, event: 0 })),
    window: { ...window, recent: window.recent.map((entry) => ({ ...entry, event: 0 })) },
    newest: state.dispatches.newest(),
    current: {
      counts: state.dispatches.current().counts,
      traces: tracesToJson(tracesOf(state)),
      results: resultsToJson(state.dispatches.current().results),
      ledgers: [...state.dispatches.current().ledgers.values()],
      boardResults: [...state.dispatches.current().boardResults.values()],
      rejections: rejectionsOf(state).map((rejection) => ({ ...rejection, event: 0 })),
      valid: factsOf(state).count(),
      facts: factsOf(state)
        .all()
        .map((fact) => ({ ...fact, eventSequence: 0 })),
    },
  };
}

/** Everything that a state holds beside its dispatches, as it is and not as a snapshot would write it. */
export function held({ dispatches: _, ...rest }: SessionState): object {
  return rest;
}
