/**
 * What may be written to a terminal. Text that was stored may hold anything: escape sequences that rename the window or
 * write into it, characters that turn the reading direction around or that are not seen at all. Whatever a command
 * prints passes through here, so no command has to think of it.
 */

// Control characters (C0, DEL, C1), marks without a glyph (bidirectional, zero-width, tags), separators of lines.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const KEPT: ReadonlySet<string> = new Set(['\n', '\t']);
/** The colours that commands use, and what ends them. */
const COLOUR = /(\p{Cc}\[(?:1|2|22|3[1236]|39)m)/u;
const ESCAPE = '\u001b';

/**
 * The text with all that a terminal acts on, or does not show, written as `\uXXXX`; line breaks and tabs stay. JSON stays
 * the same JSON, since in it such characters stand in strings only.
 */
export function visible(text: string): string {
  return text.replace(UNSAFE, (sign) => (KEPT.has(sign) ? sign : escaped(sign)));
}

/** The same for text in which a command has set colours; only those, and nothing else that begins with an escape, are kept. */
export function visibleInColour(text: string): string {
  return text
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 && part.startsWith(ESCAPE) ? part : visible(part)))
    .join('');
}

/** Signs that take two columns of a terminal. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u;
/** Signs that are drawn onto the one before. */
const MARK = /\p{M}/u;

/** A line cut to so many columns of a terminal, with `...` where it was longer. */
export function clippedToColumns(line: string, columns: number): string {
  const signs = [...line];
  let width = 0;
  let fitting = 0;
  for (const [index, sign] of signs.entries()) {
    width += WIDE.test(sign) ? 2 : MARK.test(sign) ? 0 : 1;
    if (width <= columns - CUT.length) fitting = index + 1;
    if (width > columns) return signs.slice(0, fitting).join('') + CUT;
  }
  return line;
}

const CUT = '...';

/** Each code unit by itself, as JSON spells it. */
function escaped(sign: string): string {
  return sign
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
