import { Argument, type Command } from 'commander';
import type { Published } from '../client/throughline-client.js';
import { parseDispatchBody } from '../contracts/dispatch-body.js';
import type { DispatchResult } from '../contracts/dispatch-result.js';
import { ThroughlineError } from '../contracts/errors.js';
import { ROLES, type Role } from '../contracts/kinds.js';
import { readBody } from './body-file.js';
import { cliOf, examples, note, out, sessionOf, withClient } from './command-context.js';
import { dispatchResult, showDispatch } from './show-dispatch.js';

interface PublishOptions {
  readonly session?: string;
  readonly file: string;
  readonly check: boolean;
  readonly id?: string;
  readonly wait?: boolean;
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
    .option(
      '--wait',
      'wait until the session has it, and say what became of it: exit code 1 when it was rejected',
    )
    .option('--json', 'print {"sequence":N}, and with --wait its "result"')
    .addHelpText(
      'after',
      examples(
        `echo '{"task_id":"1","status":"completed","summary":"Parser done"}' | throughline publish implementer -s demo`,
        'throughline publish reviewer --session demo --file review.json',
        'throughline publish reviewer --session demo --file review.json --wait',
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
      const published: Published & { readonly result?: DispatchResult } = await withClient(
        cli,
        async (client) =>
          options.wait === true
            ? client.publishText(session, role, body, { ...again, wait: true })
            : client.publishText(session, role, body, again),
      ).catch((fault: unknown) => {
        throw withWayOut(fault);
      });
      const { result } = published;
      if (options.json) out(JSON.stringify(published));
      else
        out(result === undefined ? String(published.sequence) : showDispatch(dispatchResult.parse(result)));
      if (result?.status !== 'rejected') return;
      note(
        `-- "throughline rejected ls --session ${session}" lists it; "throughline rejected fix" corrects it and sends it again`,
      );
      process.exitCode = 1;
    });
}

/** Whether it was stored is not known: with its id it can be tried again, and counts once. */
function withWayOut(fault: unknown): unknown {
  const id = fault instanceof ThroughlineError ? fault.details?.messageId : undefined;
  if (!(fault instanceof ThroughlineError) || id === undefined) return fault;
  const message = `${fault.message}; try again with --id ${id}, and it counts once`;
  return new ThroughlineError(fault.code, message, { cause: fault });
}
