import { Option } from 'commander';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import { REQUESTS } from '../contracts/requests.js';
import type { TimelineKind } from '../contracts/result-requests.js';
import type { TraceFound } from '../contracts/trace-requests.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { defined } from '../shared/collections.js';
import { counted, quoted, quotedLines } from '../shared/text.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { type Cli, cliOf, note, out, withClient } from './command-context.js';
import { followLog } from './log-follow.js';
import { wholeNumber } from './option-parsers.js';
import { allPages, noteNextPage } from './output.js';
import { addFields, printTable, shapeOf } from './request-command.js';
import { onSession, requireEvents, sessionIfAny, usualSession } from './session-argument.js';
import { TIMELINE_HEADINGS, timelineCells } from './show-reply.js';

interface LogOptions
  extends TraceOptions,
    Flags<'follow' | 'all' | 'failed' | 'json'>,
    Texts<'session' | 'project' | 'task' | 'page'> {
  readonly kind?: readonly TimelineKind[];
  readonly limit: number;
}

const USUAL = 50;
/** The maximum of one request. */
const MOST = 500;

export function logCommand(program: Command): void {
  const log = onSession(program.command('log'))
    .description(
      'Lists what happened in a session, the newest first: results, rejected results, commands, traces and compiled prompts.\n' +
        'With -f it shows what happens as it happens, until Ctrl-C, in one session or in all. With --trace it shows what an\n' +
        'agent did for an intent; from 20 entries on, the older ones are compacted in blocks.',
    )
    .addOption(
      new Option(
        '-f, --follow',
        'show what happens as it happens: in all sessions, where none is named',
      ).conflicts(['trace', 'entry', 'pin', 'page', 'limit', 'failed']),
    )
    .addOption(new Option('-a, --all', 'with -f: all sessions').conflicts('session'))
    .addOption(new Option('--project <name>', 'with -f: all sessions of this project').conflicts('session'));
  addFields(
    log,
    shapeOf(REQUESTS['tool.timeline-list'].shape, (field) => ['kinds', 'task', 'failed'].includes(field)),
  );
  log
    .addOption(
      new Option('--trace [intent]', 'the trace of an intent; without one, the intents that have a trace'),
    )
    .option('--entry <id>', 'an entry of a trace, whole, with its output')
    .option('--pin <id>', 'keep an entry of a trace as a constraint of its intent: it is cut last')
    .option('--limit <n>', 'maximum number of entries', wholeNumber(1, MOST), USUAL)
    .option('--page <cursor>', 'the page that begins here: the last line of the page before names it')
    .option('--json', 'one JSON array of entries; with -f an entry on each line; of a trace its reply')
    .examples(
      'throughline log demo',
      'throughline log demo --kind result rejected --failed',
      'throughline log -f',
      'throughline log demo -f --json | jq .summary',
      'throughline log demo --trace INT-1',
    )
    .action(async (_: string | undefined, options: LogOptions, command: Command) => {
      const cli = cliOf(command);
      if (options.follow) {
        const isWide = options.all === true || options.project !== undefined;
        const session = isWide ? undefined : sessionIfAny(cli, command);
        return followLog(cli, { ...options, session });
      }
      const { trace } = options;
      if (typeof trace === 'string' && sessionIfAny(cli, command) === undefined)
        throw usageError(
          `no session is named, and ${trace} was read as the intent: name the session first, as in "throughline log demo --trace"`,
        );
      if (options.trace !== undefined || options.entry !== undefined || options.pin !== undefined)
        return showTrace(cli, await usualSession(cli, command), options);
      await listEntries(cli, command, options);
    });
}

