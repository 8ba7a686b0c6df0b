import { addTo } from '../../shared/collections.js';
import { type Draft, problem } from './draft.js';
import { type Legend, type Mark, wholeWord } from './marks.js';
import type { StatusSource, TaskProblem } from './parsed-tasks.js';

interface Settled {
  readonly mark: Mark;
  readonly from: StatusSource;
}

const ORDER: readonly StatusSource[] = ['box', 'field', 'table', 'list', 'overview', 'section'];
/** Weaker than the status derived from children. */
const FROM_AFAR: ReadonlySet<StatusSource> = new Set(['overview', 'section']);

const NONE: readonly Draft[] = [];

/** Settles every status, children before parents, and reports contradictions. */
export function settleStatuses(
  drafts: readonly Draft[],
  parents: ReadonlyMap<Draft, Draft>,
  names: ReadonlyMap<Draft, string>,
  problems: TaskProblem[],
): Map<Draft, Settled> {
  const settled = new Map<Draft, Settled>();
  const children = new Map<Draft, Draft[]>();
  for (const [child, parent] of parents) addTo(children, parent, child);
  // Parents come before their children.
  for (const draft of drafts.toReversed()) {
    const id = names.get(draft) ?? '';
    const below: { optional: boolean; mark: Mark }[] = [];
    for (const child of children.get(draft) ?? NONE) {
      const known = settled.get(child);
      if (known !== undefined) below.push({ optional: child.head.optional, mark: known.mark });
    }
    const stated = state(draft, id, problems);
    const derived: Settled | undefined =
      below.length > 0 ? { mark: derive(below), from: 'children' } : undefined;
    const isAfar = stated !== undefined && derived !== undefined && isSaidFromAfar(draft, stated, derived);
    if (isAfar && derived.mark.status !== stated.mark.status) {
      const line = draft.statuses.find(({ from }) => from === stated.from)?.line ?? draft.line;
      const message = `${id} is ${derived.mark.status} by its children, but ${stated.mark.status} by its ${stated.from}`;
      problems.push(problem('status_conflict', line, message));
    }
    const result = (isAfar ? derived : stated) ?? derived ?? { mark: { status: 'pending' }, from: 'none' };
    settled.set(draft, result);
    if (result.from === 'none')
      problems.push(problem('no_status', draft.line, `${id} has no status; read as pending`));
    if (stated !== undefined && !isAfar) contradict(draft, id, result.mark, below, problems);
    if (draft.head.box?.unknown !== undefined) {
      const message = `[${draft.head.box.unknown}] is not a known marker; ${id} is read as pending`;
      problems.push(problem('unknown_marker', draft.line, message));
    }
  }
  return settled;
}

/** Returns the stated status from the strongest source. */
function state({ line, head, statuses }: Draft, id: string, problems: TaskProblem[]): Settled | undefined {
  // A fast path: most tasks have only a box.
  if (statuses.length === 0 && head.mark === undefined && head.box !== undefined && !head.struck)
    return { mark: head.box.mark, from: 'box' };
  const all: (Settled & { line: number })[] = [];
  if (head.box !== undefined) all.push({ mark: head.box.mark, from: 'box', line });
  if (head.mark !== undefined) all.push({ mark: head.mark, from: 'mark', line });
  for (const from of ORDER) all.push(...statuses.filter((each) => each.from === from));
  const [first] = all;
  if (first === undefined) return undefined;
  const other = all.find(({ mark }) => mark.status !== first.mark.status);
  // An open box only means "not completed": a mark beside it may say that work has begun.
  const refined =
    (first.from === 'box' && first.mark.status === 'pending' && other?.mark.status === 'in-progress') ||
    // A box in progress that is blocked.
    (first.mark.status === 'in-progress' && other?.mark.hold === 'blocked');
  if (other !== undefined && !refined) {
    const message = `${id} is ${first.mark.status} by its ${first.from}, but ${other.mark.status} by its ${other.from}`;
    problems.push(problem('status_conflict', other.line, message));
  }
  const { mark, from } = refined && other !== undefined && first.mark.status === 'pending' ? other : first;
  if (mark.status === 'completed') return { mark, from };
  if (head.struck) return { mark: { status: 'pending', hold: 'cancelled' }, from };
  // Work in progress may be blocked too.
  const hold = all.find(
    (each) => each.mark.hold !== undefined && (mark.status === 'pending' || each.mark.hold === 'blocked'),
  )?.mark.hold;
  return { mark: hold === undefined ? mark : { status: mark.status, hold }, from };
}

