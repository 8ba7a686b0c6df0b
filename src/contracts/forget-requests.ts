import { z } from 'zod';
import { sessionName } from './session-name.js';
import { text, tool, toolOfNone } from './tool-shape.js';

/** The tools that erase what is stored. */

const dryRun = z.boolean().default(false).describe('Only count what would go; nothing is erased.');
const confirm = (what: string) =>
  text(64)
    .optional()
    .describe(`The name of the ${what} once more: without it nothing is erased. Not needed for a dry run.`);

export const FORGET_TOOLS = {
  'session-forget': tool(
    'erase a session for good: events, results, snapshots, prompts, evidence in learnings',
    '--confirm demo',
    {
      confirm: confirm('session'),
      dryRun,
      withLearnings: z
        .boolean()
        .default(false)
        .describe('Also remove accepted learnings that rest on this session alone.'),
    },
  ),
  'project-forget': toolOfNone(
    'erase a project for good: all its sessions, learnings and proposals',
    '--project parser --confirm parser',
    { project: sessionName.describe('Name of the project.'), confirm: confirm('project'), dryRun },
  ),
} as const;
