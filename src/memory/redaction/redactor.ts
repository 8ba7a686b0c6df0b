import { withoutUnseen } from '../../shared/text.js';
import { KEYS, PASSWORDS, PATTERNS, TOKENS } from './secret-rules.js';

export type SecretCounts = Record<string, number>;

interface Redacted<T> {
  readonly value: T;
  /** Empty if nothing was redacted. */
  readonly found: Readonly<SecretCounts>;
}

/** Identifiers, which must stay the same to be found again. */
const NAMES: ReadonlySet<string> = new Set(
  'session task_id taskId intent_id intentId id result_id resultId dependsOn tasksWorked tasksPath project'.split(
    ' ',
  ),
);

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

/** Replaces each secret by `<redacted:rule>`; idempotent. A text with one loses escape sequences and invisible characters. */
export function redactText(text: string, scanner: SecretScanner): Redacted<string> {
  let value = seen(text);
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

/** Redacts the strings of a JSON value in place, keys excepted. Checking its text, `source`, first may save walking the value. */
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
  const isWritten = source.includes('\\') || source.includes('%');
  return scanner.mayHold(seen(source)) || (isWritten && /\\[u/]|%[0-3]/.test(source));
}

/** Returns the text without what is not seen. To count bytes finds a text of ASCII ten times as fast as an expression. */
function seen(text: string): string {
  return Buffer.byteLength(text) === text.length && !text.includes('\u001b') ? text : withoutUnseen(text);
}

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

