import { Option } from 'commander';
import type { AgentSession } from '../agents/agent-session.js';
import type { WorkTree } from '../agents/hooks/turn-files.js';
import { fileVersion } from '../config/ask-git.js';
import { stateDirOf, USUAL_VARIABLES } from '../config/config.js';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { kindOf } from '../contracts/kinds.js';
import { type Token, token } from '../contracts/names.js';
import { defined } from '../shared/collections.js';
import { clipText, counted, quoted, shellWord, withoutCredentials } from '../shared/text.js';
import type { RunOutcome, RunPlanEvent, RunSummary, TaskSummary } from '../work/run-types.js';
import type { OpenQuestion } from '../work/task-step.js';
import type { Command, Flags, Numbers, Texts } from './cli-command.js';
import { type Cli, cliOf, note, out, sessionHere, withClient } from './command-context.js';
import { dollars, duration, wholeNumber } from './option-parsers.js';
import { Interrupted } from './output.js';
import { usualPlan } from './plan-command.js';
import { onFirstSignal } from './signals.js';

interface WorkOptions
  extends Flags<'tick' | 'again' | 'json'>,
    Texts<'plan' | 'session' | 'check'>,
    Numbers<'maxTokens' | 'maxCost'> {
  readonly implementer: string;
  readonly reviewer?: string;
  readonly maxRounds: number;
  readonly timeout: number;
  readonly env?: string[];
}

export function workCommand(program: Command): void {
  program
    .command('work')
    .description(
      'Runs a plan with agents. Each task is implemented, checked and reviewed, and sent back with the findings, until the plan\n' +
        'is done, a person is needed, or a limit is reached. After an interruption, start it again: it continues at the next\n' +
        'step.\n\n' +
        'An agent is a shell command. It reads its prompt on standard input, or from the file at {prompt_file} in the command,\n' +
        'and ends its answer with a result block. Exit codes: 0 done, 1 failed, 3 a person is needed, 4 a limit.',
    )
    .option('--plan <file>', 'the plan (default: with --session its own, else the one at a usual place)')
    .option('-s, --session <name>', 'session (default: the one that agents in this folder use)')
    .requiredOption(
      '--implementer <command>',
      'does the work: an agent, such as "codex exec --sandbox workspace-write -"',
    )
    .option('--reviewer <command>', 'says whether the work is approved: an agent, such as "claude -p"')
    .option('--check <command>', 'judges the work before the review, such as "npm test"')
    .option('--tick', "tick a task's line in the plan once it is approved")
    .option('--max-rounds <n>', 'give a task up after so many rounds', wholeNumber(1, 1000), 3)
    .addOption(
      new Option('--timeout <time>', 'longest time of one call, such as 90s, 30m or 2h')
        .argParser(duration)
        .default(1_800_000, '30m'),
    )
    .option('--max-tokens <n>', 'start no call after so many tokens, as reported by agents', wholeNumber(1))
    .option('--max-cost <dollars>', 'the same for their cost', dollars)
    .option('--again', 'give each task that was given up one more step')
    .option('--env <name...>', 'variables that agents and checks may see; names alone')
    .option('--json', 'print what happens as JSON, an object a line; the last has the summary')
    .examples(
      `throughline work --plan specs/parser/tasks.md --implementer 'claude -p --permission-mode acceptEdits' --reviewer 'codex exec -' --tick`,
      `throughline work --implementer 'codex exec --sandbox workspace-write -' --check 'npm test' --env OPENAI_API_KEY`,
      `throughline work --session parser --implementer 'gemini --yolo --skip-trust' --reviewer 'claude -p' --env GEMINI_API_KEY`,
    )
    .action(async (options: WorkOptions, command: Command) => {
      const cli = cliOf(command);
      if (options.reviewer === undefined && options.check === undefined)
        throw usageError('nothing would approve the work: give --reviewer, --check, or both');
      const summary = await work(cli, options);
      process.exitCode = EXIT_CODES[summary.outcome];
    });
}

const EXIT_CODES: Readonly<Record<RunOutcome, number>> = { done: 0, needed: 3, limit: 4, stopped: 130 };

