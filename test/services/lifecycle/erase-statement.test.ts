import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Token } from '../../../src/contracts/names.js';
import { createCommander } from '../../../src/engine/folding/commander.js';
import { createSessionReader, createSnapshotWriter } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { createEraseTool } from '../../../src/services/lifecycle/erase-statement.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, timeOf } from '../../support/builders.js';
import { StatedSession } from '../../support/stated.js';

it('a statement is erased while results come in: they are kept, and its text is gone', async () => {
  const stated = new StatedSession();
  await stated.says('The gate is LYREBIRD blue');
  const session = 'demo' as Token;
  const { log } = stated;
  const snapshots = new MemorySnapshotStore();
  const clock = () => timeOf(500);
  const reader = createSessionReader({ log, snapshots, logger: silentLogger, maxCached: 9 });
  let late = 0;
  const busy = Object.assign(Object.create(log) as typeof log, {
    // A result is stored between the decision on the first two checkpoints and their appends.
    async append(...args: Parameters<typeof log.append>) {
      if (args[1].type === 'session.checkpoint' && late < 2) {
        late += 1;
        await stated.result(implementer({ task_id: `late-${late}` }));
      }
      return log.append(...args);
    },
  });
  const command = createCommander({ log: busy, reader, clock, newId: randomUUID, random: () => 0 });
  const erasedSequences: (readonly number[])[] = [];
  const erase = createEraseTool({
    log: log as never,
    reader,
    command,
    clock,
    writer: createSnapshotWriter({ snapshots, clock, logger: silentLogger, every: 100 }),
    index: { put: async () => undefined } as never,
    eraser: {
      eraseSome: async (_: Token, { events }: { events: readonly number[] }) => erasedSequences.push(events),
      rewrite: async () => undefined,
    } as never,
    connection: { info: { max_payload: 1_000_000 } } as never,
    learnings: { projects: async () => [] } as never,
    projects: {} as never,
    inBackground: {} as never,
  });
  await erase({ session, id: 'M1', by: 'ann', person: true });
  expect(late).toBe(2);
  expect(erasedSequences).toEqual([[1]]);
  const facts = await stated.facts();
  expect(facts.map(({ object }) => object).join()).not.toContain('LYREBIRD');
  expect(facts.map(({ sourceTaskId }) => sourceTaskId)).toEqual(expect.arrayContaining(['late-1', 'late-2']));
});
