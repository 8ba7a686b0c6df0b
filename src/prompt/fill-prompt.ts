import type { BudgetReport, SectionReport } from '../contracts/replies/budget-report.js';
import { recordOf } from '../shared/record-of.js';
import type { Tokenizer } from '../shared/tokenizer.js';

/**
 * How every prompt is made to fit its room. A prompt is sections of items. Items go in one after the other, those that are
 * worth most first, each from its shortest form to its whole one. All that fits is a beginning of that order: so more room
 * never shows less of anything, and only the last item that went in may be shortened.
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
  /** Only these of the section, by index. */
  readonly only?: ReadonlySet<number>;
  /** The last of the section first. */
  readonly backwards?: boolean;
}

export interface PromptPlan<Name extends string> {
  readonly sections: Sections<Name>;
  /** Shown whole whatever the room: the sections that must not be cut. */
  readonly essential: readonly Stretch<Name>[];
  /** All others, those that are worth most first. */
  readonly order: readonly Stretch<Name>[];
  /** Of sections that were cut before: how many items there were. */
  readonly totals?: { readonly [Section in Name]?: number };
  /** The whole prompt, with what is shown. */
  readonly write: (shown: Shown<Name>) => string;
}

export interface Filled<Name extends string> {
  readonly shown: Shown<Name>;
  readonly prompt: string;
  readonly report: BudgetReport;
}

interface Step<Name extends string> extends ShownItem {
  readonly section: Name;
}

/** A section that is shown whole loses its note on what is left out: so many more steps may fit behind one that does not. */
const LOOK_AHEAD = 12;
/** Characters of a token at most, but for rare ones such as long runs of blanks. */
const LONGEST_TOKEN = 16;

/**
 * Fills the room.
 *
 * @param room tokens of the whole prompt
 * @param overflow makes the error for a room in which not even the essentials fit, from the tokens that they need
 */
export function fillPrompt<Name extends string>(
  plan: PromptPlan<Name>,
  room: number,
  tokenizer: Tokenizer,
  overflow: (tokens: number) => Error,
): Filled<Name> {
  const all = allShown(plan);
  const whole = plan.write(all);
  const wanted = tokenizer.count(whole);
  if (wanted <= room) return filled(plan, all, whole, { room, used: wanted, wanted }, tokenizer);
  const essential = stepsOf(plan.sections, plan.essential, Number.POSITIVE_INFINITY);
  // What comes after so much text does not fit in any case, and to make its forms would take long.
  const steps = stepsOf(plan.sections, [...plan.essential, ...plan.order], room * LONGEST_TOKEN);
  const shownAt = (count: number) => shownOf(plan.sections, steps.slice(0, count));
  const costs = new Map<number, number>();
  const costOf = (count: number) => {
    const cost = costs.get(count) ?? tokenizer.count(plan.write(shownAt(count)));
    costs.set(count, cost);
    return cost;
  };
  let low = essential.length;
  if (costOf(low) > room) throw overflow(costOf(low));
  if (costOf(steps.length) <= room) low = steps.length;
  let high = steps.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (costOf(middle) <= room) low = middle;
    else high = middle;
  }
  for (let ahead = 1; ahead <= LOOK_AHEAD && low + ahead <= steps.length; ahead += 1) {
    if (costOf(low + ahead) > room) continue;
    low += ahead;
    ahead = 0;
  }
  const shown = shownAt(low);
  return filled(plan, shown, plan.write(shown), { room, used: costOf(low), wanted }, tokenizer);
}

function filled<Name extends string>(
  { sections, totals = {} }: PromptPlan<Name>,
  shown: Shown<Name>,
  prompt: string,
  tokens: Pick<BudgetReport, 'room' | 'used' | 'wanted'>,
  tokenizer: Tokenizer,
): Filled<Name> {
  const told = reports(sections, totals, shown, tokenizer);
  const dropped = told.reduce((sum, { shown: some, total }) => sum + total - some, 0);
  return { shown, prompt, report: { ...tokens, sections: told, dropped, tokenizer: tokenizer.name } };
}

/** Everything that the plan has a place for. */
function allShown<Name extends string>({ sections, essential, order }: PromptPlan<Name>): Shown<Name> {
  const planned = new Set([...essential, ...order].map(({ section }) => section));
  return recordOf(Object.keys(sections) as Name[], (name) =>
    planned.has(name)
      ? sections[name].map((item, index) => ({ index, text: wholeOf(item), whole: true }))
      : [],
  );
}

/** Not taken apart: the forms of many items are only made when they are asked for. */
function wholeOf(item: Item): string {
  return item.whole ?? item.forms.at(-1) ?? '';
}

function stepsOf<Name extends string>(
  sections: Sections<Name>,
  order: readonly Stretch<Name>[],
  mostCharacters: number,
): Step<Name>[] {
  const steps: Step<Name>[] = [];
  const taken = new Map<Name, Set<number>>();
  let characters = 0;
  for (const { section, most = Number.POSITIVE_INFINITY, only, backwards } of order) {
    const done = taken.get(section) ?? new Set<number>();
    taken.set(section, done);
    let left = most;
    const items = [...sections[section].entries()];
    for (const [index, item] of backwards ? items.reverse() : items) {
      if (left <= 0) break;
      if (characters > mostCharacters) return steps;
      if (done.has(index) || only?.has(index) === false) continue;
      done.add(index);
      left -= 1;
      const { forms } = item;
      characters += wholeOf(item).length;
      for (const [form, text] of forms.entries())
        steps.push({ section, index, text, whole: form === forms.length - 1 });
    }
  }
  return steps;
}

function shownOf<Name extends string>(sections: Sections<Name>, steps: readonly Step<Name>[]): Shown<Name> {
  const names = Object.keys(sections) as Name[];
  const shown = recordOf(names, (name) => new Array<ShownItem | undefined>(sections[name].length));
  for (const step of steps) shown[step.section][step.index] = step;
  return recordOf(names, (name) => shown[name].filter((item) => item !== undefined));
}

function reports<Name extends string>(
  sections: Sections<Name>,
  totals: { readonly [Section in Name]?: number },
  shown: Shown<Name>,
  tokenizer: Tokenizer,
): SectionReport[] {
  const names = Object.keys(sections) as Name[];
  return names
    .filter((name) => sections[name].length > 0 || (totals[name] ?? 0) > 0)
    .map((name) => ({
      name,
      shown: shown[name].length,
      total: totals[name] ?? sections[name].length,
      tokens: tokenizer.count(shown[name].map(({ text }) => text).join('\n')),
    }));
}

/** The items of plain texts, each of which is shown whole or not at all. */
export function wholeItems(texts: readonly string[]): Item[] {
  return texts.map((text) => ({ forms: [text] }));
}

/** Whether something of a section is left out or shortened. */
export function isShortened(items: readonly Item[], shown: readonly ShownItem[]): boolean {
  return shown.length < items.length || shown.some(({ whole }) => !whole);
}
