import { ThroughlineError, usageError } from '../contracts/errors.js';
import { ROLES, type Role } from '../contracts/kinds.js';
import { token } from '../contracts/names.js';
import type { RejectedShown } from '../contracts/replies/rejected-reply.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { visible } from '../shared/terminal-text.js';
import { counted } from '../shared/text.js';
import type { Command, Flags, Numbers, Texts } from './cli-command.js';
import { cliOf, note, out, withClient } from './command-context.js';
import { addImportGit } from './import-git.js';
import { wholeNumber } from './option-parsers.js';
import { printTable } from './request-command.js';
import { asCommand, resultText } from './result-body.js';
import { addFix, addRemoval, rejectedEntries, wholeRejected } from './result-changes.js';
import { SESSION_DEFAULT, sessionFor } from './session-argument.js';
import { REJECTED_HEADINGS, rejectedCells, rejectedLine } from './show-reply.js';

/** Results that one command lists or retries. */
const MAX_LISTED = 10_000;

const NONE = '-- no rejected results: all that came could be read';
const NO_SUCH = '-- no such rejected results: without these options all are listed';

interface ListOptions extends Flags<'json'>, Texts<'session'> {
  readonly limit: number;
  readonly role?: Role;
}

export function resultCommand(program: Command): void {
  const result = program
    .command('result')
    .description(
      'Results that could not be used are kept whole in the stream DISPATCH_REJECTED, each with its reason: correct them and\n' +
        'send them again. "throughline log --kind result" lists the results that counted.',
    )
    .examples(
      'throughline result ls --session demo',
      'throughline result fix 3 --set task_id=2.1',
      'throughline result rm --older-than 7d',
    );
  addList(result);
  addShow(result);
  addFix(result);
  addRetry(result);
  addRemoval(result);
  addImportGit(result);
}

function addList(result: Command): void {
  result
    .command('ls')
    .description('Lists rejected results, the newest first.')
    .option('-s, --session <name>', 'only of this session')
    .choice('--role <role>', 'only of this role', ROLES)
    .option('--limit <n>', 'maximum number to list', wholeNumber(1, MAX_LISTED), 100)
    .option('--json', 'one JSON array')
    .examples('throughline result ls', 'throughline result ls --session demo --json')
    .action(async (options: ListOptions, command: Command) => {
      const { limit, json, session, role } = options;
      const of = {
        ...(session !== undefined && { session: token(session, '--session') }),
        ...(role !== undefined && { role }),
      };
      const cli = cliOf(command);
      const { entries, hasMore } = await withClient(cli, (client) => rejectedEntries(client, of, limit));
      if (json) return out(JSON.stringify(entries));
      printTable(
        cli,
        REJECTED_HEADINGS,
        entries.map((entry) => rejectedCells(inCommands(entry))),
      );
      const hint = limit < MAX_LISTED ? ': --limit shows them' : '';
      const more = hasMore ? `; there are more, and these are the newest${hint}` : '';
      const none = Object.keys(of).length === 0 ? NONE : NO_SUCH;
      note(entries.length === 0 ? none : `-- ${counted(entries.length, 'rejected result')}${more}`);
    });
}

function addShow(result: Command): void {
  result
    .command('show')
    .summary('show a rejected result, or with --sequence the outcome of any')
    .description(
      'Prints the body of a rejected result, and on standard error its reason and what would fix it.\n' +
        'Characters that a terminal acts on or does not show are written as \\uXXXX.\n' +
        'With --raw the body comes byte for byte, for a file or another program.\n' +
        'With --sequence it shows the outcome of any result, by the sequence that `publish` prints.',
    )
    .argument('[id]', 'its number in `result ls`', wholeNumber(1))
    .option('--sequence <n>', 'the outcome of the result with this DISPATCH sequence', wholeNumber(1))
    .option('-s, --session <name>', `with --sequence: session ${SESSION_DEFAULT}`)
    .option('--raw', 'the body as it came')
    .option('--json', 'one JSON object, with the body as text')
    .examples('throughline result show 3', 'throughline result show 3 --raw > result.json')
    .action(async (id: number | undefined, options: ShowOptions, command: Command) => {
      const { raw, json, sequence } = options;
      if ((id === undefined) === (sequence === undefined))
        throw usageError('give either the number of a rejected result or --sequence');
      if (sequence !== undefined) return showOutcome(command, sequence, json);
      if (id === undefined) return;
      const { entry, body } = await withClient(cliOf(command), (client) => wholeRejected(client, id));
      if (json) return out(JSON.stringify({ ...entry, body: new TextDecoder().decode(body) }));
      const said = inCommands(entry);
      note(rejectedLine(said));
      if (said.fix !== undefined) note(`to fix it: ${said.fix}`);
      process.stdout.write(raw ? body : visible(new TextDecoder().decode(body)));
    });
}

type ShowOptions = Flags<'raw' | 'json'> & Numbers<'sequence'>;

async function showOutcome(command: Command, dispatch: number, json: boolean | undefined): Promise<void> {
  const { cli, session } = await sessionFor(command, false);
  const reply = await withClient(cli, (client) => client.tools.dispatchShow({ session, dispatch }));
  out(json ? JSON.stringify(reply) : resultText(reply));
}

function addRetry(result: Command): void {
  result
    .command('retry')
    .description(
      'Publishes rejected results again, to the subjects they came from, and removes them from the list.',
    )
    .argument('[id]', 'its number in `result ls`', wholeNumber(1))
    .option('--all', 'all of them')
    .option('--json', 'one line of JSON for each: {id, sequence}')
    .examples('throughline result retry 3', 'throughline result retry --all')
    .action(async (id: number | undefined, options: { all?: boolean; json?: boolean }, command: Command) => {
      if ((id === undefined) === (options.all !== true)) {
        throw usageError('give either the number of one result or --all');
      }
      await withClient(cliOf(command), async (client) => {
        const entries = id === undefined ? (await rejectedEntries(client, {})).entries : [{ id }];
        // The oldest first, as they came.
        const ids = entries.map((entry) => entry.id).reverse();
        for (const each of ids.slice(0, MAX_LISTED)) {
          const sequence = await retriedAs(client, each, id === undefined);
          if (sequence === undefined) continue;
          if (options.json) out(JSON.stringify({ id: each, sequence }));
          else out(`${each} published again as result ${sequence}`);
        }
        if (ids.length === 0) note('-- nothing to retry');
        // Not in a loop: what is rejected again at once would be retried without end.
        if (ids.length > MAX_LISTED)
          note(`-- these were the oldest ${MAX_LISTED}: run it again for the others`);
      });
    });
}

/** Retries one. Among all, one that has counted or is not a result ends nothing: it is told, and left. */
async function retriedAs(
  client: ThroughlineClient,
  id: number,
  isOfAll: boolean,
): Promise<number | undefined> {
  try {
    return (await client.tools.rejectedRetry({ id })).dispatch;
  } catch (error) {
    if (!isOfAll || !(error instanceof ThroughlineError) || !LEFT.has(error.code)) throw error;
    note(`-- ${error.message}`);
    return undefined;
  }
}

const LEFT: ReadonlySet<string> = new Set(['duplicate', 'stored_reply']);

function inCommands(entry: RejectedShown): RejectedShown {
  return asCommand(entry, (role) => `throughline result fix ${entry.id} --role ${role}`);
}
