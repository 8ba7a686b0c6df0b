import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import type { TraceAppended, TraceFound, TracesListed } from '../contracts/replies/trace-reply.js';
import { MAX_ENTRIES, type TraceEntryInput } from '../contracts/trace-entry.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { counted, oneLine } from '../shared/text.js';
import { cliOf, examples, note, out, sessionOf, withClient } from './command-context.js';
import { allPages } from './output.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';
import { intentLine } from './show-query.js';

interface AppendOptions {
  readonly session?: string;
  readonly file: string;
  readonly json?: boolean;
}

type Intent = TracesListed['intents'][number];

/** As many intents as one request may ask for. */
const PAGE = 200;

export function traceCommand(program: Command): void {
  const trace = program
    .command('trace')
    .description('Trace entries of intents; from 20 entries on, the older ones are compacted in blocks.')
    .addHelpText(
      'after',
      examples('throughline trace ls demo', 'throughline trace show demo --intent INT-1'),
    );

  trace
    .command('append')
    .description('Adds entries to the trace: JSON lines, one entry each.')
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION, else .throughline.json)')
    .option('-f, --file <path>', 'file with the entries; - is standard input', '-')
    .option('--json', 'print the reply as JSON')
    .addHelpText(
      'after',
      examples(
        `echo '{"intent_id":"INT-1","action_type":"TOOL_EXECUTION","payload":{"tool_name":"edit"},"result":{"status":"SUCCESS"}}' | throughline trace append -s demo`,
      ),
    )
    .action(async (options: AppendOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionOf(cli, options.session);
      const entries = parsedLines(await inputOf(options.file));
      const reply = await withClient(cli, (client) => appendAll(client, session, entries));
      for (const { index, message } of reply.malformed) note(`-- entry ${index + 1} skipped: ${message}`);
      out(options.json ? JSON.stringify(reply) : `${counted(reply.appended, 'entry', 'entries')} added`);
    });

  onSession(trace.command('ls'))
    .description('Lists the intents of a session that have a trace, the one that was added to last first.')
    .option('--json', 'one JSON array of {id, entries, compacted, blocks, request?, last?}')
    .addHelpText('after', examples('throughline trace ls demo', 'throughline trace ls demo --json'))
    .action(async (_: string | undefined, options: { json?: boolean }, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const intents = await withClient(cli, (client) => intentsOf(client, session));
      if (options.json) return out(JSON.stringify(intents));
      for (const intent of intents) out(intentLine(intent));
      if (intents.length === 0) return note(`-- ${NO_TRACE}`);
      note(`-- ${counted(intents.length, 'intent')}, the one that was added to last first`);
    });

  onSession(trace.command('show'))
    .description('Prints the compacted history of an intent, and the entries since.')
    .option('--intent <id>', 'the intent, which is required: `trace ls` lists them')
    .option('--json', 'print the reply as JSON')
    .addHelpText('after', examples('throughline trace show demo --intent INT-1'))
    .action(async (_: string | undefined, options: { intent?: string; json?: boolean }, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const { intent } = options;
      const reply = await withClient(cli, async (client) => {
        if (intent === undefined) throw whichIntent(session, await intentsOf(client, session));
        return client.compactTrace(session, intent);
      });
      requireEvents(session, reply.sequence);
      if (reply.total === 0) throw noTraceOf(session, intent);
      if (options.json) return out(JSON.stringify(reply));
      if (reply.summary !== null) out(reply.summary);
      for (const line of reply.recent) out(line);
      note(
        `-- ${counted(reply.total, 'entry', 'entries')}, ${reply.compacted?.entries ?? 0} of them compacted`,
      );
    });

  onEntry(trace.command('get'))
    .description(
      'Prints an entry as it is stored, with its output: up to 4,000 characters whole,\n' +
        'of a longer one the first and the last 1,000.',
    )
    .addHelpText('after', examples('throughline trace get step-7 --session demo'))
    .action(async (id: string, options: EntryOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionOf(cli, options.session);
      const found = await withClient(cli, (client) => client.getTraceEntry(session, id, options.intent));
      if (options.json) return out(JSON.stringify(found));
      for (const line of fieldLines(found.entry)) out(line);
      note(`-- stored at ${found.at}, sequence ${found.sequence} of session ${session}`);
    });

  onEntry(trace.command('pin'))
    .description('Keeps what an entry says as a constraint of its intent: it is the last thing to be cut.')
    .addHelpText('after', examples('throughline trace pin step-7 --session demo'))
    .action(async (id: string, options: EntryOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionOf(cli, options.session);
      const reply = await withClient(cli, (client) => client.pinTraceEntry(session, id, options.intent));
      out(options.json ? JSON.stringify(reply) : `pinned for ${reply.pinned.intent}: ${reply.pinned.text}`);
    });
}

