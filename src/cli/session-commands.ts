import type { Command } from 'commander';
import type { ToolArguments, ToolName } from '../contracts/tool-requests.js';
import { foldedState } from '../services/common/open-sessions.js';
import { decide } from '../session/commands/decide-session.js';
import { counted } from '../shared/counted.js';
import {
  cliOf,
  coloured,
  examples,
  note,
  noteWhereEmpty,
  out,
  sessionOf,
  withNats,
} from './command-context.js';
import { showReply } from './show-reply.js';

/** Commands for people who look at sessions. They read the log themselves, so no service needs to run. */

interface ReadOptions {
  readonly session?: string;
  readonly json?: boolean;
}

export function sessionCommand(program: Command): void {
  const session = program
    .command('session')
    .description('Lists and shows the sessions on this NATS server.')
    .addHelpText('after', examples('throughline session ls'));

  session
    .command('ls')
    .description('Lists all sessions, sorted by name.')
    .option('--json', 'one JSON array of names')
    .addHelpText('after', examples('throughline session ls', 'throughline session ls --json'))
    .action(async (options: ReadOptions, command: Command) => {
      const names = await withNats(cliOf(command), (nats) => nats.log.sessions());
      if (options.json) return out(JSON.stringify(names));
      for (const name of names) out(name);
      note(`-- ${counted(names.length, 'session')}`);
    });

  reading(session.command('show'), 'Shows the figures of a session.', 'session show', 'session-show', {});
}

export function tasksCommand(program: Command): void {
  const tasks = program.command('tasks');
  reading(tasks, 'Lists the tasks of a session.', 'tasks', 'task-list', {});
}

export function historyCommand(program: Command): void {
  const history = program.command('history');
  reading(history, 'Lists the iterations of a session, oldest first.', 'history', 'iteration-list', {});
}

function reading<Name extends ToolName>(
  command: Command,
  description: string,
  example: string,
  tool: Name,
  args: ToolArguments<Name>,
): void {
  command
    .description(description)
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION)')
    .option('--json', 'print it as JSON')
    .addHelpText(
      'after',
      examples(`throughline ${example} --session demo`, `throughline ${example} -s demo --json`),
    )
    .action(async (options: ReadOptions, self: Command) => {
      const cli = cliOf(self);
      const session = sessionOf(cli, options.session);
      const state = await withNats(cli, (nats) => foldedState(nats, cli.logger, session));
      const decision = decide(tool, state, args);
      if (decision.kind !== 'answer') throw new Error(`${tool} is not a reading command`);
      const reply = decision.reply(state);
      if (options.json) return out(JSON.stringify(reply));
      out(showReply(reply, coloured(cli)), coloured(cli));
      noteWhereEmpty(session, state.sequence);
    });
}