async function listEntries(cli: Cli, command: Command, options: LogOptions): Promise<void> {
  const session = await usualSession(cli, command);
  const { kind: kinds, task, failed = false, limit, page: begin, json = false } = options;
  const { entries, next } = await withClient(cli, async (client) => {
    const request = { session, failed, limit, kinds: kinds && [...kinds], task, cursor: begin };
    const page = await client.tools.timelineList(request);
    requireEvents(session, page.sequence);
    return page;
  });
  if (json) out(JSON.stringify(entries));
  else {
    printTable(cli, TIMELINE_HEADINGS, entries, timelineCells);
    if (entries.length > 0) note(`-- ${counted(entries.length, 'entry', 'entries')}, the newest first`);
    else note('-- no such entries: without these options all are listed');
  }
  noteNextPage(command, next);
}

interface TraceOptions extends Flags<'json'>, Texts<'entry' | 'pin'> {
  /** True lists the intents. */
  readonly trace?: true | string;
}

/** Intents of one request. */
const INTENTS = 200;

async function showTrace(cli: Cli, session: Token, options: TraceOptions): Promise<void> {
  const { trace, entry, pin, json } = options;
  if (entry !== undefined && pin !== undefined)
    throw usageError('give either --entry to look at an entry, or --pin to keep it');
  const intent = trace === true ? undefined : trace;
  await withClient(cli, async (client) => {
    if (entry !== undefined) {
      const found = await client.traces.get({ session, id: entry, intentId: intent });
      if (json) return out(JSON.stringify(found));
      for (const line of fieldLines(found.entry)) out(line);
      return note(`-- stored at ${found.at}, sequence ${found.sequence} of session ${session}`);
    }
    if (pin !== undefined) {
      const reply = await client.traces.pin({ session, id: pin, intentId: intent });
      const { pinned } = reply;
      return out(json ? JSON.stringify(reply) : quoted(`pinned for ${pinned.intent}: ${pinned.text}`));
    }
    if (intent !== undefined) return showIntent(client, session, intent, options);
    return listIntents(client, session, options);
  });
}

async function listIntents(client: ThroughlineClient, session: Token, { json }: TraceOptions): Promise<void> {
  const pages = await allPages((cursor) => client.tools.traceList({ session, limit: INTENTS, ...cursor }));
  requireEvents(session, pages[0].sequence);
  const intents = pages.flatMap((page) => page.intents);
  if (json) return out(JSON.stringify(intents));
  for (const { id, entries, request } of intents)
    out(
      `${quoted(id)}  ${counted(entries, 'entry', 'entries')}${request === undefined ? '' : `  ${quoted(request)}`}`,
    );
  if (intents.length === 0)
    return note('-- no intent has a trace yet: "throughline publish trace" begins one');
  note(`-- ${counted(intents.length, 'intent')}, the one that was added to last first`);
}

async function showIntent(client: ThroughlineClient, session: Token, intent: string, { json }: TraceOptions) {
  const reply = await client.traces.compact({ session, intentId: intent });
  requireEvents(session, reply.sequence);
  if (reply.total === 0)
    throw new ThroughlineError(
      'not_found',
      `session ${session} has no trace of intent ${JSON.stringify(intent)}: "throughline log ${session} --trace" lists those that have one`,
    );
  if (json) return out(JSON.stringify(reply));
  if (reply.summary !== null) out(reply.summary);
  for (const line of reply.recent) out(line);
  note(`-- ${counted(reply.total, 'entry', 'entries')}, ${reply.compacted?.entries ?? 0} of them compacted`);
}

function fieldLines({ stored, output, constraints, size: _, ...rest }: TraceFound['entry']): string[] {
  const fields = {
    ...rest,
    ...(constraints?.length && { constraints }),
    ...(stored === undefined && defined({ output })),
  };
  const lines = Object.entries(fields).map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    return `${`${name}:`.padEnd(12)} ${quoted(text)}`;
  });
  if (stored === undefined) return lines;
  const { text, first = '', last = '', length } = stored;
  const block = (part: string) => quotedLines(part, Number.POSITIVE_INFINITY).lines;
  if (text !== undefined) return [...lines, 'output:', ...block(text)];
  const cut = `... (${length - first.length - last.length} of ${length} characters not kept) ...`;
  return [...lines, 'output:', ...block(first), cut, ...block(last)];
}
