import { isDeepStrictEqual } from 'node:util';
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser';
import { ThroughlineError } from '../../contracts/errors.js';
import { isObject } from '../../shared/text.js';
import { unlessTooDeep } from './json-entries.js';

/** Fields of the `.throughline.json` that `throughline connect` writes. */
export interface ProjectFields {
  readonly session?: string;
  readonly project?: string;
  /** Path of a plan, relative to the folder of the file. */
  readonly plan?: string;
}

const FIELDS = ['session', 'project', 'plan'] as const;

/**
 * Returns the text of the file with the given fields, and defaults for missing ones. Other fields are kept.
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

/** Restores our fields from a copy before the first client. Keeps other changes. */
export function projectTextBefore(text: string, copy: string): string {
  const [now, before]: unknown[] = [parse(text), parse(copy)];
  // The file was damaged by hand.
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

/** Returns true if a file has only fields that `throughline connect` writes: it is removed with the last client. */
export function isOnlyProject(text: string): boolean {
  const value: unknown = parse(text);
  return isObject(value) && Object.keys(value).every((key) => FIELDS.some((field) => field === key));
}
