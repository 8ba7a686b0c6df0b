import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { token } from '../../../src/contracts/names.js';
import { answer } from '../../../src/memory/session/commands/session-decision.js';
import { progressByTools } from '../../../src/services/common/open-sessions.js';

const SESSION = token('demo', 'session');
const undecided = () => answer(() => ({}));

describe('a compiler without the right to append', () => {
  it('a compiler without the right to append has the session tools append the progress', async () => {
    const asked: unknown[] = [];
    const command = progressByTools(async (...request) => {
      asked.push(request);
      return { run: {}, sequence: 3 };
    });
    expect(await command(SESSION, 'progress.rebuilt', undecided)).toMatchObject({
      appended: 'progress.rebuilt',
    });
    expect(asked).toEqual([['run.status', 'demo']]);
  });

  it.each([
    ['they cannot read the file either', async () => ({ degraded: 'tasks.md: it is gone' }), 'it is gone'],
    [
      'nobody answers',
      () => Promise.reject(new ThroughlineError('unavailable', 'nobody answers run.status')),
      'nobody answers',
    ],
  ])(
    'a compiler without the right to append lets the prompt go without progress when %s',
    async (_, ask, text) => {
      await expect(progressByTools(ask)(SESSION, 'progress.rebuilt', undecided)).rejects.toMatchObject({
        code: 'progress_ledger_missing_tasks',
        message: expect.stringContaining(text),
      });
    },
  );

  it('a compiler without the right to append carries out no other command', async () => {
    await expect(progressByTools(async () => ({}))(SESSION, 'task-add', undecided)).rejects.toThrow(
      'task-add',
    );
  });
});
