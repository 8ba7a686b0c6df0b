import { randomUUID } from 'node:crypto';
import { NO_RULES, type RetentionRules } from '../../src/contracts/lifecycle-record.js';
import { type Token, token } from '../../src/contracts/names.js';
import { createCommander } from '../../src/engine/folding/commander.js';
import type { LeaseClaim } from '../../src/engine/ports/lease-store.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { ERASED_KINDS } from '../../src/engine/ports/session-lifecycle.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { sessionFigures } from '../../src/memory/session/plan-status.js';
import { emptyState } from '../../src/memory/session/session-state.js';
import { generationOf } from '../../src/nats/stores/nats-session-lifecycle.js';
import { SessionTable } from '../../src/services/common/session-table.js';
import type { ForgetPorts } from '../../src/services/lifecycle/forget-session.js';
import { recordOf } from '../../src/shared/text.js';
import { MemoryLearningLog } from '../doubles/memory-learning-log.js';
import { MemorySessionLifecycle } from '../doubles/memory-session-lifecycle.js';
import { MemorySessionLog } from '../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../doubles/memory-snapshot-store.js';
import { timeOf } from './builders.js';
import { projectReader } from './faults/clean-run.js';
import { recordArchived } from './lifecycle-records.js';

export const NOW = '2026-01-01T00:00:00.000Z';

export function openedFor(session: string, project: string) {
  const state = emptyState(session);
  const event = { v: 1, type: 'session.opened', at: timeOf(1), data: { project } } as const;
  evolve(state, { sequence: 1, event });
  return state;
}

/** The ports of a keeper in memory, with one result under each name, and the sessions of some projects. No session has a log. */
export function keeperPorts(names: readonly string[], projects: Readonly<Record<string, string>>) {
  const [learnings, snapshots, lifecycle] = [
    new MemoryLearningLog(),
    new MemorySnapshotStore(),
    new MemorySessionLifecycle(),
  ];
  const reader = projectReader(learnings, snapshots);
  const clock = () => NOW;
  const command = createCommander({ log: learnings, reader, clock, newId: randomUUID, random: () => 0 });
  let now = 10_000;
  const table = new SessionTable(() => now);
  for (const [session, project] of Object.entries(projects))
    table.folded(token(session, 'session'), 1, sessionFigures(openedFor(session, project)), now);
  now += 10_000;
  const load = async (session: Token) => {
    const generation = generationOf(lifecycle, session);
    const project = projects[session];
    const state = project === undefined ? emptyState(session) : openedFor(session, project);
    const folded = {
      key: session,
      state,
      snapshotSequence: 0,
      sinceSnapshot: 0,
      epoch: undefined,
      generation,
    };
    return { folded, replayed: 0 };
  };
  return {
    lifecycle,
    clock,
    learnings,
    inBackground: command,
    table,
    projects: reader,
    sessions: { load },
    reader: { load },
    eraser: eraserOf(names),
    index: { remove: async () => {} },
    logger: silentLogger,
    pause: async () => {},
    compared: async () => {},
    caughtUp: async () => {},
    now: () => Date.parse(NOW),
    leases: {
      claim: async (_key: string, { holder, at }: LeaseClaim) => ({ holder, since: at }),
      release: async () => {},
    },
    store: { rules: async (): Promise<RetentionRules> => NO_RULES },
    log: new MemorySessionLog(),
    archiver: {
      async requireCheckpointFits() {},
      archive: async (_session: Token, _sequence: number, _reason: string) => true,
      async settle(session: Token) {
        await recordArchived(lifecycle, session, { at: NOW });
      },
      async compact() {},
    },
  };
}

/** One result under each name, and no events. */
function eraserOf(names: readonly string[]): ForgetPorts['eraser'] & { readonly dispatches: Set<string> } {
  const dispatches = new Set(names);
  const count = async (session: Token) => ({
    ...recordOf(ERASED_KINDS, () => 0),
    dispatches: Number(dispatches.has(session)),
  });
  return {
    dispatches,
    count,
    lastDispatch: async () => 0,
    marks: async () => ({ dispatches: 0, sequence: 0 }),
    async erase(session) {
      const erased = await count(session);
      dispatches.delete(session);
      return erased;
    },
    async rewrite() {},
    async eraseLearnings() {},
    async eraseSome() {},
  };
}
