import { STALL_SIGNALS, type StallThresholds, stallThresholds } from '../ledger/stall.js';

/**
 * How variables are read: each from its text to its value. A variable that is unset, or empty, has no text. Written
 * without a schema library: every command reads the configuration, also one that has no time to load anything else.
 */
export type VariableReader<Value> = (raw: string | undefined) => Value;

/** What is wrong with a variable, said so that it completes its name. */
export class WrongVariable extends Error {}

export function wholeNumber(low: number, high: number, fallback: number): VariableReader<number> {
  return (raw) => {
    if (raw === undefined) return fallback;
    // Number() takes blanks for 0.
    const value = raw.trim() === '' ? Number.NaN : Number(raw);
    if (Number.isInteger(value) && value >= low && value <= high) return value;
    throw new WrongVariable(`is ${JSON.stringify(raw)}: use a whole number from ${low} to ${high}`);
  };
}

export function decimal(low: number, high: number, fallback: number): VariableReader<number> {
  return (raw) => {
    if (raw === undefined) return fallback;
    const value = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(raw) ? Number(raw) : Number.NaN;
    if (value >= low && value <= high) return value;
    throw new WrongVariable(`is ${JSON.stringify(raw)}: use a number from ${low} to ${high}`);
  };
}

export const optional: VariableReader<string | undefined> = (raw) => raw;

/** A web address. What it holds is not repeated: it may be a password. */
export const address: VariableReader<string | undefined> = (raw) => {
  if (raw === undefined || isPlainAddress(raw)) return raw;
  throw new WrongVariable('is no address: use http://host:port or https://host, without user and password');
};

function isPlainAddress(raw: string): boolean {
  if (!URL.canParse(raw)) return false;
  const { protocol, username, password } = new URL(raw);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** Goes into a header of each request; what it holds is not repeated. */
export const secret: VariableReader<string | undefined> = (raw) => {
  if (raw === undefined || /^[!-~]+$/.test(raw)) return raw;
  throw new WrongVariable('holds characters that no key has: use printable ASCII without spaces');
};

export const flag: VariableReader<boolean> = (raw) => {
  if (raw === undefined || raw === '0' || raw === 'false') return false;
  if (raw === '1' || raw === 'true') return true;
  throw new WrongVariable(`is ${JSON.stringify(raw)}: use 1 or 0`);
};

export const thresholds: VariableReader<StallThresholds> = (raw) => {
  const counts = { ...stallThresholds() };
  for (const part of raw?.split(',').map((text) => text.trim()) ?? []) {
    if (part === '') continue;
    const [, name, count] = /^(?:([a-z_]+)=)?([1-9]\d{0,3})$/.exec(part) ?? [];
    const signals = STALL_SIGNALS.filter((signal) => name === undefined || signal === name);
    if (count === undefined || signals.length === 0) {
      const fix = `use a number, or signal=number with ${STALL_SIGNALS.join(', ')}`;
      throw new WrongVariable(`holds ${JSON.stringify(part)}: ${fix}`);
    }
    for (const signal of signals) counts[signal] = Number(count);
  }
  return counts;
};

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

/** One of these words; the error names them all. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
  fallback: NoInfer<Word>,
): VariableReader<Word> {
  return (raw) => {
    if (raw === undefined) return fallback;
    const word = words.find((each) => each === raw);
    if (word !== undefined) return word;
    const fix = words.length === 2 ? words.join(' or ') : `one of ${words.join(', ')}`;
    throw new WrongVariable(`is ${JSON.stringify(raw)}: use ${fix}`);
  };
}
