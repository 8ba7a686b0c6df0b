import { isAbsolute, relative } from 'node:path';
import type { TraceEntryInput } from '../../contracts/trace-entry.js';
import { redactedStart } from '../../memory/redaction/redacted.js';
import { isObject } from '../../shared/text.js';
import { type HookCall, type HookTools, withoutPrivate } from './hook-call.js';

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
