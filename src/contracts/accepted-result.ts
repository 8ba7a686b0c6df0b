import { hash } from 'node:crypto';
import { compile, type z } from 'zod';
import { plainPath } from '../shared/plain-path.js';
import type { Role } from './kinds.js';
import { RESULTS, type RoleResult } from './results.js';

/** Characters of a key. */
export const RESULT_KEY_LENGTH = 12;

/**
 * What events and snapshots keep of a result's id: 72 bits of a SHA-256. An id may be long, or hold a secret; all that the
 * fold needs is to know it again. An id names a result of its role and task: agents that repeat the id of another's result,
 * or count from 1 in each task, lose nothing. Undefined without any id.
 *
 * @param messageId names the result where it has no `result_id`
 */
export function resultKey({ role, result }: RoleResult, messageId?: string): string | undefined {
  const { result_id: own, task_id: task } = result;
  const id = own ?? messageId;
  if (id === undefined) return undefined;
  const whole = JSON.stringify([own === undefined ? 'message' : 'result', role, task, id]);
  return hash('sha256', whole, 'base64url').slice(0, RESULT_KEY_LENGTH);
}

const compiled = new Map<Role, z.ZodType>();

/** Compiled with the first body of its role, which takes some milliseconds: worth it for all but a few bodies. */
export function compiledResult(role: Role): z.ZodType {
  const known = compiled.get(role);
  if (known !== undefined) return known;
  const schema = compile(RESULTS[role]);
  compiled.set(role, schema);
  return schema;
}

/** A result with its paths as `plainPath` writes them; most have nothing to change, and stay the same object. */
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
