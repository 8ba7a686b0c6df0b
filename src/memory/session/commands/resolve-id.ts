import { named } from '../../../shared/text.js';
import { type Decision, refuse } from './session-decision.js';

const SHORTEST_PREFIX = 3;
/** Limit of ids in a message. */
const SHOWN = 5;

type Resolved<T> = { readonly found: T } | { readonly refusal: Decision };

/**
 * Resolves an exact id, a bare number, or a unique prefix of at least three characters, ignoring case.
 *
 * @param what for messages: `task`, `note`, `message`
 * @param prefix of ids: `TAS`
 */
export function resolveId<T>(
  items: ReadonlyMap<string, T>,
  given: string,
  what: string,
  prefix: string,
): Resolved<T> {
  const wanted = given.trim().toUpperCase();
  const exact =
    items.get(wanted) ?? (/^[1-9]\d*$/.test(wanted) ? items.get(`${prefix}-${wanted}`) : undefined);
  if (exact !== undefined) return { found: exact };
  const fitting =
    wanted.length < SHORTEST_PREFIX ? [] : [...items.keys()].filter((id) => id.startsWith(wanted));
  const [only] = fitting;
  const found = fitting.length === 1 && only !== undefined ? items.get(only) : undefined;
  if (found !== undefined) return { found };
  if (fitting.length > 1) {
    const message = `${what} ${JSON.stringify(given)} could be ${named(fitting, SHOWN)}: give the whole id`;
    return { refusal: refuse('ambiguous', message, { id: given, candidates: fitting.slice(0, 20) }) };
  }
  const known =
    items.size === 0 ? `the session has no ${what}s` : `known: ${named([...items.keys()], SHOWN)}`;
  return { refusal: refuse('not_found', `no ${what} ${JSON.stringify(given)}; ${known}`, { id: given }) };
}
