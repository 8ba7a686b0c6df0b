import { z } from 'zod';
import { TASK_STATUSES } from '../task-events.js';
import { count, place, sequence } from './reply-fields.js';
import { taskProgress, unreadable } from './run-reply.js';
import type { Told } from './told.js';

/** The replies of `ledger-list` and `ledger-show`. */

const ledgerListed = taskProgress
  .extend({
    board: z.enum(TASK_STATUSES).exactOptional().describe('Its status on the board, where it is there.'),
    rounds: count('Reviews that asked for changes.'),
    findings: count('Findings that its last review left open.'),
    blockers: count('What keeps it from going on.'),
    last_dispatch: place('Sequence of its last result in the DISPATCH stream.'),
  })
  .meta({ id: 'LedgerListed', description: 'What came of a task, in a list.' });

export const ledgersListed = z.object({
  tasks: z.array(ledgerListed).describe('Tasks with a result, the one heard of last at the end.'),
  unreadable: z.array(unreadable).describe('Tasks whose last result could not be read.'),
  sequence,
});

export const ledgerShown = z.object({
  task: z.string().describe('Id of the task.'),
  entries: z
    .record(z.string(), z.unknown().describe('Any JSON value.'))
    .describe(
      'The entries ledger.task.* and ledger.progress.* that have content; empty where nothing is known.',
    ),
  remark: z.string().exactOptional().describe('Where nothing is known: so, with tasks of a like name.'),
  sequence,
});

export type LedgersListed = Told<typeof ledgersListed>;
export type LedgerListed = LedgersListed['tasks'][number];
export type LedgerShown = Told<typeof ledgerShown>;
