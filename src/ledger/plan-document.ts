import type { PlanProblem, ProgressTask, TasksDocument } from '../contracts/run-request.js';
import { clipText, quoted } from '../shared/text.js';
import type { ParsedTask, ParsedTasks, TaskProblem } from './tasks-md/parsed-tasks.js';

/**
 * What is kept of a parsed plan. It goes into one event, so it has a size. Every task is kept, whatever else has to go:
 * first prompts beyond a share, those of tasks that come late; then requirements; then the ends of texts. Each cut is
 * counted.
 */

const MAX_TEXT = 300;
const MAX_PROMPT = 4000;
/** Room of a whole document, in bytes of JSON: a NATS message takes 1 MiB, and the event says more than this. */
export const MAX_DOCUMENT_BYTES = 900_000;
/** Room for the prompts of all tasks together: each version of the plan is one more event. */
const MAX_PROMPT_BYTES = 300_000;
/** Ever shorter texts, in characters, for plans of very many tasks. */
const SHORTER_TEXTS = [200, 120, 80, 40, 20];
const MAX_PROBLEMS = 100;

/** Bounded, each text one line. A plan of too many tasks has more than `MAX_DOCUMENT_BYTES`. */
export function documentOf(
  parsed: Pick<ParsedTasks, 'tasks' | 'problems'>,
  fingerprint: TasksDocument['fingerprint'],
): TasksDocument {
  const firstProblems = parsed.problems.slice(0, MAX_PROBLEMS).map(planProblem);
  const counts = countsOf(parsed.problems);
  const more = parsed.problems.length - firstProblems.length;
  const reports = {
    ...(firstProblems.length > 0 && { firstProblems }),
    ...(more > 0 && { moreProblems: more }),
  };
  const frame = { fingerprint, ...counts, ...reports };
  const room = MAX_DOCUMENT_BYTES - bytesOf(frame) - 100;
  const fitted = fittedTasks(parsed.tasks, room - promptsToKeep(parsed.tasks));
  const { tasks, prompts } = withPrompts(parsed.tasks, fitted.tasks, room - fitted.bytes);
  const { texts, requirements } = fitted;
  const shortened = {
    ...(texts > 0 && { texts }),
    ...(prompts > 0 && { prompts }),
    ...(requirements > 0 && { requirements }),
  };
  return {
    fingerprint,
    tasks,
    ...counts,
    ...reports,
    ...(Object.keys(shortened).length > 0 && { shortened }),
  };
}

/** A problem as events and replies have it, its text one line. */
export function planProblem({ code, line, placed, message }: TaskProblem): PlanProblem {
  return { code, line, message: clipText(quoted(message), MAX_TEXT), ...(placed && { placed }) };
}

/** The lines that were not placed, those that were by a guess, and the tasks that had to be given a name. */
function countsOf(reports: readonly TaskProblem[]): Pick<TasksDocument, 'problems' | 'guesses' | 'unnamed'> {
  const lost = new Set<number>();
  const guessed = new Set<number>();
  let unnamed = 0;
  for (const { code, placed, line, lastLine = line, tasks = 1 } of reports) {
    if (code === 'checkbox_without_id') unnamed += tasks;
    else for (let each = line; each <= lastLine; each += 1) (placed ? guessed : lost).add(each);
  }
  return {
    problems: lost.size,
    ...(guessed.size > 0 && { guesses: guessed.size }),
    ...(unnamed > 0 && { unnamed }),
  };
}

/** The bytes that a document takes in an event. */
export function bytesOf(document: object): number {
  return Buffer.byteLength(JSON.stringify(document));
}

interface Fitted {
  readonly tasks: readonly ProgressTask[];
  readonly bytes: number;
  /** Tasks whose text was shortened. */
  readonly texts: number;
  /** Tasks whose requirements were left out. */
  readonly requirements: number;
}

/** Room that texts leave to prompts, in bytes: those of the next tasks are worth more than the ends of all texts. */
const LEAST_PROMPT_BYTES = 100_000;

function promptsToKeep(tasks: readonly ParsedTask[]): number {
  const given = tasks.flatMap(({ prompt }) => prompt ?? []);
  const bytes = given.reduce((sum, prompt) => sum + Buffer.byteLength(prompt), 0);
  return Math.min(bytes, LEAST_PROMPT_BYTES) + given.length * CUT_BYTES;
}

/** All tasks without their prompts, in the first form that fits, else in the smallest. */
function fittedTasks(parsed: readonly ParsedTask[], room: number): Fitted {
  const whole = inForm(parsed, MAX_TEXT, true);
  if (whole.bytes <= room) return whole;
  let fitted = inForm(parsed, MAX_TEXT, false);
  for (const length of SHORTER_TEXTS) {
    if (fitted.bytes <= room) break;
    fitted = inForm(parsed, length, false);
  }
  return fitted;
}

function inForm(parsed: readonly ParsedTask[], length: number, hasRequirements: boolean): Fitted {
  let texts = 0;
  let requirements = 0;
  const tasks: ProgressTask[] = [];
  for (const task of parsed) {
    const text = quoted(task.text);
    const shown = clipText(text, length);
    if (shown !== text) texts += 1;
    if (!hasRequirements && task.requirements.length > 0) requirements += 1;
    tasks.push({
      id: task.id,
      text: shown,
      status: task.status,
      ...(task.optional && { optional: true }),
      ...(task.blocked && { blocked: true }),
      ...(task.cancelled && { cancelled: true }),
      ...(task.group && { group: true }),
      ...(task.parent !== undefined && { parent: task.parent }),
      ...(task.dependsOn.length > 0 && { dependsOn: task.dependsOn.map(quoted) }),
      ...(hasRequirements && task.requirements.length > 0 && { requirements: task.requirements.map(quoted) }),
    });
  }
  return { tasks, bytes: bytesOf(tasks), texts, requirements };
}

/** What stands for a prompt that has no room, so that it does not look like none. */
const CUT = '...';
/** `,"prompt":` and a text of that length. */
const CUT_BYTES = 15;

/**
 * The tasks with their prompts, those of open tasks first: who works on a plan needs what comes next, and each time that
 * a task is done the plan is read again.
 */
function withPrompts(
  parsed: readonly ParsedTask[],
  tasks: readonly ProgressTask[],
  free: number,
): { readonly tasks: ProgressTask[]; readonly prompts: number } {
  const given: { index: number; prompt: string; isDone: boolean }[] = [];
  for (const [index, { status, prompt }] of parsed.entries()) {
    if (prompt !== undefined) given.push({ index, prompt: quoted(prompt), isDone: status === 'completed' });
  }
  given.sort((a, b) => Number(a.isDone) - Number(b.isDone) || a.index - b.index);
  let room = Math.min(free, MAX_PROMPT_BYTES) - given.length * CUT_BYTES;
  let prompts = 0;
  const written = new Map<number, string>();
  for (const { index, prompt } of given) {
    if (room < 0) {
      prompts += 1;
      continue;
    }
    const shown = clipText(prompt, MAX_PROMPT);
    const more = Buffer.byteLength(JSON.stringify(shown)) - CUT.length;
    const fits = more <= room;
    if (fits) room -= Math.max(0, more);
    if (!fits || shown !== prompt) prompts += 1;
    written.set(index, fits ? shown : CUT);
  }
  return {
    tasks: tasks.map((task, index) => {
      const prompt = written.get(index);
      return prompt === undefined ? task : { ...task, prompt };
    }),
    prompts,
  };
}