export interface Secret {
  /** Short name such as `github` or `privatekey`. */
  readonly rule: string;
  /** UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Finds secrets. An implementation must be pure, and linear in the length of any text. */
export interface SecretScanner {
  /** A cheap check before `find`: true for each text in which `find` finds a secret, and for texts that contain one. */
  mayHold(text: string): boolean;
  find(text: string): readonly Secret[];
}

export const NO_SCANNER: SecretScanner = { mayHold: () => false, find: () => [] };

/** Finds secrets by the rules. Combined hints check 1 KB in five microseconds, and most texts need no more. */

const TOKEN = new RegExp(
  `(?<![A-Za-z0-9])(?:${TOKENS.map(([, prefix, body, least]) => `${prefix}${body}{${least},4096}`).join('|')})`,
  'g',
);
/** Finds texts that may hold a token: by the sign that ends its prefix, or by the prefix. */
const ENDS = /\\?[._~-]$/;
const TOKEN_HINTS = [
  ...[...new Set(TOKENS.flatMap(([, prefix]) => ENDS.exec(prefix)?.[0] ?? []))].map((sign) => {
    const prefixes = TOKENS.map(([, prefix]) => prefix).filter((prefix) => ENDS.exec(prefix)?.[0] === sign);
    return String.raw`${sign}(?=[\w+/=-]{10})(?<=(?:${prefixes.join('|')}))`;
  }),
  ...TOKENS.filter(([, prefix]) => !ENDS.test(prefix)).map(([, prefix, body]) => `${prefix}${body}{8}`),
];

/**
 * A name with its value: `DB_PASSWORD=…`, `password: …`, `"apiKey": "…"`, `:token => '…'`, `<secret>…</secret>`. It begins at the
 * sign between them, which is rarer than any letter of a name.
 */
const ASSIGNED = new RegExp(
  String.raw`[:=>：](?<=(?<name>(?<password>${PASSWORDS})|${KEYS})(?:\\{0,31}["'\]]){0,2}[ \t]{0,8}(?:,?\s{0,40}(?:\\{0,31}["'])?value(?:\\{0,31}["'])?)?[:=>：])` +
    String.raw`(?:(?<!>)[=>]?|(?<=>)(?=[^<>\s]{4,512}<\/))[ \t]{0,8}(?:(?:Basic|Bearer|Token|ApiKey|SSWS|GenieKey|OAuth|Bot)[ \t]{1,4})?` +
    String.raw`(?:\\{0,31}(?<open>["'\x60])(?<quoted>(?:(?!\k<open>)[^\n\\]){4,512})\\{0,31}\k<open>|(?<plain>[^\s"'\x60,;&<>(){}[\]|\\$%*][^\s"'\x60,;&<>(){}[\]|\\]{4,4095}))`,
  'gi',
);
const ENDINGS =
  'word|wd|phrase|passcode|pass|pwd|pw|psk|cookie|mnemonic|wort|passe|contrasena|contraseña|senha|woord|senord|passord|adgangskode|salasana|haslo|hasło|heslo|lozinka|ifre|jelszo|jelszó|пароль|密码|密碼|口令|パスワード|비밀번호|secret|token|key|key_base|key-data|key_data|sessionid|sessid|sid|secretid|secret_id|secret-id|auth|authorization|sig|signature';
const ASSIGNED_HINT = String.raw`[:=>：](?<=(?:${anyCase(ENDINGS)})["'\\\]]{0,33}[ \t]{0,2}(?:[,\s\\nrt"']{0,80}value["'\\]{0,33})?[:=>：])`;

/** Without the flag `i`, which would slow down the hints that are combined with this one. */
function anyCase(words: string): string {
  return words.replace(/\p{Ll}/gu, (letter) => `[${letter.toUpperCase()}${letter}]`);
}

const PATTERN_LIST = PATTERNS.map(({ hint, pattern, ...known }) => ({
  ...known,
  hint: new RegExp(hint),
  pattern: new RegExp(pattern, 'g'),
}));

const TOKEN_HINT = byFirstSign(TOKEN_HINTS);
const NAME_HINT = new RegExp(ASSIGNED_HINT);
const HINTS = [
  ...PATTERNS.flatMap(({ needs, hint }) => (needs === undefined ? hint : [])),
  ...TOKEN_HINTS,
  ASSIGNED_HINT,
];
/** Faster apart. A small letter would slow down both: such a hint has a rare text, or that of names covers it, as `auth`. */
const SIGN_HINT = byFirstSign(HINTS.filter((hint) => !/^[a-z]/i.test(hint)));
const CAPITAL_HINT = byFirstSign(HINTS.filter((hint) => /^[A-Z]/.test(hint)));
/** By the text that they need, which to look for costs less than the expression. */
const RARE = [...new Set(PATTERNS.flatMap(({ needs }) => needs ?? []))].map((needs) => ({
  needs,
  hint: byFirstSign(PATTERNS.filter((pattern) => pattern.needs === needs).map(({ hint }) => hint)),
}));

/** Combines hints, grouped by their first sign, which makes matching fast. */
function byFirstSign(hints: readonly string[]): RegExp {
  const groups = new Map<string, string[]>();
  for (const hint of new Set(hints)) {
    const [first = ''] = /^(?:\\.|\[[^\]]*\]|[^(])/.exec(hint) ?? [];
    groups.set(first, [...(groups.get(first) ?? []), hint.slice(first.length)]);
  }
  return new RegExp([...groups].map(([first, rest]) => `${first}(?:${rest.join('|')})`).join('|'));
}

export const secretScanner: SecretScanner = {
  mayHold: (text) =>
    SIGN_HINT.test(text) ||
    CAPITAL_HINT.test(text) ||
    /dapi[0-9a-f-]{8}/.test(text) ||
    RARE.some(({ needs, hint }) => text.includes(needs) && hint.test(text)),
  find,
};

export function scannerFor({ redact }: { readonly redact: boolean }): SecretScanner {
  return redact ? secretScanner : NO_SCANNER;
}

function find(text: string): readonly Secret[] {
  const found: Secret[] = [];
  const add = (rule: string, secret: string, start: number) =>
    found.push({ rule, start, end: start + secret.length });
  if (TOKEN_HINT.test(text)) {
    for (const { 0: token, index } of text.matchAll(TOKEN)) {
      const lengths = TOKENS.map(([, prefix]) => new RegExp(`^(?:${prefix})`).exec(token)?.[0].length ?? 0);
      const rule = TOKENS[lengths.indexOf(Math.max(...lengths))]?.[0] ?? '';
      // Words are joined by hyphens too.
      if (rule !== 'api-key' || /\d/.test(token)) add(rule, token, index);
    }
  }
  for (const { rule, needs = '', hint, pattern } of PATTERN_LIST) {
    if (!text.includes(needs) || !hint.test(text)) continue;
    for (const match of text.matchAll(pattern)) {
      const { secret = match[0], quoted, basic, user = '' } = match.groups ?? {};
      const value = basic ?? quoted ?? secret;
      if (standsIn(value)) continue;
      // The secret ends the match, except for a closing sign.
      add(rule, user + value, match.index + match[0].lastIndexOf(user + value));
    }
  }
  if (NAME_HINT.test(text)) for (const match of text.matchAll(ASSIGNED)) addAssigned(match);
  return found;

  function addAssigned({ 0: whole, index, groups = {} }: RegExpExecArray): void {
    const { name = '', password, quoted, plain = '' } = groups;
    // In capitals it is a variable; `primary_key` is none.
    if (name === '_key') return;
    const value = quoted ?? plain;
    const end = index + whole.length;
    const isSure = quoted !== undefined || /^:?=/.test(whole) || ENDS_LINE.test(text.slice(end, end + 10));
    // Prose has no such words.
    const isMixed = /\d/.test(value) || /[a-z][A-Z]/.test(value);
    const isSecret = password === undefined ? isKey(value) : isSure || isMixed;
    if (isSecret && !standsIn(value)) add('variable', value, index + whole.lastIndexOf(value));
  }
}

/** A password without quotes may be code or prose: after a colon it must end its line. */
const ENDS_LINE = /^[ \t]{0,8}(?:[\r\n,}"'#\\<]|$)/;

function isKey(value: string): boolean {
  return (
    value.length >= 8 && /[a-z]/i.test(value) && (/\d/.test(value) || value.length >= 20) && !/\s/.test(value)
  );
}

const STAND_INS =
  /^(?:pass(?:word|phrase)?|pwd|user(?:name)?|change-?me|your[-_ a-z]*|x{3,}|\*+|\.{3}|str(?:ing)?|bool(?:ean)?|number|int(?:eger)?|any|unknown|undefined|null|none|true|false|optional|required|example.*|redacted|hidden|masked|invalid|missing|expired|argument|option|parameter|variable)[!?.]?$/i;
/** Names of what holds a secret, and messages about one. */
const TALK =
  /pass(?:word|phrase)|secret|token|credential|api_?key|\b(?:must|is|are|not|be|the|your|should|cannot|required|please|enter)\b/i;
/** A token, although it is like a name of code. */
const KUBERNETES = /^[a-z0-9]{6}\.[a-z0-9]{16}$/;
const CODE = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/;

/** Returns true for what documentation and code write in place of a secret: `password`, `${PASSWORD}`, `%s`, `config.token`. */
function standsIn(value: string): boolean {
  return (
    STAND_INS.test(value) ||
    /^(?:\$(?!\w{1,8}\$)|%[A-Za-z({]|[{<[(]|@|\.\/|~\/)/.test(value) ||
    (!/\d/.test(value) && (TALK.test(value) || CODE.test(value)) && !KUBERNETES.test(value))
  );
}

type Redact = <T>(value: T) => Promise<T>;

/** Characters read beyond a cut. */
const BEYOND = 65_536;
/** Maximum length of a secret: one that this reading splits ends or begins within this distance. */
const LONGEST = 20_000;

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
