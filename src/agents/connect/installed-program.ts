import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Where a program is on the path of an environment; `undefined` where it is not. */
export function installedProgram(
  name: string,
  { PATH = '', PATHEXT = '' }: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const endings = process.platform === 'win32' ? PATHEXT.split(';') : [''];
  return PATH.split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .flatMap((folder) => endings.map((ending) => join(folder, name + ending)))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
