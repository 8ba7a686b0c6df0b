import { clipText, lengthOf } from '../shared/text.js';

/**
 * A text in ever longer excerpts around the words that matter, the whole at the end. Each excerpt holds the one before, so
 * that more room never shows less.
 *
 * @param matters whether a word of the text is one that was asked for
 * @param least characters of the shortest excerpt
 * @param step characters from one to the next, or a tenth of it where that is more
 * @param most characters of the longest; what is longer is cut there
 */
export function excerpts(
  text: string,
  matters: (word: string) => boolean,
  { least, step, most }: { readonly least: number; readonly step: number; readonly most: number },
): string[] {
  const whole = clipText(text, most);
  const length = lengthOf(whole);
  if (length <= least + step) return [whole];
  const characters = Array.from(whole);
  const centre = centreOf(whole, matters, least);
  const forms: string[] = [];
  // A longer one grows by more, so that a very long text has few.
  for (let size = least; size < length; size += Math.max(step, Math.floor(size / 10)))
    forms.push(windowOf(characters, centre, size));
  return [...forms, whole];
}

/** The place, in code points, around which an excerpt of this length holds the most words that matter. */
function centreOf(text: string, matters: (word: string) => boolean, length: number): number {
  const places: number[] = [];
  for (const { 0: word, index } of text.matchAll(WORD)) if (matters(word)) places.push(index);
  let best = { hits: 0, centre: 0 };
  for (const [at, first] of places.entries()) {
    let last = at;
    while (last + 1 < places.length && (places[last + 1] ?? 0) - first < length * 0.8) last += 1;
    const hits = last - at + 1;
    if (hits > best.hits) best = { hits, centre: (first + (places[last] ?? 0)) / 2 };
  }
  return lengthOf(text.slice(0, Math.floor(best.centre)));
}

const WORD = /[\p{L}\p{N}_]+/gu;
const ELLIPSIS = '...';

function windowOf(characters: readonly string[], centre: number, size: number): string {
  const start = Math.max(0, Math.min(centre - Math.floor(size / 2), characters.length - size));
  const end = Math.min(characters.length, start + size);
  const before = start === 0 ? '' : ELLIPSIS;
  const after = end === characters.length ? '' : ELLIPSIS;
  return `${before}${characters.slice(start, end).join('').trim()}${after}`;
}

/** A text in ever longer beginnings, the whole at the end. */
export function beginnings(text: string, least = 100, step = 60): string[] {
  const length = lengthOf(text);
  const forms: string[] = [];
  for (let size = least; size + step < length; size += Math.max(step, Math.floor(size / 10)))
    forms.push(clipText(text, size));
  return [...forms, text];
}
