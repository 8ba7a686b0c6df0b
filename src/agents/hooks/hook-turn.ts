import { createHash } from 'node:crypto';
import { isAbsolute, relative } from 'node:path';
import { type Role, rolesOf } from '../../contracts/kinds.js';
import { RELATIONS } from '../../contracts/relations.js';
import type { RecordedEntry, TraceEntryInput } from '../../contracts/trace-entry.js';
import { redactedStart } from '../../memory/redaction/redacted.js';
import { type FinishedTurn, finishedTurn } from '../../memory/traces/finished-turn.js';
import { clipText, isObject, oneLine } from '../../shared/text.js';
import { agentKey, type HookCall, type HookTools, namedTask, withoutPrivate } from './hook-call.js';
import { resultId } from './hook-results.js';
import type { TurnNote } from './hook-state.js';
import type { KeptResult } from './spool.js';

/** Publishes a turn that ended without a result: an observer's result, made by rule from what the hooks noted. */

/** The role as which a turn is published: one that only records. */
export const [TURN] = rolesOf('note') as [Role];
/** Characters of a last message that are read. */
const MAX_MESSAGE = 50_000;
const MAX_ANSWER = 200;

/** The turn of an agent that stops, as a result to send; undefined for one that leaves nothing. */
export async function turnResult(
  call: HookCall,
  message: string,
  tools: HookTools,
): Promise<KeptResult | undefined> {
  const { state, at, name, client, redact } = tools;
  const isMain = call.agent === '';
  // The process that started the agent publishes its result.
  if (at.turns === false || (isMain && at.resultId !== undefined)) return undefined;
  const key = agentKey(call, tools);
  const notes = state.notes(key);
  if (notes.some(({ reported }) => reported)) return undefined;
  const asked = isMain ? state.recall(questionKey(key)) : undefined;
  const body = turnBody({
    ...{ client: name, conversation: call.conversation, notes, branch: at.branch, asked, isMain },
    message: (await redact(message)).slice(0, MAX_MESSAGE),
    hidesFailures: client.hidesFailures,
  });
  const waits = body?.facts.findLast(({ relation }) => relation === RELATIONS.asks)?.object;
  if (isMain && (waits ?? (body === undefined && asked)))
    state.remember(questionKey(key), waits ?? asked ?? '');
  if (body === undefined) return undefined;
  const id = resultId({ ...call, client: name }, JSON.stringify(body));
  const text = JSON.stringify({ ...body, result_id: id });
  return { kind: 'result', session: at.session, role: TURN, text, messageId: `${at.session}:${id}` };
}

interface TurnParts {
  readonly client: string;
  readonly conversation: string;
  readonly notes: readonly TurnNote[];
  readonly message: string;
  readonly branch?: string | undefined;
  readonly asked?: string | undefined;
  /** True for the agent that the user talks to. */
  readonly isMain?: boolean;
  readonly hidesFailures?: boolean | undefined;
}

/** The result that a turn is published as; undefined for one that leaves nothing. */
export function turnBody(parts: TurnParts) {
  const { client, conversation, notes, message, branch, asked, isMain = true, hidesFailures } = parts;
  const request = notes.find((note) => note.request !== undefined)?.request ?? '';
  const commits = notes.flatMap(({ commit }) => commit ?? []);
  const entries = notes.flatMap(({ entry }) => (entry === undefined ? [] : recorded(entry)));
  const turn = finishedTurn({ request, message, entries, commits, hidesFailures });
  const answer = asked === undefined ? undefined : answerTo(asked, request);
  if (turn === undefined && answer === undefined) return undefined;
  const done = turn ?? { ...NOTHING, summary: answer ?? '' };
  const task = namedTask(request) ?? turnTask(client, conversation);
  const decisions = [...(answer === undefined ? [] : [answer]), ...done.decisions];
  const said = new Set(isMain ? [...done.said, ...(answer === undefined ? [] : [answer])] : []);
  const ofTask = (relation: string, object: string) => ({
    ...{ subject: `task:${task}`, relation, object },
    ...(said.has(object) && { origin: 'user' as const }),
    ...(done.replaces.has(object) && { replaces: [...(done.replaces.get(object) ?? [])] }),
  });
  return {
    task_id: task,
    intent_id: intentOf(client, conversation),
    summary: done.summary,
    ...(done.files.length > 0 && { files_modified: done.files }),
    ...(done.tests.length > 0 && { tests: done.tests }),
    ...(done.open.length > 0 && { follow_up_actions: done.open }),
    ...(branch !== undefined && { branch }),
    facts: [
      ...decisions.map((object) => ({ ...ofTask(RELATIONS.decided, object), tags: ['decision'] })),
      ...done.rules.map((object) => ({ ...ofTask(RELATIONS.rule, object), tags: ['convention'] })),
      ...done.failed.map((object) => ({ ...ofTask(RELATIONS.failed, object), tags: ['error'] })),
      ...done.settled.map((object) => ofTask(RELATIONS.settled, object)),
      ...done.found.map((object) => ofTask(RELATIONS.found, object)),
      ...done.questions.map((object) => ({ ...ofTask(RELATIONS.asks, object), tags: ['dependency'] })),
      ...commits.map((commit) => ofTask('committed', commit)),
    ],
  };
}

