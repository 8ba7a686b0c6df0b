import { type Draft, problem } from './draft.js';
import type { TaskProblem } from './parsed-tasks.js';

/**
 * Names every task, once. `drafts` come in document order, parents first; see `ParsedTask.id` for the forms. An
 * ordinal counts the boxes without id under one parent or heading, so an edit elsewhere changes no id.
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
  for (const draft of drafts) {
    const parent = parents.get(draft);
    const above = parent && names.get(parent);
    const wanted = draft.head.id ?? numbered(draft, above) ?? titled(draft);
    if (wanted !== undefined && !taken.has(wanted)) {
      names.set(draft, wanted);
      taken.add(wanted);
      if (draft.head.id === undefined && draft.origin === 'heading') {
        problems.push(problem('checkbox_without_id', draft.line, `a task without an id; named ${wanted}`));
      }
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
      do ordinal += 1;
      while (taken.has(`${scope}#${ordinal}`) || written.has(`${scope}#${ordinal}`));
      ordinals.set(scope, ordinal);
      name = `${scope}#${ordinal}`;
      problems.push(
        problem(
          'checkbox_without_id',
          draft.line,
          `${draft.origin === 'checkbox' ? 'a checkbox' : 'a task'} without an id; named ${name}`,
        ),
      );
    }
    names.set(draft, name);
    taken.add(name);
  }
  return names;
}

function numbered({ ordinal }: Draft, above: string | undefined): string | undefined {
  if (ordinal === undefined) return undefined;
  return above === undefined ? String(ordinal) : `${above}.${ordinal}`;
}

/** A heading without a number is named by its text. */
function titled({ origin, head }: Draft): string | undefined {
  return origin === 'heading' ? slug(head.text) || undefined : undefined;
}

/** Letters and digits of a heading, in any script; short, since a task id ends up in prompts. */
function slug(heading: string): string {
  const words = heading.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return Array.from(words.join('-')).slice(0, 40).join('').replace(/-$/, '');
}
