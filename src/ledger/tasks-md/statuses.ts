import { addTo } from '../../shared/collections.js';
import { problem, type StatusSource, type TaskProblem } from './parsed-tasks.js';
import type { Draft } from './scan.js';
import type { Mark } from './status-words.js';

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
    const result = (isWeak ? derived : stated) ?? derived ?? NONE;
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
