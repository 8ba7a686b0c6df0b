import { z } from 'zod';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { REQUESTS } from '../contracts/requests.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { answerCommand as answering } from '../work/task-step.js';
import type { Command } from './cli-command.js';
import { out, withClient } from './command-context.js';
import { addFields, addRequest, addRequests, print } from './request-command.js';
import { SESSION_DEFAULT, sessionFor } from './session-argument.js';
import { coloursOf, showReply } from './show-reply.js';

/** `throughline task …`, `note …` and `inbox …`: what agents and people keep in a session. */

export function taskCommand(program: Command): void {
  const task = program
    .command('task')
    .description('The tasks on the board of a session. Agents take them, results move them.')
    .examples('throughline task add "Write the parser" -s demo', 'throughline task ls demo');
  addRequests(task, {
    'tool.task-status': { sets: { status: 'completed' }, about: 'mark a task as completed' },
    'tool.task-priority': false,
    'tool.task-content': false,
    'tool.task-depends': {
      about: 'make a task wait for others, or with --remove no longer',
      send: (client, { remove, ...request }: { remove?: boolean }) =>
        client.send(remove === true ? 'tool.task-undepends' : 'tool.task-depends', request),
      fields: { remove: z.literal(true).optional().describe('stop waiting for these tasks') },
    },
    'tool.task-undepends': false,
  });
  addRequest(task, 'tool.task-status', {
    ...{ cli: 'task block <id>', sets: { status: 'blocked' }, about: 'mark a task as blocked' },
    example: { reason: 'Waits for the schema' },
  });
  addEdit(task);
}

const EDITS = ['task-content', 'task-priority', 'task-status'] as const;

function addEdit(task: Command): void {
  const { id, ...content } = REQUESTS['tool.task-content'].shape;
  const parts = {
    ...content,
    ...REQUESTS['tool.task-priority'].shape,
    ...REQUESTS['tool.task-status'].shape,
  };
  const optional = Object.fromEntries(
    Object.entries(parts).map(([field, schema]) => [field, field === 'id' ? id : schema.optional()]),
  );
  const command = task.command('edit').summary('change the text, priority or status of a task');
  const fieldsIn = addFields(command, optional, { places: ['id'] });
  command
    .description('Changes the text, the priority or the status of a task.')
    .option('-s, --session <name>', `session ${SESSION_DEFAULT}`)
    .option('--json', 'print the last reply as JSON')
    .examples(
      'throughline task edit TAS-1 -s demo --content "Write the lexer and the parser"',
      'throughline task edit TAS-1 -s demo --priority 0 --status pending',
    )
    .action(async () => {
      const { cli, session } = await sessionFor(command, false);
      const given: Readonly<Record<string, unknown>> = fieldsIn();
      const changes = EDITS.filter((name) => name.replace('task-', '') in given);
      if (changes.length === 0) throw usageError('nothing to change: give --content, --priority or --status');
      const json = command.opts<{ json?: boolean }>().json === true;
      await withClient(cli, async (client) => {
        for (const name of changes) {
          const fields = Object.keys(REQUESTS[`tool.${name}`].shape).flatMap((field) =>
            field in given ? [[field, given[field]]] : [],
          );
          const reply = await client.send(`tool.${name}`, { session, ...Object.fromEntries(fields) });
          if (name !== changes.at(-1)) continue;
          if (json) out(JSON.stringify(reply));
          else print(cli, showReply(`tool.${name}`, reply, coloursOf(cli)));
        }
      });
    });
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
  addRequests(note);
}

export function inboxCommand(program: Command): void {
  const inbox = program
    .command('inbox')
    .description('Messages for the next agent: prompts show them until they are read.')
    .examples('throughline inbox add "Look at the failing build first" -s demo', 'throughline inbox ls demo');
  addRequests(inbox);
}
