import type { Command } from 'commander';
import type { CommandName, ToolArguments } from '../contracts/tool-requests.js';
import { foldedState } from '../services/common/open-sessions.js';
import { decide } from '../session/commands/decide-session.js';
import { counted } from '../shared/counted.js';
import { cliOf, coloured, examples, note, out, withNats } from './command-context.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';
import { showReply } from './show-reply.js';
import { addTool } from './tool-command.js';

/** Commands for people who look at sessions. They read the log themselves, so no service needs to run. */

export function sessionCommand(program: Command): void {
  const session = program
    .command('session')
    .description('Lists and shows the sessions on this NATS server.')
    .addHelpText('after', examples('throughline session ls', 'throughline session show demo'));

  session
    .command('ls')
    .description('Lists all sessions, sorted by name.')
    .option('--json', 'one JSON array of names')
    .addHelpText('after', examples('throughline session ls', 'throughline session ls --json'))
    .action(async (options: { json?: boolean }, command: Command) => {
      const names = await withNats(cliOf(command), ({ log }) => log.sessions());
      if (options.json) return out(JSON.stringify(names));
      for (const name of names) out(name);
      note(`-- ${counted(names.length, 'session')}`);
    });

  reading(session.command('show'), 'Shows the figures of a session.', 'session show', 'session-show', {});
  // The same requests as under `tool`, where people look for them.
  for (const word of ['open', 'complete', 'restart'] as const) {
    const command = onSession(session.command(word));
    addTool(command, `session-${word}`, `throughline session ${word} demo`, sessionGiven);
  }
}

export function tasksCommand(program: Command): void {
  const tasks = program.command('tasks');
  reading(tasks, 'Lists the tasks of a session.', 'tasks', 'task-list', {});
}

export function historyCommand(program: Command): void {
  const history = program.command('history');
  reading(history, 'Lists the iterations of a session, oldest first.', 'history', 'iteration-list', {});
}

function reading<Name extends CommandName>(
  command: Command,
  description: string,
  words: string,
  tool: Name,
  args: ToolArguments<Name>,
): void {
  onSession(command)
    .description(description)
    .option('--json', 'print it as JSON')
    .addHelpText('after', examples(`throughline ${words} demo`, `throughline ${words} demo --json`))
    .action(async () => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const state = await withNats(cli, (nats) => foldedState(nats, cli.logger, session));
      requireEvents(session, state.sequence);
      const decision = decide(tool, state, args);
      if (decision.kind !== 'answer') throw new Error(`${tool} is not a reading command`);
      const reply = decision.reply(state);
      if (command.opts<{ json?: boolean }>().json) return out(JSON.stringify(reply));
      out(showReply(reply, coloured(cli)), coloured(cli));
    });
}
