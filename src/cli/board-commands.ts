import { z } from 'zod';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { REQUESTS, type ToolReply } from '../contracts/requests.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { answerCommand as answering } from '../work/task-step.js';
import type { Command } from './cli-command.js';
import { addRequest, addRequests } from './request-command.js';

/** `throughline task …`, `note …` and `inbox …`: what agents and people keep in a session. */

export function taskCommand(program: Command): void {
  const parts = {
    ...REQUESTS['tool.task-content'].shape,
    ...REQUESTS['tool.task-priority'].shape,
    ...REQUESTS['tool.task-status'].shape,
  };
  const task = program
    .command('task')
    .description('The tasks on the board of a session. Agents take them, results move them.')
    .examples('throughline task add "Write the parser" -s demo', 'throughline task ls demo');
  addRequests(task, {
    'tool.task-status': { sets: { status: 'completed' }, about: 'mark a task as completed' },
    'tool.task-priority': false,
    'tool.task-content': {
      about: 'change the text, priority or status of a task',
      fields: {
        ...{ content: parts.content.optional(), priority: parts.priority.optional() },
        ...{ status: parts.status.optional(), reason: parts.reason },
      },
      send: editTask,
    },
    'tool.task-depends': {
      about: 'make a task wait for others, or with --remove no longer',
      send: (client, { remove, ...request }: { remove?: boolean }) =>
        client.send(remove === true ? 'tool.task-undepends' : 'tool.task-depends', request),
      fields: { remove: z.literal(true).optional().describe('stop waiting for these tasks') },
    },
    'tool.task-undepends': false,
    'tool.task-delete': {
      sets: { undo: false },
      remark: ({ deleted }) => `"throughline task restore ${deleted}" brings it back`,
    },
  });
  addRequest(task, 'tool.task-delete', {
    ...{ cli: 'task restore <id>', sets: { undo: true }, about: 'restore a deleted task' },
  });
  addRequest(task, 'tool.task-status', {
    ...{ cli: 'task block <id>', sets: { status: 'blocked' }, about: 'mark a task as blocked' },
    example: { reason: 'Waits for the schema' },
  });
}

const EDITS = {
  content: 'tool.task-content',
  priority: 'tool.task-priority',
  status: 'tool.task-status',
} as const;

async function editTask(
  client: ThroughlineClient,
  { session, id, reason, by, person, ...parts }: Record<string, unknown>,
) {
  let reply: ToolReply<'task-content'> | undefined;
  for (const [part, name] of Object.entries(EDITS))
    if (parts[part] !== undefined)
      reply = await client.send(name, {
        session,
        id,
        [part]: parts[part],
        ...(part === 'status' && { reason }),
        ...(part === 'content' && { by, person }),
      });
  if (reply === undefined) throw usageError('nothing to change: give --content, --priority or --status');
  return reply;
}

export function answerCommand(program: Command): void {
  addRequest(program, 'tool.blocker-answer', {
    send: (client, request: { session?: string; task?: string }) =>
      client.send('tool.blocker-answer', request).catch(async (error: unknown) => {
        throw await withOpenQuestions(error, client, request);
      }),
  });
}

/** Names the tasks that do have an open question, each with the command that answers it. */
async function withOpenQuestions(
  error: unknown,
  client: ThroughlineClient,
  { session = '', task }: { session?: string; task?: string },
): Promise<unknown> {
  if (!(error instanceof ThroughlineError) || error.details?.task === undefined) return error;
  const asks = (await client.runs.status({ session })).asks.filter((ask) => ask.task !== task);
  const commands = new Set(asks.map((ask) => `\n  ${answering(ask.task, session)}`));
  if (commands.size === 0) return error;
  const message = `${error.message}. Open questions are answered by:${[...commands].join('')}`;
  return new ThroughlineError(error.code, message, { cause: error, details: error.details });
}

export function noteCommand(program: Command): void {
  const note = program
    .command('note')
    .description('Notes for later agents: prompts show them until they are removed.')
    .examples('throughline note add "The CI machine has no docker" -s demo', 'throughline note ls demo');
  addRequests(note, {
    'tool.note-delete': { remark: ({ deleted }) => `"throughline note restore ${deleted}" brings it back` },
  });
  addRequest(note, 'tool.fact-restore', {
    ...{ cli: 'note restore <id>', about: 'restore a removed note', example: { id: 'NOT-1' } },
  });
}

export function inboxCommand(program: Command): void {
  const inbox = program
    .command('inbox')
    .description('Messages for the next agent: prompts show them until they are read.')
    .examples('throughline inbox add "Look at the failing build first" -s demo', 'throughline inbox ls demo');
  addRequests(inbox);
}
