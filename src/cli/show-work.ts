import { clipText, counted, oneLine } from '../shared/text.js';
import type { RunPlanEvent, RunSummary, TaskSummary } from '../work/run-types.js';
import type { AskedQuestion } from '../work/task-step.js';

const MAX_TEXT = 100;
const MAX_WHY = 400;

/** Returns an event as a line for output that is not redrawn; undefined if it says nothing new. */
export function eventLine(event: RunPlanEvent): string | undefined {
  switch (event.type) {
    case 'run-started':
      return `-- session ${event.session}: ${counted(event.tasks, 'task')}, ${event.done} done`;
    case 'task-started':
      return `${oneLine(event.task)} begins: ${shortText(event.text)}`;
    case 'call-started':
      return `${place(event)} ${event.role} is asked${event.attempt === 2 ? ', once more, with the contract' : ''}${event.replans ? ', to plan it again' : ''}`;
    case 'call-ended':
      return event.fault === undefined
        ? undefined
        : `${place(event)} no result of the ${event.role}: ${why(event.fault)}`;
    case 'checked':
      return `${place(event)} ${oneLine(event.command)} ${event.passed ? 'passed' : 'failed'}, ${timeOf(event.ms)}`;
    case 'result': {
      const findings = event.findings > 0 ? `, ${counted(event.findings, 'finding')}` : '';
      const repaired = event.repaired === undefined ? '' : `; ${why(event.repaired)}`;
      return `${place(event)} ${event.role}: ${event.verdict}${findings}, result ${event.dispatch}${repaired}`;
    }
    case 'question':
      return questionLine(event);
    case 'ticked':
      return `${oneLine(event.task)} is ticked`;
    case 'task-ended':
      return event.outcome === 'approved'
        ? `${oneLine(event.task)} approved`
        : `${oneLine(event.task)} ${TASK_WORDS[event.outcome] ?? event.outcome}: ${why(event.why ?? '')}`;
    case 'note':
      return `-- ${why(event.message)}`;
    case 'run-ended':
      return undefined;
  }
}

function questionLine({ task, question, options = [], default: usual, answerWith }: AskedQuestion): string {
  const choice = options.length === 0 ? '' : ` (${why(options.join(' | '))})`;
  const until = usual === undefined ? '' : `; it goes on with ${JSON.stringify(why(usual))}`;
  return `${oneLine(task)} asks: ${why(question)}${choice}${until}; answer with: ${answerWith}`;
}

/** Words for the outcomes that do not speak for themselves. */
const TASK_WORDS: Partial<Record<TaskSummary['outcome'], string>> = { needed: 'needs you' };
const RUN_WORDS: Partial<Record<RunSummary['outcome'], string>> = {
  needed: 'a person is needed',
  limit: 'a limit is reached',
};

export function summaryLines(summary: RunSummary): string[] {
  const { session, outcome, total, done, tasks, questions, rounds, findings } = summary;
  const head = `${RUN_WORDS[outcome] ?? outcome}: ${done} of ${counted(total, 'task')} of session ${session}`;
  const all = [counted(rounds, 'round'), counted(findings, 'finding'), ...used(summary), timeOf(summary.ms)];
  return [
    summary.why === undefined ? head : `${head}; ${why(summary.why)}`,
    ...tasks.map((task) => {
      const numbers = [counted(task.rounds, 'round'), counted(task.findings, 'finding'), ...used(task)];
      const reason = task.why === undefined ? '' : `: ${why(task.why)}`;
      return `  ${oneLine(task.task)}  ${TASK_WORDS[task.outcome] ?? task.outcome}  ${numbers.join(', ')}, ${timeOf(task.ms)}  ${shortText(task.text)}${reason}`;
    }),
    ...questions.map((each) => `  ${questionLine(each)}`),
    all.join(', '),
  ];
}

export function nextCommands({ session, outcome, tasks }: RunSummary): string[] {
  const given = tasks.filter((task) => task.outcome === 'needed' || task.outcome === 'limit');
  return [
    ...given.map(
      ({ task }) => `-- "throughline status ${session} --task ${oneLine(task)}" shows what was tried`,
    ),
    ...(given.length > 0 ? ['-- the same command with --again gives each of them one more step'] : []),
    ...(outcome === 'stopped' ? ['-- the same command goes on from there'] : []),
  ];
}

function used({ tokens, cost }: { readonly tokens: number; readonly cost: number }): string[] {
  return [
    ...(tokens > 0 ? [`${tokens.toLocaleString('en')} tokens`] : []),
    ...(cost > 0 ? [`$${cost.toFixed(2)}`] : []),
  ];
}

function place({ task, round }: { readonly task: string; readonly round: number }): string {
  return `${oneLine(task)} round ${round}:`;
}

function shortText(text: string): string {
  return clipText(oneLine(text), MAX_TEXT);
}

function why(text: string): string {
  return clipText(oneLine(text), MAX_WHY);
}

/** `12 s`, `64 min`. */
function timeOf(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
