import { describe, expect, it } from 'vitest';
import type { SessionLog } from '../../../src/engine/ports/session-log.js';
import { withRepairs } from '../../../src/services/common/event-repairs.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { DEMO } from '../../doubles/spied-ports.js';
import { implementer, recorded } from '../../support/builders.js';

const REPAIRS = [{ kind: 'list', field: 'files_modified' }];

/** Returns a log in which every second result was repaired, and the facts of its events. */
async function logOf(length: number) {
  const log = new MemorySessionLog();
  for (let at = 1; at <= length; at += 1) {
    const event = recorded(at, implementer({ task_id: '1' }));
    const data = at % 2 === 0 ? { ...event.data, repairs: REPAIRS } : event.data;
    await log.append(DEMO, { ...event, data });
  }
  const facts = (await log.read(DEMO, { after: 0 })).events.map(({ sequence }) => ({
    eventSequence: sequence,
  }));
  const reads: number[] = [];
  const counting: Pick<SessionLog, 'read'> = {
    async read(...args) {
      const read = await log.read(...args);
      reads.push(read.events.length);
      return read;
    },
  };
  return { facts, reads, counting };
}

describe('the repairs of facts', () => {
  it.each([3, 1100])('of %d facts, those of a repaired result have its repairs', async (length) => {
    const { facts, reads, counting } = await logOf(length);
    const told = await withRepairs(counting, DEMO, [...facts, { eventSequence: 99_999 }]);
    expect(told).toEqual([
      ...facts.map((fact, index) => (index % 2 === 1 ? { ...fact, repairs: REPAIRS } : fact)),
      { eventSequence: 99_999 },
    ]);
    expect(Math.max(...reads)).toBe(1);
  });

  it('a few facts of a long session cost a few reads', async () => {
    const { facts, reads, counting } = await logOf(100);
    const told = await withRepairs(
      counting,
      DEMO,
      [facts[1], facts[98], facts[1]].flatMap((fact) => fact ?? []),
    );
    expect(told.map(({ repairs }) => repairs)).toEqual([REPAIRS, undefined, REPAIRS]);
    expect(reads).toEqual([1, 1]);
  });
});
