import { addTo } from '../../shared/collections.js';
import { problem, type StatusSource, type TaskProblem } from './parsed-tasks.js';
import type { Draft } from './scan.js';
import type { Mark } from './status-words.js';

/**
 * Gives every task a unique name. `drafts` come in document order, parents first; `ParsedTask.id` describes the forms.
 * An ordinal counts boxes without id under one parent or heading, so that edits elsewhere change no id.
 */
export function nameTasks(
  drafts: readonly Draft[],
  parents: ReadonlyMap<Draft, Draft>,
  problems: TaskProblem[],
): Map<Draft, string> {
  const names = new Map<Draft, string>();
  const taken = new Set<string | undefined>();
  const written = new Set(drafts.map(({ head }) => head.id));
  const counts = new Map<string, number>();
  /** Counts on from the last name of this form, so that many equal ids take linear time. */
  const counted = (stem: string, first: number): string => {
    let count = counts.get(stem) ?? first;
    while (taken.has(`${stem}${count}`) || written.has(`${stem}${count}`)) count += 1;
    counts.set(stem, count + 1);
    return `${stem}${count}`;
  };
  const unnamed: Draft[] = [];
  for (const draft of drafts) {
    const parent = parents.get(draft);
    const above = parent && names.get(parent);
    const wanted = draft.head.id ?? numbered(draft, above);
    let name = wanted ?? counted(`${above ?? slug(draft.under?.text ?? '')}#`, 1);
    if (taken.has(name)) {
      name = counted(`${wanted}~`, 2);
      const message = `${wanted} is taken by an earlier task; named ${name}`;
      problems.push(problem('duplicate_id', draft.line, message));
    }
    if (wanted === undefined) unnamed.push(draft);
    names.set(draft, name);
    taken.add(name);
  }
  const [first] = unnamed;
  if (first === undefined) return names;
  // One report for all: a plain checklist has no ids, and nothing is wrong with that.
  const count = unnamed.length;
  const whose =
    count === 1 ? '1 task has no id of its own; it' : `${count} tasks have no id of their own; each`;
  const message = `${whose} is named by its place`;
  problems.push({
    ...problem('checkbox_without_id', first.line, message, unnamed.at(-1)?.line),
    tasks: count,
  });
  return names;
}

function numbered({ ordinal }: Draft, above: string | undefined): string | undefined {
  if (ordinal === undefined) return undefined;
  return above === undefined ? String(ordinal) : `${above}.${ordinal}`;
}

/** Keeps letters and digits of any script; short, since task ids end up in prompts. */
function slug(heading: string): string {
  const words = heading.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return Array.from(words.join('-')).slice(0, 40).join('').replace(/-$/, '');
}

interface Settled {
  /** Of the statement, 0-based. */
  readonly line?: number;
  readonly mark: Mark;
  readonly from: StatusSource;
}

const NONE: Settled = { mark: { status: 'pending' }, from: 'none' };

/** Settles every status, children before parents, and reports contradictions. */
export function settleStatuses(
  drafts: readonly Draft[],
  parents: ReadonlyMap<Draft, Draft>,
  names: ReadonlyMap<Draft, string>,
  problems: TaskProblem[],
): { of(draft: Draft): Settled } {
  const settled = new Map<Draft, Settled>();
  const children = new Map<Draft, Draft[]>();
  for (const [child, parent] of parents) addTo(children, parent, child);
  const of = (draft: Draft): Settled => settled.get(draft) ?? NONE;
  // Parents come before their children.
  for (const draft of drafts.toReversed()) {
    const id = names.get(draft) ?? '';
    const below = (children.get(draft) ?? []).map((child) => of(child).mark);
    const stated = statedOf(draft, id, problems);
    const derived: Settled | undefined =
      below.length > 0 ? { mark: derive(below), from: 'children' } : undefined;
    const isWeak = stated !== undefined && derived !== undefined && isWeaker(draft, stated, derived);
    if (isWeak && derived.mark.status !== stated.mark.status) {
      const message = `${id} is ${derived.mark.status} by its children, but ${stated.mark.status} by its ${stated.from}`;
      problems.push(problem('status_conflict', stated.line ?? draft.line, message));
    }
    // The author has not ticked this box yet: all tasks below it are done.
    const isLeftOpen = stated?.from === 'box' && stated.mark.hold === undefined;
    const isDone = isLeftOpen && stated.mark.status !== 'completed' && derived?.mark.status === 'completed';
    const result = (isWeak || isDone ? derived : stated) ?? derived ?? NONE;
    settled.set(draft, result);
    if (result.from === 'none' && draft.origin === 'heading') {
      problems.push(problem('no_status', draft.line, `${id} has no status; read as pending`));
    }
    if (draft.head.box?.unknown !== undefined) {
      const message = `[${draft.head.box.unknown}] is not a known marker; ${id} is read as pending`;
      problems.push(problem('unknown_marker', draft.line, message));
    }
  }
  return { of };
}

const ORDER = ['field', 'table', 'list', 'contents'] as const;

/** Returns the stated status from the strongest source: the line itself, then what other lines say. */
function statedOf({ line, head, statuses }: Draft, id: string, problems: TaskProblem[]): Settled | undefined {
  const all: (Settled & { line: number })[] = [];
  if (head.box !== undefined) all.push({ mark: head.box.mark, from: 'box', line });
  if (head.stated?.mark !== undefined) all.push({ mark: head.stated.mark, from: 'mark', line });
  for (const from of ORDER) all.push(...statuses.filter((status) => status.from === from));
  const [first] = all;
  if (first === undefined) return undefined;
  const other = all.find(({ mark }) => mark.status !== first.mark.status);
  // An open box only means "not completed": a mark beside it may say that work has begun, or that it is blocked.
  const isBegun =
    first.from === 'box' && first.mark.status === 'pending' && other?.mark.status === 'in-progress';
  if (other !== undefined && !isBegun) {
    const message = `${id} is ${first.mark.status} by its ${first.from}, but ${other.mark.status} by its ${other.from}`;
    problems.push(problem('status_conflict', other.line, message));
  }
  const { mark, from, line: at } = isBegun && other !== undefined ? other : first;
  if (mark.status === 'completed') return { mark, from, line: at };
  if (head.struck) return { mark: { status: 'pending', hold: 'cancelled' }, from };
  const hold = all.find(
    ({ mark: { hold } }) => hold !== undefined && (mark.status === 'pending' || hold === 'blocked'),
  )?.mark.hold;
  return { mark: hold === undefined ? mark : { status: mark.status, hold }, from, line: at };
}

/** True for an entry of the contents, and for the mark before a chapter: in `### ✅ Checks` it may be decoration. */
function isWeaker({ origin, head }: Draft, { from, mark }: Settled, derived: Settled): boolean {
  if (from === 'contents') return true;
  const isChapter = origin === 'heading' && (head.phase || head.id === undefined);
  return isChapter && from === 'mark' && head.leads && derived.mark.status !== mark.status;
}

function derive(below: readonly Mark[]): Mark {
  const counted = below.filter(({ hold }) => hold !== 'cancelled');
  if (counted.length > 0 && counted.every(({ status }) => status === 'completed'))
    return { status: 'completed' };
  return { status: counted.some(({ status }) => status !== 'pending') ? 'in-progress' : 'pending' };
}
