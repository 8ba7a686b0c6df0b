import { z } from 'zod';
import { type Folder, newFolder, ofFile } from './of-file.js';
import { type System, systemOfFile } from './system.js';

/** A tasks file that a test writes and changes, and what replies say of a run. */

export const TASKS_MD = `# Tasks

- [x] 1. Write the lexer
- [-] 2. Write the parser
  - [x] 2.1 Expressions
    - _Requirements: 1.2, 3_
  - [ ] 2.2 Statements
- [ ]* 3. Write a manual
`;

/** The same run one task later. */
export const TASKS_MD_LATER = TASKS_MD.replace('[ ] 2.2', '[x] 2.2');

/** A folder of plans and a system that reads them, for all tests of the file that calls it. */
export async function planSystemOfFile(): Promise<{ readonly folder: Folder; readonly system: System }> {
  const folder = await ofFile(newFolder());
  return { folder, system: await systemOfFile({ env: { THROUGHLINE_TASKS_ROOTS: folder.path } }) };
}

const totals = z.strictObject({
  total: z.number(),
  completed: z.number(),
  inProgress: z.number(),
  pending: z.number(),
});

const runReply = z.strictObject({
  session: z.looseObject({ name: z.string(), sequence: z.number() }),
  run: z
    .strictObject({
      spec: z.string(),
      goal: z.string().optional(),
      source: z.union([
        z.strictObject({ kind: z.literal('file'), path: z.string() }),
        z.strictObject({ kind: z.literal('document') }),
      ]),
      fingerprint: z.strictObject({ mtimeMs: z.number(), hash: z.string().length(16) }),
      totals,
      active_task_id: z.string().nullable(),
      next_task_id: z.string().nullable(),
      why_none: z.string().optional(),
      drift: z.array(z.strictObject({ task: z.string(), kind: z.string(), message: z.string() })).optional(),
      problems: z.number(),
      guesses: z.number(),
      unnamed: z.number(),
    })
    .nullable(),
  tasks: z.array(
    z.strictObject({
      task: z.string(),
      board: z.string().optional(),
      plan: z.string().optional(),
      dispatches: z.number(),
      last_outcome: z.string(),
      next_action: z.string(),
      required_fixes: z.number(),
      stalled: z.boolean(),
      replan_hint: z.string().optional(),
      rounds: z.number(),
      findings: z.number(),
      blockers: z.number(),
      summary: z.string().optional(),
      last_dispatch: z.number(),
    }),
  ),
  unreadable: z.array(z.looseObject({ task: z.string(), dispatch: z.number() })),
  problems: z
    .array(
      z.strictObject({
        code: z.string(),
        line: z.number(),
        lastLine: z.number().optional(),
        placed: z.boolean(),
        message: z.string(),
      }),
    )
    .optional(),
  degraded: z.string().optional(),
  stalled: z.array(z.looseObject({ task: z.string() })),
  waiting: z.array(z.string()),
  asks: z.array(z.looseObject({ task: z.string(), text: z.string() })),
  working: z.array(
    z.strictObject({ task: z.string(), agent: z.string(), since: z.string(), seen: z.string() }),
  ),
  findings: z.strictObject({ total: z.number(), newest: z.array(z.string()) }),
  sequence: z.number(),
});

/** A reply of `run.init` or `run.status`. Fails where it holds anything else. */
export function runReplyOf(reply: unknown): z.infer<typeof runReply> {
  return runReply.parse(reply);
}
