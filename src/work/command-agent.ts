import { ThroughlineError } from '../contracts/errors.js';
import { redactedEnd } from '../redaction/redacted.js';
import { agentOutput } from './agent-output.js';
import { type GroupEnd, runGroup } from './process-group.js';
import type { RunFolder } from './run-folder.js';
import type { Agent, AgentCall, Check, CheckCall } from './run-types.js';

/** How commands are run. */
export interface CommandPlace {
  readonly folder: RunFolder;
  /** All that a command sees of the environment, but for what names its session and result. */
  readonly env: Readonly<Record<string, string>>;
}

/** In the words of a command: the path of a file with the prompt, in place of standard input. */
export const PROMPT_FILE = '{prompt_file}';
/** What shells end with when there is no such command, or it may not be run. */
const NOT_STARTED: ReadonlySet<number | null> = new Set([126, 127]);
const MAX_FAULT = 300;

/**
 * An agent that is a shell command: it reads its prompt on standard input, or in the file that `{prompt_file}` stands for, and
 * writes its answer to standard output. Each call runs in a process group of its own.
 *
 * @throws ThroughlineError `not_found`, from a call whose command cannot be started
 */
export function commandAgent(command: string, place: CommandPlace): Agent {
  return async (call) => {
    const path = place.folder.prompt(call.name, call.prompt);
    const usesFile = command.includes(PROMPT_FILE);
    const line = command.replaceAll(PROMPT_FILE, () => shellQuoted(path));
    const end = await logged(line, call, usesFile ? '' : call.prompt, place, {
      THROUGHLINE_RESULT_ID: call.resultId,
    });
    const answer = agentOutput(end.stdout, end.stderr);
    if (wasNotStarted(end)) throw await notStarted(call.role, command, end);
    const fault = await faultOf(end);
    return { ...answer, ...(fault !== undefined && !call.signal.aborted && { fault }) };
  };
}

/**
 * A check that is a shell command: it passes with exit code 0.
 *
 * @throws ThroughlineError `not_found`, from a call whose command cannot be started
 */
export function commandCheck(command: string, place: CommandPlace): Check {
  return async (call) => {
    const end = await logged(command, call, '', place);
    if (wasNotStarted(end)) throw await notStarted('check', command, end);
    return { passed: end.code === 0, command, output: `${end.stdout}${end.stderr}` };
  };
}

async function logged(
  command: string,
  { name, session, directory, signal }: AgentCall | CheckCall,
  input: string,
  { folder, env }: CommandPlace,
  more: Readonly<Record<string, string>> = {},
): Promise<GroupEnd> {
  const log = folder.log(name);
  let ended = () => {};
  try {
    log.write(`$ ${command}\n`);
    const end = await runGroup({
      ...{ command, directory, input, signal },
      env: { ...env, THROUGHLINE_SESSION: session, ...more },
      onOutput: (chunk) => log.write(chunk),
      onStart: (pid, mark) => {
        ended = folder.running(name, pid, mark);
      },
    });
    log.write(`\n-- ${(await faultOf(end)) ?? 'ended with code 0'}\n`);
    return end;
  } finally {
    ended();
    log.end();
  }
}

async function faultOf({ code, signal, stderr, fault }: GroupEnd): Promise<string | undefined> {
  if (code === 0) return undefined;
  const how = fault ?? (signal === null ? `ended with code ${code}` : `ended by ${signal}`);
  const said = await lastWords(stderr);
  return said === '' ? how : `${how}: ${said}`;
}

function wasNotStarted({ code, stdout, fault }: GroupEnd): boolean {
  return fault !== undefined || (NOT_STARTED.has(code) && stdout.trim() === '');
}

async function notStarted(what: string, command: string, end: GroupEnd): Promise<ThroughlineError> {
  return new ThroughlineError(
    'not_found',
    `--${what} ${JSON.stringify(command)} cannot be started: ${end.fault ?? (await lastWords(end.stderr))}`,
  );
}

/** Returns the last line without secrets, which would not be found once they are cut. */
async function lastWords(text: string): Promise<string> {
  const words = text.trim();
  const last = words.slice(words.lastIndexOf('\n') + 1);
  const safe = await redactedEnd(last, MAX_FAULT);
  return last.length <= MAX_FAULT ? safe : `… ${safe}`;
}

function shellQuoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}
