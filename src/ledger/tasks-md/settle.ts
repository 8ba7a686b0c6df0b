import { addTo } from '../../shared/collections.js';
import { nameTasks, settleStatuses } from './names-and-statuses.js';
import { type ParsedTask, type ParsedTasks, problem, type TaskProblem } from './parsed-tasks.js';
import { dedent } from './plan-lines.js';
import type { Draft, Findings, Heading } from './scan.js';
import { outerId } from './task-ids.js';

/** Decides which findings are tasks, and settles their parents, ids, statuses and words. */
export function settle(findings: Findings): ParsedTasks & { readonly preambleEnd: number } {
  const problems = [...findings.problems];
  const confirmed = confirmHeadings(findings);
  const kept = tasksOf(findings, confirmed);
  placeMentions(findings, kept, problems);
  const holders = new Set(kept.flatMap(headingsAbove));
  for (const heading of findings.headings) {
    if (headingTask(heading, confirmed) !== undefined) continue;
    for (const doubt of heading.doubts) {
      if (doubt.line !== heading.line + 1 || !holders.has(heading)) problems.push(doubt);
    }
  }
  const parents = findParents(kept, confirmed);
  const groups = new Set(parents.values());
  const names = nameTasks(kept, parents, problems);
  const statuses = settleStatuses(kept, parents, names, problems);
  const known = new Map([...names.values()].map((name) => [name.toLowerCase(), name] as const));
  const counts = new Map<Heading, number>();
  for (const draft of kept) {
    for (const heading of headingsAbove(draft)) counts.set(heading, (counts.get(heading) ?? 0) + 1);
  }
  const shared = new Set([...counts].flatMap(([heading, count]) => (count === kept.length ? [heading] : [])));
  const isTask = new Set(kept);
  const wordsOf = (heading: Heading): string[] =>
    heading.words.flatMap(({ raw, of }) => (of !== undefined && isTask.has(of) ? [] : [raw]));
  const words = wordsOfHeadings(findings.headings, confirmed, wordsOf);
  const tasks = kept.map((draft): ParsedTask => {
    const { head } = draft;
    const { mark, from } = statuses.of(draft);
    const id = names.get(draft) ?? '';
    const parent = parents.get(draft);
    const parentId = parent && names.get(parent);
    const isChapter = draft.origin === 'heading' && (head.phase || head.id === undefined);
    const prompt = [
      ...dedent([...draft.details, ...(words.get(draft) ?? [])]),
      ...(draft.prompt === undefined ? [] : [draft.prompt]),
      ...wordsAbove(draft, confirmed, shared, wordsOf),
    ].join('\n');
    const isBlocked = mark.hold === 'blocked';
    return {
      id,
      ...(head.id !== id && { unnamed: true }),
      text: head.text,
      status: mark.status,
      statusFrom: from,
      group: from === 'children' || (isChapter && groups.has(draft)),
      optional: head.optional,
      blocked: isBlocked,
      ...(isBlocked && draft.reason !== undefined && { reason: draft.reason }),
      cancelled: mark.hold === 'cancelled',
      ...(parentId !== undefined && { parent: parentId }),
      line: draft.line + 1,
      ...(prompt !== '' && { prompt }),
      requirements: draft.requirements,
      dependsOn: [...new Set(draft.dependsOn)].map((dependency) => {
        const name = known.get(dependency.toLowerCase());
        if (name === undefined) {
          const message = `${id} depends on "${dependency.slice(0, 60)}", which is the id of no task here`;
          problems.push(problem('unknown_dependency', draft.line, message));
        }
        return name ?? dependency;
      }),
    };
  });
  if (tasks.length === 0) problems.push(problem('no_tasks', 0, 'the file holds no task'));
  problems.sort((left, right) => left.line - right.line);
  return { tasks, problems, preambleEnd: preambleEnd(kept, shared) };
}

/** Returns boxes, marked bold items and confirmed headings in order; else bold numbered items, or else the phases. */
function tasksOf({ drafts, planned, headings }: Findings, confirmed: ReadonlySet<Heading>): Draft[] {
  const found = [...drafts];
  for (const { draft } of confirmed) if (draft !== undefined) found.push(draft);
  found.sort((left, right) => left.line - right.line);
  const listed = contentsOf(found, headings, confirmed, true);
  if (found.length > 0) return found.filter((draft) => !listed.has(draft));
  const repeated = contentsOf(planned, headings, confirmed, false);
  const items = planned.filter((draft) => !repeated.has(draft));
  return items.length > 0
    ? items
    : headings.flatMap(({ draft }) => (draft?.head.phase === true ? [draft] : []));
}

