import { cursor, limit, text, tool } from './tool-shape.js';

/** What is asked of the prompts that were compiled. */
export const PROMPT_TOOLS = {
  'prompt-list': tool('the prompts that were compiled last, the newest first', '--task 2.1', {
    task: text(128).optional().describe('Only prompts of this task.'),
    limit: limit(200, 50),
    cursor,
  }),
  'prompt-show': tool(
    'show what a compiled prompt held, and the request that compiles it again',
    '--id 4f1c',
    {
      id: text(64).describe('Id of the prompt, from prompt-list.'),
    },
  ),
} as const;
