import { Option } from 'commander';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import { REQUESTS, type ToolInput } from '../contracts/requests.js';
import { TIMELINE_KINDS, type TimelineEntry, type TimelineKind } from '../contracts/result-requests.js';
import type { TraceFound } from '../contracts/trace-requests.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { defined } from '../shared/collections.js';
import { counted, quoted, quotedLines } from '../shared/text.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { type Cli, cliOf, note, out, withClient } from './command-context.js';
import { followLog } from './log-follow.js';
import { wholeNumber } from './option-parsers.js';
import { allPages, nextPageCommand, noteNextPage } from './output.js';
import { addFields, printTable, shapeOf } from './request-command.js';
import {
  noteIfEmpty,
  noteProject,
  onSession,
  refusedAll,
  requireEvents,
  sessionIfAny,
  usualSession,
} from './session-argument.js';
import { TIMELINE_HEADINGS, timelineCells, USUAL_KINDS } from './show-reply.js';

interface LogOptions
  extends TraceOptions,
    Flags<'follow' | 'all' | 'failed' | 'verbose' | 'json'>,
    Texts<'project' | 'task' | 'since' | 'until' | 'page'> {
  readonly kind?: readonly TimelineKind[];
  readonly limit: number;
}

const LISTED_BY = ['kinds', 'task', 'failed', 'since', 'until'];
const USUAL = 50;
const MOST = 500;

export function logCommand(program: Command): void {
  const log = onSession(program.command('log'))
    .description(
      'Lists what happened in a session or in all, the newest first: results, rejected results, commands and traces. With -f it\n' +
        'shows what happens as it happens, until Ctrl-C. With --trace it shows what an agent did for an intent; from 20\n' +
        'entries on, the older ones are compacted in blocks.',
    )
    .addOption(
      new Option('-f, --follow', 'show what happens as it happens').conflicts([
        ...['trace', 'entry', 'page', 'limit', 'failed', 'since', 'until'],
      ]),
    )
    .addOption(new Option('-a, --all', 'all sessions: the default where none is named').conflicts('session'))
    .addOption(new Option('--project <name>', 'all sessions of this project').conflicts('session'));
  addFields(
    log,
    shapeOf(REQUESTS['tool.timeline-list'].shape, (field) => LISTED_BY.includes(field)),
  );
  log
    .option('-v, --verbose', 'also list the prompts that were compiled')
    .addOption(
      new Option('--trace [intent]', 'the trace of an intent; without one, the intents that have a trace'),
    )
    .option('--entry <id>', 'an entry of a trace, whole, with its output')
    .option('--limit <n>', 'maximum number of entries', wholeNumber(1, MOST), USUAL)
    .option('--page <cursor>', 'the page that begins here: the last line of the page before names it')
    .option('--json', 'one JSON array of entries; with -f an entry on each line; of a trace its reply')
    .examples(
      'throughline log demo',
      'throughline log --all --since yesterday',
      'throughline log demo --kind result rejected --failed --since 2026-03-01 --until 2h',
      'throughline log -f',
      'throughline log demo -f --json | jq .summary',
      'throughline log demo --trace INT-1',
    )
    .action(async (_: string | undefined, options: LogOptions, command: Command) => {
      const cli = cliOf(command);
      const isWide = options.all === true || options.project !== undefined;
      const session = isWide ? undefined : sessionIfAny(cli, command);
      if (options.follow) return followLog(cli, { ...options, session });
      const { trace } = options;
      if (typeof trace === 'string' && session === undefined)
        throw usageError(
          `no session is named, and ${trace} was read as the intent: name the session first, as in "throughline log demo --trace"`,
        );
      if (options.trace !== undefined || options.entry !== undefined)
        return showTrace(cli, await usualSession(cli, command), options);
      await listEntries(cli, command, session, options);
    });
}

