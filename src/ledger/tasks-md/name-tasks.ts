import { type Draft, problem } from './draft.js';
import type { TaskProblem } from './parsed-tasks.js';

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
  const taken = new Set<string>();
  const written = new Set(drafts.map(({ head }) => head.id));
  const ordinals = new Map<string, number>();
  const copies = new Map<string, number>();
  const unnamed: Draft[] = [];
  for (const draft of drafts) {
    const parent = parents.get(draft);
    const above = parent && names.get(parent);
    const wanted = draft.head.id ?? numbered(draft, above) ?? titled(draft);
    if (wanted !== undefined && !taken.has(wanted)) {
      names.set(draft, wanted);
      taken.add(wanted);
      if (draft.head.id === undefined && draft.origin === 'heading') unnamed.push(draft);
      continue;
    }
    let name: string;
    if (wanted !== undefined) {
      let copy = copies.get(wanted) ?? 1;
      do copy += 1;
      while (taken.has(`${wanted}~${copy}`) || written.has(`${wanted}~${copy}`));
      copies.set(wanted, copy);
      name = `${wanted}~${copy}`;
      problems.push(
        problem('duplicate_id', draft.line, `${wanted} is taken by an earlier task; named ${name}`),
      );
    } else {
      const scope = above ?? slug(draft.under?.text ?? '');
      let ordinal = ordinals.get(scope) ?? 0;
      do {
        ordinal += 1;
        name = `${scope}#${ordinal}`;
      } while (taken.has(name) || written.has(name));
      ordinals.set(scope, ordinal);
      unnamed.push(draft);
    }
    names.set(draft, name);
    taken.add(name);
  }
  reportUnnamed(unnamed, names, problems);
  return names;
}

/** Limit of line ranges in a report. */
const MAX_RANGES = 12;

/** One report for all: a plain checklist has no ids, and nothing is wrong with that. */
function reportUnnamed(
  unnamed: readonly Draft[],
  names: ReadonlyMap<Draft, string>,
  problems: TaskProblem[],
): void {
  const [first] = unnamed;
  if (first === undefined) return;
  const last = unnamed.at(-1) ?? first;
  const count = unnamed.length;
  const name = names.get(first);
  const message =
    count === 1
      ? `1 task has no id of its own; it is named ${name}`
      : `${count} tasks have no id of their own; each is named by its place or text, the first ${name}: lines ${linesOf(unnamed)}`;
  problems.push({ ...problem('checkbox_without_id', first.line, message, last.line), tasks: count });
}

/** For example `3-7, 9 and 12 more`. */
function linesOf(drafts: readonly Draft[]): string {
  const ranges: { from: number; to: number }[] = [];
  let shown = 0;
  for (const { line } of drafts) {
    const range = ranges.at(-1);
    if (range?.to === line - 1) range.to = line;
    else if (ranges.length < MAX_RANGES) ranges.push({ from: line, to: line });
    else break;
    shown += 1;
  }
  const said = ranges.map(({ from, to }) => (from === to ? `${from + 1}` : `${from + 1}-${to + 1}`));
  const more = drafts.length - shown;
  return more === 0 ? said.join(', ') : `${said.join(', ')} and ${more} more`;
}

function numbered({ ordinal }: Draft, above: string | undefined): string | undefined {
  if (ordinal === undefined) return undefined;
  return above === undefined ? String(ordinal) : `${above}.${ordinal}`;
}

/** Names a heading without a number by its text. */
function titled({ origin, head }: Draft): string | undefined {
  return origin === 'heading' ? slug(head.text) || undefined : undefined;
}

/** Keeps letters and digits of any script; short, since task ids end up in prompts. */
function slug(heading: string): string {
  const words = heading.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return Array.from(words.join('-')).slice(0, 40).join('').replace(/-$/, '');
}
