import { isShardCount, LAYOUTS, MAX_SHARDS, type SessionLayout } from '../contracts/names.js';

/**
 * Readers of variables, from text to value. Unset or empty variables have no text. No schema library, because every
 * command reads the configuration, and some must start fast.
 */
export interface VariableReader<Value> {
  /** @throws WrongVariable */
  readonly read: (raw: string | undefined) => Value;
  /** The default in the reference. */
  readonly shown: string;
}

/** The fault of a variable, worded to follow its name. */
export class WrongVariable extends Error {}

export function wholeNumber(low: number, high: number, fallback: number): VariableReader<number> {
  const read = (raw: string | undefined) => {
    if (raw === undefined) return fallback;
    // Number() reads blanks as 0.
    const value = raw.trim() === '' ? Number.NaN : Number(raw);
    if (Number.isInteger(value) && value >= low && value <= high) return value;
    throw new WrongVariable(`is ${JSON.stringify(raw)}: use a whole number from ${low} to ${high}`);
  };
  return { read, shown: String(fallback) };
}

/** @param shown the default in the reference */
export function optional(shown = '–'): VariableReader<string | undefined> {
  return { read: (raw) => raw, shown };
}

/** Part of a URL. The error does not repeat it, because it is a secret. */
export const accessToken: VariableReader<string | undefined> = {
  read(raw) {
    if (raw === undefined || /^[\w-]{16,128}$/.test(raw)) return raw;
    throw new WrongVariable('is not a token: use 16 to 128 characters of A-Z a-z 0-9 _ and -');
  },
  shown: '–',
};

export const flag: VariableReader<boolean> = {
  read(raw) {
    if (raw === undefined || raw === '0' || raw === 'false') return false;
    if (raw === '1' || raw === 'true') return true;
    throw new WrongVariable(`is ${JSON.stringify(raw)}: use 1 or 0`);
  },
  shown: '0',
};

export function oneOf<const Word extends string>(
  words: readonly Word[],
  fallback: NoInfer<Word>,
): VariableReader<Word> {
  const read = (raw: string | undefined) => {
    if (raw === undefined) return fallback;
    const word = words.find((candidate) => candidate === raw);
    if (word !== undefined) return word;
    const fix = words.length === 2 ? words.join(' or ') : `one of ${words.join(', ')}`;
    throw new WrongVariable(`is ${JSON.stringify(raw)}: use ${fix}`);
  };
  return { read, shown: `\`${fallback}\`` };
}

export const layoutAndShards: VariableReader<{
  readonly layout: SessionLayout['layout'] | undefined;
  readonly shards: number | undefined;
}> = {
  read(raw) {
    if (raw === undefined) return { layout: undefined, shards: undefined };
    const [name, count, ...more] = raw.split(':');
    const layout = LAYOUTS.find((candidate) => candidate === name);
    const shards = count === undefined ? undefined : Number(count);
    const isRight = shards === undefined || (layout === 'sharded' && isShardCount(shards));
    if (layout !== undefined && isRight && more.length === 0) return { layout, shards };
    throw new WrongVariable(
      `is ${JSON.stringify(raw)}: use per-session, sharded, or sharded:N with a power of two from 1 to ${MAX_SHARDS}`,
    );
  },
  shown: 'what the installation has; `per-session` for a new one',
};

export function knobs<const Table extends Readonly<Record<string, VariableReader<unknown>>>>(
  table: Table,
): VariableReader<{ readonly [Name in keyof Table]: ReturnType<Table[Name]['read']> }> {
  const read = (raw = '') => {
    const given = new Map(raw.split(/\s+/).flatMap((pair) => (pair === '' ? [] : [namedValue(pair)])));
    for (const name of given.keys()) {
      if (!Object.hasOwn(table, name))
        throw new WrongVariable(
          `names ${JSON.stringify(name)}: use NAME=VALUE of ${Object.keys(table).join(', ')}`,
        );
    }
    const values = Object.entries(table).map(([name, reader]) => {
      try {
        return [name, reader.read(given.get(name))];
      } catch (error) {
        throw error instanceof WrongVariable
          ? new WrongVariable(`has ${name}, which ${error.message}`)
          : error;
      }
    });
    // Each entry comes from the reader of its name, which the types of `Object.fromEntries` cannot express.
    return Object.fromEntries(values) as { [Name in keyof Table]: ReturnType<Table[Name]['read']> };
  };
  return { read, shown: '–' };
}

function namedValue(pair: string): readonly [name: string, value: string] {
  const at = pair.indexOf('=');
  return at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
}
