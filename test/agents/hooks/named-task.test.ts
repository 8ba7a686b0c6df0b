import { describe, expect, it } from 'vitest';
import { namedTask } from '../../../src/agents/hooks/hook-call.js';

describe('the task that a text names', () => {
  it.each([
    ['Please do task 2.1: write the printer', '2.1'],
    ['Task ID: T014', 'T014'],
    ['{"task_id": "api-3"}', 'api-3'],
    ['look at tas-12 first', 'TAS-12'],
    ['Task #7.', '7'],
    ['task_id=2', '2'],
  ])('%s', (text, id) => {
    expect(namedTask(text)).toBe(id);
  });

  it.each(['the task is to write ES2020', 'taskforce1', 'multitask 2', 'two tasks 3', 'a task\n7. **If'])(
    '%s names none',
    (text) => {
      expect(namedTask(text)).toBeUndefined();
    },
  );
});
