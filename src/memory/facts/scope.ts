import type { StatementScope } from '../../contracts/recorded-fact.js';
import { fileWords } from '../search/path-table.js';
import type { RecordedFact } from './fact-types.js';

/** Where a reader is, as a scope says where a statement holds. What is absent is not known, and excludes nothing. */
export type Here = { readonly [Part in keyof StatementScope]: Readonly<StatementScope[Part]> };
type Scoped = Pick<RecordedFact, 'scope'>;

/** True if a statement is meant for another task, other files or another branch. */
export function isElsewhere({ scope = {} }: Scoped, here: Here): boolean {
  const { task = here.task, branch = here.branch, paths } = scope;
  const isOther = (wanted = '', known = wanted) => wanted !== known;
  const areOthers = paths !== undefined && here.paths !== undefined && !areIn(here.paths, paths);
  return isOther(task, here.task) || isOther(branch, here.branch) || areOthers;
}

/** True if a statement is about files at hand: by its scope, else by the paths that it names. */
export function isAtHand({ scope, object }: RecordedFact, { paths = [] }: Here): boolean {
  return paths.length > 0 && areIn(paths, scope?.paths ?? fileWords(object));
}

/** One by subject or by contrast ends only what holds in the same place. */
export function isSameScope({ scope }: Scoped, other: Scoped): boolean {
  return scope === other.scope || JSON.stringify(scope) === JSON.stringify(other.scope);
}

/** A folder stands for all below it, and a star for anything: `legacy/`, `legacy/**`, `*.sql`. */
function areIn(paths: readonly string[], globs: readonly string[]): boolean {
  return globs.some((glob) => {
    const [start = '', ...rest] = glob
      .replace(/^\.?\//, '')
      .replace(/\/\*\*$/, '')
      .split(/\*+/);
    const end = rest.at(-1) ?? '';
    const folder = `/${start.replace(/\/$/, '')}/`;
    return paths.some((path) => {
      const below = `/${path.replaceAll('\\', '/').replace(/^\.?\//, '')}`;
      if (rest.length === 0)
        return path.startsWith('/') ? `${below}/`.includes(folder) : `${below}/`.startsWith(folder);
      const begins = path.startsWith('/') ? below.includes(`/${start}`) : below.startsWith(`/${start}`);
      return begins && below.endsWith(end);
    });
  });
}
