/**
 * What agents wrote is data. These functions turn any text into one line that cannot be mistaken for a header, a
 * marker or the provenance of another line.
 */

// Colours, cursor moves, titles and links of terminals. Like that of Node's `stripVTControlCharacters`, which takes the
// square of the text's length for some texts, and is another one in each version of Node.
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern takes out
  /[\u001b\u009b][[\]()#;?]*(?:(?:[-a-zA-Z\d/&.:=%@~_][-a-zA-Z\d/#&.:;=?%@~_]*)?(?:\u0007|\u001b\\|\u009c)|(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-ntqry=><~])/g;
const BREAKS_AND_CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
// Zero-width, bidirectional and ignorable characters: they change what a reader sees without being seen.
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
// It ends at the next opening bracket as well, which may begin another one.
const PROVENANCE = /\[(\s*task\s*:[^[\]]*)\]?/giu;
const HEADER = /\[(\s*(?:session\s+context|compacted\s+history|recent\s+steps)\s*)\]?/giu;
// How chats are written down for models: a renderer may take these for the beginning of another role.
const ROLE_TAG = /<(\/?\s*(?:system|developer|user|human|assistant|tool|start_of_turn|end_of_turn|s)\s*)>/giu;
const SYSTEM_TAG = /<<\s*(\/?SYS)\s*>>/giu;
const BARRED_ROLE = /<\|([^<>|]*)\|?>/gu;
/** Longest role between bars, in characters. */
const MAX_ROLE = 64;
const INSTRUCTION = /\[(\s*(?:\/\s*)?INST\s*)\]/giu;
// Within a word too: a parser of the body would find it there.
const MARKER = /(BEGIN|END)_DISPATCH_RESULT/giu;
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/u;
const ELLIPSIS = '...';
const SURROGATE = /[\ud800-\udfff]/;

// The common case: words of printable ASCII with one space between them.
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;
// The same without a bracket that may open something of ours or of a chat.
const HARMLESS = /^[!-;=-Z\\-~]+(?: [!-;=-Z\\-~]+)*$/;
// The engine remembers each word while it tries: of millions it throws.
const MAX_PLAIN = 100_000;

/** Folds line breaks, control and invisible characters: one line of well-formed text, trimmed. */
export function oneLine(text: string): string {
  if (text.length <= MAX_PLAIN && PLAIN.test(text)) return text;
  return text
    .toWellFormed()
    .replace(ESCAPES, '')
    .replace(INVISIBLE, '')
    .replace(BREAKS_AND_CONTROLS, ' ')
    .trim();
}

/**
 * One line in which no header, marker or provenance of ours can be read, and no role of a chat: `[task:9]` becomes
 * `(task:9)`, `<|system|>` becomes `(system)`.
 */
export function quoted(text: string): string {
  const harmless = text.length <= MAX_PLAIN && HARMLESS.test(text) && !holdsMarker(text);
  return harmless ? text : disarmed(oneLine(text));
}

/**
 * A text of several lines as the lines of a block quote, `> ` before each, disarmed like one line.
 *
 * @param most of so many lines, the rest are only counted
 */
export function quotedLines(
  text: string,
  most: number,
): { readonly lines: string[]; readonly total: number } {
  const all = text.toWellFormed().replace(ESCAPES, '').replace(INVISIBLE, '').split(LINE_BREAK);
  const lines = all.slice(0, most).map((line) => `> ${disarmed(line.replace(/\p{Cc}/gu, ' '))}`.trimEnd());
  return { lines, total: all.length };
}

function disarmed(line: string): string {
  if (!/[[<]/.test(line) && !holdsMarker(line)) return line;
  return line
    .replace(PROVENANCE, '($1)')
    .replace(HEADER, '($1)')
    .replace(INSTRUCTION, '($1)')
    .replace(ROLE_TAG, '($1)')
    .replace(SYSTEM_TAG, '($1)')
    .replace(BARRED_ROLE, (whole, role: string) =>
      lengthOf(role.trim()) <= MAX_ROLE ? `(${role.trim()})` : whole,
    )
    .replace(MARKER, (marker) => marker.replaceAll('_', ' '));
}

function holdsMarker(line: string): boolean {
  // To look for one character takes a tenth of the time, and few lines hold it.
  return line.includes('_') && /dispatch_result/i.test(line);
}

/** `text` in at most `max` characters (code points); a longer one ends in `...`. */
export function clipText(text: string, max: number): string {
  // A character has at most two units.
  if (text.length <= max || (text.length <= max * 2 && lengthOf(text) <= max)) return text;
  return max <= ELLIPSIS.length ? head(text, max) : head(text, max - ELLIPSIS.length) + ELLIPSIS;
}

/** The first `count` characters (code points); they take at most twice as many code units. */
function head(text: string, count: number): string {
  const units = text.slice(0, Math.max(0, count * 2));
  return SURROGATE.test(units)
    ? Array.from(units).slice(0, Math.max(0, count)).join('')
    : units.slice(0, Math.max(0, count));
}

/** Number of characters (code points) in `text`. */
export function lengthOf(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** A number with its noun: `1 learning`, `2 learnings`; `many` for a plural that is not the noun with an s. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A capital that begins a plain word, as at the beginning of a sentence: not that of `Item.close` or `API`. */
const CAPITAL = /^\p{Lu}(?=\p{Ll}*(?!\S))/u;
/** One that ends a sentence, and not one that stands alone or as part of an ellipsis. */
const FULL_STOP = /(?<=[^\s.])\.$/u;

/**
 * A text in one spelling, to compare by: `Close the file.` and `close the  file` say the same. Quotes, other marks and the
 * case of other letters tell texts apart: ``Rename `Item` to `item` `` and the reverse are two demands.
 */
export function oneSpelling(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(FULL_STOP, '')
    .replace(CAPITAL, (letter) => letter.toLowerCase());
}

/** A text without the marks and spaces that end it. */
export function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && '.:! \n\t'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The first of those that differ in spelling alone. */
export function distinctTexts(texts: readonly string[]): readonly string[] {
  if (texts.length < 2) return texts;
  const said = new Set<string>();
  return texts.filter((text) => {
    const spelling = oneSpelling(text);
    if (said.has(spelling)) return false;
    said.add(spelling);
    return true;
  });
}

const MOST = 10;

/** The first names, ten unless it says otherwise, and how many there are beside them. */
export function named(names: readonly string[], most = MOST): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;

/** How long ago something was, to the minute: `just now`, `3min ago`, `2hr 5min ago`, `4d 1hr ago`. */
export function age(then: string, now: string): string {
  const minutes = Math.floor((Date.parse(now) - Date.parse(then)) / MINUTE_MS);
  if (!(minutes >= 1)) return 'just now';
  const parts = [
    [Math.floor(minutes / DAY_MINUTES), 'd'],
    [Math.floor((minutes % DAY_MINUTES) / HOUR_MINUTES), 'hr'],
    [minutes % HOUR_MINUTES, 'min'],
  ] as const;
  const said = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count}${unit}`);
  return `${said.join(' ')} ago`;
}

/** A stretch of time as people write it: a number, then `m` for minutes, `h` for hours or `d` for days. */
export const SPAN_PATTERN = /^[1-9][0-9]{0,4}[mhd]$/;
/** A stretch of time in days, or `never`. */
export const TERM_PATTERN = /^(?:[1-9][0-9]{0,4}d|never)$/;
const UNIT_MINUTES = { m: 1, h: HOUR_MINUTES, d: DAY_MINUTES } as const;

/** Milliseconds of a stretch of time that fits `SPAN_PATTERN`. */
export function spanMs(span: string): number {
  const unit = span.at(-1) === 'd' ? 'd' : span.at(-1) === 'h' ? 'h' : 'm';
  return Number.parseInt(span, 10) * UNIT_MINUTES[unit] * MINUTE_MS;
}

/** Returns a word of a command line, quoted where a shell would read more into it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
