import { vi } from 'vitest';
import { type Token, token } from '../../src/contracts/names.js';
import type { SessionEvent } from '../../src/contracts/session-events.js';
import { createSessionReader, type SessionReaderOptions } from '../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import type { SessionLog, SnapshotStore } from '../../src/engine/ports/session-log.js';
import { encodeSnapshot } from '../../src/memory/session/session-snapshot.js';
import { DEFAULT_LIMITS, type SessionState } from '../../src/memory/session/session-state.js';
import { implementer, recorded, reviewer } from '../support/builders.js';
import { MemorySessionLog } from './memory-session-log.js';
import { MemorySnapshotStore } from './memory-snapshot-store.js';

export const DEMO = token('demo', 'session');

/** Memory ports whose calls can be counted, delayed or made to fail; sequences have gaps, unless `sequenceStep` is 1. */
export function spiedPorts(sequenceStep = 3) {
  const kept = { log: new MemorySessionLog({ sequenceStep }), snapshots: new MemorySnapshotStore() };
  const log = {
    append: vi.fn<SessionLog['append']>((...args) => kept.log.append(...args)),
    read: vi.fn<SessionLog['read']>((...args) => kept.log.read(...args)),
    newest: vi.fn<SessionLog['newest']>((...args) => kept.log.newest(...args)),
    watch: vi.fn<SessionLog['watch']>((...args) => kept.log.watch(...args)),
  };
  const snapshots = {
    load: vi.fn<SnapshotStore['load']>((...args) => kept.snapshots.load(...args)),
    loadAtOrBefore: vi.fn<SnapshotStore['loadAtOrBefore']>((...args) =>
      kept.snapshots.loadAtOrBefore(...args),
    ),
    save: vi.fn<SnapshotStore['save']>((...args) => kept.snapshots.save(...args)),
  };
  const logger = { ...silentLogger, info: vi.fn(), warn: vi.fn() };
  const reader = (options: Partial<SessionReaderOptions> = {}) =>
    createSessionReader({ log, snapshots, logger, limits: DEFAULT_LIMITS, maxCached: 10, ...options });
  /** Appends the events of these dispatches and returns the sequence of the last one. */
  const append = async (session: Token, ...dispatches: number[]) => {
    let last = 0;
    for (const dispatch of dispatches) {
      const appended = await kept.log.append(session, dispatched(dispatch));
      if (appended.outcome === 'appended') last = appended.sequence;
    }
    return last;
  };
  return { kept, log, snapshots, logger, reader, append };
}

/** Returns the event of a dispatch: reviews and implementations of a few tasks. */
export function dispatched(dispatch: number): SessionEvent {
  const task_id = `${dispatch % 4}`;
  if (dispatch % 3 === 0) {
    const required_fixes = [`fix ${dispatch}`, `fix ${dispatch - 1}`];
    return recorded(dispatch, reviewer({ task_id, required_fixes }));
  }
  const files_modified = [`src/f${dispatch % 5}.ts`];
  return recorded(dispatch, implementer({ task_id, summary: `step ${dispatch}`, files_modified }));
}

/** Serializes the whole state. */
export function bytesOf(state: SessionState): string {
  return encodeSnapshot(state, '2026-01-01T00:00:00.000Z');
}

/** Returns the numbers from `first` to `last`. */
export function upTo(last: number, first = 1): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
