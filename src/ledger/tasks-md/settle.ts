import { type Draft, type Findings, type Heading, type Mention, problem } from './draft.js';
import { outerId } from './ids.js';
import { nameTasks } from './name-tasks.js';
import type { ParsedTask, ParsedTasks, TaskProblem } from './parsed-tasks.js';
import { settleStatuses } from './status.js';

/** Decides which findings are tasks, and settles their parents, ids and statuses. */
export function settle(findings: Findings): ParsedTasks {
  const problems: TaskProblem[] = [...findings.problems];
  const named = new Set(
    findings.mentions.flatMap(({ draft, mark }) => (mark === undefined ? [] : [draft.head.id])),
  );
  const confirmed = confirmHeadings(findings, named);
  const drafts = mergeHeadingBoxes(findings.drafts, confirmed);
  for (const heading of confirmed) if (heading.draft !== undefined) drafts.push(heading.draft);
  placeMentions(findings.mentions, drafts, problems);
  drafts.sort((left, right) => left.line - right.line);

  const parents = findParents(drafts, confirmed);
  const names = nameTasks(drafts, parents, problems);
  const statuses = settleStatuses(drafts, parents, names, problems);
  const depths = new Map<Draft, number>();
  const tasks = drafts.map((draft): ParsedTask => {
    const parent = parents.get(draft);
    const depth = parent === undefined ? 0 : (depths.get(parent) ?? 0) + 1;
    depths.set(draft, depth);
    const { head, under } = draft;
    const { mark, from } = statuses.get(draft) ?? {
      mark: { status: 'pending' as const },
      from: 'none' as const,
    };
    const parentId = parent && names.get(parent);
    const id = names.get(draft) ?? '';
    return {
      id,
      idAsWritten: id === head.id,
      text: head.text,
      status: mark.status,
      statusFrom: from,
      origin: draft.origin,
      optional: head.optional,
      parallel: head.parallel,
      blocked: mark.hold === 'blocked',
      cancelled: mark.hold === 'cancelled',
      ...(parentId !== undefined && { parent: parentId }),
      depth,
      line: draft.line + 1,
      ...(under !== undefined && { section: under.text }),
      labels: head.labels,
      ...(draft.prompt !== undefined && { prompt: draft.prompt }),
      requirements: draft.requirements,
      files: draft.files,
      leverage: draft.leverage,
      dependsOn: draft.dependsOn,
      details: draft.details,
    };
  });
  if (tasks.length === 0) problems.push(problem('no_tasks', 0, 'the file holds no task'));
  return { tasks, problems: problems.sort((left, right) => left.line - right.line) };
}

/**
 * A heading is a task when it says so (`T001`, a box, a mark), or when a status elsewhere names it. A mere number
 * (`### 1. Title`) makes it one only if the boxes below it are its own: without ids, or with ids under its number.
 * `## 4. Plan` over `T001` is a chapter, and the title of the document is never a task by its number.
 */
function confirmHeadings(
  { headings, drafts }: Findings,
  named: ReadonlySet<string | undefined>,
): Set<Heading> {
  const confirmed = new Set<Heading>();
  const isCertain = ({ draft, level }: Heading): boolean =>
    draft !== undefined &&
    (draft.head.box !== undefined ||
      draft.head.mark !== undefined ||
      draft.head.certain ||
      (level > 1 && named.has(draft.head.id)));
  for (const heading of headings) if (isCertain(heading)) confirmed.add(heading);
  for (const { head, under, owner } of drafts) {
    if (owner === undefined && under !== undefined && supports(under, head.id)) confirmed.add(under);
  }
  // From the end, so that `### 1.1` is settled before the `## 1.` around it.
  for (const heading of headings.toReversed()) {
    const { outer, draft } = heading;
    if (
      confirmed.has(heading) &&
      draft?.head.id !== undefined &&
      outer !== undefined &&
      supports(outer, draft.head.id)
    ) {
      confirmed.add(outer);
    }
  }
  return confirmed;
}

