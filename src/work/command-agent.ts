import { createHash } from 'node:crypto';
import { parseDispatchBody } from '../contracts/dispatch-body.js';
import { ThroughlineError, withRemedy } from '../contracts/errors.js';
import { BEGIN } from '../contracts/reading/last-result.js';
import { repairsInWords } from '../contracts/reading/repairs.js';
import { redactedEnd } from '../memory/redaction/redactor.js';
import { resultAmongLines, withLines } from '../memory/traces/labelled-lines.js';
import { idsIn, withShownOnly } from '../memory/traces/shown-statements.js';
import { defined } from '../shared/collections.js';
import { isObject, jsonOf, shellWord } from '../shared/text.js';
import { type GroupEnd, runGroup } from './process-group.js';
import type { RunFolder } from './run-folder.js';
import type { Agent, AgentAnswer, AgentRole, Check, CheckCall } from './run-types.js';

export interface CommandPlace {
  readonly folder: RunFolder;
  /** Environment of a command, beside the names of its session and result. */
  readonly env: Readonly<Record<string, string>>;
}

/** Placeholder in a command for the path of a file with the prompt, instead of standard input. */
const PROMPT_FILE = '{prompt_file}';
/** Exit codes of shells for a command that does not exist or is not executable. */
const NOT_STARTED: ReadonlySet<number | null> = new Set([126, 127]);
const MAX_FAULT = 300;

/**
 * Returns an agent that runs a shell command in a process group of its own. It reads its prompt from standard input or from
 * `{prompt_file}`, and writes its answer to standard output. A call throws `config_invalid` if it cannot be started.
 */
export function commandAgent(command: string, place: CommandPlace): Agent {
  return async (call) => {
    const path = place.folder.prompt(call.name, call.prompt);
    const usesFile = command.includes(PROMPT_FILE);
    const line = command.replaceAll(PROMPT_FILE, () => shellWord(path));
    const end = await logged(line, call, usesFile ? '' : call.prompt, place, {
      THROUGHLINE_RESULT_ID: call.resultId,
    });
    const answer = agentOutput(end.stdout, end.stderr);
    await requireStarted(call.role, command, end);
    const fault = await faultOf(end);
    return { ...answer, ...(fault !== undefined && !call.signal.aborted && { fault }) };
  };
}

/** Returns a check: a shell command that exits with 0. Throws `config_invalid` from a call that cannot be started. */
export function commandCheck(command: string, place: CommandPlace): Check {
  const check = async (call: CheckCall) => {
    const end = await logged(command, call, '', place);
    await requireStarted('check', command, end);
    return { passed: end.code === 0, command, output: `${end.stdout}${end.stderr}` };
  };
  return Object.assign(check, { command });
}

async function logged(
  command: string,
  { name, session, directory, signal }: Pick<CheckCall, 'name' | 'session' | 'directory' | 'signal'>,
  input: string,
  { folder, env }: CommandPlace,
  more: Readonly<Record<string, string>> = {},
): Promise<GroupEnd> {
  const log = folder.log(name);
  try {
    log.write(`$ ${command}\n`);
    const end = await runGroup({
      command,
      directory,
      input,
      signal,
      mark: folder.mark,
      env: { ...env, THROUGHLINE_SESSION: session, ...more },
      onOutput: (chunk) => log.write(chunk),
    });
    log.write(`\n-- ${(await faultOf(end)) ?? 'ended with code 0'}\n`);
    return end;
  } finally {
    log.end();
  }
}

async function faultOf({ code, signal, stderr, fault }: GroupEnd): Promise<string | undefined> {
  if (code === 0) return undefined;
  const how = fault ?? (signal === null ? `ended with code ${code}` : `ended by ${signal}`);
  const words = await lastWords(stderr);
  return words === '' ? how : `${how}: ${words}`;
}

/** @throws ThroughlineError `config_invalid` for a command that could not be started */
async function requireStarted(what: string, command: string, end: GroupEnd): Promise<void> {
  const { code, stdout, stderr, fault } = end;
  if (fault === undefined && !(NOT_STARTED.has(code) && stdout.trim() === '')) return;
  const why = fault ?? (await lastWords(stderr));
  throw new ThroughlineError(
    'config_invalid',
    `--${what} ${JSON.stringify(command)} cannot be started: ${why}`,
  );
}

/** Returns the end of the last line. Redacts it first, because half a secret is not recognised. */
async function lastWords(text: string): Promise<string> {
  const words = text.trim();
  const last = words.slice(words.lastIndexOf('\n') + 1);
  const safe = await redactedEnd(last, MAX_FAULT);
  return last.length <= MAX_FAULT ? safe : `… ${safe}`;
}

/** Depth to which a line of JSON is searched. */
const MAX_DEPTH = 6;
/** Lines that are parsed, counted from the end: a line that is not JSON costs as much as a thousand characters. */
const MAX_LINES = 10_000;
/** Types and roles of input and tool output, which the agent did not say: a file in it may contain a result block. */
const NO_REPLY = /user|system|developer|tool|function|command|exec|file_change|search/i;
/** `tokens used: 1,234`, as Codex prints it, with the number on the same or the next line. */
const TOKENS = /^tokens used:?\s{0,3}\n?\s{0,3}(\d[\d,]{0,15})/im;

/**
 * Returns the answer of a command line agent with its tokens and cost. Plain text is used as it is. In JSON, one object or one
 * per line (`claude -p --output-format json`, `codex exec --json`), the answer is the last text with a result block, or the
 * last `result` or `text`; tokens and cost are the last `usage` and `total_cost_usd`. Input and tool output are ignored.
 */