/** In `### ✅ Release checklist` over open boxes, the mark is decoration. */
function isSaidFromAfar({ origin, head }: Draft, stated: Settled, derived: Settled): boolean {
  if (FROM_AFAR.has(stated.from)) return true;
  const isChapter = origin === 'heading' && (head.phase || head.id === undefined);
  return isChapter && stated.from === 'mark' && head.leads && derived.mark.status !== stated.mark.status;
}

type Below = readonly { readonly optional: boolean; readonly mark: Mark }[];

function derive(below: Below): Mark {
  const counted = below.filter(({ mark }) => mark.hold !== 'cancelled');
  if (counted.length > 0 && counted.every(({ mark }) => mark.status === 'completed'))
    return { status: 'completed' };
  return { status: counted.some(({ mark }) => mark.status !== 'pending') ? 'in-progress' : 'pending' };
}

/** Optional and cancelled children may stay open below a completed task. */
function contradict(draft: Draft, id: string, mark: Mark, below: Below, problems: TaskProblem[]): void {
  const due = below.filter((child) => !child.optional && child.mark.hold !== 'cancelled');
  const open = due.filter((child) => child.mark.status !== 'completed').length;
  const message =
    mark.status === 'completed' && open > 0
      ? `${id} is completed, but ${open} of its children ${open === 1 ? 'is' : 'are'} not`
      : mark.status === 'pending' && mark.hold === undefined && due.length > 0 && open === 0
        ? `${id} is pending, but its children are completed`
        : undefined;
  if (message !== undefined) problems.push(problem('status_contradicts_children', draft.line, message));
}

/**
 * A file may define its boxes: `[~]` in progress · `[-]` wontfix, in one line or under a heading "Legend". Its
 * definitions win; a blank and an `x` always have their usual meaning.
 */

const ENTRY = /\[(.)\]`?\*{0,2}\s*(?:(?:=|:|：|-+>?|–|—|→)\s*)?([\p{L}][\p{L}' ]*)/gu;
const HEADING = /^#{1,6}\s(.*)$/s;
const LEGEND_HEADING = /\b(legend|status key|status markers?|markers?)\b|图例|圖例|凡例|标记说明|状态说明/iu;

/** Boxes below it are explanations, not tasks. */
export function isLegendHeading(text: string): boolean {
  return LEGEND_HEADING.test(text);
}

export function readLegend(lines: readonly string[]): Legend {
  const legend = new Map<string, Mark>();
  let inLegend = false;
  for (const line of lines) {
    const heading = line.startsWith('#') ? HEADING.exec(line)?.[1] : undefined;
    if (heading !== undefined) inLegend = isLegendHeading(heading);
    if (!inLegend) {
      const first = line.indexOf('[');
      if (first === -1 || line.indexOf('[', first + 1) === -1) continue;
    }
    const entries = [...line.matchAll(ENTRY)].flatMap(([, box = '', words = '']) => {
      const mark =
        wholeWord(words) ??
        wholeWord(words.split(' ').slice(0, 2).join(' ')) ??
        wholeWord(words.split(' ')[0] ?? '');
      return mark === undefined ? [] : [{ box, mark }];
    });
    // One entry in a line of prose may be anything; two are a legend.
    if (entries.length < (inLegend ? 1 : 2)) continue;
    for (const { box, mark } of entries) if (!/[\sxX]/.test(box)) legend.set(box, mark);
  }
  return legend;
}
