import { projectOf } from '../contracts/names.js';
import type { BudgetReport } from '../contracts/replies/compile-reply.js';
import { largestFitting } from '../shared/collections.js';
import { clipText, lengthOf, quoted, recordOf, tokensIn } from '../shared/text.js';

export interface Item {
  /** Texts from the shortest useful one to the whole; each says more than the previous. */
  readonly forms: readonly string[];
  /** The last form, if known without the others: most prompts fit all. */
  readonly whole?: string;
}

export interface ShownItem {
  readonly index: number;
  readonly text: string;
  readonly whole: boolean;
}

export type Sections<Name extends string> = Readonly<Record<Name, readonly Item[]>>;
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

export function wholeItems(texts: readonly string[]): Item[] {
  return texts.map((text) => ({ forms: [text] }));
}

export function allOf<Name extends string>(...sections: readonly Name[]): Stretch<Name>[] {
  return sections.map((section) => ({ section }));
}

/** Returns steps that show so many further items of each section, in the order of the keys. */
export function upTo<Name extends string>(most: { readonly [Section in Name]?: number }): Stretch<Name>[] {
  const entries = Object.entries(most) as [Name, number][];
  return entries.map(([section, most]) => ({ section, most }));
}

/** Other forms are only made when needed. */
function wholeOf(item: Item): string {
  return item.whole ?? item.forms.at(-1) ?? '';
}

export function allShown(items: readonly Item[]): ShownItem[] {
  return items.map((item, index) => ({ index, text: wholeOf(item), whole: true }));
}

export function textOf(shown: readonly ShownItem[]): string {
  return shown.map(({ text }) => text).join('\n');
}

export function titled(title: string, shown: readonly ShownItem[]): string {
  return shown.length === 0 ? '' : `${title}\n${textOf(shown)}`;
}

export function isShortened(items: readonly Item[], shown: readonly ShownItem[]): boolean {
  return shown.length < items.length || shown.some(({ whole }) => !whole);
}

export interface Listed {
  readonly name: string;
  readonly items: readonly Item[];
  readonly shown: readonly ShownItem[];
  /** Original number, if some were cut before. */
  readonly total?: number | undefined;
  readonly command: string;
}

const LEFT_OUT = 'Not shown:';

/** Renders one line that counts what is left out, with the commands that show it; empty if nothing is. */
export function leftOutLine(lists: readonly Listed[]): string {
  const parts = lists.flatMap(({ name, items, shown, total = items.length, command }) => {
    const left = total - shown.length;
    if (left <= 0 && !isShortened(items, shown)) return [];
    return [`${left > 0 ? left : 'parts'} of ${name} (\`${command}\`)`];
  });
  return parts.length === 0 ? '' : `${LEFT_OUT} ${parts.join(', ')}`;
}

export function toolCommand(binary: string, session: string, words: string): string {
  return `${binary} tool ${words.replace(/^\S+/, (name) => `${name} --session ${session}`)}`;
}

/** Also names the default project, since another one may be set where the command is run. */
export function learningsCommand(binary: string, project: string | undefined): string {
  return `${binary} learning ls --project ${projectOf(project)}`;
}

/** Characters of a quoted line. */
export const MAX_LINE = 500;

