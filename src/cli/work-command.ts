import { constants, homedir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { Option } from 'commander';
import type { AgentSession } from '../agents/agent-session.js';
import { USUAL_VARIABLES } from '../config/config.js';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { projectOf, type Token, token } from '../contracts/names.js';
import { isWithin } from '../engine/files/text-file.js';
import { shellWord } from '../shared/text.js';
import type { RunOutcome } from '../work/plan-run.js';
import type { RunPlanOptions } from '../work/run-options.js';
import type { RunPlanEvent, RunSummary } from '../work/run-types.js';
import type { Command, Flags, Numbers, Texts } from './cli-command.js';
import { type Cli, cliOf, note, out, sessionHere, withClient } from './command-context.js';
import { dollars, duration, wholeNumber } from './option-parsers.js';
import { Interrupted } from './output.js';
import { usualPlan } from './plan-command.js';
import { projectOption } from './session-argument.js';
import { eventLine, nextCommands, summaryLines } from './show-work.js';

/** In milliseconds. */
const NOTIFY_TIMEOUT = 10_000;
/** Begins the name of an agent that speaks the Agent Client Protocol. */
const ACP = 'acp:';

type QuestionEvent = Extract<RunPlanEvent, { type: 'question' }>;

interface WorkOptions
  extends Flags<'tick' | 'again' | 'json'>,
    Texts<'plan' | 'session' | 'project' | 'check' | 'notify' | 'hooks' | 'logs'>,
    Numbers<'maxFacts' | 'maxTokens' | 'maxCost'> {
  readonly implementer: string;
  readonly reviewer?: string;
  readonly maxRounds: number;
  readonly timeout: number;
  readonly onStall: 'ask' | 'skip';
  readonly onPermission: 'ask' | 'allow' | 'reject';
  readonly parallel: number;
  readonly worktrees?: true | string;
  readonly env?: string[];
  readonly patience: number;
}

export function workCommand(program: Command): void {
  program
    .command('work')
    .description(
      'Runs a plan with agents. Each task is implemented, checked and reviewed, and sent back with the findings, until the plan\n' +
        'is done, a person is needed, or a limit is reached. After an interruption, start it again: it continues at the next\n' +
        'step.\n\n' +
        'An agent is a shell command. It reads its prompt on standard input, or from the file at {prompt_file} in the command,\n' +
        'and ends its answer with a result block. After "acp:" the command speaks the Agent Client Protocol instead, as\n' +
        '"acp:gemini --acp" does. Exit codes: 0 done, 1 failed, 3 a person is needed, 4 a limit.',
    )
    .option('--plan <file>', 'the plan (default: with --session its own, else the one at a usual place)')
    .option('-s, --session <name>', 'session (default: the one that agents in this folder use)')
    .option('--project <name>', "project whose learnings to use (default: the session's own)")
    .requiredOption('--implementer <command>', 'does the work: an agent, such as "codex exec -"')
    .option('--reviewer <command>', 'says whether the work is approved: an agent, such as "claude -p"')
    .option(
      '--check <command>',
      'runs before the review, such as "npm test"; it fails: a finding, and no review',
    )
    .option(
      '--max-facts <n>',
      'maximum number of facts in a prompt (default: all relevant ones that fit)',
      wholeNumber(1, 1000),
    )
    .option('--tick', "tick a task's line in the plan once it is approved")
    .option(
      '--max-rounds <n>',
      'work on a task at most so often without an approval',
      wholeNumber(1, 1000),
      3,
    )
    .addOption(
      new Option('--timeout <time>', 'longest time of one call, such as 90s, 30m or 2h')
        .argParser(duration)
        .default(1_800_000, '30m'),
    )
    .option('--max-tokens <n>', 'start no call after so many tokens, as reported by agents', wholeNumber(1))
    .option('--max-cost <dollars>', 'the same for their cost', dollars)
    .choice(
      '--on-stall <what>',
      'a task that needs a person: end the run, or go on with others',
      ['ask', 'skip'],
      'ask',
    )
    .choice(
      '--on-permission <what>',
      'an acp: agent wants to use a tool: ask you, or decide for all',
      ['ask', 'allow', 'reject'],
      'ask',
    )
    .option(
      '--notify <command>',
      'run it for each question to a person, which it reads as JSON on standard input (limit 10s)',
    )
    .option('--hooks <file>', 'JSON file with commands to run before and after the run, a task, an iteration')
    .option('--again', 'give each task that was given up one more step')
    .option(
      '--parallel <n>',
      'tasks at once, of those that do not depend on each other',
      wholeNumber(1, 64),
      1,
    )
    .option(
      '--worktrees [folder]',
      'give each task a git worktree, and merge it once approved (default: below --logs)',
    )
    .option('--env <name...>', 'variables that agents and checks may see; names alone')
    .addOption(
      new Option('--patience <time>', 'how long to wait for services that do not answer')
        .argParser(duration)
        .default(120_000, '2m'),
    )
    .option('--logs <folder>', 'where logs and prompts of calls go (default: the state directory)')
    .option('--json', 'print what happens as JSON, an object a line; the last has the summary')
    .examples(
      `throughline work --plan specs/parser/tasks.md --implementer 'codex exec -' --reviewer 'claude -p' --tick`,
      `throughline work --implementer 'codex exec --full-auto -' --check 'npm test' --env OPENAI_API_KEY`,
      `throughline work --implementer 'my-agent {prompt_file}' --reviewer 'claude -p' --parallel 3 --worktrees`,
    )
    .action(async (options: WorkOptions, command: Command) => {
      const cli = cliOf(command);
      checkTogether(options);
      const summary = await work(cli, options);
      process.exitCode = EXIT_CODES[summary.outcome];
    });
}

const EXIT_CODES: Readonly<Record<RunOutcome, number>> = { done: 0, needed: 3, limit: 4, stopped: 130 };
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function checkTogether({ reviewer, check, parallel, worktrees }: WorkOptions): void {
  if (reviewer === undefined && check === undefined)
    throw usageError('nothing would approve the work: give --reviewer, --check, or both');
  if (parallel > 1 && worktrees === undefined)
    throw usageError(`--parallel ${parallel} needs --worktrees: without them tasks change the same files`);
}

async function work(cli: Cli, options: WorkOptions): Promise<RunSummary> {
  const { session, plan, isGuessed = false, ...found } = await placeOf(cli, options);
  const project = options.project ?? found.project;
  const { env = [], json = false } = options;
  const place = { env: workEnvironment(cli.config.env, env, cli.url) };
  const [{ runPlan }, { openRunFolder, runStateDir }, { commandAgent, commandCheck, runNotifier }] =
    await Promise.all([
      import('../work/run-plan.js'),
      import('../work/run-folder.js'),
      import('../work/command-agent.js'),
    ]);
  const state = runStateDir(cli.config.env, homedir(), process.cwd(), session);
  const folder = openRunFolder(
    state,
    options.logs === undefined ? state : namedFolder(options.logs, '--logs'),
  );
  const commands = { ...place, folder };
  const agentOf = async (command: string) =>
    command.startsWith(ACP)
      ? (await import('../work/acp-agent.js')).acpAgent(
          command.slice(ACP.length).trim(),
          commands,
          options.onPermission,
        )
      : commandAgent(command, commands);
  const interrupt = interruption();
  const tell = (event: RunPlanEvent) => {
    const line = json ? JSON.stringify(event) : eventLine(event);
    if (line !== undefined) (json ? out : note)(line);
  };
  const notified: Promise<void>[] = [];
  const notify = ({ type: _, ...asked }: QuestionEvent) => {
    if (options.notify !== undefined)
      notified.push(
        runNotifier(options.notify, asked, place.env, NOTIFY_TIMEOUT).then((fault) => {
          if (fault !== undefined) tell({ type: 'note', message: `warning: --notify ${fault}` });
        }),
      );
  };
  note(`-- prompts and logs: ${folder.path}`);
  try {
    const hooks =
      options.hooks === undefined
        ? undefined
        : (await import('../work/run-hooks.js')).commandHooks(options.hooks, commands);
    const workspaces = await worktreesOf(options, folder.path, session);
    const given: Omit<RunPlanOptions, 'client'> = {
      ...{ directory: process.cwd(), kept: folder, run: folder },
      ...{ session, isGuessed },
      ...(plan !== undefined && { plan }),
      ...(project !== undefined && { project }),
      implementer: await agentOf(options.implementer),
      ...(options.reviewer !== undefined && { reviewer: await agentOf(options.reviewer) }),
      ...(options.check !== undefined && { check: commandCheck(options.check, commands) }),
      ...(options.maxFacts !== undefined && { maxFacts: options.maxFacts }),
      ...(hooks !== undefined && { hooks }),
      ...{ tick: options.tick === true, again: options.again === true },
      ...{ maxRounds: options.maxRounds, timeoutMs: options.timeout, onStall: options.onStall },
      ...(options.maxTokens !== undefined && { maxTokens: options.maxTokens }),
      ...(options.maxCost !== undefined && { maxCost: options.maxCost }),
      ...{ parallel: options.parallel, patienceMs: options.patience },
      ...(workspaces !== undefined && { workspaces }),
      signal: interrupt.signal,
      onEvent: (event) => {
        tell(event);
        if (event.type === 'question') notify(event);
      },
    };
    const summary = await withClient(cli, (client) => runPlan({ ...given, client }));
    await Promise.all(notified);
    if (!json) out(summaryLines(summary).join('\n'));
    if (!json) for (const line of nextCommands(summary, projectHint(cli, options))) note(line);
    if (interrupt.code() !== undefined && summary.outcome === 'stopped')
      throw new Interrupted(interrupt.code() ?? 130);
    return summary;
  } finally {
    interrupt.release();
    folder.release();
  }
}

/** Returns the session and plan of the run: those of `--session`, else those that agents in this folder use. */
async function placeOf(cli: Cli, options: WorkOptions): Promise<Partial<AgentSession> & { session: Token }> {
  const { plan, session: given } = options;
  if (given !== undefined) return { session: token(given, '--session'), ...(plan !== undefined && { plan }) };
  const found = sessionHere(cli);
  const words = `throughline work --implementer ${shellWord(options.implementer)} --plan`;
  return { ...found, plan: plan ?? found.plan ?? (await usualPlan(words)) };
}

async function worktreesOf({ worktrees }: WorkOptions, logs: string, session: string) {
  if (worktrees === undefined) return undefined;
  const { gitWorktrees } = await import('../work/git-worktrees.js');
  const folder = worktrees === true ? join(logs, 'worktrees') : namedFolder(worktrees, '--worktrees');
  return gitWorktrees(process.cwd(), folder, session);
}

/** @throws ThroughlineError `usage` for a folder of the project that a link, which may have come with it, leads out of it */
function namedFolder(name: string, option: string): string {
  const [path, project] = [resolve(name), process.cwd()];
  if (!path.startsWith(`${project}${sep}`) || isWithin(path, project)) return path;
  throw usageError(
    `${option} ${name} leads out of the project by a symbolic link: name the folder that you mean`,
  );
}

function projectHint(cli: Cli, { project = cli.config.project }: WorkOptions): string {
  return projectOption(cli, projectOf(project));
}

/** The first signal ends the run, and its agents with it; the second ends the process at once. */
function interruption() {
  const controller = new AbortController();
  let code: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const by = 128 + constants.signals[signal];
    // A terminal that closes may send SIGHUP twice, by its shell and by the system.
    if (code !== undefined && signal === 'SIGHUP') return;
    if (code !== undefined) process.exit(by);
    code = by;
    note('-- stops: agents are told to end; again ends them at once');
    controller.abort(new ThroughlineError('unavailable', 'stopped', { details: { closed: true } }));
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    code: () => code,
    release: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

/**
 * Returns the environment for agents and checks: the usual variables, the named ones, and the NATS address unless it
 * contains a password.
 *
 * @throws ThroughlineError `usage` for a name that is not set
 */
function workEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
  url: string,
): Record<string, string> {
  const given: Record<string, string> = {};
  // A run within a call of another one: that one ends its processes as well.
  for (const name of [...USUAL_VARIABLES, 'THROUGHLINE_CALL']) {
    const value = env[name];
    if (value !== undefined) given[name] = value;
  }
  if (!url.includes('@')) given.NATS_URL = url;
  for (const name of names) {
    if (name.includes('='))
      throw usageError(
        `--env takes names alone, so that no value stands in a command line: set ${name.slice(0, name.indexOf('='))} in the environment, and give its name`,
      );
    const value = env[name];
    if (value === undefined)
      throw usageError(`--env ${name}: the variable is not set; set it, or leave it out`);
    given[name] = value;
  }
  return given;
}
