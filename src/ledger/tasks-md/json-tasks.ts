import { isObject } from '../../shared/text.js';
import { type Draft, draftOfEntry, type Findings, type Heading, partOf, problem } from './draft.js';

/**
 * Reads JSON plans: claude-task-master's `tasks.json` with its tags, and lists of objects with a title and a status
 * under `tasks`, `todos`, `stories` or at the top.
 */

type Fields = Readonly<Record<string, unknown>>;

/** Returns false for text that is not JSON. */
export function readJsonTasks(text: string, findings: Findings): boolean {
  const opening = text.trimStart().charAt(0);
  if (opening !== '{' && opening !== '[') return false;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // A list of checkboxes may begin with a bracket too.
    if (opening === '{' && /"(?:tasks|todos)"\s*:/.test(text)) {
      const message = `cannot be read as JSON (${error instanceof Error ? error.message : 'broken'}); correct it`;
      findings.problems.push(problem('broken_document', 0, message));
    }
    return false;
  }
  const lines = readLines(value, text);
  for (const { name, tasks, holder } of listsOf(value)) {
    const under = name === undefined ? undefined : partOf(name, (holder && lines.get(holder)) ?? 0);
    addTasks(tasks, under, undefined, lines, findings);
  }
  return true;
}

interface TaskList {
  readonly name?: string;
  readonly tasks: readonly unknown[];
  readonly holder?: object;
}

const LISTS = ['tasks', 'todos', 'userStories', 'stories', 'items'] as const;

function listsOf(value: unknown): TaskList[] {
  if (Array.isArray(value)) return [{ tasks: value }];
  if (!isObject(value)) return [];
  const own = LISTS.map((key) => value[key]).find(Array.isArray);
  if (own !== undefined) return [{ tasks: own }];
  // Tags: `{"master": {"tasks": []}, "feature": {"tasks": []}}`.
  return Object.entries(value).flatMap(([name, tag]) =>
    isObject(tag) && Array.isArray(tag.tasks) ? [{ name, tasks: tag.tasks, holder: tag }] : [],
  );
}

function addTasks(
  tasks: readonly unknown[],
  under: Heading | undefined,
  owner: Draft | undefined,
  lines: LinesOfObjects,
  findings: Findings,
): void {
  const numbers = new Set(tasks.map((task) => (isObject(task) ? asText(task.id) : undefined)));
  for (const task of tasks) {
    if (!isObject(task)) continue;
    const text = first(task, ['title', 'content', 'name', 'text', 'subject', 'description']);
    if (text === undefined) continue;
    const own = asText(task.id);
    const above = owner?.head.id;
    // Sub-tasks are numbered within their task.
    const idOf = (id: string): string =>
      above !== undefined && numbers.has(id) && !id.includes('.') ? `${above}.${id}` : id;
    const draft = draftOfEntry(
      {
        id: own === undefined ? undefined : idOf(own),
        text,
        status: statusOf(task),
        dependsOn: list(task, ['dependencies', 'dependsOn', 'depends_on', 'blockedBy']).map(idOf),
        requirements: list(task, ['requirements']),
        prompt: promptOf(task, text),
        line: lines.get(task) ?? 0,
        under,
        owner,
      },
      findings.problems,
    );
    findings.drafts.push(draft);
    const { subtasks } = task;
    if (Array.isArray(subtasks)) addTasks(subtasks, under, draft, lines, findings);
  }
}

/** Returns everything that describes the task besides its title. */
function promptOf(task: Fields, title: string): string {
  const test = asText(task.testStrategy)?.trim();
  const parts = [
    asText(task.description),
    asText(task.details),
    ...(test ? [`Test strategy: ${test}`] : []),
    asText(task.prompt),
  ];
  return parts
    .flatMap((part) => (part === undefined || part === title ? [] : part.trim() || []))
    .join('\n\n');
}

function statusOf(task: Fields): string | undefined {
  const status = first(task, ['status', 'state']);
  if (status !== undefined) return status;
  const done = task.completed ?? task.done ?? task.passes;
  return typeof done === 'boolean' ? (done ? 'done' : 'pending') : undefined;
}

function first(task: Fields, keys: readonly string[]): string | undefined {
  return keys.map((key) => asText(task[key])).find((text) => text !== undefined && text !== '');
}

function list(task: Fields, keys: readonly string[]): string[] {
  const value = keys.map((key) => task[key]).find((each) => each !== undefined && each !== null);
  const items = Array.isArray(value) ? value : [value];
  return items.flatMap((item: unknown) => asText(item) ?? []).filter((item) => item !== '');
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
}

type LinesOfObjects = ReadonlyMap<object, number>;

/** Finds the line, 0-based, of each object, which `JSON.parse` does not report. */
function readLines(value: unknown, text: string): LinesOfObjects {
  const lines = new Map<object, number>();
  // Objects in the order of their braces; JavaScript puts numeric keys first regardless of their position.
  const braces = bracesOf(text);
  let next = 0;
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const each = pending.pop();
    if (typeof each !== 'object' || each === null) continue;
    if (!Array.isArray(each)) {
      lines.set(each, braces[next] ?? 0);
      next += 1;
    }
    const inside: unknown[] = Object.values(each);
    for (let at = inside.length - 1; at >= 0; at -= 1) pending.push(inside[at]);
  }
  return lines;
}

function bracesOf(text: string): number[] {
  const all: number[] = [];
  let line = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) {
      for (at += 1; text.charCodeAt(at) !== 0x22; at += 1) if (text.charCodeAt(at) === 0x5c) at += 1;
    } else if (unit === 0x0a || (unit === 0x0d && text.charCodeAt(at + 1) !== 0x0a)) line += 1;
    else if (unit === 0x7b) all.push(line);
  }
  return all;
}
