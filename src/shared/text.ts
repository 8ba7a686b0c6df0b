/**
 * Agents' text is data. These functions turn any text into one line that cannot forge a header, a marker or the origin
 * of another line.
 */

// Terminal colours, cursor moves, titles and links. Like Node's `stripVTControlCharacters`, which is quadratic for some
// texts and differs between versions of Node.
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern takes out
  /[\u001b\u009b][[\]()#;?]*(?:(?:[-a-zA-Z\d/&.:=%@~_][-a-zA-Z\d/#&.:;=?%@~_]*)?(?:\u0007|\u001b\\|\u009c)|(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-ntqry=><~])/g;
const BREAKS_AND_CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
// Zero-width, bidirectional and ignorable characters, which change what a reader sees without being visible.
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
// The next expression finds only other signs: most texts have none.
const BEYOND_PLAIN = /[^\t\n\r -~]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const UNSEEN = /[\u001b\u009b\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
// Also ends at the next opening bracket, which may begin another.
const PROVENANCE = /\[(\s*(?:task\s*:|[MN]\d[\d.v]*\s*(?=[,\]]))[^[\]]*)\]?/giu;
const HEADER = /\[(\s*(?:session\s+context|compacted\s+history|recent\s+steps)\s*)\]?/giu;
// Tags, comments and chat roles, by which a client may tell where a quotation ends and who speaks. A type argument such as
// `Map<string, Set<string>>` is none, unless its name is that of a tag of a client, and neither is our mark of a secret.
const CLIENT_TAG =
  'system[-_]reminder|(?:hook|environment|session|loaded)[-_](?:context|details)|user[-_](?:instructions|query|info|prompt)|tool[-_](?:results?|use|calls?|response)|function[-_](?:calls?|results?)|task[-_]notification|(?:local[-_])?command[-_](?:name|message|args|stdout)|antml:';
const TAG = new RegExp(String.raw`<(?=[/!|]|${CLIENT_TAG})|(?<![\p{L}\p{N}_])<(?=\p{L})(?!redacted:)`, 'giu');
const INSTRUCTION = /\[(\s*(?:\/\s*)?INST\s*)\]/giu;
// Also within a word, where a parser of the body would find it.
const MARKER = /(BEGIN|END)_DISPATCH_RESULT/giu;
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/u;
const ELLIPSIS = '...';
const SURROGATE = /[\ud800-\udfff]/;

// The common case: words of printable ASCII separated by single spaces.
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;
// The same without brackets that may begin a marker of ours or of a chat.
const HARMLESS = /^[!-;=-Z\\-~]+(?: [!-;=-Z\\-~]+)*$/;
// The regular expression engine throws for millions of words.
const MAX_PLAIN = 100_000;

/** Folds line breaks, control and invisible characters: one line of well-formed, trimmed text. */
export function oneLine(text: string): string {
  if (text.length <= MAX_PLAIN && PLAIN.test(text)) return text;
  return withoutUnseen(text.toWellFormed()).replace(BREAKS_AND_CONTROLS, ' ').trim();
}

/** Removes escape sequences and characters that are not visible. */
export function withoutUnseen(text: string): string {
  return BEYOND_PLAIN.test(text) && UNSEEN.test(text)
    ? text.replace(ESCAPES, '').replace(INVISIBLE, '')
    : text;
}

/**
 * Returns one line without any header, marker or origin of ours, or tag: `[task:9]` becomes `(task:9)`, `</system>`
 * becomes `< /system>`.
 */
export function quoted(text: string): string {
  const harmless = text.length <= MAX_PLAIN && HARMLESS.test(text) && !holdsMarker(text);
  return harmless ? text : disarmed(oneLine(text));
}

/**
 * Turns a multi-line text into the lines of a block quote, each quoted.
 *
 * @param most number of lines; the rest is only counted
 */
export function quotedLines(
  text: string,
  most: number,
): { readonly lines: string[]; readonly total: number } {
  const all = withoutUnseen(text.toWellFormed()).split(LINE_BREAK);
  const lines = all.slice(0, most).map((line) => `> ${disarmed(line.replace(/\p{Cc}/gu, ' '))}`.trimEnd());
  return { lines, total: all.length };
}

function disarmed(line: string): string {
  if (!/[[<]/.test(line) && !holdsMarker(line)) return line;
  return line
    .replace(PROVENANCE, '($1)')
    .replace(HEADER, '($1)')
    .replace(INSTRUCTION, '($1)')
    .replace(TAG, '< ')
    .replace(MARKER, (marker) => marker.replaceAll('_', ' '));
}

function holdsMarker(line: string): boolean {
  // Checking for one character first takes a tenth of the time, and few lines have it.
  return line.includes('_') && /dispatch_result/i.test(line);
}

/** Clips text to `max` code points; a longer one ends in `...`. */
export function clipText(text: string, max: number): string {
  // A character has at most two units.
  if (text.length <= max || (text.length <= max * 2 && lengthOf(text) <= max)) return text;
  return max <= ELLIPSIS.length ? head(text, max) : head(text, max - ELLIPSIS.length) + ELLIPSIS;
}

/** Returns the first `count` code points, which have at most twice as many units. */
function head(text: string, count: number): string {
  const units = text.slice(0, Math.max(0, count * 2));
  return SURROGATE.test(units)
    ? Array.from(units).slice(0, Math.max(0, count)).join('')
    : units.slice(0, Math.max(0, count));
}

/** Counts code points. */
export function lengthOf(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** Where a clause ends: after its punctuation, or before a word that limits what was said. */
const CLAUSE_END = /(?<=[.!?;。！？；])\s+|,\s+(?=(?:but|except|unless|until|although|however)\b)/u;
/** Words of a clause that a reader must not miss: a failure or a condition. */
const MATTERS =
  /\b(?:but|except|unless|until|if|when|only|not|never|cannot|without|still|fail(?:s|ed|ing|ures?)?|broken|breaks|missing|must|needs?|requires?)\b|n['’]t\b/i;

/** Clips a summary; its last clause stays if it names a failure or a condition. */
export function clipSummary(text: string, max: number): string {
  const last = text.length <= max ? '' : (text.split(CLAUSE_END).at(-1) ?? '');
  const rest = max - lengthOf(last) - 1;
  return MATTERS.test(last) && rest > max / 2 ? `${clipText(text, rest)} ${last}` : clipText(text, max);
}

/** A heading of the part of a report that says what came of it. */
const CONCLUSION =
  /^[ \t]{0,3}(?:#{1,6}[ \t]{1,4}|\*\*)?(?:final |overall )?(?:summary|conclusions?|results?|outcome|tl;?dr|in short)(?:\*\*)?[ \t]{0,4}(?::|$)(?:\*\*)?/gim;
const HEADING = /^[ \t]{0,3}#{1,6}[ \t]/m;

/** Returns what a text that is too long says as its conclusion, else the text. */
export function conclusionOf(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = [...text.matchAll(CONCLUSION)].at(-1);
  if (last === undefined) return text;
  const [section = ''] = text.slice(last.index + last[0].length).split(HEADING, 1);
  return section.trim() === '' ? text : section.trim();
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The capital of a plain word, as at the beginning of a sentence, unlike `Item.close` or `API`. */
const CAPITAL = /^\p{Lu}(?=\p{Ll}*(?!\S))/u;
/** A final full stop, neither alone nor in an ellipsis. */
const FULL_STOP = /(?<=[^\s.])\.$/u;

/**
 * Normalizes text for comparison: `Close the file.` equals `close the  file`. Quotes, other marks and inner capitals
 * are significant: ``Rename `Item` to `item` `` differs from the reverse.
 */
export function oneSpelling(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(FULL_STOP, '')
    .replace(CAPITAL, (letter) => letter.toLowerCase());
}

/** Removes punctuation and spaces at the end. */
export function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && '.:! \n\t'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Removes texts that differ in spelling alone, keeping the first. */
export function distinctTexts(texts: readonly string[]): readonly string[] {
  if (texts.length < 2) return texts;
  const spellings = new Set<string>();
  return texts.filter((text) => {
    const spelling = oneSpelling(text);
    if (spellings.has(spelling)) return false;
    spellings.add(spelling);
    return true;
  });
}

const MOST = 10;

/** Lists the first names, ten by default, and the number of others. */
export function named(names: readonly string[], most = MOST): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/**
 * Renders the day of a time in UTC: `3 Mar`, with the year if it is not that of the newest event, and with the hour if the
 * day is the present one.
 */
export function dayOf(at: string, newest = at, now = ''): string {
  const day = `${Number(at.slice(8, 10))} ${MONTHS[Number(at.slice(5, 7)) - 1] ?? ''}`;
  if (at.slice(0, 10) === now.slice(0, 10)) return `${day} ${at.slice(11, 16)}`;
  return at.slice(0, 4) === newest.slice(0, 4) ? day : `${day} ${at.slice(0, 4)}`;
}

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;

/** Renders a duration to the minute: `just now`, `3min ago`, `2hr 5min ago`, `4d 1hr ago`. */
export function age(then: string, now: string): string {
  const minutes = Math.floor((Date.parse(now) - Date.parse(then)) / MINUTE_MS);
  if (!(minutes >= 1)) return 'just now';
  const parts = [
    [Math.floor(minutes / DAY_MINUTES), 'd'],
    [Math.floor((minutes % DAY_MINUTES) / HOUR_MINUTES), 'hr'],
    [minutes % HOUR_MINUTES, 'min'],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count}${unit}`);
  return `${shown.join(' ')} ago`;
}

/** A duration: a number with `m` for minutes, `h` for hours or `d` for days. */
export const SPAN_PATTERN = /^[1-9][0-9]{0,4}[mhd]$/;
export const DAYS_PATTERN = /^[1-9][0-9]{0,4}d$/;
const UNIT_MINUTES = { m: 1, h: HOUR_MINUTES, d: DAY_MINUTES } as const;

/** Converts a duration that matches `SPAN_PATTERN` to milliseconds. */
export function spanMs(span: string): number {
  const unit = span.at(-1) === 'd' ? 'd' : span.at(-1) === 'h' ? 'h' : 'm';
  return Number.parseInt(span, 10) * UNIT_MINUTES[unit] * MINUTE_MS;
}

export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns one or several URLs without user, password or token, also of a wrong one: up to the last @ of each.
 *
 * @param mark stands in their place
 */
export function withoutCredentials(url: string, mark = ''): string {
  return url
    .split(/,(?=[a-z][a-z\d+.-]*:\/\/)/i)
    .map((server) => server.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, `$1${mark}`))
    .join(',');
}

/** Parses JSON; undefined for any other text. */
export function jsonOf(data: Uint8Array | string): unknown {
  return ifPossible(() => JSON.parse(typeof data === 'string' ? data : new TextDecoder().decode(data)));
}

/** Returns undefined where it fails, as for a process that has ended or belongs to another user. */
export function ifPossible<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Excludes `null` and arrays. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function recordOf<Name extends string, Value>(
  names: readonly Name[],
  of: (name: Name) => Value,
): Record<Name, Value> {
  const entries = names.map((name) => [name, of(name)]);
  return Object.fromEntries(entries);
}

const ROUNDABOUT = /\/\.{0,2}\//;

/** Not just a path: text with spaces, a URL, or a share on another machine. */
const NOT_A_PATH = /^\/\/|\s|:\/\//u;

/**
 * Normalizes `.`, `..` and empty segments inside a path: `/tmp/x/../y.ts` becomes `/tmp/y.ts`. Leaves other texts
 * unchanged, including `./a.ts`, `a/..`, text that may be more than a path, and paths that would become empty.
 */
export function plainPath(path: string): string {
  if (!ROUNDABOUT.test(path) || NOT_A_PATH.test(path)) return path;
  const root = path.startsWith('/') ? '/' : '';
  const steps: string[] = [];
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue;
    const leadsOut = steps.length === 0 || steps.at(-1) === '..';
    if (step !== '..') steps.push(step);
    else if (!leadsOut) steps.pop();
    else if (root === '') steps.push(step);
  }
  const plain = root + steps.join('/');
  return plain === '' ? path : plain;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the first of all characters
const ASCII = /^[\u0000-\u007f]*$/;
const BEYOND_ASCII = /\P{ASCII}+/gu;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/**
 * Returns the approximate number of tokens, 0 for an empty text only. Four characters a token, and one token per Chinese,
 * Japanese or Korean character: close enough for English and code, and fast.
 */
export function tokensIn(text: string): number {
  if (ASCII.test(text)) return Math.ceil(text.length / 4);
  // Skipping ASCII first is faster for long text.
  const dense = (text.match(BEYOND_ASCII) ?? []).join('').match(CJK) ?? [];
  const units = dense.reduce((sum, character) => sum + character.length, 0);
  return dense.length + Math.ceil((text.length - units) / 4);
}