export function line(text: string): string {
  return clipText(quoted(text), MAX_LINE);
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

export function beginnings(text: string, least = 100, step = 60): string[] {
  const length = lengthOf(text);
  const forms: string[] = [];
  for (let size = least; size + step < length; size += Math.max(step, Math.floor(size / 10)))
    forms.push(clipText(text, size));
  return [...forms, text];
}

/**
 * Fits every prompt into its budget. A prompt consists of sections of items. Items are added by importance, each from
 * its shortest form to the whole. The result is always a prefix of that order: a larger budget never shows less, and
 * only the last item may be shortened.
 */

export interface PromptPlan<Name extends string> {
  readonly sections: Sections<Name>;
  readonly essential: readonly Stretch<Name>[];
  readonly order: readonly Stretch<Name>[];
  /** Original numbers of items of sections that were cut before. */
  readonly totals?: { readonly [Section in Name]?: number };
  readonly write: (shown: Shown<Name>) => string;
}

interface Filled<Name extends string> {
  readonly shown: Shown<Name>;
  readonly prompt: string;
  readonly report: BudgetReport;
}

interface Step<Name extends string> extends ShownItem {
  readonly section: Name;
}

interface Place<Name extends string> {
  readonly section: Name;
  readonly index: number;
  readonly item: Item;
}

/** A complete section loses its note on what is left out, so a later item may fit: this many are tried. */
const LOOK_AHEAD = 12;
/** Maximum characters of a token, except rare ones such as long runs of blanks. */
const LONGEST_TOKEN = 16;

/** `room`: token budget of the whole prompt. `overflow` makes the error for less than the essentials, from their tokens. */
export function fillPrompt<Name extends string>(
  plan: PromptPlan<Name>,
  room: number,
  overflow: (tokens: number) => Error,
): Filled<Name> {
  const planned = new Set([...plan.essential, ...plan.order].map(({ section }) => section));
  const whole = recordOf(Object.keys(plan.sections) as Name[], (name) =>
    planned.has(name) ? allShown(plan.sections[name]) : [],
  );
  const everything = written(plan, whole);
  const wanted = everything.used;
  if (wanted <= room)
    return filled(plan, everything.shown, everything.prompt, { room, used: wanted, wanted });
  const { sections } = plan;
  const essential = placesOf(sections, plan.essential, Number.POSITIVE_INFINITY).length;
  // Text beyond this cannot fit.
  const places = placesOf(sections, [...plan.essential, ...plan.order], room * LONGEST_TOKEN);
  const wholeAt = (count: number): Step<Name>[] =>
    places
      .slice(0, count)
      .map(({ section, index, item }) => ({ section, index, text: wholeOf(item), whole: true }));
  const begun = new Map<number, ReturnType<typeof written<Name>>>();
  const writtenAt = (count: number) => {
    const known = begun.get(count) ?? written(plan, shownOf(sections, wholeAt(count)));
    begun.set(count, known);
    return known;
  };
  const low = largestFitting((count) => writtenAt(count).used <= room, {
    least: essential,
    most: places.length,
  });
  if (low === undefined) throw overflow(writtenAt(essential).used);
  const fitted = wholeAt(low);
  let best = writtenAt(low);
  const steps: Step<Name>[] = [];
  let fitting = 0;
  const open = new Map<Name, number>();
  for (const name of Object.keys(sections) as Name[]) open.set(name, sections[name].length);
  for (const { section } of fitted) open.set(section, (open.get(section) ?? 0) - 1);
  for (const step of stepsOf(places.slice(low))) {
    steps.push(step);
    if (step.whole) open.set(step.section, (open.get(step.section) ?? 0) - 1);
    // After an item that does not fit, only completing a section makes a prompt shorter.
    const mayFit = steps.length === fitting + 1 || (step.whole && open.get(step.section) === 0);
    const more = mayFit ? written(plan, shownOf(sections, [...fitted, ...steps])) : undefined;
    if (more !== undefined && more.used <= room) {
      best = more;
      fitting = steps.length;
    } else if (steps.length - fitting >= LOOK_AHEAD) break;
  }
  return filled(plan, best.shown, best.prompt, { room, used: best.used, wanted });
}

function filled<Name extends string>(
  { sections, totals = {} }: PromptPlan<Name>,
  shown: Shown<Name>,
  prompt: string,
  tokens: Pick<BudgetReport, 'room' | 'used' | 'wanted'>,
): Filled<Name> {
  const names = Object.keys(sections) as Name[];
  const reported = names
    .filter((name) => sections[name].length > 0 || (totals[name] ?? 0) > 0)
    .map((name) => ({
      name,
      shown: shown[name].length,
      total: totals[name] ?? sections[name].length,
      tokens: tokensIn(textOf(shown[name])),
    }));
  const dropped = reported.reduce((sum, { shown: some, total }) => sum + total - some, 0);
  return { shown, prompt, report: { ...tokens, sections: reported, dropped, tokenizer: 'approximate' } };
}

/** Returns items in the order of the plan, up to a number of characters. */
function placesOf<Name extends string>(
  sections: Sections<Name>,
  order: readonly Stretch<Name>[],
  mostCharacters: number,
): Place<Name>[] {
  const places: Place<Name>[] = [];
  const taken = new Map<Name, Set<number>>();
  let characters = 0;
  for (const { section, most = Number.POSITIVE_INFINITY, only, backwards } of order) {
    const done = taken.get(section) ?? new Set<number>();
    taken.set(section, done);
    let left = most;
    const indexes = [...(only ?? sections[section].keys())];
    for (const index of backwards ? indexes.reverse() : indexes) {
      if (left <= 0) break;
      if (characters > mostCharacters) return places;
      const item = sections[section][index];
      if (item === undefined || done.has(index)) continue;
      done.add(index);
      left -= 1;
      characters += wholeOf(item).length;
      places.push({ section, index, item });
    }
  }
  return places;
}

/** Yields the forms of items, shortest first. Lazy, because making them is slow. */
function* stepsOf<Name extends string>(places: readonly Place<Name>[]): Generator<Step<Name>> {
  for (const { section, index, item } of places) {
    const { forms } = item;
    for (const [form, text] of forms.entries())
      yield { section, index, text, whole: form === forms.length - 1 };
  }
}

function written<Name extends string>({ write }: PromptPlan<Name>, shown: Shown<Name>) {
  const prompt = write(shown);
  return { shown, prompt, used: tokensIn(prompt) };
}

function shownOf<Name extends string>(sections: Sections<Name>, steps: readonly Step<Name>[]): Shown<Name> {
  const names = Object.keys(sections) as Name[];
  const shown = recordOf(names, (name) => new Array<ShownItem | undefined>(sections[name].length));
  for (const step of steps) shown[step.section][step.index] = step;
  return recordOf(names, (name) => shown[name].filter((item) => item !== undefined));
}
