import { kindOf } from '../../contracts/kinds.js';
import { RELATIONS } from '../../contracts/relations.js';
import { onceForEach } from '../../shared/collections.js';
import { tokens } from '../search/tokens.js';
import { isSummary, type SessionFact } from './fact-types.js';

export interface WorkDone {
  readonly sequence: number;
  readonly at: string;
  readonly task: string;
  readonly words: ReadonlySet<string>;
  readonly parts: readonly Clause[];
  /** Words of each action that it leaves to do itself. */
  readonly left: readonly ReadonlySet<string>[];
}

interface Clause {
  readonly words: ReadonlySet<string>;
  /** Words by which it may say that something is not done. */
  readonly denials: readonly string[];
}

/** Share of the words of an action that a result must name: all of two or three, four of five. */
const ANY_TASK = 0.8;
/** A result of the same task needs two of three words. */
const SAME_TASK = 0.65;
const LEAST_WORDS = 2;

/** Words that say that something is to be done, but not what. */
const DOING: ReadonlySet<string> = new Set(
  tokens(
    '/add added adding write wrote written make made create implement fix update change improve set let do put give ensure need please',
  ),
);
const CLAUSE = /(?:[.!?;]|,? (?:but|though|aber|doch|pero|mais|mas))\s+|[。！？；]/u;
const NOT_DONE =
  /(?<!\p{L})(?:not|no|never|without|cannot|still|yet|todo|later|remains?|left|missing|needs?|should|will|must|planned|nicht|kein\p{L}*|ohne|noch|fehlt|offen|soll\p{L}*|muss|wird|sin|aún|todavía|falta|debe|ne|pas|sans|encore|reste|manque|doit|não|sem|ainda)(?!\p{L})|n['’]t\b|ない|ません|まだ|未|不|没|沒|还|残/giu;

/** Returns what the facts of a result say about work that was done; undefined if none was. */
export const workDone = onceForEach((facts: readonly SessionFact[]): WorkDone | undefined => {
  const summary = facts.find((fact) => isSummary(fact) && kindOf(fact.sourceRole).part !== 'review');
  if (summary === undefined || summary.history === true) return undefined;
  const { sourceSequence: sequence, validFrom: at, sourceTaskId: task, sourceRole } = summary;
  const objectsOf = (name: string) => facts.filter(({ relation }) => relation === name);
  const files = objectsOf(RELATIONS.changedBy).map(({ subject }) => subject);
  const { verdict } = kindOf(sourceRole).relations;
  const isDone =
    verdict === undefined
      ? files.length > 0
      : objectsOf(verdict).some(({ object }) => object === 'completed');
  if (!isDone) return undefined;
  const clauses = [...summary.object.split(CLAUSE), [task, ...files].join('\n')];
  const parts = clauses.map((text, index) => ({
    words: new Set(tokens(`/${text}`)),
    denials: index < clauses.length - 1 ? denialsIn(text) : [],
  }));
  const left = objectsOf(RELATIONS.requires).map(({ object }) => new Set(wordsOf(object)));
  const words = new Set(parts.flatMap((part) => [...part.words]));
  return { sequence, at, task, words, parts, left };
});

function denialsIn(text: string): string[] {
  return (text.match(NOT_DONE) ?? []).map((word) => word.toLowerCase().replace(/^n['’]t$|^cannot$/, 'not'));
}

/**
 * True if the work is what an action asks for: it names nearly all that the action names. Precision comes before recall,
 * because an action that is wrongly taken for done is forgotten. A clause that denies something counts only for an action
 * that denies the same: "do not block on start" is done by "start does not block".
 *
 * @param action the words of the action, by `wordsOf`
 */
export function isDoneBy(
  action: readonly string[],
  { object, sourceTaskId }: SessionFact,
  { task, words, parts, left }: WorkDone,
): boolean {
  const least = task === sourceTaskId ? SAME_TASK : ANY_TASK;
  // Before clauses are read: most actions share a word with the work by chance.
  if (action.length > 1 && !isNamed(action, (word) => words.has(word), least)) return false;
  const denials = denialsIn(object);
  const counted = parts.filter((part) => part.denials.every((word) => denials.includes(word)));
  const [only] = action;
  if (action.length === 1 && only !== undefined)
    return counted.some(({ words }) => isAlone(only, words)) && !left.some((part) => part.has(only));
  const has = (word: string) => counted.some(({ words }) => words.has(word));
  if (!isNamed(action, has, least)) return false;
  return (
    namesIn(object).every(has) && !left.some((part) => isNamed(action, (word) => part.has(word), SAME_TASK))
  );
}

function isAlone(only: string, words: ReadonlySet<string>): boolean {
  return words.has(only) && [...words].every((word) => word === only || DOING.has(word));
}

/** Returns the words of names such as `request-timeout.test.js`: another file with nearly the same name is another one. */
function namesIn(action: string): string[] {
  const names = action.split(/[\s,;()"'`]+/).filter((word) => /[\p{L}\p{N}][-_./:][\p{L}\p{N}]/u.test(word));
  return tokens(`/${names.join(' ')}`);
}

function isNamed(action: readonly string[], has: (word: string) => boolean, least: number): boolean {
  let spare = spareOf(action, least);
  for (const word of action) {
    if (has(word)) continue;
    spare -= 1;
    if (spare < 0 || /\d/.test(word)) return false;
  }
  return spare >= 0;
}

function spareOf(action: readonly string[], least: number): number {
  return action.length - Math.max(LEAST_WORDS, least * action.length);
}

/** Returns words of an action of which the work that did it names at least one: a number, or enough of its longest words. */
export function neededWords(action: readonly string[]): readonly string[] {
  const number = action.find((word) => /\d/.test(word));
  if (number !== undefined) return [number];
  const longestFirst = action.toSorted((one, two) => two.length - one.length);
  return longestFirst.slice(0, 1 + Math.max(0, Math.floor(spareOf(action, SAME_TASK))));
}

export function wordsOf(action: string): string[] {
  return tokens(`/${action.replace(/\p{L}{1,8}n['’]t(?!\p{L})/giu, ' ')}`).filter((word) => !DOING.has(word));
}
