import { describe, expect, it } from 'vitest';
import { failureText } from '../../../src/agents/mcp/mcp-server.js';
import { promptOverflow } from '../../../src/prompt/prompt-kind.js';

describe('what a model reads of a prompt without room', () => {
  const error = promptOverflow('the implementer prompt', 412, 10);

  it('a prompt without room is told in the fields of the tool, and in no options of the command line', () => {
    expect(failureText(error, ['task', 'prompt', 'tokens'])).toBe(
      'The prompt does not fit (prompt_overflow). Call again with tokens: 412 or more, or with a shorter prompt.',
    );
  });

  it('a tool that takes no tokens is not told to be called with more', () => {
    expect(failureText(error, ['fact', 'task', 'prompt'])).toMatch(
      /\(prompt_overflow\)\. Call again with a shorter prompt\.$/,
    );
  });
});
