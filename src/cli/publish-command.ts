import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { Argument, type Command } from 'commander';
import { parseDispatchBody } from '../contracts/dispatch-body.js';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import { ROLES, type Role } from '../contracts/kinds.js';
import { cliOf, examples, out, sessionOf, withClient } from './command-context.js';

interface PublishOptions {
  readonly session?: string;
  readonly file: string;
  readonly check: boolean;
  readonly id?: string;
  readonly json?: boolean;
}

export function publishCommand(program: Command): void {
  program
    .command('publish')
    .description(
      'Publishes a result: a JSON object, or raw text with one BEGIN_DISPATCH_RESULT … END_DISPATCH_RESULT pair.\n' +
        'Prints its DISPATCH sequence, which `compile --after` waits for.',
    )
    .addArgument(new Argument('<role>', 'role of the agent that returned it').choices(ROLES))
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION)')
    .option('-f, --file <path>', 'file with the result; - is standard input', '-')
    .option('--no-check', 'send it unchecked: `throughline rejected ls` then shows what is wrong with it')
    .option('--id <id>', 'message id, to try again safely: within two minutes the same id is stored once')
    .option('--json', 'print {"sequence":N}')
    .addHelpText(
      'after',
      examples(
        `echo '{"task_id":"1","status":"completed","summary":"Parser done"}' | throughline publish implementer -s demo`,
        'throughline publish reviewer --session demo --file review.json',
      ),
    )
    .action(async (role: Role, options: PublishOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionOf(cli, options.session);
      const body = await readBody(options.file);
      if (options.check) {
        const parsed = parseDispatchBody(body, role, cli.config.maxBodyBytes);
        if (!parsed.ok) throw new ThroughlineError(parsed.code, parsed.reason);
      }
      const again = options.id === undefined ? {} : { messageId: options.id };
      const { sequence } = await withClient(cli, (client) =>
        client.publishText(session, role, body, again),
      ).catch((fault: unknown) => {
        throw withWayOut(fault);
      });
      out(options.json ? JSON.stringify({ sequence }) : String(sequence));
    });
}

/** Whether it was stored is not known: with its id it can be tried again, and counts once. */
function withWayOut(fault: unknown): unknown {
  const id = fault instanceof ThroughlineError ? fault.details?.messageId : undefined;
  if (!(fault instanceof ThroughlineError) || id === undefined) return fault;
  const message = `${fault.message}; try again with --id ${id}, and it counts once`;
  return new ThroughlineError(fault.code, message, { cause: fault });
}

async function readBody(file: string): Promise<Buffer> {
  if (file === '-') return buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (cause) {
    throw new ThroughlineError('usage', `--file ${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
