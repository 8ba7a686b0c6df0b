import { plainPath } from '../shared/plain-path.js';
import type { RoleResult } from './results.js';

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
