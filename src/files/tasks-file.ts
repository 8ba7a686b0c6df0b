import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { messageOf } from '../errors.js';
import type { TasksFile, TasksFileFault } from '../ports/tasks-file.js';

const MAX_BYTES = 4 * 1024 * 1024;
// A pipe would keep its reader waiting for ever.
const NOT_A_FILE = 'is not a file';

/** Task files on this machine, under `roots` only; a relative path starts at the first root. */
export function localTasksFile(roots: readonly string[]): TasksFile {
  const located = async (path: string): Promise<{ readonly real: string } | TasksFileFault> => {
    const [first] = roots;
    if (first === undefined) return { fault: 'no root is configured: set THROUGHLINE_TASKS_ROOTS' };
    try {
      const real = await realpath(isAbsolute(path) ? path : resolve(first, path));
      const allowed = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
      if (allowed.some((root) => root !== undefined && isInside(root, real))) return { real };
      return {
        fault: `lies outside the configured roots (${roots.join(', ')}): see THROUGHLINE_TASKS_ROOTS`,
      };
    } catch (error) {
      return { fault: messageOf(error) };
    }
  };
  return {
    async modified(path) {
      const place = await located(path);
      if ('fault' in place) return place;
      try {
        const found = await stat(place.real);
        return found.isFile() ? { mtimeMs: found.mtimeMs } : { fault: NOT_A_FILE };
      } catch (error) {
        return { fault: messageOf(error) };
      }
    },
    async read(path) {
      const place = await located(path);
      if ('fault' in place) return place;
      try {
        const found = await stat(place.real);
        const { mtimeMs, size } = found;
        if (!found.isFile()) return { fault: NOT_A_FILE };
        if (size > MAX_BYTES) return { fault: `has ${size} bytes, the limit is ${MAX_BYTES}` };
        return { text: await readFile(place.real, 'utf8'), mtimeMs };
      } catch (error) {
        return { fault: messageOf(error) };
      }
    },
  };
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
