import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { z } from 'zod';
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

/** A folder with tasks files, removed when it is disposed of. */
export interface TasksFolder extends AsyncDisposable {
  readonly path: string;
  /** Writes a file and gives its path. Each one written has a modification time of its own. */
  write(name: string, text: string): Promise<string>;
  /** Removes a file. */
  drop(name: string): Promise<void>;
  remove(): Promise<void>;
}

/** A folder of plans and a system that reads them, for all tests of the file that calls it. */
export async function planSystemOfFile(): Promise<{ readonly folder: TasksFolder; readonly system: System }> {
  const folder = await tasksFolder();
  const system = await systemOfFile({ env: { THROUGHLINE_TASKS_ROOTS: folder.path } });
  afterAll(() => folder.remove());
  return { folder, system };
}

export async function tasksFolder(): Promise<TasksFolder> {
  const path = await mkdtemp(join(tmpdir(), 'throughline-run-'));
  let seconds = Date.UTC(2026, 0, 1) / 1000;
  const remove = () => rm(path, { recursive: true, force: true });
  return {
    path,
    async write(name, text) {
      const file = join(path, name);
      await writeFile(file, text);
      seconds += 1;
      await utimes(file, seconds, seconds);
      return file;
    },
    drop: (name) => rm(join(path, name)),
    remove,
    [Symbol.asyncDispose]: remove,
  };
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
      held: z.string().optional(),
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
