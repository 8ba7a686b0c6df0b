import { type Refusal, refuse } from '../../contracts/decision.js';

/**
 * How much a session may keep. Commands refuse more. Stored events are folded whatever their number, so that the
 * meaning of a log never changes.
 */
export const MOST = {
  /** All of them stand in one reply of `note-list`. */
  notes: 1000,
  unread: 1000,
  /** Messages are kept when they have been read. */
  messages: 5000,
  tasks: 5000,
  /** Characters of all notes together, of all messages, and of all tasks. */
  text: 1_000_000,
} as const;

/** The refusal of one more if `held` has reached the limit. */
export function full(what: string, held: number, most: number, fix: string): Refusal | undefined {
  return held < most
    ? undefined
    : refuse('limit_reached', `the session holds ${held} ${what}, the limit is ${most}: ${fix}`, {
        limit: most,
      });
}

/** The refusal of a text for which all others leave no room. */
export function fullText(
  what: string,
  others: Iterable<{ readonly content: string }>,
  content: string,
  fix: string,
): Refusal | undefined {
  let characters = content.length;
  for (const other of others) characters += other.content.length;
  return characters <= MOST.text
    ? undefined
    : refuse(
        'limit_reached',
        `content: all ${what} of the session would have ${characters} characters, the limit is ${MOST.text}: ${fix}`,
        { limit: MOST.text },
      );
}
