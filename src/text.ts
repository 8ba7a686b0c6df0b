import { stripVTControlCharacters } from 'node:util';

/**
 * What agents wrote is data. These functions turn any text into one line that cannot be mistaken for a header, a
 * marker or the provenance of another line.
 */

const BREAKS_AND_CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
// Zero-width, bidirectional and ignorable characters: they change what a reader sees without being seen.
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
// It ends at the next opening bracket as well, which may begin another one.
const PROVENANCE = /\[(\s*task\s*:[^[\]]*)\]?/giu;
const HEADER = /\[(\s*session\s+context\s*)\]?/giu;
// Within a word too: whoever parses a body finds it there.
const MARKER = /(BEGIN|END)_DISPATCH_RESULT/giu;
const ELLIPSIS = '...';

/** Folds line breaks, control and invisible characters: one line of well-formed text, trimmed. */
export function oneLine(text: string): string {
  // The common case, a short line of printable ASCII, needs none of the passes below.
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.includes('  ')) return text;
  return stripVTControlCharacters(text.toWellFormed())
    .replace(INVISIBLE, '')
    .replace(BREAKS_AND_CONTROLS, ' ')
    .trim();
}

/** One line in which no header, marker or provenance of ours can be read: `[task:9]` becomes `(task:9)`. */
export function quoted(text: string): string {
  const line = oneLine(text);
  if (!line.includes('[') && !/dispatch_result/i.test(line)) return line;
  return line
    .replace(PROVENANCE, '($1)')
    .replace(HEADER, '($1)')
    .replace(MARKER, (marker) => marker.replaceAll('_', ' '));
}

/** `text` in at most `max` characters (code points); a longer one ends in `...`. */
export function clipText(text: string, max: number): string {
  if (text.length <= max) return text;
  const characters = Array.from(text);
  if (characters.length <= max) return text;
  if (max <= ELLIPSIS.length) return characters.slice(0, Math.max(0, max)).join('');
  return characters.slice(0, max - ELLIPSIS.length).join('') + ELLIPSIS;
}

/** Number of characters (code points) in `text`. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
