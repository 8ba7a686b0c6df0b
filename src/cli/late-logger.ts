import type { Config } from '../config/config.js';
import { LOG_LEVELS } from '../config/settings.js';
import type { Logger } from '../ports/logger.js';

type Level = keyof Logger;

/**
 * The logger of a command that has, most often, nothing to log: the real one is loaded with the first line that the
 * configured level lets through. Lines keep their order, and the process does not end before they are written.
 */
export function lateLogger(
  config: Config,
  load: () => Promise<Logger> = async () => (await import('./cli-logger.js')).loggerFor(config),
): Logger {
  let loading: Promise<Logger> | undefined;
  const least = LOG_LEVELS.indexOf(config.logLevel);
  const at =
    (level: Level): Logger[Level] =>
    (fields, message) => {
      if (LOG_LEVELS.indexOf(level) < least) return;
      loading ??= load();
      void loading.then((logger) => logger[level](fields, message));
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