const NOTHING: FinishedTurn = {
  ...{ summary: '', files: [], tests: [], decisions: [], rules: [] },
  ...{ found: [], failed: [], open: [], questions: [], said: [] },
  ...{ settled: [], replaces: new Map() },
};

function questionKey(key: string): string {
  return `asked ${key}`;
}

/** Returns the user's answer to a question if the next prompt is short and says yes or no, or repeats a word of it. */
function answerTo(question: string, request: string): string | undefined {
  const said = oneLine(request);
  if (said === '' || said.length > MAX_ANSWER || said.endsWith('?')) return undefined;
  const words = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? [];
  const known = new Set(words(question));
  const isAnswer = SHORT_ANSWER.test(said) || words(said).some((word) => known.has(word));
  return isAnswer ? `${clipText(question, MAX_ANSWER)} The user: "${said}"` : undefined;
}

const SHORT_ANSWER =
  /^(?:yes|no|yep|yeah|nope|neither|both|either|the (?:first|second|third|last|latter|former)|option|[a-d1-9][).]?(?:\s|$))/i;

/** Names what a conversation works on where its user names no task. */
export function turnTask(client: string, conversation: string): string {
  return `${client}-${createHash('sha256').update(conversation).digest('hex').slice(0, 6)}`;
}

function recorded({
  id = '',
  intent_id,
  action_type,
  payload = {},
  result,
}: TraceEntryInput): RecordedEntry[] {
  const { tool_name: tool, target_files: files, command } = payload;
  if (action_type !== 'TOOL_EXECUTION') return [];
  return [
    {
      ...{ id, intent: intent_id, action: action_type, status: result?.status ?? 'SUCCESS', size: 0 },
      ...(tool !== undefined && { tool }),
      ...(files !== undefined && { files }),
      ...(command !== undefined && { command }),
    },
  ];
}