const NO_TRACE = 'no intent has a trace yet: "throughline trace append" begins one';
/** Intents that an error names. */
const MAX_NAMED = 5;

/** All intents of a session that have a trace. */
async function intentsOf(client: ThroughlineClient, session: Token): Promise<readonly Intent[]> {
  const pages = await allPages((cursor) => client.tools.traceList({ session, limit: PAGE, ...cursor }));
  requireEvents(session, pages[0].sequence);
  return pages.flatMap((page) => page.intents);
}

function whichIntent(session: Token, intents: readonly Intent[]): ThroughlineError {
  if (intents.length === 0)
    return new ThroughlineError('not_found', `--intent is missing, and in session ${session} ${NO_TRACE}`);
  const named = intents.slice(0, MAX_NAMED).map(({ id }) => oneLine(id));
  const more = intents.length > MAX_NAMED ? ' …' : '';
  return new ThroughlineError(
    'usage',
    `which intent? Give --intent ID, one of ${named.join(', ')}${more}: "throughline trace ls ${session}" lists them`,
  );
}

function noTraceOf(session: Token, intent: string | undefined): ThroughlineError {
  return new ThroughlineError(
    'not_found',
    `session ${session} has no trace of intent ${JSON.stringify(intent)}: "throughline trace ls ${session}" lists those that have one`,
  );
}

interface EntryOptions {
  readonly session?: string;
  readonly intent?: string;
  readonly json?: boolean;
}

/** For a command on one entry. */
function onEntry(command: Command): Command {
  return command
    .argument('<id>', 'id of the entry, as `trace show` and prompts name it')
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION, else .throughline.json)')
    .option('--intent <id>', 'the intent, where several have such an entry')
    .option('--json', 'print the reply as JSON');
}

/** An entry field by field, its output last. */
function fieldLines({ stored, output, constraints, size: _, ...fields }: TraceFound['entry']): string[] {
  const lines = Object.entries({ ...fields, ...(constraints?.length && { constraints }) }).map(
    ([name, value]) => `${`${name}:`.padEnd(12)} ${Array.isArray(value) ? value.join(', ') : value}`,
  );
  if (stored === undefined) return [...lines, ...(output === undefined ? [] : [`output:      ${output}`])];
  const { text, first = '', last = '', length } = stored;
  if (text !== undefined) return [...lines, 'output:', text];
  const cut = `... (${length - first.length - last.length} of ${length} characters not kept) ...`;
  return [...lines, 'output:', first, cut, last];
}

/** Appends any number of entries, as many at a time as one request may hold. */
async function appendAll(
  client: ThroughlineClient,
  session: string,
  entries: readonly TraceEntryInput[],
): Promise<TraceAppended> {
  let total: TraceAppended = { appended: 0, malformed: [], sequence: 0 };
  for (let from = 0; from < entries.length; from += MAX_ENTRIES) {
    const { appended, malformed, sequence } = await client.appendTrace(
      session,
      entries.slice(from, from + MAX_ENTRIES),
    );
    const placed = malformed.map(({ index, message }) => ({ index: from + index, message }));
    total = { appended: total.appended + appended, malformed: [...total.malformed, ...placed], sequence };
  }
  return total;
}

function parsedLines(input: string): TraceEntryInput[] {
  const lines = input.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new ThroughlineError('usage', 'no entries: give one JSON object per line');
  return lines.map((line) => {
    try {
      return JSON.parse(line);
    } catch {
      // As text it is not a valid entry: the service skips it and counts it as unreadable.
      return line;
    }
  });
}

async function inputOf(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new ThroughlineError('usage', `--file ${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
