import { describe, expect, it } from 'vitest';
import type { RoleResult } from '../../../src/contracts/results.js';
import type { FactRecorded, SessionEvent } from '../../../src/contracts/session-events.js';
import { shown } from '../../../src/memory/session/commands/task-commands.js';
import { seenState } from '../../../src/memory/session/session-state.js';
import { addBoardResult, holderOf } from '../../../src/memory/session/task-board.js';
import { recorded, reviewer } from '../../support/builders.js';
import { APPROVED, blocked, completed, digest, failed, needsChanges } from '../../support/ledgers.js';
import { type Played, timeAt, withTasks } from '../../support/played.js';
import * as fc from '../../support/properties.js';

/** The event of a result of a board task, published so many minutes after the first event. */
function published(sequence: number, minutes: number, returned: RoleResult, id?: string): FactRecorded {
  const { dispatch, ...data } = recorded(sequence, returned, id).data;
  return {
    ...recorded(sequence, returned),
    at: timeAt(minutes),
    data: { ...data, dispatch: { ...dispatch, task: 'TAS-1', at: timeAt(minutes) } },
  };
}

const CLAIM = { task: 'TAS-1', agent: 'x', iteration: 0 };
const seen = (played: Played, id = 'TAS-1') => {
  const { board } = seenState(played.state);
  const task = board.tasks.get(id);
  return task && shown(board, task);
};
/** A board of two tasks, the first moved by these results, one a minute from the tenth on. */
function moved(...returned: readonly RoleResult[]): Played {
  const played = withTasks('a', 'b');
  for (const [index, each] of returned.entries()) played.foldWhole(published(index + 1, 10 + index, each));
  return played;
}

describe('a result of a task of the plan', () => {
  it.each([
    ['in the millisecond of the claim', 5, undefined],
    ['before the claim', 4, 'x'],
  ])('%s, at minute %i: the task is held by %s', (_when, minutes, holder) => {
    const at = timeAt(minutes);
    const last = { sequence: 1, at, role: 'implementer', verdict: 'completed' } as const;
    const claims = new Map([['2', { claimed_by: 'x', claimed_at: timeAt(5) }]]);
    const { board } = withTasks('a').state;
    expect(holderOf({ ...board, claims }, '2', new Map([['2', { last }]]))).toBe(holder);
  });
});

