import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { type Command as AnyCommand, InvalidArgumentError } from 'commander';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import { SPAN_PATTERN, spanMs } from '../shared/text.js';

export function wholeNumber(low: number, high = Number.MAX_SAFE_INTEGER): (raw: string) => number {
  return (raw) => {
    const value = Number(raw);
    if (/^\d+$/.test(raw) && value >= low && value <= high) return value;
    const range = high === Number.MAX_SAFE_INTEGER ? `of at least ${low}` : `from ${low} to ${high}`;
    throw new InvalidArgumentError(`Use a whole number ${range}.`);
  };
}

/** Units of time, in milliseconds. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const DAY_MS = 86_400_000;

/** Takes a time such as `500ms`, `30s`, `5m` or `1h` as milliseconds; a number alone is seconds. */
export function duration(raw: string): number {
  const [, digits = '', unit = 's'] = /^(\d{1,9})(ms|s|m|h)?$/.exec(raw) ?? [];
  const ms = Number(digits) * (UNITS[unit] ?? 1);
  if (digits !== '' && ms >= 1 && ms <= DAY_MS) return ms;
  throw new InvalidArgumentError('Use a time from 1ms to 24h, such as 500ms, 30s or 5m.');
}

const DAY_PATTERN = /^\d{4}-\d\d-\d\d$/;

/**
 * Returns what reads a day or time as a time in UTC: `yesterday`, `2h` for two hours ago, or a date. Days are those of the local
 * calendar.
 *
 * @param isEnd true for the end of a day
 */
export const moment = (isEnd: boolean) => (raw: string) => {
  if (raw === 'now') return new Date().toISOString();
  if (SPAN_PATTERN.test(raw)) return new Date(Date.now() - spanMs(raw)).toISOString();
  const daysAgo = ['today', 'yesterday'].indexOf(raw);
  const named = daysAgo < 0 ? raw : localTime(Date.now() - daysAgo * DAY_MS).slice(0, 10);
  const isDay = DAY_PATTERN.test(named);
  const time = Date.parse(!isDay ? named : `${named}T${isEnd ? '23:59:59.999' : '00:00'}`);
  // JavaScript reads more than dates: "2 hours ago" is the year 2001.
  if (/^\d{4}-/.test(named) && !Number.isNaN(time)) return new Date(time).toISOString();
  throw new InvalidArgumentError(
    'Use a day such as 2026-03-01, a time such as 2026-03-01T10:00, today, yesterday, or 2h for two hours ago.',
  );
};

export function localTime(at: string | number): string {
  return new Date(at).toLocaleString('sv');
}

export function fraction(raw: string): number {
  if (/^(0|1|[01]?\.\d+)$/.test(raw) && Number(raw) <= 1) return Number(raw);
  throw new InvalidArgumentError('Use a number from 0 to 1.');
}

export function dollars(raw: string): number {
  if (/^\d{1,9}(\.\d{1,6})?$/.test(raw) && Number(raw) > 0) return Number(raw);
  throw new InvalidArgumentError('Use an amount in dollars, such as 5 or 0.50.');
}

/**
 * Reads a file that an argument or an option names.
 *
 * @throws ThroughlineError `usage`, which calls it `what`
 */
export async function readNamed(path: string, what = path): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new ThroughlineError('usage', `${what} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** The bytes of a file that the option `--file` names; `-` is standard input. */
export async function readBody(file: string): Promise<Buffer> {
  if (file === '-') return buffer(process.stdin);
  return readNamed(file, `--file ${file}`);
}

export function givenOptions(command: AnyCommand, without: readonly string[]): string[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) !== 'cli' || without.includes(name)) return [];
    const flag = option.long ?? '';
    const value: unknown = command.getOptionValue(name);
    // `--auth` and `--no-auth` are two options of one name.
    if (typeof value === 'boolean') return value === option.negate ? [] : [flag];
    return [flag, ...[value].flat().map(String)];
  });
}

export const TASK_STATUS_WORDS = ['pending', 'in-progress', 'completed', 'blocked', 'cancelled'] as const;

const STATUS_SYNONYMS: Readonly<Record<string, string>> = {
  pending: 'remaining',
  remaining: 'remaining',
  todo: 'remaining',
  open: 'remaining',
  'in-progress': 'in_progress',
  in_progress: 'in_progress',
  started: 'in_progress',
  completed: 'completed',
  done: 'completed',
  blocked: 'blocked',
  cancelled: 'cancelled',
  canceled: 'cancelled',
};

export function taskStatus(raw: string): string {
  const status = STATUS_SYNONYMS[raw.toLowerCase()];
  if (status !== undefined) return status;
  throw new InvalidArgumentError(`Allowed choices are ${TASK_STATUS_WORDS.join(', ')}.`);
}
