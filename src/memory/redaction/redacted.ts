import { redactJson } from './redactor.js';
import { secretScanner } from './secret-scanner.js';

type Redact = <T>(value: T) => Promise<T>;

/** Characters read beyond a cut. */
const BEYOND = 65_536;
/** Maximum length of a secret: one that this reading splits ends or begins within this distance. */
const LONGEST = 20_000;

/** Redacts the strings of a JSON value in place: identifiers stay. */
export async function redacted<T>(value: T): Promise<T> {
  // Only strings change.
  return redactJson(value, secretScanner).value as T;
}

/** Returns the first `most` characters of a redacted text: after cutting first, half a secret would not be found. */
export async function redactedStart(text: string, most: number, redact: Redact = redacted): Promise<string> {
  const part = text.slice(0, most + BEYOND);
  const safe = await redact(part);
  return safe.slice(0, part === text ? most : Math.max(0, Math.min(most, safe.length - LONGEST)));
}

export async function redactedEnd(text: string, most: number): Promise<string> {
  const part = text.slice(-(most + BEYOND));
  const safe = await redacted(part);
  return safe.slice(Math.max(part === text ? 0 : LONGEST, safe.length - most));
}