describe('a result of a board task', () => {
  it.each([
    ['work that is done', [completed()], 'in_progress', undefined],
    ['work that failed', [failed()], 'in_progress', undefined],
    ['work that is blocked', [blocked('No docker')], 'blocked', 'No docker'],
    ['an approval', [completed(), APPROVED], 'completed', undefined],
    [
      'a review that asks for changes',
      [completed(), needsChanges('Close the file')],
      'in_progress',
      'Close the file',
    ],
    [
      'a review that is blocked',
      [completed(), reviewer({ assessment: 'blocked', summary: 'Which API?' })],
      'blocked',
      'Which API?',
    ],
    ['work after a block', [blocked('No docker'), completed()], 'in_progress', undefined],
    ['work after an approval', [APPROVED, completed()], 'in_progress', undefined],
  ] as const)('a result of a board task moves it: %s', (_, returned, status, reason) => {
    const played = moved(...returned);
    expect(seen(played)).toMatchObject({ status, updated_at: timeAt(9 + returned.length) });
    expect(seen(played)?.reason).toBe(reason);
    expect(seen(played, 'TAS-2')).toMatchObject({ status: 'remaining' });
  });

  it('a result of a board task gives way to a command that came later, and counts again once there is a newer one', () => {
    const played = moved(completed(), APPROVED);
    played.wait(20).after('task-status', { id: '1', status: 'remaining' });
    expect(seen(played)).toMatchObject({ status: 'remaining' });
    expect(seen(played)).not.toHaveProperty('result');
    played.foldWhole(published(3, 60, APPROVED));
    expect(seen(played)).toMatchObject({ status: 'completed' });
  });

  it('a result of a board task stands when its iteration ends, and the claim is free', () => {
    const played = withTasks('a').after('task-next', { claim: 'x' });
    played
      .foldWhole(published(1, 10, completed()))
      .wait(10)
      .after('iteration-complete', {});
    expect(seen(played)).toMatchObject({ status: 'in_progress' });
    expect(seen(played)).not.toHaveProperty('claimed_by');
    expect(played.when('task-next', { claim: 'y' })).toMatchObject({ reply: { task: null } });
  });

  it('a result of a board task that sends it back has the next agent take it, before what is ready', () => {
    const played = moved(completed(), needsChanges('Close the file'));
    played.after('task-priority', { id: '2', priority: 0 }).wait(20);
    expect(played.when('task-next', { claim: 'x' })).toMatchObject({ reply: { task: { id: 'TAS-1' } } });
    expect(seen(played)).toMatchObject({ status: 'in_progress', claimed_by: 'x' });
    expect(played.when('task-next', { claim: 'y' })).toMatchObject({ reply: { task: { id: 'TAS-2' } } });
  });

  it('a result of a board task hands it in: who held it may claim another, until it is sent back', () => {
    const played = withTasks('a', 'b').after('task-next', { claim: 'x' });
    played.foldWhole(published(1, 10, completed())).wait(10);
    expect(played.when('task-next', { claim: 'x' })).toMatchObject({ reply: { task: { id: 'TAS-2' } } });
    played.after('task-status', { id: '2', status: 'completed' });
    played.foldWhole(published(2, 40, needsChanges('x')));
    expect(played.when('task-next', { claim: 'x' })).toMatchObject({ reply: { task: { id: 'TAS-1' } } });
  });

  it.each([
    ['done work does not reopen what was completed', 'completed', completed(), 'completed'],
    ['a review does', 'completed', needsChanges('x'), 'in_progress'],
    ['nothing reopens what was cancelled', 'cancelled', needsChanges('x'), 'cancelled'],
  ] as const)('a result of a board task respects what was said by hand: %s', (_, by, returned, status) => {
    const played = withTasks('a').after('task-status', { id: '1', status: by });
    expect(seen(played.foldWhole(published(1, 10, returned)))).toMatchObject({ status });
  });

  it('a result of a board task gives the same board in whatever order it and the others arrive', () => {
    const returned = [completed(), APPROVED, needsChanges('x'), blocked('y'), failed()];
    const results = fc.uniqueArray(fc.tuple(fc.nat(60), fc.constantFrom(...returned)), {
      selector: ([minutes]) => minutes,
      minLength: 1,
      maxLength: 6,
    });
    const claim = { v: 1, type: 'task.claimed', at: timeAt(30), data: CLAIM } as const;
    const told = (events: readonly SessionEvent[]) => {
      const played = withTasks('a');
      for (const event of events) played.foldWhole(event);
      return seen(played);
    };
    const orders = results.chain((some) => {
      const sorted = some.toSorted(([a], [b]) => a - b);
      const events = sorted.map(([minutes, of], at) => published(at + 1, minutes, of));
      const all: SessionEvent[] = [...events, claim];
      return fc.tuple(
        fc.constant(all.toSorted((a, b) => (a.at < b.at ? -1 : 1))),
        fc.shuffledSubarray(all, { minLength: all.length }),
      );
    });
    fc.assert(
      fc.property(orders, ([inOrder, shuffled]) => {
        expect(told(shuffled)).toEqual(told(inOrder));
      }),
    );
  });
});

describe('the results of board tasks', () => {
  const add = (
    results: Parameters<typeof addBoardResult>[0],
    task: string,
    sequence: number,
    returned = completed(),
  ) => addBoardResult(results, { task, sequence, at: timeAt(sequence) }, digest(returned));

  it('the results of board tasks are those with the id of one, the newest of each', () => {
    const results: Parameters<typeof addBoardResult>[0] = new Map();
    for (const task of ['2.1', 'TAS-0', 'TAS-01', 'TAS-x', 'MYTAS-1']) add(results, task, 1);
    expect(results.size).toBe(0);
    add(results, 'TAS-1', 5, APPROVED);
    add(results, 'TAS-1', 4);
    expect([...results.values()]).toMatchObject([{ task: 'TAS-1', sequence: 5, verdict: 'approved' }]);
  });
});