export function agentOutput(stdout: string, stderr: string): AgentAnswer {
  const values = jsonIn(stdout);
  if (values.length === 0) return { text: withoutUse(stdout), ...plainUse(`${stdout}\n${stderr}`) };
  const fallback = stdout.includes(BEGIN) ? '' : stdout;
  const { block, text = fallback, ...use } = foundIn(values);
  return { text: block ?? text, ...use };
}

/** Returns the objects of an output that is JSON, as a whole or line by line. */
function jsonIn(stdout: string): unknown[] {
  const whole = parsed(stdout.trim());
  if (whole !== undefined) return 'task_id' in whole ? [] : [whole];
  const lines = stdout
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-MAX_LINES);
  const values = lines.flatMap((line) => parsed(line.trim()) ?? []);
  // A text with a few lines of JSON is still a text.
  return values.length > 0 && values.length * 2 > lines.length ? values : [];
}

function parsed(text: string): object | undefined {
  const value = /^[{[]/.test(text) ? jsonOf(text) : undefined;
  return typeof value === 'object' && value !== null ? value : undefined;
}

function foundIn(values: readonly unknown[]) {
  const found: { block?: string; text?: string; tokens?: number; cost?: number } = {};
  const look = (value: unknown, depth: number, key = ''): void => {
    if (typeof value === 'string') {
      if (value.includes(BEGIN)) found.block = value;
      else if (key === 'result' || key === 'text') found.text = value;
    }
    if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return;
    if (isObject(value) && [value.type, value.role].some((of) => typeof of === 'string' && NO_REPLY.test(of)))
      return;
    const tokens = isObject(value) && key === 'usage' ? tokensIn(value) : 0;
    if (tokens > 0) found.tokens = tokens;
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'total_cost_usd' && typeof inner === 'number') found.cost = inner;
      look(inner, depth + 1, Array.isArray(value) ? key : name);
    }
  };
  for (const value of values) look(value, 0);
  return found;
}

/** Returns the tokens of a usage, as command lines name them; 0 if it has none. */
function tokensIn(usage: Readonly<Record<string, unknown>>): number {
  const number = (name: string) => Number(usage[name]) || 0;
  return number('total_tokens') || number('input_tokens') + number('output_tokens');
}

/** A line of tokens at the end is not of the message. */
function withoutUse(stdout: string): string {
  const found = TOKENS.exec(stdout);
  const isLast = found !== null && stdout.slice(found.index + found[0].length).trim() === '';
  return isLast ? stdout.slice(0, found.index) : stdout;
}

function plainUse(text: string) {
  const tokens = TOKENS.exec(text)?.[1];
  return tokens === undefined ? {} : { tokens: Number(tokens.replaceAll(',', '')) };
}

export interface AgentResult {
  readonly body: string;
  readonly verdict: string;
  readonly findings: number;
  readonly files?: readonly string[];
  readonly summary?: string;
  readonly repaired?: string;
}

type ReadAnswer =
  | { readonly ok: true; readonly result: AgentResult }
  | { readonly ok: false; readonly fault: string };

/** The service rejects larger results. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Reads the result block that ends an answer, as the service does. `resultId` replaces the agent's own id, because an agent that
 * repeats its id in each round would count only once. It ends no statement that its prompt does not show.
 */
export function readAnswer(
  text: string,
  role: AgentRole,
  task: string,
  resultId: string,
  prompt: string,
): ReadAnswer {
  const found = resultAmongLines(text);
  if (found === undefined) return { ok: false, fault: 'the last message does not end in a result block' };
  const parsed = parsedBody(found.text, role);
  if (!parsed.ok) return { ok: false, fault: withRemedy(parsed.reason, parsed.fix) };
  const { result } = parsed.value;
  if (result.task_id !== task) {
    return { ok: false, fault: `it is the result of task ${result.task_id}, and yours is ${task}` };
  }
  const whole = withShownOnly(withLines(result, found.around, task), idsIn(prompt));
  // The text as the agent wrote it, where nothing is added: the event then names its repairs.
  const asWritten = whole === result ? named(found.text, role, task, resultId) : undefined;
  const body = asWritten ?? JSON.stringify({ ...whole, result_id: resultId });
  const { issues = [], required_fixes = [] } = 'assessment' in result ? result : {};
  const verdict = 'assessment' in result ? result.assessment : 'status' in result ? result.status : '';
  const findings = Math.max(issues.length, required_fixes.length);
  const repaired = parsed.repairs.length > 0 ? repairsInWords(parsed) : undefined;
  const { files_modified: files = [] } = 'status' in result ? result : {};
  const more = defined({ files: files.length > 0 ? files : undefined, summary: result.summary, repaired });
  return { ok: true, result: { body, verdict, findings, ...more } };
}

/** Inserts the id into the text, so that the event still names its repairs. Returns undefined if that is not possible. */
function named(text: string, role: AgentRole, task: string, resultId: string): string | undefined {
  const opens = text.indexOf('{') + 1;
  const body = `${text.slice(0, opens)}"result_id":${JSON.stringify(resultId)},${text.slice(opens)}`;
  const parsed = parsedBody(body, role);
  if (!parsed.ok) return undefined;
  const { task_id, result_id } = parsed.value.result;
  return task_id === task && result_id === resultId ? body : undefined;
}

function parsedBody(text: string, role: AgentRole) {
  return parseDispatchBody(new TextEncoder().encode(text), role, MAX_BYTES);
}

/** Returns the idempotency key of the next result of a task: the same after an interruption, whatever the agent returns. */
export function resultIdOf(session: string, task: string, role: AgentRole, results: number): string {
  const place = JSON.stringify([session, task, role, results]);
  return `work-${createHash('sha256').update(place).digest('base64url').slice(0, 32)}`;
}