const COMMIT = /\[[\w./-]+(?: \(root-commit\))? ([0-9a-f]{7,40})\] ([^"\\\n]{1,120})/;

/** The commit that a tool made, as git says it: `abc1234 Make the package private`. */
export function commitIn(command: string | undefined, response: unknown): string | undefined {
  if (command === undefined || !/\bgit\b/.test(command) || !/\bcommit\b/.test(command)) return undefined;
  const text = (typeof response === 'string' ? response : (JSON.stringify(response) ?? '')).slice(
    0,
    MAX_MESSAGE,
  );
  const [, hash, subject] = COMMIT.exec(text) ?? [];
  return hash === undefined ? undefined : `${hash} ${subject}`;
}

/**
 * Trace entries of what an agent is asked and does, without secrets. Everything is bounded: a tool may be given a whole file.
 */

const MAX_PROMPT = 20_000;
const MAX_COMMAND = 20_000;
const MAX_ERROR = 2000;
const MAX_NAME = 200;
const MAX_FILES = 50;
const MAX_PATH = 1000;

interface Named {
  readonly id: string;
  readonly at: string;
  readonly intent: string;
}

/** Names the conversation with an agent as an intent: one trace each. */
export function intentOf(client: string, conversation: string): string {
  return `${client}-${conversation || 'unknown'}`.slice(0, 128);
}

/** Names the agent of a conversation on the tasks that it claims. */
export function agentOf(client: string, conversation: string): string {
  return `${client}:${conversation.slice(0, 8)}`;
}

type Redacting = Pick<HookTools, 'redact'>;

export async function requestEntry(
  { prompt }: HookCall,
  { id, at, intent }: Named,
  { redact }: Redacting,
): Promise<TraceEntryInput> {
  return {
    id,
    timestamp: at,
    intent_id: intent,
    state: 'REQUEST',
    action_type: 'INTENT_SELECTION',
    payload: { reasoning: await redactedStart(prompt, MAX_PROMPT, redact) },
  };
}

/** Returns a tool call as a trace entry: name, files, command and status, without its input and output. */
export async function toolEntry(
  call: HookCall,
  { id, at, intent }: Named,
  { redact }: Redacting,
): Promise<TraceEntryInput> {
  const start = (text: string, most: number) => redactedStart(withoutPrivate(text), most, redact);
  const files = filesOf(call);
  const command = commandOf(call.input);
  const fault = faultOf(call);
  return {
    id,
    timestamp: at,
    intent_id: intent,
    state: 'ACTION',
    action_type: 'TOOL_EXECUTION',
    payload: {
      tool_name: await start(call.tool, MAX_NAME),
      ...(files.length > 0 && { target_files: files }),
      ...(command !== undefined && { command: await start(command, MAX_COMMAND) }),
    },
    result: {
      status: fault === undefined ? 'SUCCESS' : 'FAILURE',
      ...(fault !== undefined && fault !== '' && { error_message: await start(fault, MAX_ERROR) }),
    },
  };
}

const FILE_FIELDS = [
  'file_path',
  'filePath',
  'absolute_path',
  'notebook_path',
  'path',
  'file',
  'paths',
  'files',
];
const COMMAND_FIELDS = ['command', 'cmd', 'script'];
const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

function filesOf({ input, directory }: HookCall): string[] {
  const named = FILE_FIELDS.flatMap((field) => input[field]).filter((each) => typeof each === 'string');
  const patch = commandOf(input) ?? input.input ?? input.patch;
  const patched = typeof patch === 'string' ? [...patch.matchAll(PATCHED)].map(([, file = '']) => file) : [];
  const all = [...named, ...patched].map((file) => inProject(file.trim(), directory));
  return [...new Set(all)].filter((file) => file !== '' && file.length <= MAX_PATH).slice(0, MAX_FILES);
}

/** Returns a path relative to the project; a file outside it keeps its absolute path. */
function inProject(file: string, directory: string): string {
  if (!isAbsolute(file) || !isAbsolute(directory)) return file;
  const within = relative(directory, file);
  return within.startsWith('..') || isAbsolute(within) ? file : within;
}

function commandOf(input: HookCall['input']): string | undefined {
  for (const field of COMMAND_FIELDS) {
    const value = input[field];
    if (typeof value === 'string' && value !== '') return value;
    // Some tools take a command as a list of its words.
    if (Array.isArray(value) && value.every((word) => typeof word === 'string')) return value.join(' ');
  }
  return undefined;
}

const EXIT_CODE = /^(?:Exit Code: |<shellId: .* exit code )([1-9]\d*)>?$/m;

/** Returns the error message, empty for a failure without one; `undefined` for a success. */
function faultOf({ event, error, response, input }: HookCall): string | undefined {
  if (error !== '') return error;
  if (event.failed) return '';
  if (!isObject(response)) return undefined;
  const said = response.error;
  if (typeof said === 'string' && said !== '') return said;
  if (isObject(said)) return typeof said.message === 'string' ? said.message : '';
  const { exit_code: code = response.exitCode, is_error: isError = response.isError, success } = response;
  if (typeof code === 'number' && code !== 0) return `exit code ${code}`;
  // Gemini CLI and Copilot CLI have it only in what the model reads.
  const { llmContent: read = response.text_result_for_llm } = response;
  const line = typeof read === 'string' && commandOf(input) !== undefined ? EXIT_CODE.exec(read) : null;
  if (line !== null) return `exit code ${line[1]}`;
  return isError === true || success === false ? '' : undefined;
}
