import { z } from 'zod';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { flag } from '../contracts/request-row.js';
import { REQUESTS, type ToolReply } from '../contracts/requests.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { claimedBy, speakerIn } from '../shared/wire-words.js';
import { answerCommand as answering } from '../work/task-step.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { cliOf, note, noteIfMisspelled, out, sessionOf, withClient } from './command-context.js';
import { addRequest, addRequests, print } from './request-command.js';
import { openInFolder } from './session-argument.js';
import { coloursOf, showReply } from './show-reply.js';

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
    'tool.task-status': {
      sets: { status: 'completed' },
      about: 'mark a task as completed',
      remark: ({ task: { id, unresolved } }) =>
        unresolved.length > 0 ? `${id} waits for ${unresolved.map((task) => task.id).join(', ')}` : undefined,
    },
    'tool.task-priority': false,
    'tool.task-content': {
      about: 'change the text, priority or status of a task',
      fields: {
        content: parts.content.optional(),
        priority: parts.priority.optional(),
        status: parts.status.optional(),
        reason: parts.reason,
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
    'tool.task-delete': { sets: { undo: false }, remark: restorable },
  });
  addMove(task);
  addRequest(task, 'tool.task-status', {
    cli: 'task block <id>',
    sets: { status: 'blocked' },
    about: 'mark a task as blocked, until "task edit ID --status pending"',
    example: { reason: 'Waits for the schema' },
  });
}

/** A session keeps the last 20 that were removed, so that its snapshot stays small. */
function restorable({ deleted }: { readonly deleted?: string | undefined }): string {
  return `"throughline restore ${deleted}" brings it back, until 20 more are removed`;
}

/** A task moves as a new one: results and dependencies stay with the old session. */
function addMove(task: Command): void {
  task
    .command('move')
    .summary('move a task to another session')
    .description(
      'Adds the task to the session that -s names, pending if it was in progress, and deletes it in the one where it is.',
    )
    .argument('<id>', 'id of the task')
    .requiredOption('-s, --session <name>', 'the session to move it to')
    .option('--from <name>', 'the session where it is (default: THROUGHLINE_SESSION, else .throughline.json)')
    .option('--json', 'print the new task as JSON')
    .examples('throughline task move TAS-1 --session api --from demo')
    .action(async (id: string, options: Texts<'session' | 'from'> & Flags<'json'>, command: Command) => {
      const cli = cliOf(command);
      const [from, to] = [sessionOf(cli, options.from, '--from'), sessionOf(cli, options.session)];
      if (from === to) throw usageError(`${id} is in session ${from}: name another session`);
      await withClient(cli, async (client) => {
        const { task: old } = await client.tools.taskNext({ session: from, id });
        if (old === null) throw usageError(`${id} is a task of the plan, which no other session follows`);
        const { content, priority, reason, by, claimed_by: agent } = old;
        // Its claim stays behind, so no agent works on it in its new session.
        const status = old.status === 'in_progress' ? 'remaining' : old.status;
        if (agent !== undefined && old.status === 'in_progress')
          throw new ThroughlineError(
            'conflict',
            `${old.id} is ${claimedBy(agent)}: let it finish, or release it`,
          );
        await openInFolder(cli, to, client);
        const author = by === undefined ? {} : speakerIn(by);
        const added = await client.tools.taskAdd({ session: to, content, priority, status, ...author });
        if (added.created) note(`-- created session ${to}`);
        if (added.created) await noteIfMisspelled(to, client, true);
        if (reason !== undefined && status === old.status)
          await client.tools.taskStatus({ session: to, id: added.task.id, status, reason });
        await client.tools.taskDelete({ session: from, id: old.id });
        if (options.json) return out(JSON.stringify(added));
        print(cli, showReply('tool.task-add', added, coloursOf(cli)));
        note(`-- it was ${old.id} of ${from}: "throughline restore ${old.id} -s ${from}" brings that back`);
      });
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
    // Its words need not be known: the refusal has them.
    sets: { replaces: undefined },
    fields: { replace: flag.describe('Replace the answer of another person.') },
    send: async (client, { replace, ...request }: AnswerOptions) => {
      try {
        return await client.send('tool.blocker-answer', request).catch((error: unknown) => {
          const { answer } = error instanceof ThroughlineError ? (error.details ?? {}) : {};
          if (replace !== true || typeof answer !== 'string') throw error;
          return client.send('tool.blocker-answer', { ...request, replaces: answer });
        });
      } catch (error) {
        throw await withOpenQuestions(error, client, request);
      }
    },
    remark: ({ options }) =>
      options &&
      `it is none of the suggested answers: ${options.map((text) => JSON.stringify(text)).join(', ')}`,
  });
}

type AnswerOptions = { readonly session?: string; readonly task?: string; readonly replace?: boolean };

/** Names the tasks that do have an open question, each with the command that answers it. */
async function withOpenQuestions(
  error: unknown,
  client: ThroughlineClient,
  { session = '', task }: AnswerOptions,
): Promise<unknown> {
  if (!(error instanceof ThroughlineError) || error.details?.task === undefined) return error;
  const asks = (await client.runs.status({ session })).asks.filter((ask) => ask.task !== task);
  const commands = new Set(asks.map((ask) => `\n  ${answering(ask.task, session)}`));
  if (commands.size === 0) return error;
  const message = `${error.message}. Open questions are answered by:${[...commands].join('')}`;
  return new ThroughlineError(error.code, message, { cause: error, details: error.details });
}

export function noteCommand(program: Command): void {
  const notes = program
    .command('note')
    .description('Notes for later agents: prompts show them until they are removed.')
    .examples('throughline note add "The CI machine has no docker" -s demo', 'throughline note ls demo');
  addRequests(notes, {
    'tool.note-add': {
      remark: ({ keeps }) =>
        keeps ? `full: beyond ${keeps} statements the oldest follow-ups end` : undefined,
    },
    'tool.note-delete': { remark: restorable },
  });
}

/** Adds `restore` to the program, and `facts restore` to that group. */
export function restoreCommand(parent: Command): void {
  addRequest<'tool.fact-restore' | 'tool.task-delete'>(parent, 'tool.fact-restore', {
    cli: `${parent.parent === null ? '' : 'facts '}restore <id>`,
    about: 'bring back a fact, a note or a task, whatever ended it',
    async send(client, request) {
      const { session, id } = request;
      if (/^\d+$/.test(String(id)))
        throw usageError(`${id} may be a task or a note: give TAS-${id} or NOT-${id}`);
      if (/^tas-/i.test(String(id))) return client.send('tool.task-delete', { session, id, undo: true });
      const { fact } = await client.send('tool.fact-show', { session, id });
      if (fact.closed_at === undefined) note('-- it holds already');
      return client.send('tool.fact-restore', request);
    },
    show: (reply, colours) =>
      showReply('task' in reply ? 'tool.task-delete' : 'tool.fact-restore', reply, colours),
  });
}

export function inboxCommand(program: Command): void {
  const inbox = program
    .command('inbox')
    .description('Messages for the next agent: prompts show them until they are read.')
    .examples('throughline inbox add "Look at the failing build first" -s demo', 'throughline inbox ls demo');
  addRequests(inbox);
}
