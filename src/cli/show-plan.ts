import type { PlanProblem, PlanTaskView, RunStatusReply } from '../contracts/plan-requests.js';
import { clipText, counted, quoted } from '../shared/text.js';
import { cameText } from '../shared/wire-words.js';

type PlanNumbers = NonNullable<RunStatusReply['run']>;

export const NO_PLAN = 'no plan: "throughline plan follow" reads one';

export function problemLine({ line, message, code, placed }: PlanProblem): string {
  return `line ${line}${placed ? '' : ', not placed'}: ${quoted(message)} (${code})`;
}

/** Counts lines not placed or placed by a guess, and tasks without an id; empty if there are none. */
export function problemsCounted({ problems, guesses, unnamed }: PlanNumbers): string {
  const counts = [
    ...(problems > 0 ? [`${counted(problems, 'line')} not placed`] : []),
    ...(guesses > 0 ? [`${counted(guesses, 'line')} placed by a guess`] : []),
    ...(unnamed > 0 ? [`${counted(unnamed, 'task')} without an id`] : []),
  ];
  return counts.join(', ');
}

export function planNumberLines(plan: PlanNumbers): string[] {
  const { spec, goal, totals, active_task_id: active, next_task_id: next, why_none: none, drift = [] } = plan;
  const { total, completed, inProgress, pending } = totals;
  const why = none === undefined ? '' : ` (${none})`;
  return [
    `${quoted(spec)}${goal === undefined ? '' : `: ${clipText(quoted(goal), 200)}`}`,
    `plan: ${completed} of ${counted(total, 'task')} completed, ${inProgress} in progress, ${pending} pending`,
    `active task: ${active === null ? `none${why}` : quoted(active)}`,
    ...(next === active ? [] : [`next task: ${next === null ? `none${why}` : quoted(next)}`]),
    ...drift.map(({ message }) => `drift: ${quoted(message)}`),
  ];
}

/** Says that the plan is as it was read last; empty where it can be read. */
export function degradedLines(why: string | undefined): string[] {
  return why === undefined ? [] : [`the tasks.md cannot be read now: ${quoted(why)}`];
}

export function planLines({ run, lists, degraded }: RunStatusReply): string[] {
  if (run === null) return [NO_PLAN];
  const tasks = lists?.plan ?? [];
  const width = Math.max(0, ...tasks.map(({ id, depth }) => id.length + 2 * depth));
  const { problem_lines: problems = [], more_problems: more = 0, shortened } = run;
  const problemText = problemsCounted(run);
  return [
    ...planNumberLines(run),
    ...degradedLines(degraded),
    ...tasks.flatMap((task) => taskTreeLines(task, run.next_task_id, width)),
    ...(problemText === '' ? [] : [`tasks.md: ${problemText}`]),
    ...problems.map(problemLine),
    ...(more > 0 ? [`and ${counted(more, 'more such report')}`] : []),
    ...shortenedLines(shortened),
  ];
}

export function planTaskLines({ plan, preamble }: Pick<ShownTask, 'plan' | 'preamble'>): string[] {
  return [
    ...(plan === undefined ? [] : taskTreeLines(plan, null, 0)),
    ...(preamble === undefined ? [] : ['The plan says of all its tasks:', ...indented(preamble)]),
  ];
}

type ShownTask = NonNullable<RunStatusReply['task']>;

function taskTreeLines(task: PlanTaskView, next: string | null, width: number): string[] {
  const { id, depth, waits_for = [], unknown_dependencies = [], requirements = [], prompt } = task;
  const { requirement_texts: texts = {}, reason } = task;
  const remarks = [
    ...(id === next ? ['next'] : []),
    ...(task.written === undefined ? [] : [`${quoted(task.written)} in the file`]),
    ...(task.blocked ? [reason === undefined ? 'blocked' : `blocked: ${quoted(reason)}`] : []),
    ...(task.optional ? ['optional'] : []),
    ...(task.cancelled ? ['cancelled'] : []),
    ...(waits_for.length > 0 ? [`waits for ${waits_for.map(quoted).join(', ')}`] : []),
    ...(unknown_dependencies.length > 0
      ? [`depends on ${unknown_dependencies.map(quoted).join(', ')}, which the plan does not have`]
      : []),
  ];
  const name = `${'  '.repeat(depth)}${quoted(id)}`.padEnd(width);
  const why = remarks.length === 0 ? '' : ` (${remarks.join('; ')})`;
  const outcome = task.last_outcome === undefined ? '' : `  ${cameText(task.last_outcome, task.next_action)}`;
  return [
    `${markOf(task)} ${name}  ${quoted(task.text)}${why}${outcome}`,
    ...(prompt === undefined ? [] : indented(prompt)),
    ...(requirements.length > 0 ? ['    Requirements:'] : []),
    ...requirements.map(
      (key) => `    - ${quoted(Object.hasOwn(texts, key) ? `${key}: ${texts[key]}` : key)}`,
    ),
  ];
}

function indented(text: string): string[] {
  return text.split('\n').map((line) => `    ${/^ */.exec(line)?.[0] ?? ''}${quoted(line)}`);
}

function markOf({ status, blocked, cancelled }: PlanTaskView): string {
  if (cancelled) return '[~]';
  if (blocked) return '[!]';
  if (status === 'completed') return '[x]';
  return status === 'in-progress' ? '[-]' : '[ ]';
}

function shortenedLines(shortened: PlanNumbers['shortened'] & object = {}): string[] {
  const { texts = 0, prompts = 0, preamble = 0, requirementTexts = 0 } = shortened;
  const cut = [
    ...(texts > 0 ? [counted(texts, 'text')] : []),
    ...(prompts > 0 ? [counted(prompts, 'prompt')] : []),
    ...(preamble > 0 ? [`the preamble by ${counted(preamble, 'character')}`] : []),
    ...(requirementTexts > 0 ? [`the text of ${counted(requirementTexts, 'requirement')}`] : []),
  ];
  return cut.length === 0 ? [] : [`shortened for size: ${cut.join(', ')}`];
}
