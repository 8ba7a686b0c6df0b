import type { Command } from 'commander';
import { counted } from '../shared/counted.js';
import { allPages } from './all-pages.js';
import { cliOf, coloured, examples, note, out, withClient } from './command-context.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';
import { showReply } from './show-reply.js';
import { addTool } from './tool-command.js';

/** Commands for people who look at sessions: each asks the services. */

/** As many sessions as one request may ask for. */
const PAGE = 200;

/** The tools that show a whole session. */
type Shown = 'session-show' | 'task-list' | 'iteration-list';

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
      const pages = await withClient(cliOf(command), (client) =>
        allPages((cursor) => client.tools.sessionList({ brief: true, limit: PAGE, ...cursor })),
      );
      // A session that moved meanwhile may stand on two pages.
      const names = [
        ...new Set(pages.flatMap(({ sessions }) => sessions.map(({ session }) => session))),
      ].sort();
      if (options.json) return out(JSON.stringify(names));
      for (const name of names) out(name);
      note(`-- ${counted(names.length, 'session')}`);
    });

  reading(session.command('show'), 'Shows the figures of a session.', 'session show', 'session-show');
  // The same requests as under `tool`, where people look for them.
  for (const word of ['open', 'complete', 'restart'] as const) {
    const command = onSession(session.command(word));
    addTool(command, `session-${word}`, `throughline session ${word} demo`, sessionGiven);
  }
}

export function tasksCommand(program: Command): void {
  const tasks = program.command('tasks');
  reading(tasks, 'Lists the tasks of a session.', 'tasks', 'task-list');
}

export function historyCommand(program: Command): void {
  const history = program.command('history');
  reading(history, 'Lists the iterations of a session, oldest first.', 'history', 'iteration-list');
}

function reading(command: Command, description: string, words: string, tool: Shown): void {
  onSession(command)
    .description(description)
    .option('--json', 'print it as JSON')
    .addHelpText('after', examples(`throughline ${words} demo`, `throughline ${words} demo --json`))
    .action(async () => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const reply = await withClient(cli, (client) => client.requestTool(tool, { session }));
      requireEvents(session, reply.sequence);
      if (command.opts<{ json?: boolean }>().json) return out(JSON.stringify(reply));
      out(showReply(reply, coloured(cli)), coloured(cli));
    });
}
