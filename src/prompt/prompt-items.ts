import { clipText, lengthOf } from '../shared/text.js';

/** The items of a prompt: their forms, the shown ones, and the line about the rest. */

/** Something that a prompt may show. */
export interface Item {
  /** Texts from the shortest useful one to the whole; each says more than the previous. */
  readonly forms: readonly string[];
  /** The last form, if known without the others: most prompts fit all. */
  readonly whole?: string;
}

export interface ShownItem {
  /** Index among the items of its section. */
  readonly index: number;
  readonly text: string;
  readonly whole: boolean;
}

export type Sections<Name extends string> = Readonly<Record<Name, readonly Item[]>>;
/** The shown items by section, in order. */
export type Shown<Name extends string> = Readonly<Record<Name, readonly ShownItem[]>>;

/** A step in the order of importance. */
export interface Stretch<Name extends string> {
  readonly section: Name;
  /** Limit of further items of the section; left out: all. */
  readonly most?: number;
  /** Only these indexes of the section, in this order. */
  readonly only?: ReadonlySet<number>;
  /** The last of the section first. */
  readonly backwards?: boolean;
}

/** Makes items without shorter forms. */
export function wholeItems(texts: readonly string[]): Item[] {
  return texts.map((text) => ({ forms: [text] }));
}

/** Other forms are only made when needed. */
export function wholeOf(item: Item): string {
  return item.whole ?? item.forms.at(-1) ?? '';
}

/** Shows all items whole. */
export function allShown(items: readonly Item[]): ShownItem[] {
  return items.map((item, index) => ({ index, text: wholeOf(item), whole: true }));
}

export function textOf(shown: readonly ShownItem[]): string {
  return shown.map(({ text }) => text).join('\n');
}

/** Returns an empty text if nothing is shown. */
export function titled(title: string, shown: readonly ShownItem[]): string {
  return shown.length === 0 ? '' : `${title}\n${textOf(shown)}`;
}

/** True if anything of a section is left out or shortened. */
export function isShortened(items: readonly Item[], shown: readonly ShownItem[]): boolean {
  return shown.length < items.length || shown.some(({ whole }) => !whole);
}

/** A named list that may be shown partially. */
export interface Listed {
  readonly name: string;
  readonly items: readonly Item[];
  readonly shown: readonly ShownItem[];
  /** Original number, if some were cut before. */
  readonly total?: number | undefined;
  /** Shows all of them. */
  readonly command: string;
}

/** The beginning of the line about what is left out. */
const LEFT_OUT = 'Left out for space:';

/** Renders one line that counts what is left out, with the commands that show it; empty if nothing is. */
export function leftOutLine(lists: readonly Listed[]): string {
  const parts = lists.flatMap(({ name, items, shown, total = items.length, command }) => {
    const left = total - shown.length;
    if (left <= 0 && !isShortened(items, shown)) return [];
    return [`${left > 0 ? left : 'parts'} of ${name} (\`${command}\`)`];
  });
  return parts.length === 0 ? '' : `${LEFT_OUT} ${parts.join(', ')}`;
}

/**
 * Returns growing excerpts of a text around its relevant words, the whole last. Each contains the previous, so that a
 * larger budget never shows less.
 *
 * @param matters true for a relevant word
 * @param least length of the shortest excerpt
 * @param step characters from one to the next, or a tenth of the size if that is more
 * @param most maximum length
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
  // Steps grow, so that a very long text has few.
  for (let size = least; size < length; size += Math.max(step, Math.floor(size / 10)))
    forms.push(windowOf(characters, centre, size));
  return [...forms, whole];
}

/** Returns the position, in code points, around which an excerpt of this length has most relevant words. */
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

/** Returns growing beginnings of a text, the whole last. */
export function beginnings(text: string, least = 100, step = 60): string[] {
  const length = lengthOf(text);
  const forms: string[] = [];
  for (let size = least; size + step < length; size += Math.max(step, Math.floor(size / 10)))
    forms.push(clipText(text, size));
  return [...forms, text];
}
