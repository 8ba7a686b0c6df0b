import { Argument, Option } from 'commander';
import { type DispatchFault, parseDispatchBody } from '../contracts/dispatch-body.js';
import { messageOf, ThroughlineError, usageError, withRemedy } from '../contracts/errors.js';
import { ROLES, type Role } from '../contracts/kinds.js';
import type { Token } from '../contracts/names.js';
import { repairsInWords } from '../contracts/reading/repairs.js';
import type { DispatchResult } from '../contracts/result-requests.js';
import type { TraceEntryInput } from '../contracts/trace-entry.js';
import { MAX_ENTRIES, type TraceAppended } from '../contracts/trace-requests.js';
import { PUBLISH_TIMEOUT_MS, type Published, type PublishOptions } from '../sdk/persistent-publish.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { withinDeadline } from '../shared/deadlines.js';
import { counted, jsonOf } from '../shared/text.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { type Cli, cliOf, note, noteIfMisspelled, out, sessionOf, withClient } from './command-context.js';
import { duration, readBody } from './option-parsers.js';
import { canAsk, waitingNote } from './output.js';
import { openInFolder } from './session-argument.js';

/** Longest time to look for a session before something is published to it. */
const LOOK_MS = 500;

interface PublishArguments extends Flags<'wait' | 'json'>, Texts<'session' | 'id'> {
  readonly file: string;
  readonly check: boolean;
  readonly timeout: number;
}

export function publishCommand(program: Command): void {
  const publish = program
    .command('publish')
    .description(
      'Publishes a result: a JSON object, or raw text with one BEGIN_DISPATCH_RESULT … END_DISPATCH_RESULT pair.\n' +
        'Prints its result number, which `prompt --after` waits for. It retries until the result is stored or time is up.\n' +
        'A decision is a fact with the relation "decided", which ends the older one about its subject.',
    )
    .addArgument(new Argument('<role>', 'role of the agent that returned it').choices(ROLES))
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION, else .throughline.json)')
    .option('-f, --file <path>', 'file with the result; - is standard input', '-')
    .option('--no-check', 'send it unchecked: "throughline result ls" then shows what is wrong with it')
    .option('--id <id>', 'message id, to publish again safely: the same id counts once in its session')
    .addOption(
      new Option('--timeout <time>', 'how long to try, such as 500ms, 30s or 5m')
        .argParser(duration)
        .default(PUBLISH_TIMEOUT_MS, '30s'),
    )
    .option(
      '--wait',
      'wait until the session has it, and say what became of it: exit code 1 when it was rejected',
    )
    .option(
      '--json',
      'print {"sequence":N}, with "duplicate" for a used id, "session" if it accepts no results, and with --wait\n' +
        'its "result"',
    )
    .examples(
      `echo '{"task_id":"1","status":"completed","summary":"Parser done","files_modified":["src/parse.ts"],\n    "facts":[{"subject":"numbers","relation":"decided","object":"read as decimals"}]}' | throughline publish implementer -s demo`,
      'throughline publish reviewer --session demo --file review.json',
      'throughline publish reviewer --session demo --file review.json --wait',
    )
    .action(async (role: Role, options: PublishArguments, command: Command) => {
      const cli = cliOf(command);
      const session = sessionOf(cli, options.session);
      const body = await spokenBody(await readBody(options.file), role, cli);
      if (options.check) {
        const parsed = parseDispatchBody(body, role, cli.config.maxBodyBytes);
        if (!parsed.ok) throw refused(parsed);
        if (parsed.repairs.length > 0 && options.wait !== true) note(`-- ${repairsInWords(parsed)}`);
      }
      const id = options.id === undefined ? {} : { messageId: options.id };
      const published = await publishing(cli, options.timeout, async (client, tries): Promise<Stored> => {
        await withinDeadline(LOOK_MS, beginning(cli, session, client));
        return client.publishText(session, role, body, { ...id, ...tries, wait: options.wait === true });
      });
      const { result } = published;
      if (published.duplicate === true) note(storedBefore(published));
      if (options.json) out(JSON.stringify(published));
      else if (result === undefined) out(String(published.sequence));
      // Loaded here: to publish without waiting needs no more than the schemas.
      else out((await import('./show-reply.js')).resultText(result));
      if (result?.status !== 'rejected') return;
      note(
        `-- "throughline result ls --session ${session}" lists it; "throughline result retry --file" sends it again corrected`,
      );
      process.exitCode = 1;
    });
  addPublishTrace(publish);
}

/** Says so if the session begins with a name like that of another one. A result is stored without the services, too. */
async function beginning(cli: Cli, session: Token, client: ThroughlineClient): Promise<void> {
  const isOpened = await openInFolder(cli, session, client).catch(() => false);
  if (!isOpened) await noteIfMisspelled(session, client);
}

