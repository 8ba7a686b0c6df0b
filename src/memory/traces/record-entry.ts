import { readRequest } from '../../contracts/checked.js';
import {
  type ActionType,
  type ResultStatus,
  type StoredEntry,
  type TraceEntry,
  traceEntry,
} from '../../contracts/trace-entry.js';
import { defined } from '../../shared/collections.js';
import { hashOf } from '../../shared/hash.js';
import { clipText, quoted } from '../../shared/text.js';
import { paragraphsOf, sentencesOf } from './sentences.js';

/** Turns trace entries as they come into entries as they are kept. */

const MAX_ASK = 4000;
const MAX_TEXT = 300;
const MAX_OUTPUT = 200;
const MAX_FILES = 20;
/** An output of so many characters is kept in the event; of a longer one the beginning and the end. */
const MAX_STORED = 4000;
const STORED_END = 1000;
/** Characters of a long command that still say what it does. */
const COMMAND_START = 120;

export type Recorded = { readonly entry: StoredEntry } | { readonly malformed: string };

/**
 * One entry, bounded. An output that is too long is masked: a reference and its size stand in its place, and the event keeps
 * it beside the line, as far as it may be fetched. Of a command that is too long the beginning stays.
 *
 * @param newId names an entry that came without an id
 */
export function recordEntry(input: unknown, newId: () => string): Recorded {
  const read = readRequest(traceEntry, withoutNulls(input));
  if (!read.ok) return { malformed: read.message };
  const { id = newId(), timestamp: at, intent_id, state, action_type, payload } = read.value;
  const { result = { status: impliedStatus(action_type), output_summary: '' } } = read.value;
  // Requests are kept up to `MAX_ASK`, everything else is cut to one line.
  const asks = state === 'REQUEST' || action_type === 'INTENT_SELECTION';
  const reasoning = shortened(payload.reasoning, asks ? MAX_ASK : MAX_TEXT);
  const tool = shortened(payload.tool_name, 100);
  const files = payload.target_files
    ?.slice(0, MAX_FILES)
    .map((file) => clipText(quoted(file), MAX_TEXT))
    .filter((file) => file !== '');
  const named = payload.target_files?.length ?? 0;
  const command = commandOf(payload.command);
  const isMasked = result.output_summary.length > MAX_OUTPUT;
  const output = isMasked
    ? `(output of ${result.output_summary.length} characters left out, trace entry ${clipText(quoted(id), 64)})`
    : shortened(result.output_summary, MAX_OUTPUT);
  const error = shortened(result.error_message, MAX_TEXT) ?? (isMasked ? lastWords(result) : undefined);
  const constraints = constraintsOf((asks && payload.reasoning) || '');
  const entry = {
    id,
    intent: intent_id,
    action: action_type,
    status: result.status,
    ...defined({ at, state, tool }),
    ...(files !== undefined && files.length > 0 && { files }),
    ...(named > MAX_FILES && { files_omitted: named - MAX_FILES }),
    ...defined({ command, reasoning, output, error }),
    ...(asks && { constraints: [...constraints.texts] }),
    ...(constraints.leftOut > 0 && { constraints_omitted: constraints.leftOut }),
    size: JSON.stringify(read.value).length,
    ...(isMasked && { stored: storedOf(result.output_summary) }),
  };
  return { entry };
}

/** Returns an entry without the fields that are null, which means absent; an entry of no intent says so by null. */
function withoutNulls(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  return Object.fromEntries(
    Object.entries(input)
      .filter(([name, value]) => value !== null || /^intent_?id$/i.test(name))
      .map(([name, value]) => [name, withoutNulls(value)]),
  );
}

/** Returns the last output line of a failure, used if it has no error message. */
function lastWords({ status, output_summary }: NonNullable<TraceEntry['result']>): string | undefined {
  if (status === 'SUCCESS') return undefined;
  return shortened(output_summary.trimEnd().split('\n').at(-1), MAX_TEXT);
}

function storedOf(text: string): NonNullable<StoredEntry['stored']> {
  const { length } = text;
  if (length <= MAX_STORED) return { text: text.toWellFormed(), length };
  const [first, last] = [text.slice(0, STORED_END), text.slice(-STORED_END)];
  return { first: first.toWellFormed(), last: last.toWellFormed(), length };
}

function shortened(text: string | undefined, max: number): string | undefined {
  const line = text === undefined ? '' : clipText(quoted(text), max);
  return line === '' ? undefined : line;
}

/** A command that is cut says so; the same command always has the same reference, so that a later success settles its error. */
function commandOf(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= MAX_TEXT) return shortened(text, MAX_TEXT);
  const start = clipText(quoted(text.slice(0, MAX_TEXT)), COMMAND_START);
  return `${start} (command of ${text.length} characters, sha256 ${hashOf(text)})`;
}

function impliedStatus(action: ActionType): ResultStatus {
  if (action === 'SCOPE_VIOLATION') return 'DENIED';
  return action === 'ERROR' || action === 'BUDGET_EXHAUSTED' ? 'FAILURE' : 'SUCCESS';
}

/** The sentences of a request that say what must be, what must never be, and what alone may be. */

const CONSTRAINT = /\b(must|never|always|only|do not|don['’]t)\b|必须|不得|禁止|必ず/i;

/** Most constraints of one request, and characters of each. */
export const MAX_CONSTRAINTS = 30;
const MAX_CONSTRAINT = 240;

/** Returns each constraint of a text once, as one line, in order; `leftOut` counts those above `MAX_CONSTRAINTS`. */
function constraintsOf(text: string): { readonly texts: readonly string[]; readonly leftOut: number } {
  const sentences = paragraphsOf(text)
    .flatMap((paragraph) => sentencesOf(paragraph.text))
    .filter((sentence) => CONSTRAINT.test(sentence))
    .map((sentence) => clipText(quoted(sentence), MAX_CONSTRAINT));
  const all = [...new Set(sentences)].filter((sentence) => sentence !== '');
  return { texts: all.slice(0, MAX_CONSTRAINTS), leftOut: Math.max(0, all.length - MAX_CONSTRAINTS) };
}
