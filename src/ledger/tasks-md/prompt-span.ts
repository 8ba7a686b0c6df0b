import { closes, readField } from './fields.js';

/** A field that may go on over lines: its value, the line after its last, and whether its end was found. */
export interface Span {
  readonly value: string;
  readonly end: number;
  readonly closed: boolean;
}

const SPAN_FIELD = /^\s*(?:[-*+]\s+)?_[\p{L}][\p{L} ]{1,23}[:：]/u;
const BLOCK_SCALAR = /^[|>][+-]?$/;

/**
 * Follows an open `_Prompt: …` to the last closing underscore before `end`, before the next field, and before
 * `stop` says so. Lines are dedented; a lone `|`, as in YAML, does not count as text.
 */
export function followSpan(
  lines: readonly string[],
  from: number,
  end: number,
  first: string,
  stop: (line: string) => boolean,
): Span {
  let limit = from + 1;
  let last = -1;
  for (; limit < end; limit += 1) {
    const line = lines[limit] ?? '';
    const field = readField(line);
    // Whatever opens a span ends this one: spans that nothing closes would else be read to the end, each of them.
    if (field !== undefined && (field.state !== 'plain' || SPAN_FIELD.test(line))) break;
    if (stop(line)) break;
    if (closes(line)) last = limit;
  }
  const closed = last !== -1;
  const stopAt = closed ? last + 1 : limit;
  const body = lines.slice(from + 1, stopAt);
  if (closed) body.push((body.pop() ?? '').trimEnd().slice(0, -1));
  return { value: join(first, body), end: stopAt, closed };
}

/** The value of a field that is not closed by an underscore: its first line and those up to `end`. */
export function join(first: string, body: readonly string[]): string {
  const opening = BLOCK_SCALAR.test(first.trim()) ? [] : [first.trim()];
  return [...opening, ...dedent(body)].join('\n').trim();
}

function dedent(lines: readonly string[]): string[] {
  let common = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const { length } = line.trimStart();
    if (length > 0) common = Math.min(common, line.length - length);
  }
  return lines.map((line) => line.slice(Math.min(common, line.length)).trimEnd());
}
