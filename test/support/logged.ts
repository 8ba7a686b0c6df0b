import type { Logger } from '../../src/ports/logger.js';

/** A logger that keeps its warnings. */
export function loggedWarnings(): {
  readonly logger: Logger;
  readonly warnings: { fields: object; message: string }[];
} {
  const warnings: { fields: object; message: string }[] = [];
  const warn = (fields: object, message: string) => {
    warnings.push({ fields, message });
  };
  return { logger: { info() {}, warn, error: warn }, warnings };
}
