import { withoutUnseen } from '../../shared/text.js';

/** Number of secrets by rule. */
export type SecretCounts = Record<string, number>;

interface Redacted<T> {
  readonly value: T;
  /** Empty if nothing was redacted. */
  readonly found: Readonly<SecretCounts>;
}

/** Identifiers, which must stay the same to be found again. */
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
/** A secret inside another appears in the second round. The limit stops a hostile text that reveals one per round. */
const MAX_ROUNDS = 3;

/** Line breaks, signs and spaces as escapes of other formats write them: a secret may begin or end there. */
const ENCODED = /\\+(?:[nrt]|(?:u001b|x1b|033)\[[\d;]{0,16}m)?|%(?:3[ad]|2[0267]|0a)/gi;

/** Returns the text with the encoded signs in place of their escapes, and as long as before. */
function decoded(text: string): string {
  if (!text.includes('\\') && !text.includes('%')) return text;
  return text.replace(ENCODED, (written) => {
    if (written.endsWith('\\')) return written;
    const sign = written.startsWith('%')
      ? decodeURIComponent(written)
      : { t: '\t', n: '\n', r: '\n' }[written.slice(-1).toLowerCase()];
    return (sign ?? '').padEnd(written.length);
  });
}

/**
 * Replaces each secret by `<redacted:rule>`. Deterministic and idempotent. A text with a secret loses its escape sequences and
 * invisible characters, which may stand inside of one.
 */
export function redactText(text: string, scanner: SecretScanner): Redacted<string> {
  let value = withoutUnseen(text);
  const found: SecretCounts = {};
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const views = [...new Set([value, decoded(value)])].filter((view) => scanner.mayHold(view));
    const secrets = apart(views.flatMap((view) => scanner.find(view)));
    if (secrets.length === 0) break;
    for (const { rule } of secrets) found[rule] = (found[rule] ?? 0) + 1;
    value = replaced(value, secrets);
  }
  return Object.keys(found).length === 0 ? { value: text, found: NOTHING } : { value, found };
}

/**
 * Redacts the strings of a JSON value in place: keys, numbers and identifiers stay.
 *
 * @param options the JSON text, whose check may save walking the value, and the fields that are not redacted
 */
export function redactJson(
  json: unknown,
  scanner: SecretScanner,
  { source, names = NAMES }: { readonly source?: string; readonly names?: ReadonlySet<string> } = {},
): Redacted<unknown> {
  if (typeof json === 'string') return redactText(json, scanner);
  if (source !== undefined && !mayHoldJson(source, scanner)) return { value: json, found: NOTHING };
  const found: SecretCounts = {};
  const open: unknown[] = [json];
  // Iterative, since a body may be nested as deeply as its size allows.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    for (const key of Object.keys(next)) {
      const value: unknown = Reflect.get(next, key);
      if (typeof value === 'object') open.push(value);
      if (typeof value !== 'string' || names.has(key)) continue;
      const redacted = redactText(value, scanner);
      if (redacted.value === value) continue;
      addCounts(found, redacted.found);
      // Plain assignment would not reach a key named `__proto__`.
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

/** Redacts a line of JSON, such as a log line, identifiers included. */
export function redactLine(line: string, scanner: SecretScanner): string {
  if (!mayHoldJson(line, scanner)) return line;
  const ending = line.endsWith('\n') ? '\n' : '';
  return `${JSON.stringify(redactJson(JSON.parse(line), scanner, { names: NO_NAMES }).value)}${ending}`;
}

export function addCounts(total: SecretCounts, more: Readonly<SecretCounts>): void {
  for (const [rule, count] of Object.entries(more)) total[rule] = (total[rule] ?? 0) + count;
}

/** Escapes may hide a hint. */
export function mayHoldJson(source: string, scanner: SecretScanner): boolean {
  return scanner.mayHold(withoutUnseen(source)) || /\\[u/]|%[0-3]/.test(source);
}

/** Merges overlapping secrets, keeping the first rule's name. */
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

/** A secret in a text. */
export interface Secret {
  /** Short name such as `github` or `privatekey`. */
  readonly rule: string;
  /** UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Finds secrets. An implementation must be pure, and linear in the length of any text. */
export interface SecretScanner {
  /**
   * A cheap check before `find`. Must be true for each text in which `find` would find a secret, and for each text that
   * contains such a text.
   */
  mayHold(text: string): boolean;
  find(text: string): readonly Secret[];
}

/** Disables redaction. */
export const NO_SCANNER: SecretScanner = { mayHold: () => false, find: () => [] };
