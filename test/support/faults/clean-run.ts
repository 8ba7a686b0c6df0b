import { isToken, parseDispatchSubject, type Token } from '../../../src/contracts/names.js';
import type { SessionEvent } from '../../../src/contracts/session-events.js';
import {
  createSessionReader,
  PROJECT_FOLDING,
  type SessionReader,
} from '../../../src/engine/folding/session-folding.js';
import { StateReader } from '../../../src/engine/folding/state-reader.js';
import type {
  DispatchDelivery,
  DispatchSource,
  RejectedStore,
} from '../../../src/engine/ports/dispatch-source.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import type {
  LearningLog,
  NewestResults,
  SessionLog,
  SnapshotStore,
} from '../../../src/engine/ports/session-log.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { encodeSnapshot } from '../../../src/memory/session/session-snapshot.js';
import {
  DEFAULT_LIMITS,
  emptyState,
  type SessionLimits,
  type SessionState,
} from '../../../src/memory/session/session-state.js';
import { startExtractor } from '../../../src/services/extractor/extractor-worker.js';
import { MemoryRejectedStore } from '../../doubles/memory-rejected-store.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';

/** A dispatch as its source has stored it. */
export type StoredDispatch = Pick<DispatchDelivery, 'subject' | 'body' | 'sequence' | 'at' | 'messageId'>;

const MAX_BODY_BYTES = 262_144;
/** Deliveries after which a dispatch is given up, by default. */
export const MAX_DELIVERIES = 20;

export interface CleanRun {
  readonly log: MemorySessionLog;
  readonly rejected: RejectedStore;
}

/**
 * What the extractor makes of these dispatches when nothing goes wrong: each delivered once, one after the other.
 *
 * @param exhausted dispatches that are to be given up, as one that has failed too often is
 */
export async function cleanRun(
  dispatches: readonly StoredDispatch[],
  exhausted: ReadonlySet<number> = new Set(),
  maxDeliveries = MAX_DELIVERIES,
): Promise<CleanRun> {
  const log = new MemorySessionLog();
  const failing: SessionLog & NewestResults = {
    newestResults: (session) => log.newestResults(session),
    read: (session, range) => log.read(session, range),
    newest: (session) => log.newest(session),
    watch: (session, onEvent) => log.watch(session, onEvent),
    append(session, event, options) {
      const givenUp = event.type === 'fact.recorded' && exhausted.has(event.data.dispatch.sequence);
      return givenUp ? Promise.reject(new Error('given up')) : log.append(session, event, options);
    },
  };
  const rejected = new MemoryRejectedStore();
  let deliver: (delivery: DispatchDelivery) => void = () => {};
  const source: DispatchSource = {
    publish: () => Promise.reject(new Error('nobody publishes here')),
    async consume(handler) {
      deliver = handler;
      return { close: async () => {} };
    },
  };
  let time = 0;
  // Whatever is put back comes after every pause.
  const now = () => {
    time += 60_000;
    return time;
  };
  const options = { maxBodyBytes: MAX_BODY_BYTES, maxDeliveries, random: () => 0, now };
  const ports = { source, log: failing, rejected, reader: freshReader(log), logger: silentLogger };
  const extractor = await startExtractor(ports, options);
  for (const dispatch of dispatches) {
    await new Promise<void>((resolve, reject) => {
      const deliverIt = (delivery: number) =>
        deliver({
          ...dispatch,
          delivery,
          ack: resolve,
          term: () => resolve(),
          working: () => {},
          nak: () =>
            exhausted.has(dispatch.sequence)
              ? setImmediate(deliverIt, delivery + 1)
              : reject(new Error(`dispatch ${dispatch.sequence} failed in a clean run`)),
        });
      deliverIt(1);
    });
  }
  await extractor.stop();
  return { log, rejected };
}

/** The events that commands appended: all that do not come from a dispatch. */
export function isCommand(event: SessionEvent): boolean {
  return event.type !== 'fact.recorded' && event.type !== 'dispatch.rejected';
}

/** The events of a session that count: a command that another one came before is stored, and changes nothing. */
export async function countedEvents(log: SessionLog, session: Token): Promise<SessionEvent[]> {
  const { events } = await log.read(session, { after: 0 });
  const state = emptyState(session);
  return events.flatMap((stored) =>
    evolve(state, stored).lastEvent === stored.sequence ? stored.event : [],
  );
}

/** The state that a process which has just started folds, from a snapshot where `snapshots` has one. */
export async function loadFresh(
  log: SessionLog,
  session: Token,
  snapshots: SnapshotStore = new MemorySnapshotStore(),
  limits: SessionLimits = DEFAULT_LIMITS,
): Promise<SessionState> {
  return (await freshReader(log, snapshots, limits).load(session)).folded.state;
}

export function freshReader(
  log: SessionLog,
  snapshots: SnapshotStore = new MemorySnapshotStore(),
  limits: SessionLimits = DEFAULT_LIMITS,
): SessionReader {
  return createSessionReader({ log, snapshots, limits, logger: silentLogger, maxCached: 1 });
}

/** A reader of projects, as that of a process which has just started. */
export function projectReader(log: LearningLog, snapshots: SnapshotStore = new MemorySnapshotStore()) {
  return new StateReader({ log, snapshots, folding: PROJECT_FOLDING, logger: silentLogger, maxCached: 10 });
}

/** All that a state holds, as text; but for the places in the log, which repeated events and gaps shift. */
export function comparable(state: SessionState): string {
  return encodeSnapshot(state, '')
    .replaceAll(/"last_(event|command)":\d+,/g, '')
    .replaceAll(/"(after_sequence|event|eventSequence)":\d+/g, (_, key: string) => `"${key}":0`);
}

export function sessionOf({ subject }: StoredDispatch): Token | undefined {
  const { session } = parseDispatchSubject(subject);
  return isToken(session) ? session : undefined;
}
