import { type Command, Option } from 'commander';
import type { SessionListed } from '../contracts/replies/session-reply.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { counted } from '../shared/text.js';
import { cliOf, coloured, examples, note, out, withClient } from './command-context.js';
import { forgetSessionCommand } from './forget-commands.js';
import { span, wholeNumber } from './option-parsers.js';
import { nextPageLines } from './output.js';
import { onSession, projectTaken, requireEvents, sessionGiven } from './session-argument.js';
import { exportSessionCommand } from './session-export.js';
import { importSessionCommand } from './session-import.js';
import { sessionLines } from './show-query.js';
import { showReply } from './show-reply.js';
import { addTool } from './tool-command.js';

/** Commands for people who look at sessions: each asks the services. */

/** As many sessions as one request may ask for. */
const PAGE = 200;
const USUAL = 50;
const MOST = 100_000;

interface Filters {
  readonly text?: string;
  readonly status?: 'open' | 'completed' | 'archived';
  readonly project?: string;
  readonly stalled?: boolean;
  readonly active?: boolean;
  readonly olderThan?: string;
  readonly archived?: boolean;
}

interface ListOptions extends Filters {
  readonly limit: number;
  readonly all?: boolean;
  readonly page?: string;
  readonly json?: boolean;
}

/** The tools that show a whole session. */
type Shown = 'session-show' | 'task-list' | 'iteration-list';

export function sessionCommand(program: Command): void {
  const session = program
    .command('session')
    .description('Lists and shows the sessions on this NATS server.')
    .addHelpText('after', examples('throughline session ls', 'throughline session show demo'));

  session
    .command('ls')
    .summary('list the sessions, those that need a person first')
    .description(
      'Lists the sessions, each with how far it is: stalled ones first, then those that wait for a person, then the newest.',
    )
    .option('--text <text>', 'only sessions whose name, title, project or goal holds these words')
    .addOption(
      new Option('--status <status>', 'only sessions with this status').choices([
        'open',
        'completed',
        'archived',
      ]),
    )
    .option('--project <name>', 'only sessions of this project')
    .option('--stalled', 'only sessions with a task that makes no progress')
    .option('--active', 'only sessions that are open and have moved within 24 hours')
    .option('--older-than <time>', 'only sessions that have not moved for this long: 90m, 12h or 30d', span)
    .option('--archived', 'archived sessions as well')
    .option('--limit <n>', 'most sessions to show', wholeNumber(1, MOST), USUAL)
    .option('-a, --all', 'all of them, however many there are')
    .option('--page <cursor>', 'the page that begins here: the last line of the page before names it')
    .option('--json', 'one JSON array of sessions')
    .addHelpText(
      'after',
      examples(
        'throughline session ls',
        'throughline session ls --stalled --project parser',
        'throughline session ls --older-than 30d --status completed',
        'throughline session ls --all --json',
        'throughline session ls --limit 20 --page CURSOR',
      ),
    )
    .action(async (options: ListOptions, command: Command) => {
      const { all = false, limit, page, json = false, ...filters } = options;
      const most = all ? Number.POSITIVE_INFINITY : limit;
      const { sessions, total, next } = await withClient(cliOf(command), (client) =>
        sessionsListed(client, filters, most, page),
      );
      for (const line of projectTaken(filters.project)) note(line);
      if (json) out(JSON.stringify(sessions));
      else {
        for (const line of sessionLines(sessions, undefined, 'no figures yet')) out(line);
        if (total > 0 || Object.keys(filters).length === 0) note(`-- ${summary(sessions.length, total)}`);
        else note('-- no such sessions: without these options all but archived ones are listed');
      }
      for (const line of nextPageLines(command, next)) note(line);
    });

  const show = session.command('show').summary('show the figures of a session');
  reading(show, 'Shows the figures of a session.', 'session show', 'session-show');
  exportSessionCommand(session);
  importSessionCommand(session);
  forgetSessionCommand(session);
  // The same requests as under `tool`, where people look for them.
  for (const word of ['open', 'complete', 'restart', 'archive', 'reopen'] as const) {
    const command = onSession(session.command(word));
    addTool(command, `session-${word}`, `throughline session ${word} demo`, sessionGiven);
  }
}

/** At most so many sessions, each once: one that moved meanwhile may stand on two pages. */
async function sessionsListed(
  client: ThroughlineClient,
  filters: Filters,
  most: number,
  begin: string | undefined,
): Promise<{ readonly sessions: readonly SessionListed[]; readonly total: number; readonly next?: string }> {
  const found = new Map<string, SessionListed>();
  for (let cursor = begin; ; ) {
    const limit = Math.min(PAGE, most - found.size);
    const page = await client.tools.sessionList({
      ...filters,
      limit,
      ...(cursor !== undefined && { cursor }),
    });
    for (const each of page.sessions) found.set(each.session, each);
    cursor = page.next;
    if (cursor === undefined || found.size >= most)
      return {
        sessions: [...found.values()],
        total: page.total,
        ...(cursor !== undefined && { next: cursor }),
      };
  }
}

function summary(shown: number, total: number): string {
  if (total === 0)
    return 'no sessions: one begins with its first result, as "throughline publish" sends it; --archived lists archived ones';
  if (shown >= total) return counted(shown, 'session');
  return `${shown} of ${counted(total, 'session')}: --all lists the others, too`;
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
