import { type DestinationStream, pino } from 'pino';
import type { Config } from '../config/config.js';
import type { Logger } from '../engine/ports/logger-and-clock.js';
import { redactLine, secretScanner } from '../memory/redaction/redactor.js';
import { namedLogger } from '../services/common/service-context.js';
import { visible } from '../shared/terminal-text.js';

/** For a command that runs services: JSON lines in place of the lines for people, unless a person reads them at a terminal. */
export function withLogger<Cli extends { readonly config: Config; readonly logger: Logger }>(cli: Cli) {
  if (process.stderr.isTTY) return cli;
  return { ...cli, logger: namedLogger(loggerFor(cli.config), 'throughline') };
}

/**
 * JSON lines on standard error, with the level as a word and the time in ISO format; without secrets: what errors quote may
 * come from anywhere.
 */
export function loggerFor(config: Config, destination: DestinationStream = standardError()): Logger {
  // Whatever events may hold: a log is read by others.
  const streamWrite = (line: string) => visible(redactLine(line, secretScanner));
  const logger = pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite },
    },
    destination,
  );
  return {
    ...(logger.isLevelEnabled('debug') && { debug: logger.debug.bind(logger) }),
    info: logger.info.bind(logger),
    warn: logger.warn.bind(logger),
    error: logger.error.bind(logger),
  };
}

/** Kept while standard error takes nothing, in bytes. */
const MAX_UNWRITTEN = 1024 * 1024;

/** A log that cannot be written, to a full disk or a closed terminal, loses its lines; it must not stop the work. */
function standardError(): DestinationStream {
  return pino.destination({ dest: 2, sync: true, maxLength: MAX_UNWRITTEN }).on('error', () => {});
}
