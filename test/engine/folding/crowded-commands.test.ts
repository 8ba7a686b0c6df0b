import { describe, expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import type { ToolName } from '../../../src/contracts/requests.js';
import type { StoredEvent } from '../../../src/contracts/session-events.js';
import { createCommander } from '../../../src/engine/folding/commander.js';
import { createSessionReader, createSnapshotWriter } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import type { SessionLog } from '../../../src/engine/ports/session-log.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { emptyState } from '../../../src/memory/session/session-state.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, recorded, timeOf } from '../../support/builders.js';
import { callingSession } from '../../support/calling.js';
import { countedEvents } from '../../support/faults/clean-run.js';
import * as fc from '../../support/properties.js';
import { bytes, restored } from '../../support/snapshots.js';

/** More than the retries of a command. */
const MANY = 40;

const SESSION = token('crowded', 'session');

/** A session's log into which results arrive between any two steps of commands, controlled by `turn`. */
class CrowdedLog {
  readonly memory = new MemorySessionLog();
  readonly #turn: (what: string) => Promise<void>;
  /** Number of results before each append. */
  readonly #burst: () => number;
  results = 0;
  conflicts = 0;

  constructor(turn: (what: string) => Promise<void>, burst: () => number) {
    this.#turn = turn;
    this.#burst = burst;
  }

  async result(): Promise<void> {
    this.results += 1;
    await this.memory.append(SESSION, recorded(this.results, implementer()));
  }

  port(): SessionLog {
    const { memory } = this;
    return {
      newest: (session) => memory.newest(session),
      watch: (session, onEvent) => memory.watch(session, onEvent),
      read: async (session, range) => {
        await this.#turn('read');
        return memory.read(session, range);
      },
      append: async (session, event, options) => {
        for (let left = this.#burst(); left > 0; left -= 1) await this.result();
        await this.#turn('append');
        const appended = await memory.append(session, event, options);
        if (appended.outcome === 'conflict') this.conflicts += 1;
        return appended;
      },
    };
  }
}

function processOn(log: SessionLog, name: string) {
  const snapshots = new MemorySnapshotStore();
  const reader = createSessionReader({ log, snapshots, logger: silentLogger, maxCached: 1 });
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `${name}-${ids}`;
  };
  const clock = () => timeOf(0);
  const command = createCommander({ log, reader, clock, newId, random: () => 0, pause: async () => {} });
  const writer = createSnapshotWriter({ snapshots, clock, logger: silentLogger, every: 1000 });
  const tools = callingSession({ command, reader, writer });
  return (tool: ToolName, args: object) => tools(tool, { session: SESSION, ...args });
}

const folded = (events: readonly StoredEvent[], state = emptyState(SESSION)) => events.reduce(evolve, state);

describe('commands while results come in', () => {
  it('a command on a session into which a result comes before every append is carried out at once', async () => {
    const log = new CrowdedLog(
      async () => {},
      () => 1,
    );
    let appends = 0;
    const port = log.port();
    const counting: SessionLog = {
      ...port,
      append(...args) {
        appends += 1;
        return port.append(...args);
      },
    };
    const call = processOn(counting, 'one');
    for (let number = 1; number <= 20; number += 1) {
      expect(await call('task-add', { content: `task ${number}` })).toMatchObject({
        task: { id: `TAS-${number}` },
      });
    }
    expect(appends).toBe(20);
    const { events } = await log.memory.read(SESSION, { after: 0 });
    expect(events.filter(({ event }) => event.type === 'task.added')).toHaveLength(20);
  });

  it('commands of several processes give no id twice, and no task to two agents, however results come between', async () => {
    let conflicts = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.infiniteStream(fc.constantFrom(0, 0, 0, 0, 1, 1, 2, MANY)),
        fc.array(fc.array(fc.constantFrom('add', 'claim'), { minLength: 1, maxLength: 4 }), {
          minLength: 2,
          maxLength: 4,
        }),
        async (scheduler, bursts, work) => {
          const log = new CrowdedLog(
            (what) => scheduler.schedule(Promise.resolve(), what).then(() => undefined),
            () => bursts.next().value ?? 0,
          );
          const answers: object[] = [];
          const done = Promise.all(
            work.map(async (steps, at) => {
              const call = processOn(log.port(), `process-${at}`);
              for (const [step, kind] of steps.entries()) {
                const reply =
                  kind === 'add'
                    ? await call('task-add', { content: `task ${at}.${step}` })
                    : await call('task-next', { claim: `agent ${at}.${step}` });
                answers.push(reply);
              }
            }),
          );
          await scheduler.waitFor(done);

          const { events } = await log.memory.read(SESSION, { after: 0 });
          const counted = await countedEvents(log.memory, SESSION);
          expect(counted).toHaveLength(events.length);
          conflicts += log.conflicts;
          const tasks = (type: string) =>
            counted.flatMap((event) => (event.type === type && 'task' in event.data ? event.data.task : []));
          for (const type of ['task.added', 'task.claimed']) {
            expect(new Set(tasks(type)).size, type).toBe(tasks(type).length);
          }
          // Every acknowledged command is in the log exactly once.
          const answered = answers.flatMap((reply) => ('task' in reply && reply.task ? [reply.task] : []));
          expect(answered).toHaveLength(tasks('task.added').length + tasks('task.claimed').length);
          expect(tasks('task.added')).toHaveLength(work.flat().filter((kind) => kind === 'add').length);
          // The fold does not depend on the starting point.
          const whole = bytes(folded(events));
          for (let cut = 0; cut < events.length; cut += Math.ceil(events.length / 8)) {
            const loaded = restored(bytes(folded(events.slice(0, cut))), SESSION);
            expect(bytes(folded(events.slice(cut), loaded))).toBe(whole);
          }
        },
      ),
      { numRuns: 40 },
    );
    // Without a single conflict the test would prove nothing.
    expect(conflicts).toBeGreaterThan(0);
  });
});
