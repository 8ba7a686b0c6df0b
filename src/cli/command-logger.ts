import type { Config } from '../config/config.js';
import { LOG_LEVELS } from '../config/settings.js';
import type { Logger } from '../ports/logger.js';
import { note } from './output.js';

type Level = Exclude<(typeof LOG_LEVELS)[number], 'silent' | 'trace'>;

/**
 * The log of a command that runs to its end: lines for people. What else the fields say may come from anywhere, and is
 * left to the logs of services, which take secrets out.
 */
export function commandLogger({ logLevel }: Pick<Config, 'logLevel'>, write = note): Logger {
  const least = LOG_LEVELS.indexOf(logLevel);
  const at = (level: Level) => {
    if (LOG_LEVELS.indexOf(level) < least) return () => {};
    return (fields: object, message: string) => write(`-- ${place(fields)}${message}${code(fields)}`);
  };
  return {
    ...(LOG_LEVELS.indexOf('debug') >= least && { debug: at('debug') }),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
}

function place(fields: object): string {
  return 'session' in fields ? `session ${fields.session}: ` : '';
}

function code(fields: object): string {
  return 'code' in fields ? ` (${fields.code})` : '';
}