/** Returns a result to publish: only at a terminal one may say what the user said. */
export async function spokenBody(
  body: Uint8Array,
  role: Role | undefined,
  { config }: Cli,
): Promise<Uint8Array> {
  if (role === undefined || canAsk()) return body;
  const parsed = parseDispatchBody(body, role, config.maxBodyBytes);
  if (!parsed.ok) return body;
  const { textOfAgent } = await import('../agents/hooks/returned-result.js');
  const text = new TextDecoder().decode(body);
  const spoken = textOfAgent(role, text, parsed.value.result);
  return spoken === text ? body : new TextEncoder().encode(spoken);
}

type Stored = Published & { readonly result?: DispatchResult };

function storedBefore({ sequence, result }: Stored): string {
  return result?.status === 'rejected'
    ? `-- stored before as result ${sequence}, which was rejected; give the corrected result an id of its own`
    : `-- stored before under this id, as result ${sequence}: nothing new was stored`;
}

function refused({ code, reason, fix }: DispatchFault): ThroughlineError {
  const why = withRemedy(`${reason}; nothing was published`, fix);
  const anyway = '--no-check stores it all the same, for "throughline result ls"';
  return new ThroughlineError(code, `${why}. ${anyway}`, { details: { fix } });
}

/** Connects and publishes, both as often as it takes; says once that it waits. */
async function publishing(
  cli: Cli,
  timeoutMs: number,
  publish: (client: ThroughlineClient, tries: PublishOptions) => Promise<Stored>,
): Promise<Stored> {
  const deadline = performance.now() + timeoutMs;
  const leftMs = () => Math.max(1, deadline - performance.now());
  const onWaiting = waitingNote(leftMs);
  const connected = (client: ThroughlineClient) => publish(client, { timeoutMs: leftMs(), onWaiting });
  try {
    return await withClient(cli, connected, { timeoutMs, onWaiting });
  } catch (fault) {
    throw withWayOut(fault);
  }
}

/** Says that an unconfirmed result can be published again with its id, and counts once. */
function withWayOut(fault: unknown): unknown {
  const id = fault instanceof ThroughlineError ? fault.details?.messageId : undefined;
  if (!(fault instanceof ThroughlineError) || id === undefined) return fault;
  const message = `${messageOf(fault.cause)}; try again with --id ${id}, and it counts once`;
  return new ThroughlineError(fault.code, message, { cause: fault });
}

interface TraceOptions extends Flags<'json'>, Texts<'session'> {
  readonly file: string;
}

function addPublishTrace(publish: Command): void {
  publish
    .command('trace')
    .summary('add entries to the trace of an intent')
    .description('Adds entries to the trace of an intent: JSON lines, one entry each.')
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION, else .throughline.json)')
    .option('-f, --file <path>', 'file with the entries; - is standard input', '-')
    .option('--json', 'print the reply as JSON')
    .examples(
      `echo '{"intent_id":"INT-1","action_type":"TOOL_EXECUTION","payload":{"tool_name":"edit"},"result":{"status":"SUCCESS"}}' | throughline publish trace -s demo`,
    )
    .action(async (_: object, command: Command) => {
      const cli = cliOf(command);
      // Commander gives options that both have to the command above.
      const options = command.optsWithGlobals<TraceOptions>();
      const session = sessionOf(cli, options.session);
      const entries = parsedLines((await readBody(options.file)).toString('utf8'));
      const reply = await withClient(cli, async (client) => {
        await withinDeadline(LOOK_MS, beginning(cli, session, client));
        return appendAll(client, session, entries);
      });
      for (const { index, message } of reply.malformed) note(`-- entry ${index + 1} skipped: ${message}`);
      out(options.json ? JSON.stringify(reply) : `${counted(reply.appended, 'entry', 'entries')} added`);
    });
}

async function appendAll(client: ThroughlineClient, session: string, entries: readonly TraceEntryInput[]) {
  let total: TraceAppended = { appended: 0, malformed: [], sequence: 0 };
  for (let from = 0; from < entries.length; from += MAX_ENTRIES) {
    const { appended, malformed, sequence } = await client.traces.append({
      session,
      entries: entries.slice(from, from + MAX_ENTRIES),
    });
    const placed = malformed.map(({ index, message }) => ({ index: from + index, message }));
    total = { appended: total.appended + appended, malformed: [...total.malformed, ...placed], sequence };
  }
  return total;
}

function parsedLines(input: string): TraceEntryInput[] {
  const lines = input.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw usageError('no entries: give one JSON object per line');
  // A string is not a valid entry: the service skips it and counts it as unreadable.
  return lines.map((line) => (jsonOf(line) ?? line) as TraceEntryInput);
}
