import { type Command, Option } from 'commander';
import { ThroughlineError } from '../contracts/errors.js';
import { ROLES, type Role } from '../contracts/kinds.js';
import { token } from '../contracts/names.js';
import type { RejectedShown } from '../contracts/replies/rejected-reply.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { visible } from '../shared/terminal-text.js';
import { counted } from '../shared/text.js';
import { asCommand } from './as-command.js';
import { cliOf, examples, note, out, withClient } from './command-context.js';
import { wholeNumber } from './option-parsers.js';
import { fixCommand, removeCommand } from './rejected-changes.js';
import { rejectedEntries, wholeRejected } from './rejected-entries.js';
import { rejectedLine } from './show-query.js';

/** Results that one command lists or retries. */
const MAX_LISTED = 10_000;

const NONE = '-- no rejected results: all that came could be read';
const NO_SUCH = '-- no such rejected results: without these options all are listed';

interface ListOptions {
  readonly limit: number;
  readonly session?: string;
  readonly role?: Role;
  readonly json?: boolean;
}

export function rejectedCommand(program: Command): void {
  const rejected = program
    .command('rejected')
    .description('Rejected results are kept whole in the stream DISPATCH_REJECTED, each with its reason.')
    .addHelpText(
      'after',
      examples(
        'throughline rejected ls --session demo',
        'throughline rejected fix 3 --set task_id=2.1',
        'throughline rejected rm --older-than 7d',
      ),
    );

  rejected
    .command('ls')
    .description('Lists rejected results, the newest first.')
    .option('-s, --session <name>', 'only those of this session')
    .addOption(new Option('--role <role>', 'only those of this role').choices(ROLES))
    .option('--limit <n>', 'maximum number to list', wholeNumber(1, MAX_LISTED), 100)
    .option('--json', 'one JSON array')
    .addHelpText(
      'after',
      examples('throughline rejected ls', 'throughline rejected ls --session demo --json'),
    )
    .action(async (options: ListOptions, command: Command) => {
      const { limit, json, session, role } = options;
      const of = {
        ...(session !== undefined && { session: token(session, '--session') }),
        ...(role !== undefined && { role }),
      };
      const { entries, hasMore } = await withClient(cliOf(command), (client) =>
        rejectedEntries(client, of, limit),
      );
      if (json) return out(JSON.stringify(entries));
      for (const entry of entries) out(rejectedLine(inCommands(entry)));
      const hint = limit < MAX_LISTED ? ': --limit shows them' : '';
      const more = hasMore ? `; there are more, and these are the newest${hint}` : '';
      const none = Object.keys(of).length === 0 ? NONE : NO_SUCH;
      note(entries.length === 0 ? none : `-- ${counted(entries.length, 'rejected result')}${more}`);
    });

  rejected
    .command('show')
    .description(
      'Prints the body of a rejected result, and on standard error its reason and what would fix it.\n' +
        'Characters that a terminal acts on or does not show are written as \\uXXXX.\n' +
        'With --raw the body comes byte for byte, for a file or another program.',
    )
    .argument('<id>', 'its number in `rejected ls`', wholeNumber(1))
    .option('--raw', 'the body as it came')
    .option('--json', 'one JSON object, with the body as text')
    .addHelpText(
      'after',
      examples('throughline rejected show 3', 'throughline rejected show 3 --raw > result.json'),
    )
    .action(async (id: number, { raw, json }: { raw?: boolean; json?: boolean }, command: Command) => {
      const { entry, body } = await withClient(cliOf(command), (client) => wholeRejected(client, id));
      if (json) return out(JSON.stringify({ ...entry, body: new TextDecoder().decode(body) }));
      const said = inCommands(entry);
      note(rejectedLine(said));
      if (said.fix !== undefined) note(`to fix it: ${said.fix}`);
      process.stdout.write(raw ? body : visible(new TextDecoder().decode(body)));
    });

  fixCommand(rejected);

  rejected
    .command('retry')
    .description(
      'Publishes rejected results again, to the subjects they came from, and removes them from the list.',
    )
    .argument('[id]', 'its number in `rejected ls`', wholeNumber(1))
    .option('--all', 'all of them')
    .option('--json', 'one line of JSON for each: {id, sequence}')
    .addHelpText('after', examples('throughline rejected retry 3', 'throughline rejected retry --all'))
    .action(async (id: number | undefined, options: { all?: boolean; json?: boolean }, command: Command) => {
      if ((id === undefined) === (options.all !== true)) {
        throw new ThroughlineError('usage', 'give either the number of one result or --all');
      }
      await withClient(cliOf(command), async (client) => {
        const entries = id === undefined ? (await rejectedEntries(client, {})).entries : [{ id }];
        // The oldest first, as they came.
        const ids = entries.map((entry) => entry.id).reverse();
        for (const each of ids.slice(0, MAX_LISTED)) {
          const sequence = await retriedAs(client, each, id === undefined);
          if (sequence === undefined) continue;
          if (options.json) out(JSON.stringify({ id: each, sequence }));
          else out(`${each} published again as dispatch ${sequence}`);
        }
        if (ids.length === 0) note('-- nothing to retry');
        // Not in a loop: what is rejected again at once would be retried without end.
        if (ids.length > MAX_LISTED)
          note(`-- these were the oldest ${MAX_LISTED}: run it again for the others`);
      });
    });

  removeCommand(rejected);
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
  return asCommand(entry, (role) => `throughline rejected fix ${entry.id} --role ${role}`);
}