/**
 * A heading is a task if it says so (`T001`, a box), or if it has a status. A mere number (`### 1. Title`) counts only
 * if the boxes below are its own: without ids, or with ids under its number. `## 4. Plan` over `T001` is a chapter, and
 * the document's title is never a task by its number.
 */
function confirmHeadings({ headings, drafts, mentions }: Findings): Set<Heading> {
  const named = new Set(mentions.flatMap(({ id, mark }) => (mark === undefined ? [] : [id])));
  for (const { head } of drafts) if (head.phase && head.id !== undefined) named.add(head.id);
  const confirmed = new Set<Heading>();
  for (const heading of headings) {
    const { draft, level } = heading;
    if (draft === undefined) continue;
    const { head, statuses } = draft;
    const isInner = level > 1;
    const isTask =
      head.box !== undefined ||
      head.stated?.mark !== undefined ||
      head.certain ||
      (statuses.length > 0 && (isInner || head.phase)) ||
      (isInner && named.has(head.id ?? ''));
    if (isTask) confirmed.add(heading);
  }
  for (const { head, under, owner } of drafts) {
    if (owner === undefined && under !== undefined && supports(under, head.id)) confirmed.add(under);
  }
  return confirmed;
}

function supports({ draft, level }: Heading, id: string | undefined): boolean {
  const headId = draft?.head.id;
  if (headId === undefined || level === 1) return false;
  if (id === undefined || id === headId || id.startsWith(`${headId}.`)) return true;
  // `01-02` is a plan of `Phase 1`, and `1.2` a task of it.
  const number = /^(\d+)[.-]\d/.exec(id)?.[1];
  return draft?.head.phase === true && number !== undefined && headId.endsWith(` ${Number(number)}`);
}

function headingTask(from: Heading | undefined, confirmed: ReadonlySet<Heading>): Draft | undefined {
  for (let heading = from; heading !== undefined; heading = heading.outer) {
    if (heading.draft !== undefined && confirmed.has(heading)) return heading.draft;
  }
  return undefined;
}

function placeMentions({ mentions }: Findings, drafts: readonly Draft[], problems: TaskProblem[]): void {
  const known = new Map<string, Draft>();
  for (const draft of drafts.toReversed()) if (draft.head.id !== undefined) known.set(draft.head.id, draft);
  for (const { id, line, from, mark } of mentions) {
    const task = known.get(id);
    if (task !== undefined && mark !== undefined) task.statuses.push({ from, line, mark });
    if (task !== undefined) continue;
    const bare = `${id} looks like a task, but has neither check box nor status`;
    const marked = `${id} has a status here, but no task has this id; give it a check box`;
    if (mark === undefined) problems.push(problem('id_without_status', line, bare));
    else problems.push(problem('mark_without_id', line, marked));
  }
}

/** By nesting, else by the heading above, else by number: `1.2` belongs under an earlier `1`. */
function findParents(drafts: readonly Draft[], confirmed: ReadonlySet<Heading>): Map<Draft, Draft> {
  const parents = new Map<Draft, Draft>();
  const earlier = new Map<string, Draft>();
  for (const draft of drafts) {
    const { id } = draft.head;
    const parent = draft.owner ?? headingTask(draft.under, confirmed) ?? outerTask(id, earlier);
    if (parent !== undefined) parents.set(draft, parent);
    if (id !== undefined && !earlier.has(id)) earlier.set(id, draft);
  }
  return parents;
}

