import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../shared/text.js';
import { objectOf, type ToolCall, textOf, withoutPrivate } from './hook-call.js';
import type { TranscriptFormat } from './hook-table.js';

/** Clients keep transcripts as JSON lines. Reading tool calls from them at the end of a turn saves a process for each call. */

/** The start of a call, or its outcome: some clients write them as separate lines. */
type CallPart = { readonly callId: string } & Partial<ToolCall>;
type Fields = Readonly<Record<string, unknown>>;

const PARTS_OF: Readonly<Record<TranscriptFormat, (line: Fields) => CallPart[]>> = {
  claude: ({ message, timestamp }) =>
    objectsIn(objectOf(message).content).flatMap((part): CallPart[] => {
      if (part.type === 'tool_use') return [started(part.id, timestamp, part.name, part.input)];
      if (part.type !== 'tool_result') return [];
      const { content, is_error: hasFailed } = part;
      const error = hasFailed === true && typeof content === 'string' ? content : '';
      return [{ ...ended(part.tool_use_id, content, hasFailed === true), error }];
    }),
  codex: ({ payload, timestamp }) => {
    const { type, call_id: id, name, namespace, arguments: args, input, output } = objectOf(payload);
    if (type === 'custom_tool_call') return [started(id, timestamp, name, { input })];
    if (type === 'function_call') {
      const tool = namespace === undefined ? name : `${namespace}__${name}`;
      return [started(id, timestamp, tool === 'exec_command' ? 'Bash' : tool, args)];
    }
    if (type !== 'function_call_output' && type !== 'custom_tool_call_output') return [];
    const [, code] = CODEX_EXIT.exec(textOf(output).split('\nOutput:\n', 1)[0] ?? '') ?? [];
    const error = code === undefined ? '' : `exit code ${code}`;
    return [{ ...ended(id, output, error !== ''), error }];
  },
  // A message is written again with each of its calls that has ended.
  gemini: ({ toolCalls }) =>
    objectsIn(toolCalls).map(({ id, timestamp, name, args, result, status }) => {
      const answers = objectsIn(result).map(({ functionResponse }) => objectOf(functionResponse).response);
      const { output, error } = objectOf(answers[0]);
      const response = { llmContent: output, error };
      return { ...started(id, timestamp, name, args), ...ended(id, response, status === 'error') };
    }),
};

const CODEX_EXIT = /^(?:Process exited with code|Exit code:) ([1-9]\d*)$/m;

function started(id: unknown, at: unknown, tool: unknown, input: unknown): CallPart {
  return { callId: textOf(id), at: textOf(at), tool: textOf(tool), input: objectOf(input) };
}

function ended(id: unknown, response: unknown, hasFailed: boolean): CallPart {
  return { callId: textOf(id), response, hasFailed };
}

function objectsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Most bytes of a transcript that are read at once: parsing more takes longer than a hook has. */
const MAX_BYTES = 8 * 1024 * 1024;

interface CallsRead {
  readonly calls: readonly ToolCall[];
  /** The next look begins at this byte. */
  readonly end: number;
  /** Bytes that were too many to read. */
  readonly skipped: number;
}

/**
 * Reads the calls that a transcript has from a byte on, up to the last whole line. A call whose start was read before is left
 * out; one whose outcome is not written yet counts as a success.
 */
export function readCalls(format: TranscriptFormat, path: string, from: number): CallsRead {
  const { bytes, at, skipped } = readFrom(path, from);
  const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
  const calls = new Map<string, ToolCall>();
  for (const line of whole.toString('utf8').split('\n')) {
    if (!MAY_HOLD_CALL.test(line)) continue;
    for (const part of PARTS_OF[format](objectOf(line))) {
      const known = calls.get(part.callId);
      if (known === undefined && part.tool === undefined) continue;
      calls.set(part.callId, { ...(known ?? NO_CALL), ...part });
    }
  }
  return { calls: [...calls.values()], end: at + whole.length, skipped };
}

const MAY_HOLD_CALL = /"(?:tool_use|tool_result|toolCalls|(?:function|custom_tool)_call(?:_output)?)"/;
const NO_CALL: ToolCall = {
  callId: '',
  at: '',
  tool: '',
  input: {},
  response: undefined,
  error: '',
  hasFailed: false,
};

export function transcriptEnd(path: string): number {
  return readFrom(path, Number.POSITIVE_INFINITY).at;
}

/** Reads a file from a byte to its end, and of a long rest the last `most` bytes. A file that has shrunk is read from its start. */
function readFrom(path: string, from: number, most = MAX_BYTES) {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size } = fstatSync(file);
    const start = from > size && Number.isFinite(from) ? 0 : Math.min(from, size);
    const at = Math.max(start, size - most);
    const bytes = Buffer.alloc(size - at);
    readSync(file, bytes, 0, bytes.length, at);
    return { bytes, at, skipped: at - start };
  } catch {
    // In the first turn the client may not have made the file yet.
    return { bytes: Buffer.alloc(0), at: 0, skipped: 0 };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Bytes of a transcript that are read from its end. */
const TAIL_BYTES = 256 * 1024;

const MESSAGE_IN: Readonly<Record<TranscriptFormat, (line: Fields) => Fields>> = {
  claude: ({ message }) => objectOf(message),
  codex: ({ payload }) => objectOf(payload),
  gemini: ({ type: role, content }) => ({ role, content }),
};

/**
 * Returns what an agent said last since its newest prompt; undefined if it said nothing.
 *
 * @param until time in ISO 8601: later lines belong to a later turn
 * @param isMain true for the agent that the user talks to, whose transcript may hold lines of its sub-agents
 */
export function lastText(format: TranscriptFormat, path: string, until: string, isMain: boolean) {
  let last: string | undefined;
  for (const line of tailOf(path).map(objectOf)) {
    const { role, content } = MESSAGE_IN[format](line);
    const parts = objectsIn(content).map((part) => textOf(part.text));
    const text = textOf(content) || parts.filter(Boolean).join('\n');
    if (text === '' || textOf(line.timestamp) > until || (isMain && line.isSidechain === true)) continue;
    if (role === 'user') last = undefined;
    else if (role === 'assistant' || role === 'gemini') last = text;
  }
  return last && withoutPrivate(last);
}

function tailOf(path: string): string[] {
  return readFrom(path, 0, TAIL_BYTES).bytes.toString('utf8').split('\n');
}

/** The rest of a hook's time is for the server. */
const PUBLISH_MS = 1000;
const POLL_MS = 20;
/** Between the time of an event and that of its line in the transcript. */
const SKEW_MS = 50;

/**
 * Returns the last message of the main agent in a transcript of Copilot CLI, which is written about the time of the event: it is
 * there once the transcript ends with the hook that is running, not with an earlier one.
 *
 * @param at time of the event
 */
export async function lastMessage(
  path: string,
  at: string,
  leftMs: () => number,
): Promise<string | undefined> {
  const earliest = (Date.parse(at) || 0) - SKEW_MS;
  for (; ; await sleep(POLL_MS)) {
    const events = tailOf(path)
      .filter((line) => /"assistant\.message"|"agentStop"/.test(line))
      .map(objectOf)
      .filter((event) => event.agentId === undefined);
    const last = events.at(-1);
    const isWritten = last?.type === 'hook.start' && !(Date.parse(String(last.timestamp)) < earliest);
    if (!isWritten && leftMs() >= PUBLISH_MS) continue;
    const data = events.findLast((event) => event.type === 'assistant.message')?.data;
    // Without it the turn counts by what was done.
    return isObject(data) && typeof data.content === 'string' ? withoutPrivate(data.content) : undefined;
  }
}
