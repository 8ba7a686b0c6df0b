import { expect, it } from 'vitest';
import { cycleThrough, type Task, type TaskBoard } from '../../../../src/memory/session/task-board.js';
import { growth } from '../../../support/cpu-time.js';

/** Tasks of which each waits for all before it: as dense as dependencies can be. */
function dense(count: number): TaskBoard {
  const ids = Array.from({ length: count }, (_, at) => `TAS-${at + 1}`);
  const tasks = new Map(ids.map((id, at) => [id, waiting(id, ids.slice(0, at))]));
  return { tasks, lastNumber: count, deleted: new Map(), claims: new Map() };
}

function waiting(id: string, depends_on: readonly string[]): Task {
  const at = '2026-05-01T00:00:00.000Z';
  return {
    id,
    content: id,
    status: 'remaining',
    priority: 2,
    iteration: 0,
    depends_on,
    created_at: at,
    updated_at: at,
  };
}

it('dependencies on all tasks of a dense board are checked by one walk over its dependencies', () => {
  const boards = new Map<number, TaskBoard>();
  const check = (edges: number) => {
    const count = Math.ceil(Math.sqrt(2 * edges));
    const board = boards.get(count) ?? dense(count);
    boards.set(count, board);
    expect(cycleThrough(board, 'TAS-0', [...board.tasks.keys()])).toBeUndefined();
  };
  expect(growth(check)).toBeLessThan(2.8);
});
