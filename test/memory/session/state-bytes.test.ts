import { describe, expect, it } from 'vitest';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { emptyState, type SessionState, stateBytes } from '../../../src/memory/session/session-state.js';
import { implementer, recorded } from '../../support/builders.js';

const after = (dispatches: number): SessionState => {
  const state = emptyState('demo');
  for (let n = 1; n <= dispatches; n += 1) {
    const files_modified = Array.from({ length: 5 }, (_, i) => `src/module-${n}/part-${i}.ts`);
    evolve(state, { sequence: n, event: recorded(n, implementer({ task_id: String(n), files_modified })) });
  }
  return state;
};

describe('the weight of a state', () => {
  it('the weight of a state grows with its dispatches, within the window and beyond it', () => {
    const weights = [0, 1, 5, 20, 64, 80, 100].map((dispatches) => stateBytes(after(dispatches)));
    expect(weights).toEqual([...weights].sort((a, b) => a - b));
    expect(new Set(weights).size).toBe(weights.length);
  });

  it('the weight of a state counts tasks, notes, messages and iterations', () => {
    const state = emptyState('demo');
    const at = '2026-01-01T00:00:00.000Z';
    const empty = stateBytes(state);
    state.board.tasks.set('TAS-1', {
      id: 'TAS-1',
      content: 'x',
      status: 'remaining',
      priority: 2,
      depends_on: [],
      iteration: 0,
      created_at: at,
      updated_at: at,
    });
    const task = stateBytes(state);
    state.notebook.inbox.set('INB-1', { id: 'INB-1', content: 'x', created_at: at, read: false });
    const message = stateBytes(state);
    state.history.iterations.push({ number: 1, started_at: at, complete: false, tasks_worked: [] });
    const weights = [empty, task, message, stateBytes(state)];
    expect(weights).toEqual([...new Set(weights)].sort((a, b) => a - b));
  });
});
