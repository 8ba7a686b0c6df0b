import type { SessionListed } from '../contracts/replies/session-reply.js';
import { TOOLS } from '../contracts/tool-requests.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { counted } from '../shared/text.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { cliOf, note, out, withClient } from './command-context.js';
import { wholeNumber } from './option-parsers.js';
import { nextPageLines } from './output.js';
import { addRemove } from './remove-commands.js';
import { addFields, addRequest, print, shapeOf } from './request-command.js';
import { onSession, projectNote, requireEvents, sessionFor } from './session-argument.js';
import { addExport, addImport } from './session-import.js';
import { coloursOf, sessionLines, showReply } from './show-reply.js';

const PAGE = 200;
const USUAL = 50;
const MOST = 100_000;

interface Filters extends Flags<'stalled' | 'active' | 'archived'>, Texts<'text' | 'project' | 'olderThan'> {
  readonly status?: 'open' | 'completed' | 'archived';
}

interface ListOptions extends Filters, Flags<'all' | 'json'>, Texts<'page'> {
  readonly limit: number;
}

export function sessionCommand(program: Command): void {
  const session = program
    .command('session')
    .description('Lists and shows the sessions on this NATS server.')
    .examples('throughline session ls', 'throughline session show demo');

  const list = session
    .command('ls')
    .summary('list the sessions, those that need a person first')
    .description(
      'Lists the sessions, each with how far it is: those that wait for a person first, then stalled ones, then the newest.',
    );
  addFields(
    list,
    shapeOf(TOOLS['session-list'].shape, (field) => !['brief', 'limit', 'cursor'].includes(field)),
  );
  list
    .option('--limit <n>', 'most sessions to show', wholeNumber(1, MOST), USUAL)
    .option('-a, --all', 'all of them, however many there are')
    .option('--page <cursor>', 'the page that begins here: the last line of the page before names it')
    .option('--json', 'one JSON array of sessions')
    .examples(
      'throughline session ls',
      'throughline session ls --stalled --project parser',
      'throughline session ls --older-than 30d --status completed',
      'throughline session ls --all --json',
      'throughline session ls --limit 20 --page CURSOR',
    )
    .action(async (options: ListOptions, command: Command) => {
      const { all = false, limit, page, json = false, ...filters } = options;
      const most = all ? Number.POSITIVE_INFINITY : limit;
      const cli = cliOf(command);
      const { sessions, total, next } = await withClient(cli, (client) =>
        sessionsListed(client, filters, most, page),
      );
      for (const line of projectNote(filters.project)) note(line);
      if (json) out(JSON.stringify(sessions));
      else {
        if (sessions.length > 0)
          print(cli, sessionLines(coloursOf(cli), sessions, undefined, 'no figures yet'));
        if (total > 0 || Object.keys(filters).length === 0) note(`-- ${summary(sessions.length, total)}`);
        else note('-- no such sessions: without these options all but archived ones are listed');
      }
      for (const line of nextPageLines(command, next)) note(line);
    });

  addShow(session);
  for (const word of ['open', 'complete', 'restart'] as const)
    addRequest(session, word, `session-${word}`, { examples: [`demo ${TOOLS[`session-${word}`].example}`] });
  addRequest(session, 'archive', 'session-archive', { examples: ['demo --reason "Shipped in 2.0"'] });
  addRequest(session, 'reopen', 'session-reopen', { examples: ['demo --reason "A bug was found"'] });
  addRequest(session, 'title', 'session-open', {
    ...{ places: ['title'], without: ['goal', 'spec', 'specPath', 'project', 'settings'] },
    ...{
      about: 'set the title of a session, which lists show beside its name',
      examples: ['"Query parser" -s demo'],
    },
  });
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
        const shown = await client.requestTool(name, { session, ...(snapshot && json && { whole: true }) });
        if (name !== 'telemetry-show') requireEvents(session, shown.sequence);
        return shown;
      });
      if (json) return out('text' in reply && reply.text !== undefined ? reply.text : JSON.stringify(reply));
      print(cli, showReply(name, reply, coloursOf(cli)));
    });
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
