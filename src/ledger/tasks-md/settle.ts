import { addAll, type Draft, type Findings, type Heading, type Mention, problem } from './draft.js';
import { outerId } from './ids.js';
import { nameTasks } from './name-tasks.js';
import { headingTask, mergeOverviews, withoutRepeats } from './overviews.js';
import { dedent, type ParsedTask, type ParsedTasks, type TaskProblem } from './parsed-tasks.js';
import { settleStatuses } from './status.js';

/** Decides which findings are tasks, and settles their parents, ids and statuses. */
export function settle(findings: Findings): ParsedTasks {
  const problems: TaskProblem[] = [...findings.problems];
  const named = new Set(
    findings.mentions.flatMap(({ draft, mark }) => (mark === undefined ? [] : [draft.head.id])),
  );
  for (const { head } of findings.drafts) if (head.phase) named.add(head.id);
  const confirmed = confirmHeadings(findings, named);
  const found = [...findings.drafts];
  for (const heading of confirmed) if (heading.draft !== undefined) found.push(heading.draft);
  placeMentions(findings.mentions, found, problems);
  addAll(found, plannedTasks(findings, found));
  found.sort((left, right) => left.line - right.line);
  const drafts = withoutRepeats(found, findings.headings, confirmed);
  const kept = mergeOverviews(drafts, confirmed);
  const parents = findParents(kept, confirmed);
  const groups = new Set(parents.values());
  reportUnconfirmed(findings.headings, drafts, problems);
  readSections(kept, parents, groups, sectionsOf(findings), problems);
  const names = nameTasks(kept, parents, problems);
  const statuses = settleStatuses(kept, parents, names, problems);
  const known = dependsOnSome(kept) ? byLowerCase(names.values()) : undefined;
  const tasks: ParsedTask[] = [];
  for (const draft of kept) {
    const parent = parents.get(draft);
    const { head } = draft;
    const { mark, from } = statuses.get(draft) ?? {
      mark: { status: 'pending' as const },
      from: 'none' as const,
    };
    const parentId = parent && names.get(parent);
    const id = names.get(draft) ?? '';
    const isChapter = draft.origin === 'heading' && (head.phase || head.id === undefined);
    const task: { -readonly [Key in keyof ParsedTask]: ParsedTask[Key] } = {
      id,
      text: head.text,
      status: mark.status,
      statusFrom: from,
      group: from === 'children' || (isChapter && groups.has(draft)),
      optional: head.optional,
      blocked: mark.hold === 'blocked',
      cancelled: mark.hold === 'cancelled',
      line: draft.line + 1,
      requirements: draft.requirements,
      dependsOn: dependencies(draft, id, known, problems),
    };
    if (parentId !== undefined) task.parent = parentId;
    const prompt = [...dedent(draft.details), ...(draft.prompt ? [draft.prompt] : [])].join('\n');
    if (prompt !== '') task.prompt = prompt;
    if (task.blocked && draft.reason !== undefined) task.reason = draft.reason;
    tasks.push(task);
  }
  if (tasks.length === 0) problems.push(problem('no_tasks', 0, 'the file holds no task'));
  problems.sort((left, right) => left.line - right.line);
  return { tasks, problems };
}

function dependsOnSome(drafts: readonly Draft[]): boolean {
  return drafts.some(({ dependsOn }) => dependsOn.length > 0);
}

function byLowerCase(names: Iterable<string>): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  for (const name of names) known.set(name.toLowerCase(), name);
  return known;
}

/** Maps dependencies to the tasks' names and reports unknown ones. */
function dependencies(
  { dependsOn, line }: Draft,
  id: string,
  known: ReadonlyMap<string, string> | undefined,
  problems: TaskProblem[],
): readonly string[] {
  if (known === undefined || dependsOn.length === 0) return dependsOn;
  return [...new Set(dependsOn)].map((each) => {
    const name = known.get(each.toLowerCase());
    if (name === undefined) {
      const message = `${id} depends on "${each.slice(0, 60)}", which is the id of no task here`;
      problems.push(problem('unknown_dependency', line, message));
    }
    return name ?? each;
  });
}

