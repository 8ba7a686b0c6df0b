import type { Lines } from './blocks.js';
import { draftOfEntry, type Findings, problem } from './draft.js';
import { type Head, opensWithBox } from './head.js';
import { type Legend, type Mark, wholeWord } from './marks.js';
import type { TaskProblem } from './parsed-tasks.js';

const PICTURES = /^(?:\p{Extended_Pictographic}|[\uFE0F\s])+/u;
const NOUN =
  /\s+(?:tasks?|work|items?|features?|phases?|stories|issues|things|steps|list|todos?|작업|할 일|任务|タスク)$/iu;
const PLAN =
  /^(?:\d+\.?\s+)?(?:(?:the|implementation|project|development|action|detailed|execution|work|migration)\s+)?(?:plans?|tasks?|steps?|to-?dos?(?: list)?|roadmap|phases|items|task list|계획|할 일|작업 목록|任务|任務|任务列表|计划|实施计划|タスク|タスク一覧|計画|実装計画|aufgaben|tâches|tareas|tarefas|задачи|план)$/iu;

/** Returns the status that a heading such as `## ✅ Done` or `### In progress tasks` gives its section. */
export function statusOfSection({ text, box, mark }: Head): Mark | undefined {
  if (text.length > 60) return undefined;
  const words = text
    .replace(PICTURES, '')
    .replace(/\s*[(（][^()（）]*[)）]$/, '')
    .replace(/[:：]$/, '');
  if (words === '') return box?.mark ?? mark;
  const said = wholeWord(words) ?? wholeWord(words.replace(NOUN, ''));
  return said === undefined ? undefined : (mark ?? box?.mark ?? said);
}

/** True if a heading, or a line ending with a colon, announces the plan. */
export function opensPlan(text: string, needsColon: boolean): boolean {
  if (text.length > 40) return false;
  const plain = text.replace(/[*_#]/g, '').replace(PICTURES, '').trim();
  if (needsColon && !/[:：]$/.test(plain)) return false;
  return PLAN.test(plain.replace(/\s*[:：]$/, ''));
}

/** Reports checkboxes in a code fence, which are examples. */
export function reportFence({ start, lines }: Lines, legend: Legend, problems: TaskProblem[]): void {
  const boxes = lines.flatMap((line, at) => (opensWithBox(line, legend) ? [start + 1 + at] : []));
  const [first] = boxes;
  if (first === undefined) return;
  const message = `${boxes.length} checkbox(es) in a code fence, taken for examples`;
  problems.push(problem('not_a_task', first, message, boxes.at(-1)));
}

/** Removes comments from an HTML block, keeping line numbers. */
export function withoutComments(block: Lines): Lines {
  const shown = block.lines
    .join('\n')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, (comment) => comment.replace(/[^\n]/g, ''));
  return { ...block, lines: shown.split('\n') };
}

/**
 * Reads the todos of a YAML file or front matter, such as Cursor's. Line by line, since a YAML library takes half a
 * second for 5,000; anything but a list of flat entries is reported.
 */

const LIST = /^(?:todos|tasks)\s*:\s*$/;
const KEY = /^([A-Za-z_][\w-]*):(?=\s|$)/;
const BOX = /^[\s>]*(?:[-*+•]|\d{1,9}[.)])?[ \t]{0,4}\[[^[\]]{0,12}\](?:\s|$)/;
const BLOCK = /^[|>][+-]?\d?$/;

/** Returns the line after the front matter, 0 without one. */
export function readFrontMatter(lines: readonly string[], findings: Findings): number {
  const opens = lines[0]?.trimEnd() === '---';
  let end = opens ? lines.findIndex((line, at) => at > 0 && line.trimEnd() === '---') : lines.length;
  if (end === -1) return 0;
  const from = opens ? 1 : 0;
  if (opens ? !isMatter(lines.slice(1, end)) : !isYaml(lines)) return 0;
  let at = from;
  while (at < end && !LIST.test(lines[at] ?? '')) at += 1;
  if (at < end) readTodos(lines, at + 1, end, findings);
  if (opens) end += 1;
  return end;
}

