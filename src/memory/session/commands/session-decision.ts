import { ThroughlineError } from '../../../contracts/errors.js';
import {
  type DecisionOn,
  type Refusal,
  type ReplyOn,
  refuse,
  type Unstamped,
} from '../../../contracts/event.js';
import type { SessionEvent } from '../../../contracts/session-events.js';
import { named } from '../../../shared/text.js';
import { agentText, UNNAMED } from '../../../shared/wire-words.js';
import { currentNumber, openNumber } from '../iterations.js';
import type { SessionState } from '../session-state.js';

export { refuse } from '../../../contracts/event.js';

export type Decision = DecisionOn<SessionState, SessionEvent>;
export type Reply = ReplyOn<SessionState>;
export type NewEvent = Unstamped<SessionEvent>;

export function append(event: NewEvent, reply: Reply): Decision {
  return { kind: 'append', event, reply };
}

export function answer(reply: Reply): Decision {
  return { kind: 'answer', reply };
}

/** Returns the entry after a command. Throws `not_found` if another process deleted it before this one read its event. */
export function stillThere<Entry>(entry: Entry | undefined, id: string): Entry {
  if (entry !== undefined) return entry;
  throw new ThroughlineError('not_found', `${id} was changed, and then deleted by another request`);
}

export function iterationOf(state: SessionState): number {
  return currentNumber(state.history);
}

/** Returns the iteration of an agent's write: the running one, else the next, which it starts. */
export function workedIn({ history }: SessionState): { iteration: number } {
  return { iteration: openNumber(history) };
}

/** Limits of a session, enforced by commands only: stored events are always folded, so that no log changes its meaning. */
export const MOST = {
  /** All of them are in one reply of `note-list`. */
  notes: 1000,
  unread: 1000,
  /** Read messages are kept. */
  messages: 5000,
  answers: 1000,
  tasks: 5000,
  /** Characters of all notes, of all messages, and of all tasks. */
  text: 1_000_000,
} as const;

export function full(what: string, count: number, most: number, fix: string): Refusal | undefined {
  const message = `the session holds ${count} ${what}, the limit is ${most}: ${fix}`;
  return count < most ? undefined : refuse('limit_reached', message, { limit: most });
}

export function fullText(
  what: string,
  others: Iterable<{ readonly content: string }>,
  content: string,
  fix: string,
): Refusal | undefined {
  let characters = content.length;
  for (const other of others) characters += other.content.length;
  const all = `content: all ${what} of the session would have ${characters} characters`;
  const message = `${all}, the limit is ${MOST.text}: ${fix}`;
  return characters <= MOST.text ? undefined : refuse('limit_reached', message, { limit: MOST.text });
}

const SHORTEST_PREFIX = 3;
const SHOWN = 5;

type Resolved<T> = { readonly found: T } | { readonly refusal: Decision };

/**
 * Resolves an exact id, a bare number, or a unique prefix of at least three characters, ignoring case. `what` is `task`,
 * `note` or `message`, for messages; ids begin with `prefix`, such as `TAS`.
 */
export function resolveId<T>(
  items: ReadonlyMap<string, T>,
  given: string,
  what: string,
  prefix: string,
): Resolved<T> {
  const wanted = given.trim().toUpperCase();
  const exact = items.get(/^[1-9]\d*$/.test(wanted) ? `${prefix}-${wanted}` : wanted) ?? items.get(wanted);
  if (exact !== undefined) return { found: exact };
  const fitting =
    wanted.length < SHORTEST_PREFIX ? [] : [...items.keys()].filter((id) => id.startsWith(wanted));
  const found = fitting.length === 1 ? items.get(fitting[0] ?? '') : undefined;
  if (found !== undefined) return { found };
  if (fitting.length > 1) {
    const message = `${what} ${JSON.stringify(given)} could be ${named(fitting, SHOWN)}: give the whole id`;
    return { refusal: refuse('ambiguous', message, { id: given, candidates: fitting.slice(0, 20) }) };
  }
  const known =
    items.size === 0 ? `the session has no ${what}s` : `known: ${named([...items.keys()], SHOWN)}`;
  return { refusal: refuse('not_found', `no ${what} ${JSON.stringify(given)}; ${known}`, { id: given }) };
}

export interface Speaker {
  readonly by?: string | undefined;
  readonly person?: true | undefined;
}

/** Names who speaks in an event: no name that an agent or a program claims stands alone. */
export function speakerOf({ by, person }: Speaker): string {
  return person ? (by ?? UNNAMED) : agentText(by ?? 'without a name');
}