function supports({ draft, level }: Heading, id: string | undefined): boolean {
  if (draft?.head.id === undefined || level === 1) return false;
  return id === undefined || id === draft.head.id || id.startsWith(`${draft.head.id}.`);
}

/** `## T001: Title` over `- [x] T001`: one task, whose box stands below its heading. */
function mergeHeadingBoxes(drafts: readonly Draft[], confirmed: ReadonlySet<Heading>): Draft[] {
  const merged = new Map<Draft, Draft>();
  const boxed = new Set<Draft>();
  const kept = drafts.filter((draft) => {
    const heading = draft.under?.draft;
    if (draft.under === undefined || heading === undefined || draft.owner !== undefined) return true;
    if (draft.head.id === undefined || draft.head.id !== heading.head.id || heading.head.box !== undefined)
      return true;
    if (!confirmed.has(draft.under) || boxed.has(heading) || draft.head.box === undefined) return true;
    boxed.add(heading);
    merged.set(draft, heading);
    heading.statuses.push({ from: 'box', line: draft.line, mark: draft.head.box.mark });
    for (const key of ['requirements', 'files', 'leverage', 'dependsOn', 'details'] as const) {
      heading[key].push(...draft[key]);
    }
    if (draft.prompt !== undefined) heading.prompt ??= draft.prompt;
    return false;
  });
  for (const draft of kept) {
    const heading = draft.owner && merged.get(draft.owner);
    if (heading !== undefined) draft.owner = heading;
  }
  return kept;
}

/** Gives mentioned tasks their status; a mention with a status that names no other task is one itself. */
function placeMentions(mentions: readonly Mention[], drafts: Draft[], problems: TaskProblem[]): void {
  const known = new Map<string, Draft>();
  for (const draft of drafts) {
    if (draft.head.id !== undefined && !known.has(draft.head.id)) known.set(draft.head.id, draft);
  }
  const own = new Map<Draft, Mention>();
  for (const mention of mentions) {
    const { draft, line, from, mark } = mention;
    const id = draft.head.id ?? '';
    if (mark === undefined) continue;
    const task = known.get(id);
    if (task !== undefined && own.get(task)?.from !== from) {
      task.statuses.push({ from, line, mark });
      continue;
    }
    draft.statuses.push({ from, line, mark });
    own.set(draft, mention);
    drafts.push(draft);
    if (task === undefined) known.set(id, draft);
  }
  for (const { draft, line, mark } of mentions) {
    const id = draft.head.id ?? '';
    if (mark !== undefined || known.has(id)) continue;
    problems.push(
      problem('id_without_status', line, `${id} looks like a task, but has neither checkbox nor status`),
    );
  }
}

/** By nesting, else by the heading above, else by the number: `1.2` lies under an earlier `1`. */
function findParents(drafts: readonly Draft[], confirmed: ReadonlySet<Heading>): Map<Draft, Draft> {
  const parents = new Map<Draft, Draft>();
  const earlier = new Map<string, Draft>();
  for (const draft of drafts) {
    const { id } = draft.head;
    const byNumber = (): Draft | undefined => {
      for (let outer = id && outerId(id); outer !== undefined && outer !== ''; outer = outerId(outer)) {
        const found = earlier.get(outer);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    const parent = draft.owner ?? headingTask(draft.under, confirmed) ?? byNumber();
    if (parent !== undefined) parents.set(draft, parent);
    if (id !== undefined && !earlier.has(id)) earlier.set(id, draft);
  }
  return parents;
}

function headingTask(from: Heading | undefined, confirmed: ReadonlySet<Heading>): Draft | undefined {
  for (let heading = from; heading !== undefined; heading = heading.outer) {
    if (heading.draft !== undefined && confirmed.has(heading)) return heading.draft;
  }
  return undefined;
}
