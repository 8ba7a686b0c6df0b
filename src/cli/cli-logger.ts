import { type DestinationStream, pino } from 'pino';
import type { Config } from '../config/config.js';
import type { Logger } from '../ports/logger.js';
import { redactLine } from '../redaction/redactor.js';
import { secretlintScanner } from '../redaction/secretlint-scanner.js';
import { visible } from '../shared/terminal-text.js';

/** For a command that logs from its start on: what runs until it is stopped. */
export function withLogger<Cli extends { readonly config: Config }>(
  cli: Cli,
): Cli & { readonly logger: Logger } {
  return { ...cli, logger: loggerFor(cli.config) };
}

/** JSON lines on standard error, without secrets: what errors quote may come from anywhere. */
export function loggerFor(config: Config, destination: DestinationStream = standardError()): Logger {
  // Whatever events may hold: a log is read by others.
  const secrets = secretlintScanner();
  const streamWrite = (line: string) => visible(redactLine(line, secrets));
  return pino({ level: config.logLevel, base: {}, hooks: { streamWrite } }, destination);
}

/** Kept while standard error takes nothing, in bytes. */
const MAX_UNWRITTEN = 1024 * 1024;

/** A log that cannot be written, to a full disk or a closed terminal, loses its lines; it must not stop the work. */
function standardError(): DestinationStream {
  return pino.destination({ dest: 2, sync: true, maxLength: MAX_UNWRITTEN }).on('error', () => {});
}
