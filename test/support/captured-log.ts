import { loggerFor } from '../../src/cli/cli-logger.js';
import { loadConfig } from '../../src/config/config.js';
import type { Logger } from '../../src/engine/ports/logger-and-clock.js';

/** The logger of the command line at its most talkative, and every line that it wrote. */
export function capturedLog(env: Readonly<Record<string, string>> = {}): {
  readonly logger: Logger;
  readonly lines: string[];
} {
  const lines: string[] = [];
  const config = loadConfig({ THROUGHLINE_LOG_LEVEL: 'trace', ...env });
  const write = (line: string) => {
    lines.push(line);
  };
  return { logger: loggerFor(config, { write }), lines };
}
