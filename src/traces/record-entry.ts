import { readRequest } from '../contracts/checked.js';
import {
  type ActionType,
  type RecordedEntry,
  type ResultStatus,
  traceEntry,
} from '../contracts/trace-entry.js';
import { hashOf } from '../shared/hash.js';
import { clipText, quoted } from '../shared/text.js';

/** Turns trace entries as they come into entries as they are kept. */

const MAX_ASK = 4000;
const MAX_TEXT = 300;
const MAX_OUTPUT = 200;
const MAX_FILES = 20;

export type Recorded = { readonly entry: RecordedEntry } | { readonly malformed: string };

/**
 * One entry, bounded. An output or command that is too long is masked: a reference and its size stand in its place.
 *
 * @param newId names an entry that came without an id
 */
export function recordEntry(input: unknown, newId: () => string): Recorded {
  const read = readRequest(traceEntry, input);
  if (!read.ok) return { malformed: read.message };
  const { id = newId(), timestamp: at, intent_id, state, action_type, payload } = read.value;
  const { result = { status: impliedStatus(action_type), output_summary: '' } } = read.value;
  // What was asked for is kept whole, as far as a prompt can bear it; everything else is a line.
  const asks = state === 'REQUEST' || action_type === 'INTENT_SELECTION';
  const reasoning = shortened(payload.reasoning, asks ? MAX_ASK : MAX_TEXT);
  const tool = shortened(payload.tool_name, 100);
  const files = payload.target_files?.slice(0, MAX_FILES).map((file) => clipText(quoted(file), MAX_TEXT));
  const command = masked(payload.command, 'command', digestOf, MAX_TEXT);
  const output = masked(
    result.output_summary,
    'output',
    () => `trace entry ${clipText(quoted(id), 64)}`,
    MAX_OUTPUT,
  );
  const error = shortened(result.error_message, MAX_TEXT);
  return {
    entry: {
      id,
      intent: intent_id,
      action: action_type,
      status: result.status,
      ...(at !== undefined && { at }),
      ...(state !== undefined && { state }),
      ...(tool !== undefined && { tool }),
      ...(files !== undefined && files.length > 0 && { files }),
      ...(command !== undefined && { command }),
      ...(reasoning !== undefined && { reasoning }),
      ...(output !== undefined && { output }),
      ...(error !== undefined && { error }),
      size: JSON.stringify(read.value).length,
    },
  };
}

function shortened(text: string | undefined, max: number): string | undefined {
  const line = text === undefined ? '' : clipText(quoted(text), max);
  return line === '' ? undefined : line;
}

function masked(
  text: string | undefined,
  what: string,
  reference: (text: string) => string,
  max: number,
): string | undefined {
  if (text === undefined || text.length <= max) return shortened(text, max);
  return `(${what} of ${text.length} characters left out, ${reference(text)})`;
}

/** The same command always has the same reference, so that a later success of it settles its error. */
function digestOf(text: string): string {
  return `sha256 ${hashOf(text)}`;
}

/** What an entry without a result tells by its action alone. */
function impliedStatus(action: ActionType): ResultStatus {
  if (action === 'SCOPE_VIOLATION') return 'DENIED';
  return action === 'ERROR' || action === 'BUDGET_EXHAUSTED' ? 'FAILURE' : 'SUCCESS';
}
