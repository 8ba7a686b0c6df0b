import { mayHoldSecret } from './secret-hints.js';

/** Redaction for short-lived processes: the rules take as long to load as a whole hook, so most texts must do without. */

type Redact = <T>(value: T) => Promise<T>;

/** A text that is to be cut is read so far beyond the cut, in characters. */
const BEYOND = 65_536;
/** The longest secret: one that this reading cuts in half ends, or begins, within so many characters. */
const LONGEST = 20_000;

/** Redacts the strings of a JSON value in place. Loads the rules for a value that may hold a secret. */
export async function redacted<T>(value: T): Promise<T> {
  if (!mayHoldSecret(JSON.stringify(value))) return value;
  const [{ redactJson }, { secretlintScanner }] = await Promise.all([
    import('./redactor.js'),
    import('./secretlint-scanner.js'),
  ]);
  // Only strings are changed.
  return redactJson(value, secretlintScanner()).value as T;
}

/** Returns the first `most` characters of a redacted text: half a secret would not be found after the cut. */
export async function redactedStart(text: string, most: number, redact: Redact = redacted): Promise<string> {
  const part = text.slice(0, most + BEYOND);
  const safe = await redact(part);
  return safe.slice(0, part === text ? most : Math.max(0, Math.min(most, safe.length - LONGEST)));
}

/** Returns the last `most` characters of a redacted text. */
export async function redactedEnd(text: string, most: number): Promise<string> {
  const part = text.slice(-(most + BEYOND));
  const safe = await redacted(part);
  return safe.slice(Math.max(part === text ? 0 : LONGEST, safe.length - most));
}
