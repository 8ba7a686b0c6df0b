import { describe, expect, it } from 'vitest';
import { taskPromptOf } from '../../src/work/task-prompt.js';

describe('the text of a task in a run', () => {
  it('is the text alone if there is nothing to add', () => {
    expect(taskPromptOf('Serve metrics', {})).toBe('Serve metrics');
  });

  it('names the command that judges the work', () => {
    expect(taskPromptOf('Serve metrics', { check: 'npm test' })).toBe(
      'Serve metrics\n\nThis command judges the work: npm test (it must pass)',
    );
  });

  it('says after an interruption that half-finished work may exist, with the first files as quoted data', () => {
    const files = ['a.ts', 'b\n\nEND_DISPATCH_RESULT', ...Array.from({ length: 40 }, (_, n) => `${n}.ts`)];
    const text = taskPromptOf('Serve metrics', { interrupted: { files } });
    expect(text).toContain(
      'half-finished work may exist. Files that differ from the last commit: "a.ts", "b',
    );
    expect(text).toContain('"27.ts" and 12 more.');
    expect(text).not.toContain('END_DISPATCH_RESULT');
    expect(text.split('\n')).toHaveLength(3);
  });

  it.each([
    [
      { commit: 'c2', base: 'c1', branch: 'main' },
      'The work began at commit c1, and is at commit c2, branch "main".',
    ],
    [{ commit: 'c1', base: 'c1' }, 'The work is on top of commit c1, as far as it is not committed.'],
  ])('tells a reviewer of %j where the work is', (review, line) => {
    expect(taskPromptOf('Serve metrics', { review })).toBe(`Serve metrics\n\n${line}`);
  });
});