function outerTask(id: string | undefined, earlier: ReadonlyMap<string, Draft>): Draft | undefined {
  for (let outer = id && outerId(id); outer !== undefined && outer !== ''; outer = outerId(outer)) {
    const found = earlier.get(outer);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** From the inside. */
function headingsAbove(draft: Draft | undefined): Heading[] {
  const above: Heading[] = [];
  for (let heading = draft?.under; heading !== undefined; heading = heading.outer) above.push(heading);
  return above;
}

/** Returns the line of the first heading that holds some of the tasks, else of the first task. */
function preambleEnd(drafts: readonly Draft[], shared: ReadonlySet<Heading>): number {
  const [first] = drafts;
  const holder = headingsAbove(first).findLast((heading) => !shared.has(heading));
  return holder?.line ?? first?.line ?? Number.POSITIVE_INFINITY;
}

/** Returns the words of each heading's task: its own, and those of the sections in it that are not tasks. */
function wordsOfHeadings(
  headings: readonly Heading[],
  confirmed: ReadonlySet<Heading>,
  wordsOf: (heading: Heading) => readonly string[],
): ReadonlyMap<Draft, readonly string[]> {
  const words = new Map<Draft, string[]>();
  for (const heading of headings) {
    const task = headingTask(heading, confirmed);
    const found = wordsOf(heading);
    if (task === undefined || found.length === 0) continue;
    const lines = words.get(task) ?? [];
    words.set(task, lines);
    if (heading.draft !== task) lines.push(`${heading.text}:`);
    for (const line of found) lines.push(line);
  }
  return words;
}

/** Returns the words of the headings above that are not tasks, such as the goal of a phase, from the outside. */
function wordsAbove(
  draft: Draft,
  confirmed: ReadonlySet<Heading>,
  shared: ReadonlySet<Heading>,
  wordsOf: (heading: Heading) => readonly string[],
): string[] {
  if (draft.owner !== undefined) return [];
  const above: string[][] = [];
  for (const heading of headingsAbove(draft)) {
    // The words of a task above are in its own prompt.
    if (shared.has(heading) || confirmed.has(heading)) break;
    const words = wordsOf(heading);
    if (words.length > 0) above.unshift([`${heading.text}:`, ...words]);
  }
  return above.flat();
}

/**
 * Finds the entries that only repeat a heading below them: `- [ ] Setup` over `## Setup`, `- [ ] Phase 9: Training` over
 * `### Phase 9: Training`. A list of which every entry repeats a heading is a list of contents. If the heading is a
 * task, it takes over the entry's status.
 *
 * @param needsTasks true if only headings that hold tasks count
 */
export function contentsOf(
  drafts: readonly Draft[],
  headings: readonly Heading[],
  confirmed: ReadonlySet<Heading>,
  needsTasks: boolean,
): ReadonlySet<Draft> {
  const lists = new Map<Heading | undefined, Draft[]>();
  const holders = new Set<Heading>(confirmed);
  for (const draft of drafts) {
    for (let heading = draft.under; heading !== undefined && !holders.has(heading); heading = heading.outer)
      holders.add(heading);
    const isTop = draft.owner === undefined && draft.origin !== 'heading';
    if (isTop && !(draft.under !== undefined && confirmed.has(draft.under))) addTo(lists, draft.under, draft);
  }
  const named = new Map<string, Heading>();
  // The first of several headings with one name counts.
  for (const heading of headings.toReversed()) {
    if (needsTasks && !holders.has(heading)) continue;
    const { head } = heading.draft ?? {};
    named.set(wordsOf((head ?? heading).text), heading);
    if (head?.id !== undefined) named.set(head.id, heading);
  }
  const contents = new Set<Draft>();
  for (const list of lists.values()) {
    const found = list.map((draft) => headingOf(draft, named));
    const isContents = list.length > 1 && !found.includes(undefined);
    for (const [at, draft] of list.entries()) {
      const heading = found[at];
      const task = heading !== undefined && confirmed.has(heading) ? heading.draft : undefined;
      const isSame = task !== undefined && task.head.id !== undefined && task.head.id === draft.head.id;
      if (!isContents && !isSame) continue;
      contents.add(draft);
      const mark = draft.head.box?.mark ?? draft.head.stated?.mark;
      if (mark !== undefined) task?.statuses.push({ from: 'contents', line: draft.line, mark });
    }
  }
  return contents;
}

/** Finds the heading below an entry: with the same id and the same beginning, or with the same words. */
function headingOf({ head, line }: Draft, named: ReadonlyMap<string, Heading>): Heading | undefined {
  const words = wordsOf(head.text);
  const heading = named.get(head.id ?? words);
  if (heading === undefined || heading.line < line) return undefined;
  const title = wordsOf((heading.draft?.head ?? heading).text);
  return words.startsWith(title) || title.startsWith(words) ? heading : undefined;
}

function wordsOf(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
}
