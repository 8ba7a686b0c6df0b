import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkedBy } from '../../src/contracts/checked.js';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { REQUESTS } from '../../src/contracts/requests.js';
import { RESULTS } from '../../src/contracts/results.js';
import { traceEntry } from '../../src/contracts/trace-entry.js';

const RESULT = { task_id: '1', status: 'completed', summary: 'Parser done' };
const COMPILE = { session: 'demo', taskId: '1', taskPrompt: 'Write the parser' };
const TASK = { content: 'Write the parser' };

describe('what is wrong with a request', () => {
  it('the explanation of a wrong request counts characters as the limit does: one that takes two units is one', () => {
    const propose = (content: string) => checkedBy(REQUESTS['learning.propose'].request, { content });
    expect(propose('𝒮'.repeat(200)).content).toBe('𝒮'.repeat(200));
    expect(() => propose('𝒮'.repeat(201))).toThrow('must be at most 200 characters (got 201 characters)');
  });

  it.each([
    [
      'a field under another name',
      RESULTS.implementer,
      { taskId: '1', status: 'completed', summary: 'x' },
      'task_id is missing (found taskId)',
    ],
    [
      'a field of few values that is missing',
      RESULTS.implementer,
      { task_id: '1', summary: 'x' },
      'status is missing: use one of completed, blocked, failed',
    ],
    [
      'a value that is not in a list',
      RESULTS.implementer,
      { ...RESULT, status: 'done' },
      'status is "done": use one of completed, blocked, failed',
    ],
    ['a number for a text', RESULTS.implementer, { ...RESULT, summary: 5 }, 'summary is 5: use text'],
    [
      'a text for a list',
      RESULTS.implementer,
      { ...RESULT, blockers: 'x'.repeat(41) },
      'blockers is text of 41 characters: use a list',
    ],
    [
      'a field of an item',
      RESULTS.implementer,
      { ...RESULT, tests: [{ command: 'npm test', passed: 'yes' }] },
      'tests.0.passed is "yes": use true or false',
    ],
    ['a list for the body', RESULTS.implementer, [], 'the body is a list: use an object'],
    ['nothing', RESULTS.implementer, undefined, 'the body is missing'],
    ['a text for a number', compileRequest, { ...COMPILE, maxFacts: '9' }, 'maxFacts is "9": use a number'],
    ['half a number', compileRequest, { ...COMPILE, maxFacts: 1.5 }, 'maxFacts is 1.5: use a whole number'],
    ['too much', compileRequest, { ...COMPILE, maxFacts: 2000 }, 'maxFacts: must be 0 to 1000 (got 2000)'],
    [
      'a kind that does not exist',
      compileRequest,
      { ...COMPILE, kind: 'prompt' },
      'kind is "prompt": use one of dispatch, iteration, session-start',
    ],
    [
      'neither one nor several',
      z.object(REQUESTS['tool.task-add'].shape),
      { ...TASK, dependsOn: 5 },
      'dependsOn is 5: use text or a list',
    ],
    [
      'an item of several',
      z.object(REQUESTS['tool.task-add'].shape),
      { ...TASK, dependsOn: ['TAS-1', 5] },
      'dependsOn.1 is 5: use text',
    ],
    [
      'a time that is not one',
      traceEntry,
      { intent_id: 'a', action_type: 'ERROR', timestamp: 'today' },
      'timestamp: must be a time in UTC, such as 2026-01-31T12:00:00Z (got "today")',
    ],
  ])('is said in words of people: %s', (_what, schema, request, message) => {
    expect(() => checkedBy(schema, request)).toThrow(new RegExp(`^${escaped(message)}$`));
  });

  it('names five fields at most, and counts the others', () => {
    const tests = Array.from({ length: 7 }, () => ({ command: 'npm test' }));
    const two = 'tests.3.passed is missing; tests.4.passed is missing; and 2 more';
    expect(() => checkedBy(RESULTS.implementer, { ...RESULT, tests })).toThrow(two);
  });
});

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
