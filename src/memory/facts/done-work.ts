import { kindOf } from '../../contracts/kinds.js';
import { RELATIONS } from '../../contracts/relations.js';
import { tokens } from '../search/tokens.js';
import { isSummary, type SessionFact } from './fact-types.js';

export interface WorkDone {
  readonly sequence: number;
  readonly at: string;
  readonly task: string;
  readonly words: ReadonlySet<string>;
  /** Words of each action that it leaves to do itself. */
  readonly left: readonly ReadonlySet<string>[];
}

/** Share of the words of an action that a result must name: all of two or three, four of five. */
const ANY_TASK = 0.8;
/** A result of the same task needs two of three words. */
const SAME_TASK = 0.65;
const LEAST_WORDS = 2;

/** Words that say that something is to be done, but not what. */
const DOING: ReadonlySet<string> = new Set(
  tokens('/add write make create implement fix update change improve set let do put give ensure need please'),
);
const CLAUSE = /(?:[.!?;]|,? (?:but|though|aber|doch|pero|mais|mas))\s+|[。！？；]/u;
const NOT_DONE =
  /(?<!\p{L})(?:not|no|never|without|cannot|still|yet|todo|later|remains?|left|missing|needs?|should|will|must|planned|nicht|kein\p{L}*|ohne|noch|fehlt|offen|soll\p{L}*|muss|wird|sin|aún|todavía|falta|debe|ne|pas|sans|encore|reste|manque|doit|não|sem|ainda)(?!\p{L})|n['’]t\b|ない|ません|まだ|未|不|没|沒|还|残/iu;

/** Returns what the facts of a result say about work that was done; undefined if none was. */
export function workDone(facts: readonly SessionFact[]): WorkDone | undefined {
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
  const clauses = summary.object.split(CLAUSE).filter((clause) => !NOT_DONE.test(clause));
  const left = objectsOf(RELATIONS.requires).map(({ object }) => new Set(wordsOf(object)));
  return { sequence, at, task, words: new Set(tokens(`/${[...clauses, task, ...files].join('\n')}`)), left };
}

/**
 * True if the work is what an action asks for: it names nearly all that the action names. Precision comes before recall,
 * because an action that is wrongly taken for done is forgotten.
 *
 * @param action the words of the action, by `wordsOf`
 * @param from the task that left it to do
 */
export function isDoneBy(action: readonly string[], from: string, { task, words, left }: WorkDone): boolean {
  const least = task === from ? SAME_TASK : ANY_TASK;
  return isNamed(action, words, least) && !left.some((part) => isNamed(action, part, SAME_TASK));
}

/** True if the words that a text has are enough of those asked for, with every number. */
function isNamed(action: readonly string[], words: ReadonlySet<string>, least: number): boolean {
  let spare = spareOf(action, least);
  for (const word of action) {
    if (words.has(word)) continue;
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
  return longestFirst.slice(0, Math.max(0, Math.floor(spareOf(action, SAME_TASK)) + 1));
}

export function wordsOf(action: string): string[] {
  return tokens(`/${action}`).filter((word) => !DOING.has(word));
}