/** True for keys and values, not for text between two rules. */
function isMatter(lines: readonly string[]): boolean {
  const first = lines.find((line) => line.trim() !== '' && !line.startsWith('#'));
  return first !== undefined && KEY.test(first) && !lines.some((line) => BOX.test(line));
}

/** True for a file that begins with a key and has a list of tasks. */
function isYaml(lines: readonly string[]): boolean {
  const first = lines.find((line) => line.trim() !== '' && !line.startsWith('#'));
  if (first === undefined || !KEY.test(first)) return false;
  const list = lines.findIndex((line) => LIST.test(line));
  return list !== -1 && /^\s*-\s+[A-Za-z_][\w-]*\s*:/.test(lines[list + 1] ?? '');
}

interface Todo {
  readonly line: number;
  readonly fields: Map<string, { value: string; line: number }>;
}

function readTodos(lines: readonly string[], from: number, end: number, findings: Findings): void {
  let todo: Todo | undefined;
  let last: { value: string; line: number } | undefined;
  let dash = -1;
  const close = (): void => {
    if (todo !== undefined) addTodo(todo, findings);
    todo = undefined;
    last = undefined;
  };
  for (let at = from; at < end; at += 1) {
    const line = lines[at] ?? '';
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    const indent = line.length - line.trimStart().length;
    const isItem = /^-(?:\s|$)/.test(text) && (dash === -1 || indent === dash);
    if (!isItem && indent <= Math.max(dash, 0) && dash !== -1) break;
    if (!isItem && dash === -1) break;
    if (isItem) {
      close();
      dash = indent;
      todo = { line: at, fields: new Map() };
    }
    const body = isItem ? text.slice(1).trim() : text;
    const key = KEY.exec(body);
    if (todo === undefined) break;
    const fieldIndent = isItem ? dash + 2 : indent;
    if (key !== null && fieldIndent <= dash + 4 && !(last !== undefined && indent > dash + 4)) {
      last = { value: body.slice(key[0].length).trim(), line: at };
      todo.fields.set((key[1] ?? '').toLowerCase(), last);
    } else if (last !== undefined) {
      // A multi-line value or a nested list.
      const item = body.startsWith('- ') ? body.slice(2).trim() : undefined;
      const more = item === undefined ? body : `,${scalar(item)}`;
      last.value = last.value === '' || BLOCK.test(last.value) ? more : `${last.value} ${more}`;
    } else if (isItem && body !== '') {
      todo.fields.set('content', { value: body, line: at });
    } else
      findings.problems.push(
        problem('broken_document', at, `"${text.slice(0, 40)}" is not an entry of a list of todos`),
      );
  }
  close();
}

function addTodo({ line, fields }: Todo, findings: Findings): void {
  const read = (...names: string[]): string | undefined => {
    const found = names.map((name) => fields.get(name)).find((field) => field !== undefined);
    return found === undefined ? undefined : scalar(found.value);
  };
  const list = (...names: string[]): string[] =>
    (read(...names) ?? '')
      .replace(/^\[|\]$/g, '')
      .split(',')
      .map((each) => scalar(each.trim()))
      .filter((each) => each !== '');
  const text = read('content', 'title', 'text', 'name', 'description');
  const statusLine = fields.get('status')?.line;
  if (text === undefined) {
    findings.problems.push(problem('broken_document', line, 'an entry without content; give it one'));
    return;
  }
  const done = read('completed', 'done');
  findings.drafts.push(
    draftOfEntry(
      {
        id: read('id'),
        text,
        status:
          read('status', 'state') ?? (done === undefined ? undefined : done === 'true' ? 'done' : 'pending'),
        ...(statusLine !== undefined && { statusLine }),
        dependsOn: list('dependencies', 'dependson', 'depends_on'),
        prompt: read('prompt'),
        line,
      },
      findings.problems,
    ),
  );
}

/** Removes quotes and comments. */
function scalar(value: string): string {
  const text = value.trim();
  if (/^".*"$/.test(text)) {
    try {
      return String(JSON.parse(text));
    } catch {
      return text.slice(1, -1);
    }
  }
  if (/^'.*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  const remark = text.indexOf(' #');
  return remark === -1 ? text : text.slice(0, remark).trimEnd();
}
