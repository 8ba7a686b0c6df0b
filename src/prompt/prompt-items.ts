import { projectOf } from '../contracts/names.js';
import { clipText, lengthOf } from '../shared/text.js';

/**
 * The items of a prompt: their forms from the shortest to the whole, what is shown of them, and the line that says what is
 * left out.
 */

/** One thing that a prompt may show. */
export interface Item {
  /** Its texts, from the shortest that is worth showing to the whole; each says more than the one before. */
  readonly forms: readonly string[];
  /** The last of them, where it is known without the others: most prompts have room for all. */
  readonly whole?: string;
}

/** An item that is shown. */
export interface ShownItem {
  /** Its place among the items of its section. */
  readonly index: number;
  readonly text: string;
  readonly whole: boolean;
}

export type Sections<Name extends string> = Readonly<Record<Name, readonly Item[]>>;
/** What is shown of each section, in the order of its items. */
export type Shown<Name extends string> = Readonly<Record<Name, readonly ShownItem[]>>;

/** A stretch of the order in which items go in. */
export interface Stretch<Name extends string> {
  readonly section: Name;
  /** So many more items of the section at most; left out: all that are left. */
  readonly most?: number;
  /** Only these of the section, by index, in this order. */
  readonly only?: ReadonlySet<number>;
  /** The last of the section first. */
  readonly backwards?: boolean;
}

/** The items of plain texts, each of which is shown whole or not at all. */
export function wholeItems(texts: readonly string[]): Item[] {
  return texts.map((text) => ({ forms: [text] }));
}

/** The texts of what is shown, one a line. */
export function textOf(shown: readonly ShownItem[]): string {
  return shown.map(({ text }) => text).join('\n');
}

/** The same below a title; empty where nothing is shown. */
export function titled(title: string, shown: readonly ShownItem[]): string {
  return shown.length === 0 ? '' : `${title}\n${textOf(shown)}`;
}

/** Whether something of a section is left out or shortened. */
export function isShortened(items: readonly Item[], shown: readonly ShownItem[]): boolean {
  return shown.length < items.length || shown.some(({ whole }) => !whole);
}

/** Items of one name of which a prompt may show fewer than there are. */
export interface Listed {
  readonly name: string;
  readonly items: readonly Item[];
  readonly shown: readonly ShownItem[];
  /** How many there were, where some were cut before. */
  readonly total?: number | undefined;
  /** Lists all of them. */
  readonly command: string;
}

/** The beginning of the line that says what is left out. */
const LEFT_OUT = 'Left out for space:';

/** One line that counts what is left out and names the commands that show it; empty where nothing is. */
export function leftOutLine(lists: readonly Listed[]): string {
  const said = lists.flatMap(({ name, items, shown, total = items.length, command }) => {
    const left = total - shown.length;
    if (left <= 0 && !isShortened(items, shown)) return [];
    return [`${left > 0 ? left : 'parts'} of ${name} (\`${command}\`)`];
  });
  return said.length === 0 ? '' : `${LEFT_OUT} ${said.join(', ')}`;
}

/** The option that names a project, the default one, too: where the command is run, another one may be the usual one. */
export function projectOption(project: string | undefined): string {
  return ` --project ${projectOf(project)}`;
}

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
