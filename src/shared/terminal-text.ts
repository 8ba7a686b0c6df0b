/**
 * Makes text safe for a terminal. Stored text may contain escape sequences that rename the window or write into it, and
 * characters that reverse the reading direction or are invisible. All command output passes through here.
 */

// Control characters (C0, DEL, C1), marks without a glyph (bidirectional, zero-width, tags), line separators.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const KEPT: ReadonlySet<string> = new Set(['\n', '\t']);
/** The colours that commands use, and their ends. */
const COLOUR = /(\p{Cc}\[(?:1|2|22|3[1236]|39)m)/u;
const ESCAPE = '\u001b';

/**
 * Escapes control and invisible characters as `\uXXXX`; line breaks and tabs stay. JSON stays equivalent, because it
 * has such characters in strings only.
 */
export function visible(text: string): string {
  return text.replace(UNSAFE, (sign) => (KEPT.has(sign) ? sign : escaped(sign)));
}

/** Does the same for coloured output: keeps our colour sequences only. */
export function visibleInColour(text: string): string {
  return text
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 && part.startsWith(ESCAPE) ? part : visible(part)))
    .join('');
}

/** Escapes each code unit, as JSON does. */
function escaped(sign: string): string {
  return sign
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
