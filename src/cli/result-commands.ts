import { codeOf, ThroughlineError, usageError } from '../contracts/errors.js';
import { ROLES, type Role } from '../contracts/kinds.js';
import { type Token, token } from '../contracts/names.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { visible } from '../shared/terminal-text.js';
import { counted } from '../shared/text.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { cliOf, note, out, withClient } from './command-context.js';
import { addImportGit } from './import-git.js';
import { readBody, wholeNumber } from './option-parsers.js';
import { spokenBody } from './publish-command.js';
import { addRequest } from './request-command.js';
import { rejectedLine, resultText } from './show-reply.js';
import { addUnsent } from './unsent-command.js';

export function resultCommand(program: Command): void {
  const result = program
    .command('result')
    .description(
      'Results that could not be used are kept whole in the stream DISPATCH_REJECTED, each with its reason: correct them and\n' +
        'send them again. "throughline log --kind result" lists the results that counted.',
    )
    .examples(
      'throughline result ls --session demo',
      'throughline result show 3 --raw > result.json',
      'throughline result retry 3 --file result.json',
    );
  addRequest(result, 'tool.rejected-list', {
    remark: ({ rejected }) => counted(rejected.length, 'rejected result'),
  });
  addShow(result);
  addRetry(result);
  addRemoval(result);
  addUnsent(result);
  addImportGit(result);
}

function addShow(result: Command): void {
  result
    .command('show')
    .description(
      'Prints the body of a rejected result, and on standard error its reason and what would fix it.\n' +
        'With -s it prints what a result of that session has become.\n' +
        'Characters that a terminal acts on or does not show are written as \\uXXXX.\n' +
        'With --raw the body comes unchanged, for a file or another program.',
    )
    .argument('<id>', 'its number in `result ls`; with -s its result number', wholeNumber(1))
    .option('-s, --session <name>', 'the session that it was published to')
    .option('--raw', 'the body as it came')
    .option('--json', 'one JSON object, with the body as text')
    .examples('throughline result show 3 --raw > result.json', 'throughline result show 7 -s demo')
    .action(async (id: number, options: Flags<'raw' | 'json'> & Texts<'session'>, command: Command) => {
      const { raw, json, session } = options;
      const { shown, found } = await withClient(cliOf(command), async ({ tools }) =>
        session === undefined
          ? { shown: await tools.rejectedShow({ id }) }
          : { found: await resultIn(token(session, '--session'), id, tools) },
      );
      if (found !== undefined) return out(json ? JSON.stringify(found) : resultText(found));
      const { rejected: entry, truncated = false } = shown;
      const body = Buffer.from(shown.body, shown.encoding);
      if (json) return out(JSON.stringify({ ...entry, body: new TextDecoder().decode(body) }));
      note(rejectedLine(entry));
      if (entry.fix !== undefined) note(`to fix it: ${entry.fix}`);
      process.stdout.write(raw ? body : visible(new TextDecoder().decode(body)));
      if (truncated)
        note(`-- only the beginning: the whole is message ${entry.sequence} of the stream DISPATCH`);
    });
}

/** @throws ThroughlineError `not_found` if the session has no such result, and gets none soon */
function resultIn(session: Token, dispatch: number, tools: ThroughlineClient['tools']) {
  return tools.dispatchShow({ session, dispatch, timeoutMs: 500 }).catch((error: unknown) => {
    if (codeOf(error) !== 'not_caught_up') throw error;
    const fix = `"throughline log ${session} --kind result" lists those that it has`;
    throw new ThroughlineError('not_found', `session ${session} has no result ${dispatch}: ${fix}`);
  });
}

interface RetryOptions extends Flags<'json'>, Texts<'file'> {
  readonly role?: Role;
}

function addRetry(result: Command): void {
  result
    .command('retry')
    .description(
      'Publishes rejected results again, as they came or corrected, and removes them from the list.\n' +
        'A correction is checked first: what still cannot be read stays where it is.',
    )
    .argument('<ids...>', 'their numbers in `result ls`', numbers)
    .option('-f, --file <path>', 'publish this result instead; - is standard input')
    .choice('--role <role>', 'publish as the result of this role', ROLES)
    .option('--json', 'one line of JSON for each: {id, sequence}')
    .examples('throughline result retry 3 4', 'throughline result retry 3 --file result.json')
    .action(async (ids: readonly number[], { file, role, json }: RetryOptions, command: Command) => {
      if (file !== undefined && ids.length > 1)
        throw usageError('--file goes with one result: give its number');
      const body = file === undefined ? undefined : await readBody(file);
      await forEach(ids, command, async ({ tools }, id) => {
        const corrected: { role?: Role; body?: string } = role === undefined ? {} : { role };
        if (body !== undefined) {
          const known = role ?? (await tools.rejectedShow({ id })).rejected.role;
          corrected.body = new TextDecoder().decode(await spokenBody(body, known, cliOf(command)));
        }
        const { dispatch: sequence } = await tools.rejectedRetry({ id, ...corrected });
        return json ? JSON.stringify({ id, sequence }) : `${id} published again as result ${sequence}`;
      });
    });
}

function addRemoval(result: Command): void {
  result
    .command('rm')
    .description('Removes rejected results for good.')
    .argument('<ids...>', 'their numbers in `result ls`', numbers)
    .option('--json', 'one line of JSON for each: {id}')
    .examples('throughline result rm 3 4')
    .action((ids: readonly number[], { json }: Flags<'json'>, command: Command) =>
      forEach(ids, command, async (client, id) => {
        await client.tools.rejectedRemove({ id });
        return json ? JSON.stringify({ id }) : `${id} removed`;
      }),
    );
}

function numbers(raw: string, before: readonly number[] = []): number[] {
  return [...before, wholeNumber(1)(raw)];
}

/** Does the same with each result, and prints the line that it returns. One that is refused does not keep others from it. */
async function forEach(
  ids: readonly number[],
  command: Command,
  work: (client: ThroughlineClient, id: number) => Promise<string>,
): Promise<void> {
  await withClient(cliOf(command), async (client) => {
    const refused: ThroughlineError[] = [];
    for (const id of ids) {
      try {
        out(await work(client, id));
      } catch (error) {
        if (!(error instanceof ThroughlineError) || error.code === 'unavailable') throw error;
        refused.push(error);
      }
    }
    for (const { message } of refused.slice(1)) note(`-- ${message}`);
    if (refused[0] !== undefined) throw refused[0];
  });
}
