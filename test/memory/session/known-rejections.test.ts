import { describe, expect, it } from 'vitest';
import { parseDispatchBody } from '../../../src/contracts/dispatch-body.js';
import { WINDOW_LENGTH } from '../../../src/memory/session/dispatch-window.js';
import { DEFAULT_LIMITS, rejectionsOf, unreadableTasks } from '../../../src/memory/session/session-state.js';
import { implementer, observer, recorded, rejected, reviewer } from '../../support/builders.js';
import { type DispatchEvent, foldedInOrder } from './arrivals.js';

const rejectionsAfter = (events: readonly DispatchEvent[]) =>
  rejectionsOf(foldedInOrder(events, DEFAULT_LIMITS));
const unreadAfter = (...events: DispatchEvent[]) =>
  unreadableTasks(rejectionsAfter(events)).map(({ task, dispatch }) => `${task}: ${dispatch}`);
const manyOthers = (first: number) =>
  Array.from({ length: WINDOW_LENGTH + 5 }, (_, index) =>
    recorded(first + index, implementer({ task_id: 'other' })),
  );

describe('the rejections of a session', () => {
  it('a session remembers what was rejected, why, and what would fix it', () => {
    const rejection = rejected(7, { role: 'reviewer', task: '2', fix: 'add an assessment' });
    expect(rejectionsAfter([rejected(4), rejection])).toEqual([
      { sequence: 4, event: 1, error: { code: 'schema_invalid', reason: 'status is missing' } },
      {
        sequence: 7,
        event: 2,
        role: 'reviewer',
        task: '2',
        error: { code: 'schema_invalid', reason: 'status is missing', fix: 'add an assessment' },
      },
    ]);
  });

  it('a session remembers the newest hundred rejections, in the order of their dispatches', () => {
    const events = Array.from({ length: 150 }, (_, index) => rejected(((index * 7) % 150) + 1));
    expect(rejectionsAfter(events).map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 51),
    );
  });
});

describe('a result that could not be read', () => {
  const wrong = rejected(5, { role: 'implementer', task: '1' });

  it('a result that could not be read stands for its task until later work or a later review can be read', () => {
    expect(unreadAfter(wrong)).toEqual(['1: 5']);
    expect(unreadAfter(wrong, recorded(6, implementer({ task_id: '2' })))).toEqual(['1: 5']);
    expect(unreadAfter(wrong, recorded(6, implementer()))).toEqual([]);
    expect(unreadAfter(wrong, recorded(6, reviewer()))).toEqual([]);
    expect(unreadAfter(wrong, recorded(6, observer()))).toEqual(['1: 5']);
    expect(unreadAfter(wrong, recorded(6, implementer()), rejected(7, { task: '1' }))).toEqual(['1: 7']);
  });

  it('a result of no known role is made up for by work and by reviews, not by notes', () => {
    const unknown = rejected(5, { task: '1' });
    expect(unreadAfter(unknown, recorded(6, implementer()))).toEqual([]);
    expect(unreadAfter(unknown, recorded(6, reviewer()))).toEqual([]);
    expect(unreadAfter(unknown, recorded(6, observer()))).toEqual(['1: 5']);
  });

  it('a note that could not be read leaves nothing to do', () => {
    expect(unreadAfter(rejected(5, { role: 'observer', task: '1' }))).toEqual([]);
  });

  it('a rejection names the role that the result was meant for', () => {
    const text = '{"task_id":"1","assessment":"approved"}';
    const parsed = parseDispatchBody(new TextEncoder().encode(text), 'implementer', 1000);
    if (parsed.ok) expect.fail('the result was read');
    const { reason, fix = '', meant } = parsed;
    const misplaced = rejected(5, { role: 'implementer', task: '1', reason, fix, ...(meant && { meant }) });
    expect(rejectionsAfter([misplaced]).map(({ error }) => error.meant)).toEqual(['reviewer']);
  });

  it('late and in order, the same results make up for a rejection', () => {
    const one = rejected(5, { role: 'implementer', task: '1' });
    for (const returned of [implementer(), reviewer(), observer()]) {
      const read = recorded(6, returned);
      const inOrder = unreadAfter(one, read, ...manyOthers(10));
      expect(inOrder).toEqual(returned.role === 'observer' ? ['1: 5'] : []);
      expect(unreadAfter(read, ...manyOthers(10), one)).toEqual(inOrder);
    }
  });

  it('a result whose task could not be read stands for none', () => {
    expect(unreadAfter(rejected(5))).toEqual([]);
  });
});