async function listEntries(cli: Cli, command: Command, session: Token | undefined, options: LogOptions) {
  const { kind, verbose, task, failed = false, since, until, limit, page: cursor, project, json } = options;
  if (session === undefined && cursor !== undefined) throw usageError('--page is for one session: name it');
  if (since !== undefined && until !== undefined && since > until)
    throw usageError('--since is later than --until: exchange them');
  const kinds = kind ?? (verbose === true ? TIMELINE_KINDS : USUAL_KINDS);
  const request = { kinds: [...kinds], failed, task, since, until, limit, cursor };
  noteProject(project);
  const { entries, next } = await withClient(cli, async ({ tools }): Promise<Listed> => {
    if (session === undefined) return newestOfAll(tools, project, request);
    const { sequence, ...found } = await newestOf(tools, session, request);
    requireEvents(session, sequence);
    // In an imported session, the events that "facts erase" wrote again stand at the end.
    return { ...found, entries: found.entries.toSorted((a, b) => b.at.localeCompare(a.at)) };
  });
  if (json) out(JSON.stringify(entries));
  else {
    const [time = '', ...headings] = TIMELINE_HEADINGS;
    const of = session === undefined ? ['SESSION'] : [];
    printTable(cli, [time, ...of, ...headings], entries, (pc, entry) => {
      const [at = '', ...cells] = timelineCells(pc, entry);
      return [at, ...(session === undefined ? [entry.session ?? ''] : []), ...cells];
    });
    if (entries.length > 0) note(`-- ${counted(entries.length, 'entry', 'entries')}, the newest first`);
    else note('-- no such entries; --verbose also lists the prompts that were compiled');
  }
  if (session !== undefined) noteNextPage(command, next);
  else if (next !== undefined) note(`-- older ones: ${nextPageCommand(command, next, 'until')}`);
}

interface Listed {
  readonly entries: readonly (TimelineEntry & { readonly session?: string })[];
  /** Continues the list: a cursor in one session, a time in all. */
  readonly next?: string | undefined;
}

type Tools = ThroughlineClient['tools'];
type Wanted = Omit<ToolInput<'timeline-list'>, 'session'> & { readonly limit: number };

/** Reads on while pages are short: one request reads a bounded part of a log. */
async function newestOf(tools: Tools, session: string, { cursor: begin, ...wanted }: Wanted) {
  const entries: TimelineEntry[] = [];
  for (let cursor = begin; ; ) {
    const limit = wanted.limit - entries.length;
    const page = await tools.timelineList({ ...wanted, session, limit, cursor });
    entries.push(...page.entries);
    if (page.next === undefined || entries.length === wanted.limit) return { ...page, entries };
    cursor = page.next;
  }
}

/** The newest entries of all sessions. A session is read only if it has moved since the oldest entry of a full list. */
async function newestOfAll(tools: Tools, project: string | undefined, wanted: Wanted): Promise<Listed> {
  const { since, limit } = wanted;
  const request = { archived: true, brief: project === undefined, project, since, limit: PAGE };
  const pages = await allPages((cursor) => tools.sessionList({ ...request, ...cursor })).catch(refusedAll);
  const sessions = pages.flatMap((page) => page.sessions).sort((a, b) => b.at.localeCompare(a.at));
  noteIfEmpty(project, sessions.length);
  let entries: (TimelineEntry & { readonly session: string })[] = [];
  let isCut = false;
  for (const { session, at } of sessions) {
    const oldest = entries[limit - 1];
    // A prompt may be compiled long after the last event.
    if (oldest !== undefined && oldest.at > at && !wanted.kinds?.includes('prompt')) {
      isCut = true;
      break;
    }
    const { entries: found, next } = await newestOf(tools, session, wanted);
    entries = [...entries, ...found.map((entry) => ({ session, ...entry }))].sort((a, b) =>
      b.at.localeCompare(a.at),
    );
    isCut ||= next !== undefined || entries.length > limit;
    entries = entries.slice(0, limit);
  }
  return { entries, next: isCut ? entries.at(-1)?.at : undefined };
}

interface TraceOptions extends Flags<'json'>, Texts<'entry'> {
  readonly trace?: true | string;
}

const PAGE = 200;

async function showTrace(cli: Cli, session: Token, options: TraceOptions): Promise<void> {
  const { trace, entry, json } = options;
  const intent = trace === true ? undefined : trace;
  await withClient(cli, async (client) => {
    if (entry !== undefined) {
      const found = await client.traces.get({ session, id: entry, intentId: intent });
      if (json) return out(JSON.stringify(found));
      for (const line of fieldLines(found.entry)) out(line);
      return note(`-- stored at ${found.at}, event ${found.sequence} of session ${session}`);
    }
    if (intent !== undefined) return showIntent(client, session, intent, options);
    return listIntents(client, session, options);
  });
}

async function listIntents(client: ThroughlineClient, session: Token, { json }: TraceOptions): Promise<void> {
  const pages = await allPages((cursor) => client.tools.traceList({ session, limit: PAGE, ...cursor }));
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
