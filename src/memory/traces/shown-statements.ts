import { isObject } from '../../shared/text.js';
import { LINES_WANTED } from './labelled-lines.js';

/** The id of a statement of this session; that of another one has a name before it: `web/M7`. */
const ID = /(?<![\w/.-])[MN]\d[\d.]{0,20}(?:v\d+)?(?<!\.)/gi;

/** Returns the ids of statements that a text shows, in capitals. Those of the lines that we ask for are examples. */
export function idsIn(text: string): string[] {
  return [...new Set(text.replace(LINES_WANTED, '').match(ID))].map((id) => id.toUpperCase());
}

/**
 * Returns a result whose facts end only statements `shown` (capitals) to its agent; other ids go into `not_shown`. Those of
 * another session stay: the session does not have them.
 */
export function withShownOnly<Result extends object>(result: Result, shown: readonly string[]): Result {
  const known = new Set(shown);
  const isShown = (id: unknown) =>
    typeof id === 'string' && (id.includes('/') || known.has(id.trim().toUpperCase()));
  const marked = (fact: unknown): unknown => {
    if (!isObject(fact)) return fact;
    const ids = [fact.replaces ?? []].flat();
    const guessed = ids.filter((id) => !isShown(id));
    return guessed.length === 0 ? fact : { ...fact, replaces: ids.filter(isShown), not_shown: guessed };
  };
  const { facts } = result as { readonly facts?: unknown };
  if (facts === undefined || facts === null) return result;
  const all = [facts].flat();
  const some = all.map(marked);
  return some.every((fact, at) => fact === all[at]) ? result : { ...result, facts: some };
}
