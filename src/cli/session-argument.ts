import type { Command } from 'commander';
import { noSuchSession, ThroughlineError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import { type Cli, sessionOf } from './command-context.js';

/** For a command that reads a session: its name as an argument, or as an option. */
export function onSession(command: Command): Command {
  return command
    .argument('[session]', 'the session (default: THROUGHLINE_SESSION, else .throughline.json)')
    .option('-s, --session <name>', 'the same as an option');
}

/** The session that such a command works on. */
export function sessionGiven(cli: Cli, command: Command): Token {
  const [argument] = command.args;
  const { session } = command.opts<{ session?: string }>();
  if (argument !== undefined && session !== undefined && argument !== session) {
    throw new ThroughlineError(
      'usage',
      `which session, ${argument} or ${session}? Give it as an argument or by --session, not both`,
    );
  }
  return argument === undefined ? sessionOf(cli, session) : sessionOf(cli, argument, 'session');
}

/**
 * For a command that reads a session: one without events does not exist.
 *
 * @throws ThroughlineError `not_found`
 */
export function requireEvents(session: Token, sequence: number): void {
  if (sequence > 0) return;
  throw new ThroughlineError('not_found', noSuchSession(session));
}
