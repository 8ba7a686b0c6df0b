import { hash } from 'node:crypto';
import { compile, type z } from 'zod';
import { plainPath } from '../shared/text.js';
import type { Role } from './kinds.js';
import { RESULTS, type RoleResult } from './results.js';

export const RESULT_KEY_LENGTH = 12;

/**
 * Returns the key by which the fold recognizes a result that is published again: 72 bits of a SHA-256, since an id may
 * be long or contain a secret. The key covers role and task, so results of different tasks may share an id. Returns
 * undefined without any id.
 *
 * @param messageId used when the result has no `result_id`
 */
export function resultKey({ role, result }: RoleResult, messageId?: string): string | undefined {
  const { result_id: own, task_id: task } = result;
  const id = own ?? messageId;
  if (id === undefined) return undefined;
  const whole = JSON.stringify([own === undefined ? 'message' : 'result', role, task, id]);
  return hash('sha256', whole, 'base64url').slice(0, RESULT_KEY_LENGTH);
}

const compiled = new Map<Role, z.ZodType>();

/** Compiling takes some milliseconds: worth it only when many bodies are parsed. */
export function compiledResult(role: Role): z.ZodType {
  const known = compiled.get(role);
  if (known !== undefined) return known;
  const schema = compile(RESULTS[role]);
  compiled.set(role, schema);
  return schema;
}

/** Normalizes the paths of a result with `plainPath`. Returns the same object if nothing changes. */
export function withPlainPaths<Returned extends RoleResult>(returned: Returned): Returned {
  const { files_modified: files, issues } = returned.result as AnyPaths;
  const isPlain = (path: string | undefined) => path === undefined || plainPath(path) === path;
  if ((files?.every(isPlain) ?? true) && (issues?.every(({ file }) => isPlain(file)) ?? true))
    return returned;
  return {
    ...returned,
    result: {
      ...returned.result,
      ...(files !== undefined && { files_modified: files.map(plainPath) }),
      ...(issues !== undefined && {
        issues: issues.map((issue) =>
          issue.file === undefined ? issue : { ...issue, file: plainPath(issue.file) },
        ),
      }),
    },
  };
}

interface AnyPaths {
  readonly files_modified?: readonly string[];
  readonly issues?: readonly { readonly file?: string }[];
}
