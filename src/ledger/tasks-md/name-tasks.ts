import { problem, type TaskProblem } from './parsed-tasks.js';
import type { Draft } from './scan.js';

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
