import { isDeepStrictEqual } from 'node:util';
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser';
import { ThroughlineError } from '../../contracts/errors.js';
import { isObject } from '../../shared/is-object.js';
import { unlessTooDeep } from './json-entries.js';

/** What `throughline connect` writes at the top of a project: what its agents work on. */
export interface ProjectFields {
  readonly session?: string;
  readonly project?: string;
  /** Path of a plan, from the folder of the file. */
  readonly plan?: string;
}

const FIELDS = ['session', 'project', 'plan'] as const;

/**
 * The text of the file: fields that are given are set, and defaults fill in those that are missing. The rest stays.
 *
 * @throws ThroughlineError `config_invalid` for a file that is not a JSON object
 */
export function projectText(
  text: string | undefined,
  given: ProjectFields,
  defaults: ProjectFields,
  path: string,
): string {
  let result = text === undefined || text.trim() === '' ? '{}\n' : text;
  const errors: ParseError[] = [];
  const there: unknown = unlessTooDeep(() => parse(result, errors));
  if (!isObject(there) || errors.length > 0) {
    throw new ThroughlineError(
      'config_invalid',
      `${path}: it is not a JSON object: write {"session": "NAME"}`,
    );
  }
  for (const field of FIELDS) {
    const value = given[field] ?? there[field] ?? defaults[field];
    if (value !== undefined && value !== there[field]) result = withField(result, field, value);
  }
  return result;
}

/** The text with our fields as they were in a copy from before the first client: what else has changed stays. */
export function projectTextBefore(text: string, copy: string): string {
  const [now, before]: unknown[] = [parse(text), parse(copy)];
  // Broken by hand since.
  if (!isObject(now) || !isObject(before)) return text;
  const fields = FIELDS.filter((field) => now[field] !== before[field]);
  const result = fields.reduce((rest, field) => withField(rest, field, before[field]), text);
  return isDeepStrictEqual(parse(result), before) ? copy : result;
}

function withField(text: string, field: string, value: unknown): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol };
  return applyEdits(text, modify(text, [field], value, { formattingOptions }));
}

/** Whether a file holds only what `throughline connect` writes: then it goes with the last client. */
export function isOnlyProject(text: string): boolean {
  const value: unknown = parse(text);
  return isObject(value) && Object.keys(value).every((key) => FIELDS.some((field) => field === key));
}