async function work(cli: Cli, options: WorkOptions): Promise<RunSummary> {
  const { session, plan, isGuessed = false, project } = placeOf(cli, options);
  const { env = [], json = false } = options;
  const [{ runPlan }, { openRunFolder }, { commandAgent, commandCheck }, git] = await Promise.all([
    import('../work/run-plan.js'),
    import('../work/run-folder.js'),
    import('../work/command-agent.js'),
    import('../agents/hooks/turn-files.js'),
  ]);
  const variables = workEnvironment(cli, env);
  const folder = openRunFolder(stateDirOf(cli.config.env), process.cwd(), session);
  const place = { env: variables, folder };
  const interrupt = interruption();
  const tell = (event: RunPlanEvent) => {
    const line = json ? JSON.stringify(event) : eventLine(event);
    if (line !== undefined) (json ? out : note)(line);
    const message = unwritten(event);
    if (message !== undefined) tell({ type: 'note', message });
  };
  const unwritten = unwrittenFiles(process.cwd(), git);
  note(`-- prompts and logs: ${folder.path}`);
  try {
    const given = {
      session,
      isGuessed,
      directory: process.cwd(),
      run: folder,
      versionOf: fileVersion,
      ...defined({ plan, project, maxTokens: options.maxTokens, maxCost: options.maxCost }),
      implementer: commandAgent(options.implementer, place),
      ...(options.reviewer !== undefined && { reviewer: commandAgent(options.reviewer, place) }),
      ...(options.check !== undefined && { check: commandCheck(options.check, place) }),
      tick: options.tick === true,
      again: options.again === true,
      maxRounds: options.maxRounds,
      timeoutMs: options.timeout,
      signal: interrupt.signal,
      onEvent: tell,
    };
    const summary = await withClient(cli, (client) => runPlan({ ...given, client }));
    if (!json) out(summaryLines(summary).join('\n'));
    if (!json) for (const line of nextCommands(summary)) note(line);
    const code = interrupt.code();
    if (code !== undefined && summary.outcome === 'stopped') throw new Interrupted(code);
    return summary;
  } finally {
    interrupt.release();
    folder.release();
  }
}

const GIT_MS = 5000;

/** Says once that git shows nothing of what a result names: each round of an agent that cannot write is paid for in vain. */
function unwrittenFiles(folder: string, git: typeof import('../agents/hooks/turn-files.js')) {
  let isReported = false;
  let before: WorkTree | undefined;
  return (event: RunPlanEvent): string | undefined => {
    if (event.type === 'call-started' && kindOf(event.role).part === 'work' && !isReported)
      before = git.workTreeAt(folder, GIT_MS);
    if (event.type !== 'result' || event.files === undefined || before === undefined || isReported)
      return undefined;
    const since = git.changesSince(folder, before, [], GIT_MS);
    if (since === undefined || Object.values(since).some((files) => files.length > 0)) return undefined;
    isReported = true;
    return `${event.task}: the result names ${event.files[0]}, but git shows no change: the agent's sandbox may not allow writing; allow it in the command, as "codex exec --sandbox workspace-write -" does`;
  };
}

/** Returns the session and plan of the run: those of `--session`, else those that agents in this folder use. */
function placeOf(cli: Cli, options: WorkOptions): Partial<AgentSession> & { session: Token } {
  const { plan, session: given } = options;
  if (given !== undefined) return { session: token(given, '--session'), ...(plan !== undefined && { plan }) };
  const found = sessionHere(cli.config);
  const words = `throughline work --implementer ${shellWord(options.implementer)} --plan`;
  return { ...found, plan: plan ?? found.plan ?? usualPlan(words) };
}

/** The first signal ends the run, and its agents with it; the second ends the process at once. */
function interruption() {
  const controller = new AbortController();
  let code: number | undefined;
  const release = onFirstSignal((by) => {
    code = by;
    note('-- stops: agents are told to end; again ends them at once');
    controller.abort(new ThroughlineError('unavailable', 'stopped', { details: { closed: true } }));
  });
  return { signal: controller.signal, code: () => code, release };
}

