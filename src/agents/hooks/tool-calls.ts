import { randomUUID } from 'node:crypto';
import { isAbsolute, relative } from 'node:path';
import { lastResult } from '../../contracts/reading/last-result.js';
import type { TraceEntryInput } from '../../contracts/trace-entry.js';
import { redactedStart } from '../../memory/redaction/redactor.js';
import { isObject } from '../../shared/text.js';
import { stopped } from './agent-stop.js';
import {
  agentKey,
  type HookCall,
  type HookTools,
  objectOf,
  type ToolCall,
  textOf,
  withoutPrivate,
} from './hook-call.js';
import { messageOfAgent } from './hook-results.js';
import type { HookClient, HookEvent, Moment } from './hook-table.js';
import { agentOf, intentOf, noteShown } from './hook-turn.js';
import { noteCall, REPORT_TOOL } from './running-agent.js';
import { keepOrGive } from './send-waiting.js';
import type { Waiting } from './spool.js';
import { readCalls, transcriptEnd } from './transcript.js';

/** Calls of tools, as trace entries and notes of the turn, without secrets, and bounded: a tool may be given a whole file. */

const MAX_ID = 128;
const MAX_COMMAND = 20_000;
const MAX_ERROR = 2000;
const MAX_NAME = 200;
const MAX_FILES = 50;
const MAX_PATH = 1000;

/** Moments at which a transcript is read. An agent that starts has called nothing, unless its history was compacted. */
const READS: readonly Moment[] = ['prompt', 'agent-stop', 'stop'];

/**
 * Keeps the calls of tools since the event before, in their order.
 *
 * @param isKept false for those of a paused folder or a private turn: they are passed over
 * @returns what the disk does not take
 */
export async function recordCalls(call: HookCall, tools: HookTools, isKept: boolean): Promise<Waiting[]> {
  const { event, transcript, source } = call;
  const { state, client } = tools;
  if (event.moment === 'after-tool') return isKept ? keepCalls(call, [call], tools) : [];
  const isStart = event.moment === 'session-start';
  if (client.keepsCalls === undefined || transcript === '' || !(isStart || READS.includes(event.moment)))
    return isKept ? keepCalls(call, call.calls, tools) : [];
  const key = `read ${agentKey(call, tools)} ${transcript}`;
  const known = state.peek(key);
  const [from = '0', since = ''] = known?.split(' ') ?? [];
  // The transcript of a conversation that goes on holds what no hook has seen.
  const isPassed =
    !isKept || (isStart && source !== 'compact') || (event.moment === 'prompt' && known === undefined);
  if (isPassed) {
    if (known === undefined || !isKept) state.remember(key, `${transcriptEnd(transcript)} ${tools.now}`);
    return [];
  }
  const read = readCalls(client.keepsCalls, transcript, Number(from));
  const { end, skipped } = read;
  // A forked conversation gets a copy of the older one after its start.
  const calls = read.calls.filter(({ at }) => at === '' || at >= since);
  if (skipped > 0) tools.log(`the transcript has grown too much: ${skipped} bytes of it are not read`);
  const unkept = await keepCalls(call, calls, tools);
  state.remember(key, `${end} ${since}`);
  return unkept;
}

async function keepCalls(call: HookCall, calls: readonly ToolCall[], tools: HookTools): Promise<Waiting[]> {
  const { state, at, redact } = tools;
  const key = agentKey(call, tools);
  const entries: TraceEntryInput[] = [];
  const unkept: Waiting[] = [];
  for (const made of calls) {
    const entry = await redact(await toolEntry(made, call, tools));
    const commit = await redact(commitIn(entry.payload?.command, made.response));
    entries.push(entry);
    noteCall(call, made, tools);
    // Its own commands and tools show statements, too.
    if (OURS.test(`${made.tool} ${entry.payload?.command ?? ''}`))
      noteShown(JSON.stringify(made.response) ?? '', agentOf(tools.name, call.conversation), state);
    if (REPORT_TOOL.test(made.tool) && entry.result?.status === 'SUCCESS') {
      state.note(key, { reported: true });
      // Its prompt may have asked for that in place of the block: then there is nothing to send it back for.
      if (call.agent !== '') state.markSentBack(key);
    }
    if (at.turns !== false) state.note(key, { entry, ...(commit && { commit }) });
    const agent = returnedBy(made, tools.client);
    if (agent !== undefined) await stopped({ ...call, ...agent, event: RETURNED }, tools, unkept);
  }
  if (entries.length > 0)
    unkept.push(...(await keepOrGive({ kind: 'trace', session: at.session, entries }, tools)));
  return unkept;
}

