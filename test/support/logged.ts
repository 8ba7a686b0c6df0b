import type { Logger } from '../../src/engine/ports/logger-and-clock.js';

/** A logger that keeps its warnings, the newest ones where there are too many: what they name stays in memory with them. */
export function loggedWarnings(most = Number.POSITIVE_INFINITY): {
  readonly logger: Logger;
  readonly warnings: { fields: object; message: string }[];
} {
  const warnings: { fields: object; message: string }[] = [];
  const warn = (fields: object, message: string) => {
    warnings.push({ fields, message });
    if (warnings.length > most) warnings.shift();
  };
  return { logger: { info() {}, warn, error: warn }, warnings };
}