/**
 * Returns the environment for agents and checks: the usual variables, the named ones, and the address of a named server without
 * a password: without the address they would use the user's own server.
 *
 * @throws ThroughlineError `usage` for a name that is not set
 */
function workEnvironment({ config, server }: Cli, names: readonly string[]): Record<string, string> {
  const { env } = config;
  // A run within a call of another one: that one ends its processes as well.
  const usual = [...USUAL_VARIABLES, 'THROUGHLINE_CALL'].map((name) => [name, env[name]]);
  const given: Record<string, string> = defined(Object.fromEntries(usual));
  // They find the user's own server, with its token, and that of a team by themselves.
  if (server.kind === 'named') given.NATS_URL = withoutCredentials(server.url);
  for (const name of names) {
    const value = env[name];
    if (value === undefined)
      throw usageError(`--env ${name}: no variable has this name; set it, and give its name alone`);
    given[name] = value;
  }
  return given;
}

const MAX_TEXT = 100;
const MAX_WHY = 400;

/** Returns an event as a line for output that is not redrawn; undefined if it says nothing new. */
export function eventLine(event: RunPlanEvent): string | undefined {
  switch (event.type) {
    case 'run-started':
      return `-- session ${event.session}: ${counted(event.tasks, 'task')}, ${event.done} done`;
    case 'task-started':
      return `${quoted(event.task)} begins: ${shortText(event.text)}`;
    case 'call-started':
      return `${place(event)} ${event.role} is asked${event.attempt === 2 ? ', once more, with the contract' : ''}${event.replans ? ', to plan it again' : ''}`;
    case 'call-ended':
      return event.fault === undefined
        ? undefined
        : `${place(event)} no result of the ${event.role}: ${why(event.fault)}`;
    case 'checked':
      return `${place(event)} ${quoted(event.command)} ${event.passed ? 'passed' : 'failed'}, ${timeOf(event.ms)}`;
    case 'result': {
      const findings = event.findings > 0 ? `, ${counted(event.findings, 'finding')}` : '';
      const repaired = event.repaired === undefined ? '' : `; ${why(event.repaired)}`;
      return `${place(event)} ${event.role}: ${event.verdict}${findings}, result ${event.dispatch}${repaired}`;
    }
    case 'question':
      return questionLine(event);
    case 'ticked':
      return `${quoted(event.task)} is ticked`;
    case 'task-ended':
      return event.outcome === 'approved'
        ? `${quoted(event.task)} approved`
        : `${quoted(event.task)} ${TASK_WORDS[event.outcome] ?? event.outcome}: ${why(event.why ?? '')}`;
    case 'note':
      return `-- ${why(event.message)}`;
    case 'run-ended':
      return undefined;
  }
}

function questionLine({ task, question, options = [], default: usual, answerWith }: OpenQuestion): string {
  const choice = options.length === 0 ? '' : ` (${why(options.join(' | '))})`;
  const until = usual === undefined ? '' : `; it goes on with ${JSON.stringify(why(usual))}`;
  return `${quoted(task)} asks: ${why(question)}${choice}${until}; answer with: ${answerWith}`;
}

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
      return `  ${quoted(task.task)}  ${TASK_WORDS[task.outcome] ?? task.outcome}  ${numbers.join(', ')}, ${timeOf(task.ms)}  ${shortText(task.text)}${reason}`;
    }),
    ...questions.map((question) => `  ${questionLine(question)}`),
    all.join(', '),
  ];
}

export function nextCommands({ session, outcome, tasks }: RunSummary): string[] {
  const given = tasks.filter((task) => task.outcome === 'needed' || task.outcome === 'limit');
  return [
    ...given.map(
      ({ task }) => `-- "throughline status ${session} --task ${quoted(task)}" shows what was tried`,
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
  return `${quoted(task)} round ${round}:`;
}

function shortText(text: string): string {
  return clipText(quoted(text), MAX_TEXT);
}

function why(text: string): string {
  return clipText(quoted(text), MAX_WHY);
}

function timeOf(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