/** Reports statuses below a heading that turned out to be no task. */
function reportUnconfirmed(
  headings: readonly Heading[],
  kept: readonly Draft[],
  problems: TaskProblem[],
): void {
  if (headings.length === 0) return;
  const tasks = new Set(kept);
  for (const { draft } of headings) {
    if (draft === undefined || tasks.has(draft)) continue;
    addAll(problems, draft.otherwise);
    for (const { line } of draft.statuses) {
      problems.push(
        problem(
          'mark_without_id',
          line,
          `a status below "${draft.head.text.slice(0, 60)}", which is not a task`,
        ),
      );
    }
  }
}

/** Returns items of a plan without marks: those with a plan id, or all if the file has no other task. */
function plannedTasks({ planned, headings }: Findings, drafts: readonly Draft[]): Draft[] {
  const shown = sectionsOf({ headings });
  const isSure = ({ head, under }: Draft): boolean =>
    head.certain || (under?.isStatus === true && shown.has(under) && head.box === undefined);
  const sure = planned.filter(isSure);
  if (drafts.length > 0 || sure.length > 0) return sure;
  if (planned.length > 0) return [...planned];
  return headings.flatMap(({ draft }) => (draft?.head.phase === true ? [draft] : []));
}

/** Returns headings that give a status: with a mark, or by their word if the file has several such words. */
function sectionsOf({ headings }: Pick<Findings, 'headings'>): Set<Heading> {
  const sections = headings.filter(({ isStatus }) => isStatus);
  const words = new Set(sections.map(({ says }) => `${says?.status} ${says?.hold}`));
  return new Set(words.size > 1 ? sections : sections.filter(({ isMarked }) => isMarked));
}

/** Gives tasks the status of their section, and reports marked sections without tasks. */
function readSections(
  drafts: readonly Draft[],
  parents: ReadonlyMap<Draft, Draft>,
  groups: ReadonlySet<Draft>,
  sections: ReadonlySet<Heading>,
  problems: TaskProblem[],
): void {
  const used = new Set<Heading>();
  for (const draft of drafts) {
    let section = draft.under;
    while (section !== undefined && !sections.has(section)) section = section.outer;
    if (section?.says === undefined) continue;
    used.add(section);
    if (parents.has(draft)) continue;
    const states = draft.head.box !== undefined || draft.head.mark !== undefined || draft.statuses.length > 0;
    const isDone = draft.head.box?.mark.status === 'completed' || draft.head.mark?.status === 'completed';
    // Work in progress has finished parts.
    if ((states && groups.has(draft)) || (isDone && section.says.status === 'in-progress')) continue;
    draft.statuses.push({ from: 'section', line: section.line, mark: section.says });
  }
  for (const { line, text, isMarked } of [...sections].filter((section) => !used.has(section))) {
    if (!isMarked) continue;
    const message = `"${text.slice(0, 60)}" gives a status to its section, which holds no task`;
    problems.push(problem('mark_without_id', line, message));
  }
}

/**
 * A heading is a task if it says so (`T001`, a box, a mark), or if a status elsewhere names it. A mere number (`### 1.
 * Title`) counts only if the boxes below are its own: without ids, or with ids under its number. `## 4. Plan` over
 * `T001` is a chapter, and the document's title is never a task by its number.
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
      (draft.statuses.length > 0 && (level > 1 || draft.head.phase)) ||
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
  if (draft.head.phase && id !== undefined) {
    // `01-02` is a plan of `Phase 1`, and `1.2` a task of it.
    return (
      Number(/^\d+(?=[.-]\d)/.exec(id)?.[0]) ===
      Number(draft.head.id.slice(draft.head.id.lastIndexOf(' ') + 1))
    );
  }
  return id === undefined || id === draft.head.id || id.startsWith(`${draft.head.id}.`);
}

/** Applies statuses of mentions; a mention with a status and no task becomes a task. */
function placeMentions(mentions: readonly Mention[], drafts: Draft[], problems: TaskProblem[]): void {
  if (mentions.length === 0) return;
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
