import { expect } from 'vitest';
import type { RejectedStore } from '../../../src/engine/ports/dispatch-source.js';
import type { SessionActivity, SessionLog, SnapshotStore } from '../../../src/engine/ports/session-log.js';
import { DEFAULT_LIMITS, type SessionLimits } from '../../../src/memory/session/session-state.js';
import { allRejected } from '../all-rejected.js';
import { sessionsOf } from '../session-names.js';
import {
  cleanRun,
  comparable,
  countedEvents,
  isCommand,
  loadFresh,
  type StoredDispatch,
  sessionOf,
} from './clean-run.js';
import type { Publication } from './workload.js';

/** What a run has left behind, in memory or on NATS. */
export interface Aftermath {
  readonly log: SessionLog & Pick<SessionActivity, 'activity'>;
  readonly snapshots: SnapshotStore;
  readonly rejected: RejectedStore;
  /** All that the dispatch source holds, oldest first. */
  readonly dispatches: readonly StoredDispatch[];
  /** What publishers got a PubAck for, by its sequence. */
  readonly acknowledged: ReadonlyMap<number, Publication>;
  /** Whether the source may have stored what was published again under the same id. Default: no. */
  readonly forgetsIds?: boolean;
  /** Dispatches that were rejected and have been published again since. Default: none. */
  readonly retried?: ReadonlySet<number>;
  /** Sessions whose stream was deleted, and which dispatches nothing remembers of them since. Default: none. */
  readonly lost?: ReadonlyMap<string, ReadonlySet<number>>;
  /** Default: those of an unconfigured system. */
  readonly limits?: SessionLimits;
  /** Deliveries after which a dispatch was given up. Default: 20. */
  readonly maxDeliveries?: number;
}

/**
 * The check that every fault ends with: nothing that was acknowledged is lost; what could not be used stands in the
 * rejected store, once and whole; each result counts once, however often it was stored; and every session, loaded from its snapshot as well as replayed from its first event,
 * is byte for byte what a clean run makes of the same dispatches.
 */
export async function expectCleanEnd(aftermath: Aftermath): Promise<void> {
  expectNothingLost(aftermath);
  const given = await expectRejectedOnce(aftermath);
  await expectStates(aftermath, given);
}

function expectNothingLost({ dispatches, acknowledged, retried = new Set(), forgetsIds }: Aftermath): void {
  const stored = new Map(dispatches.map((dispatch) => [dispatch.sequence, dispatch]));
  const kept = [...acknowledged.keys()].map((sequence) => [sequence, stored.get(sequence)?.subject]);
  expect(kept).toEqual([...acknowledged].map(([sequence, { subject }]) => [sequence, subject]));
  // Every publisher went on until there was a PubAck: what is stored beyond that was stored twice.
  const published = new Set([...acknowledged.values()].map(({ id }) => id));
  const more = dispatches.filter(({ sequence }) => !acknowledged.has(sequence));
  const twice = more.filter(({ messageId }) => messageId !== undefined && published.has(messageId));
  if (!forgetsIds) expect(twice).toEqual([]);
  expect(more.length - twice.length).toBe(retried.size);
}

/** Checks what was rejected, and gives the dispatches that were given up without an event that records them. */
async function expectRejectedOnce(aftermath: Aftermath): Promise<ReadonlySet<number>> {
  const { log, rejected, dispatches, maxDeliveries, retried } = aftermath;
  const recorded = new Set<number>();
  for (const session of await sessionsOf(log)) {
    for (const { event } of (await log.read(session, { after: 0 })).events) {
      if (event.type === 'fact.recorded') recorded.add(event.data.dispatch.sequence);
    }
  }
  const entries = await allRejected(rejected);
  const exhausted = entries
    .filter(({ code }) => code === 'deliveries_exhausted')
    .map((each) => each.sequence);
  const run = await cleanRun(dispatches, new Set(exhausted), maxDeliveries);
  const clean = await allRejected(run.rejected);
  const inOrder = (list: typeof entries) =>
    list
      .map(({ sequence, subject, code, bytes }) => ({ sequence, subject, code, bytes }))
      .sort((one, other) => one.sequence - other.sequence);
  const kept = clean.filter(({ sequence }) => !retried?.has(sequence));
  expect(inOrder(entries)).toEqual(inOrder(kept));
  return new Set(exhausted.filter((sequence) => !recorded.has(sequence)));
}

async function expectStates(aftermath: Aftermath, givenUp: ReadonlySet<number>): Promise<void> {
  const { log, snapshots, dispatches, limits = DEFAULT_LIMITS, maxDeliveries, lost } = aftermath;
  const forgotten = new Set([...(lost?.values() ?? [])].flatMap((sequences) => [...sequences]));
  const remembered = dispatches.filter(({ sequence }) => !forgotten.has(sequence));
  const clean = await cleanRun(remembered, givenUp, maxDeliveries);
  const unusable = new Set((await allRejected(clean.rejected)).map(({ sequence }) => sequence));
  const results = resultsOf(aftermath);
  const sessions = await sessionsOf(log);
  const dispatched = new Set(dispatches.map(sessionOf).filter((session) => session !== undefined));
  expect(sessions).toEqual(expect.arrayContaining([...dispatched]));
  for (const session of sessions) {
    // Commands stand as they were appended: what they decided on is not known any more.
    for (const event of await countedEvents(log, session)) {
      if (isCommand(event)) await clean.log.append(session, event);
    }
    const expected = comparable(await loadFresh(clean.log, session, undefined, limits));
    // Of a stream that was deleted only the snapshot knows the beginning.
    if (!lost?.has(session)) {
      const replayed = await loadFresh(log, session, undefined, limits);
      expect(comparable(replayed), `session ${session}, replayed`).toBe(expected);
    }
    const loaded = await loadFresh(log, session, snapshots, limits);
    expect(comparable(loaded), `session ${session}, from its snapshot`).toBe(expected);
    const { rejected, ...recorded } = loaded.dispatches.current().counts;
    const all = Object.values(recorded).reduce((sum, count) => sum + count, 0);
    const mine = remembered.filter((dispatch) => sessionOf(dispatch) === session);
    const usable = mine.filter(({ sequence }) => !unusable.has(sequence));
    expect({ recorded: all, rejected }, `dispatches of ${session}`).toEqual({
      recorded: new Set(usable.map(results)).size,
      rejected: mine.length - usable.length,
    });
  }
}

/** Which result a dispatch is, as its publisher knows it. */
function resultsOf({ acknowledged }: Aftermath): (dispatch: StoredDispatch) => string {
  const byId = new Map([...acknowledged.values()].map(({ id, result = id }) => [id, result]));
  return ({ messageId = '', sequence }) => byId.get(messageId) ?? `dispatch ${sequence}`;
}
