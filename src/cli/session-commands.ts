import { REQUESTS } from '../contracts/requests.js';
import type { Command, Flags } from './cli-command.js';
import { out, withClient } from './command-context.js';
import { addRemove } from './remove-commands.js';
import { addRequest, print } from './request-command.js';
import { onSession, requireEvents, sessionFor, shownOf } from './session-argument.js';
import { addExport, addImport } from './session-import.js';
import { coloursOf, sessionLines, showReply } from './show-reply.js';

export function sessionCommand(program: Command): void {
  const session = program
    .command('session')
    .description('Lists and shows the sessions on this NATS server.')
    .examples('throughline session ls', 'throughline session show demo');

  addRequest(session, 'ls', 'session-list', {
    without: ['brief'],
    examples: ['', '--stalled --project parser', '--older-than 30d --status completed', '--limit 20'],
    show: ({ sessions }, colours) =>
      sessions.length === 0 ? [] : sessionLines(colours, sessions, undefined, 'no figures yet'),
    remark: ({ sessions, total }) =>
      total === 0
        ? 'no such sessions: one begins with its first result, as "throughline publish" sends it; --archived lists archived ones'
        : shownOf(sessions.length, total, 'session'),
  });
  addShow(session);
  for (const word of ['open', 'complete', 'restart'] as const)
    addRequest(session, word, `session-${word}`, {
      examples: [`demo ${REQUESTS[`tool.session-${word}`].example}`],
    });
  addRequest(session, 'archive', 'session-archive', { examples: ['demo --reason "Shipped in 2.0"'] });
  addRequest(session, 'reopen', 'session-reopen', { examples: ['demo --reason "A bug was found"'] });
  addExport(session);
  addImport(session);
  addRemove(session);
}

type ShowOptions = Flags<'iterations' | 'telemetry' | 'snapshot' | 'json'>;

function addShow(session: Command): void {
  onSession(session.command('show'))
    .summary('show the figures of a session, its iterations, counters or snapshot')
    .description('Shows the figures of a session: its tasks, facts, results and settings.')
    .option('--iterations', 'show its iterations instead, the oldest first')
    .option('--telemetry', 'show the counters of its prompts and results instead')
    .option('--snapshot', 'show its stored snapshot instead; with --json the snapshot itself')
    .option('--json', 'print the reply as JSON')
    .examples('throughline session show demo', 'throughline session show demo --iterations')
    .action(async (_: string | undefined, options: ShowOptions, command: Command) => {
      const { cli, session } = await sessionFor(command);
      const { json = false, snapshot = false } = options;
      const name = options.iterations
        ? 'iteration-list'
        : options.telemetry
          ? 'telemetry-show'
          : snapshot
            ? 'snapshot-show'
            : 'session-show';
      const reply = await withClient(cli, async (client) => {
        const shown = await client.send(`tool.${name}`, {
          session,
          ...(snapshot && json && { whole: true }),
        });
        if (name !== 'telemetry-show') requireEvents(session, shown.sequence);
        return shown;
      });
      if (json) return out('text' in reply && reply.text !== undefined ? reply.text : JSON.stringify(reply));
      print(cli, showReply(name, reply, coloursOf(cli)));
    });
}