const OURS = /\bthroughline/;

/** The end of a sub-agent that its tool has told: it cannot be sent back any more. */
const RETURNED: HookEvent = { name: 'returned', moment: 'agent-stop' };

/** The sub-agent whose result a tool gave back, in a client that says so in no other way. */
function returnedBy({ callId, tool, input, response }: ToolCall, { agentTools }: HookClient) {
  const fields = agentTools[tool];
  if (fields?.returns === undefined) return undefined;
  const message = messageOfAgent(textOf(objectOf(response).llmContent));
  const name = input[fields.agentName];
  if (lastResult(message) === undefined) return undefined;
  return { message, agent: callId, agentName: typeof name === 'string' ? name : 'unknown' };
}

/**
 * Returns a tool call as a trace entry: name, files, command and status, without its input and output. It has the id of the
 * call, so that it counts once however often it is read.
 */
async function toolEntry(
  call: ToolCall,
  { directory, conversation }: HookCall,
  { name, now, redact }: HookTools,
): Promise<TraceEntryInput> {
  const start = (text: string, most: number) => redactedStart(withoutPrivate(text), most, redact);
  const files = filesOf(call, directory);
  const command = commandOf(call.input);
  const fault = faultOf(call);
  return {
    id: call.callId.slice(0, MAX_ID) || randomUUID(),
    timestamp: call.at || now,
    intent_id: intentOf(name, conversation),
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

const FILE_FIELDS = 'file_path filePath absolute_path notebook_path path file paths files'.split(' ');
const COMMAND_FIELDS = ['command', 'cmd', 'script'];
const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

function filesOf({ input }: ToolCall, directory: string): string[] {
  const named = FILE_FIELDS.flatMap((field) => input[field]).filter((file) => typeof file === 'string');
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

function commandOf(input: ToolCall['input']): string | undefined {
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
function faultOf({ hasFailed, error, response, input }: ToolCall): string | undefined {
  if (error !== '') return error;
  if (hasFailed) return '';
  if (!isObject(response)) return undefined;
  const failure = response.error;
  if (typeof failure === 'string' && failure !== '') return failure;
  if (isObject(failure)) return typeof failure.message === 'string' ? failure.message : '';
  const { exit_code: code = response.exitCode, is_error: isError = response.isError, success } = response;
  if (typeof code === 'number' && code !== 0) return `exit code ${code}`;
  // Gemini CLI and Copilot CLI have it only in what the model reads.
  const { llmContent: read = response.text_result_for_llm } = response;
  const line = typeof read === 'string' && commandOf(input) !== undefined ? EXIT_CODE.exec(read) : null;
  if (line !== null) return `exit code ${line[1]}`;
  return isError === true || success === false ? '' : undefined;
}

/** Characters of an output that are searched. */
const MAX_OUTPUT = 50_000;
const COMMIT = /\[[\w./-]+(?: \(root-commit\))? ([0-9a-f]{7,40})\] ([^"\\\n]{1,120})/;

/** The commit that a tool made, as git says it: `abc1234 Make the package private`. */
function commitIn(command: string | undefined, response: unknown): string | undefined {
  if (command === undefined || !/\bgit\b/.test(command) || !/\bcommit\b/.test(command)) return undefined;
  const text = typeof response === 'string' ? response : (JSON.stringify(response) ?? '');
  const [, hash, subject] = COMMIT.exec(text.slice(0, MAX_OUTPUT)) ?? [];
  return hash === undefined ? undefined : `${hash} ${subject}`;
}
