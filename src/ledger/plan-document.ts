import type { PlanProblem, ProgressTask, TasksDocument } from '../contracts/plan-requests.js';
import { clipText, lengthOf, quoted, quotedLines } from '../shared/text.js';
import type { ParsedTask, ParsedTasks, TaskProblem } from './tasks-md/parsed-tasks.js';

/** Makes the stored form of a plan. It must fit one event: texts and late prompts are cut and counted, no task is. */

export const MAX_TEXT = 300;
const MAX_PROMPT = 6000;
const MAX_PREAMBLE = 3000;
const MAX_REQUIREMENT = 400;
/** Limit for the texts of all requirements together, in characters. */
const MAX_REQUIREMENTS = 60_000;
/** A NATS message holds 1 MiB, and the event has other fields too. */
export const MAX_DOCUMENT_BYTES = 900_000;
/** Limit for the prompts of all tasks together: each version of the plan is another event. */
const MAX_PROMPT_BYTES = 300_000;
const MAX_PROBLEMS = 100;

/** Bounds the document; with too many tasks it still exceeds `MAX_DOCUMENT_BYTES`. `design` is a path beside the plan. */
export function documentOf(
  parsed: Pick<ParsedTasks, 'tasks' | 'problems' | 'preamble'>,
  fingerprint: TasksDocument['fingerprint'],
  requirementTexts: ReadonlyMap<string, string> = new Map(),
  design?: string,
): TasksDocument {
  const firstProblems = parsed.problems.slice(0, MAX_PROBLEMS).map(planProblem);
  const counts = countsOf(parsed.problems);
  const more = parsed.problems.length - firstProblems.length;
  const reports = {
    ...(firstProblems.length > 0 && { firstProblems }),
    ...(more > 0 && { moreProblems: more }),
  };
  const text = withoutMarks(parsed.preamble ?? '');
  const preamble = clipText(text, MAX_PREAMBLE);
  const known = boundedTexts(requirementTexts);
  const stated = {
    ...(preamble !== '' && { preamble }),
    ...(known.texts.length > 0 && { requirementTexts: Object.fromEntries(known.texts) }),
    ...(design !== undefined && { design: quoted(design) }),
  };
  const frame = { fingerprint, ...counts, ...reports, ...stated };
  const room = MAX_DOCUMENT_BYTES - bytesOf(frame) - 100;
  const plain = parsed.tasks.map(withoutPrompt);
  const texts = parsed.tasks.filter(({ text }, at) => quoted(text) !== plain[at]?.text).length;
  const { tasks, prompts } = withPrompts(parsed.tasks, plain, room - bytesOf(plain));
  const shortened = {
    ...(texts > 0 && { texts }),
    ...(prompts > 0 && { prompts }),
    ...(preamble !== text && { preamble: lengthOf(text) - lengthOf(preamble) }),
    ...(known.cut > 0 && { requirementTexts: known.cut }),
  };
  const cut = Object.keys(shortened).length > 0 ? { shortened } : {};
  return { fingerprint, tasks, ...stated, ...counts, ...reports, ...cut };
}

/** Keeps the lines of a text, each without control characters, escapes and forged marks. */
function withoutMarks(text: string): string {
  return quotedLines(text, MAX_LINES)
    .lines.map((line) => line.slice(2))
    .join('\n');
}

/** More than the longest stored text has. */
const MAX_LINES = 6000;

function boundedTexts(texts: ReadonlyMap<string, string>) {
  let left = MAX_REQUIREMENTS;
  let cut = 0;
  const kept = [...texts].flatMap(([id, text]) => {
    const shown = clipText(quoted(text), MAX_REQUIREMENT);
    left -= shown.length;
    if (left < 0 || shown !== quoted(text)) cut += 1;
    return left < 0 ? [] : [[id, shown] as const];
  });
  return { texts: kept, cut };
}

export function planProblem({ code, line, placed, message }: TaskProblem): PlanProblem {
  return { code, line, message: clipText(quoted(message), MAX_TEXT), ...(placed && { placed }) };
}

function countsOf(reports: readonly TaskProblem[]): Pick<TasksDocument, 'problems' | 'guesses' | 'unnamed'> {
  const lost = new Set<number>();
  const guessed = new Set<number>();
  let unnamed = 0;
  for (const { code, placed, line, lastLine = line, tasks = 1 } of reports) {
    if (code === 'checkbox_without_id') unnamed += tasks;
    else for (let at = line; at <= lastLine; at += 1) (placed ? guessed : lost).add(at);
  }
  const guesses = guessed.size;
  return { problems: lost.size, ...(guesses > 0 && { guesses }), ...(unnamed > 0 && { unnamed }) };
}

export function bytesOf(document: object): number {
  return Buffer.byteLength(JSON.stringify(document));
}

function withoutPrompt(task: ParsedTask): ProgressTask {
  const { id, status, optional, blocked, reason, cancelled, group, parent, dependsOn, requirements } = task;
  return {
    id,
    text: clipText(quoted(task.text), MAX_TEXT),
    status,
    ...(optional && { optional }),
    ...(blocked && { blocked }),
    ...(reason !== undefined && { reason: clipText(quoted(reason), MAX_TEXT) }),
    ...(cancelled && { cancelled }),
    ...(group && { group }),
    ...(parent !== undefined && { parent }),
    ...(dependsOn.length > 0 && { dependsOn: dependsOn.map(quoted) }),
    ...(requirements.length > 0 && { requirements: requirements.map(quoted) }),
  };
}

const CUT = '...';
const CUT_BYTES = 15;

/** Adds prompts, those of open tasks first: they are needed next, and the plan is read again whenever a task is done. */
function withPrompts(parsed: readonly ParsedTask[], tasks: readonly ProgressTask[], free: number) {
  const given = parsed.flatMap(({ status, prompt }, index) =>
    prompt === undefined ? [] : [{ index, prompt: withoutMarks(prompt), isDone: status === 'completed' }],
  );
  given.sort((a, b) => Number(a.isDone) - Number(b.isDone));
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
  const all = tasks.map((task, index) => {
    const prompt = written.get(index);
    return prompt === undefined ? task : { ...task, prompt };
  });
  return { tasks: all, prompts };
}
