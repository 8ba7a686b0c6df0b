import type { Secret, SecretScanner } from './secret-scanner.js';

/** How many secrets of each rule were found. */
export type SecretCounts = Record<string, number>;

interface Redacted<T> {
  readonly value: T;
  /** Empty when there was nothing to redact. */
  readonly found: Readonly<SecretCounts>;
}

/** Fields that name something: the same words must stay the same, or nothing is found again. */
const NAMES: ReadonlySet<string> = new Set([
  'session',
  'task_id',
  'taskId',
  'intent_id',
  'intentId',
  'id',
  'result_id',
  'resultId',
  'dependsOn',
  'tasksWorked',
  'tasksPath',
  'project',
]);

const NO_NAMES: ReadonlySet<string> = new Set();

const NOTHING: Readonly<SecretCounts> = Object.freeze({});
/** One secret that hides in another shows up in the second round. A hostile text shows another one in each. */
const MAX_ROUNDS = 3;

/**
 * The text with each secret replaced by `<redacted:rule>`. The same text gives the same bytes, and what has been
 * redacted stays as it is.
 */
export function redactText(text: string, scanner: SecretScanner): Redacted<string> {
  if (!scanner.mayHold(text)) return { value: text, found: NOTHING };
  const found: SecretCounts = {};
  let value = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const secrets = apart(scanner.find(value));
    if (secrets.length === 0) break;
    for (const { rule } of secrets) found[rule] = (found[rule] ?? 0) + 1;
    value = replaced(value, secrets);
  }
  return { value, found };
}

interface RedactJsonOptions {
  /** The text that the value was parsed from: one look at it may spare the walk through the value. */
  readonly source?: string;
  /** Fields whose strings stay. Default: those that name something. */
  readonly names?: ReadonlySet<string>;
}

/** A JSON value with the secrets in its strings redacted, in place: keys, numbers and the names of things stay. */
export function redactJson(
  json: unknown,
  scanner: SecretScanner,
  { source, names = NAMES }: RedactJsonOptions = {},
): Redacted<unknown> {
  if (typeof json === 'string') return redactText(json, scanner);
  if (source !== undefined && !mayHoldJson(source, scanner)) return { value: json, found: NOTHING };
  const found: SecretCounts = {};
  const open: unknown[] = [json];
  // Not by recursion: a body may be nested as deep as its size allows.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    for (const key of Object.keys(next)) {
      const value: unknown = Reflect.get(next, key);
      if (typeof value === 'object') open.push(value);
      if (typeof value !== 'string' || names.has(key)) continue;
      const redacted = redactText(value, scanner);
      if (redacted.value === value) continue;
      addCounts(found, redacted.found);
      // Plain assignment would not reach a key that is named like the prototype.
      Reflect.defineProperty(next, key, {
        value: redacted.value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
  }
  return { value: json, found };
}

/** A line of JSON, such as a log writes, with the secrets in its strings redacted; names of things as well. */
export function redactLine(line: string, scanner: SecretScanner): string {
  if (!mayHoldJson(line, scanner)) return line;
  const ending = line.endsWith('\n') ? '\n' : '';
  return `${JSON.stringify(redactJson(JSON.parse(line), scanner, { names: NO_NAMES }).value)}${ending}`;
}

/** Adds counts onto others. */
export function addCounts(total: SecretCounts, more: Readonly<SecretCounts>): void {
  for (const [rule, count] of Object.entries(more)) total[rule] = (total[rule] ?? 0) + count;
}

/** In JSON a character may be written in another way: then its text says nothing about its strings. */
function mayHoldJson(source: string, scanner: SecretScanner): boolean {
  return scanner.mayHold(source) || source.includes('\\u') || source.includes('\\/');
}

/** Secrets in their order; those that overlap become one, named by the rule that came first. */
function apart(secrets: readonly Secret[]): Secret[] {
  const merged: Secret[] = [];
  for (const secret of [...secrets].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (last === undefined || secret.start >= last.end) merged.push(secret);
    else merged[merged.length - 1] = { ...last, end: Math.max(last.end, secret.end) };
  }
  return merged;
}

function replaced(text: string, secrets: readonly Secret[]): string {
  let written = '';
  let from = 0;
  for (const { rule, start, end } of secrets) {
    written += `${text.slice(from, start)}<redacted:${rule}>`;
    from = end;
  }
  return written + text.slice(from);
}
