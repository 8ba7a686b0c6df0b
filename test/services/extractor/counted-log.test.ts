import { expect, it } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { token } from '../../../src/contracts/names.js';
import type { EventOf } from '../../../src/contracts/session-events.js';
import { CountedLog } from '../../../src/services/extractor/counted-log.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { implementer, recorded, rejected, timeOf } from '../../support/builders.js';

const SESSION = token('moved', 'session');
/** Sequences of a replaced log are above this. */
const ABOVE = 1000;

/** Small enough to forget the first of ten dispatches. */
const SMALL = { maxBytes: 8, surely: 8, maxLate: 2 };

it('what was forgotten is looked for again where another log takes the place of this one meanwhile', async () => {
  const [before, after] = [new MemorySessionLog(), new MemorySessionLog({ sequenceStep: ABOVE })];
  for (let dispatch = 1; dispatch <= 10; dispatch += 1)
    for (const log of [before, after]) await log.append(SESSION, recorded(dispatch, implementer()));
  let reads = 0;
  const read: MemorySessionLog['read'] = async (session, range) => {
    reads += 1;
    // The first read finds remembered dispatches, the second one searches for the others.
    const isOther = reads > 1;
    const page = await (isOther ? after : before).read(session, range);
    return { ...page, epoch: isOther ? 'after' : 'before' };
  };
  const counted = new CountedLog({ log: { read } }, SESSION, SMALL);
  const looked = await counted.look(1);
  expect([looked.counted.has(1), looked.through]).toEqual([true, 10 * ABOVE]);
});

it('a checkpoint that cannot be read changes nothing where events came before it', async () => {
  const log = new MemorySessionLog();
  const damaged: EventOf<'session.checkpoint'> = {
    ...{ v: EVENT_VERSION, type: 'session.checkpoint', at: timeOf(2) },
    data: { state: 'AAAA', reason: 'archived' },
  };
  await log.append(SESSION, recorded(1, implementer()));
  await log.append(SESSION, damaged);
  const looked = await new CountedLog({ log }, SESSION).look(1);
  expect(looked.counted.has(1)).toBe(true);

  const alone = new MemorySessionLog();
  await alone.append(SESSION, damaged);
  await expect(new CountedLog({ log: alone }, SESSION).look(1)).rejects.toMatchObject({
    code: 'schema_invalid',
  });
});

it('a recorded result is told from rejected ones, however many were rejected after it', async () => {
  const log = new MemorySessionLog();
  await log.append(SESSION, recorded(1, implementer()));
  for (let dispatch = 2; dispatch <= 1100; dispatch += 1) await log.append(SESSION, rejected(dispatch));
  const counted = new CountedLog({ log }, SESSION);
  const [first, second, last] = await Promise.all([1, 2, 1100].map((dispatch) => counted.look(dispatch)));
  expect(first?.recorded).toContain(1);
  for (const looked of [second, last]) expect([...(looked?.recorded ?? [])]).toEqual([1]);
});
