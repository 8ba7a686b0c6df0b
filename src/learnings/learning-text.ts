import { createHash } from 'node:crypto';
import { MAX_LEARNING } from '../contracts/learning-events.js';
import { clipText, quoted } from '../shared/text.js';
import { withoutPlaces } from './without-places.js';

/** The text of a learning, and when two texts say the same. */

/** One quoted line of at most 200 characters; empty where nothing is left. */
export function learningText(text: string): string {
  return clipText(quoted(text), MAX_LEARNING);
}

/** Tags as they are kept: one line each, none twice. */
export function learningTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(learningText))].filter((tag) => tag !== '');
}

/** Id of a text in a project: the same for texts that differ in case, sentence marks or spaces only. */
export function learningId(project: string, text: string): string {
  return idOf(project, keyOf(text));
}

/** Id of a reviewer's demand: places differ from task to task, so paths and numbers do not count. */
export function demandId(project: string, text: string): string {
  const placeless = wordsOf(withoutPlaces(text));
  return idOf(project, placeless.length < FEWEST_WORDS ? keyOf(text) : placeless.join(' '));
}

/** Without its places a demand must still say something: `Fix src/a.ts` is about that file. */
const FEWEST_WORDS = 2;

/** Whether two texts differ in case, sentence marks or spaces only. */
export function sameText(a: string, b: string): boolean {
  return keyOf(a) === keyOf(b);
}

/** A near-duplicate shares at least this part of all words of both texts. */
export const NEAR_DUPLICATE = 0.7;

/** The distinct words of a text, and what they are compared by. */
export interface WordSet {
  readonly text: string;
  readonly words: ReadonlySet<string>;
  readonly negated: boolean;
}

export function wordSet(text: string): WordSet {
  const words = new Set(wordsOf(text));
  return { text, words, negated: negations(words) === 1 };
}

/**
 * How much of the words of two texts is the same, 0 to 1. A text that negates and one that does not are never alike:
 * they may be one word apart and say the opposite.
 */
export function likeness(a: WordSet, b: WordSet): number {
  if (a.negated !== b.negated) return 0;
  if (a.words.size === 0 || b.words.size === 0) return sameText(a.text, b.text) ? 1 : 0;
  let shared = 0;
  for (const word of a.words) if (b.words.has(word)) shared += 1;
  return shared / (a.words.size + b.words.size - shared);
}

// Operators are words as well: `==` and `===`, or C, C++ and C#, are not the same.
const WORD =
  /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:\+\+|#)?|[=!<>]=+|&&|\|\||(?<=\s)[<>](?=\s)|(?<=^|\s)--?(?=[\p{L}\p{N}])/gu;

const NEGATION =
  /^(?:not|no|none|nothing|never|neither|nor|cannot|without|avoid|stop|forbid|(?:do|does|did|is|are|was|were|has|have|had|wo|ca|could|should|would|must|need)nt)$/;

/** The words of a text in their order, in one form of each letter. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase().replace(/['’]/g, '');
  return plain.match(WORD) ?? [];
}

/** What texts that say the same have in common; one of signs alone is its own. */
function keyOf(text: string): string {
  const words = wordsOf(text);
  return words.length === 0 ? text : words.join(' ');
}

function negations(words: ReadonlySet<string>): number {
  let count = 0;
  for (const word of words) if (NEGATION.test(word)) count += 1;
  return count % 2;
}

function idOf(project: string, key: string): string {
  return createHash('sha256').update(`${project}\u001f${key}`).digest('hex').slice(0, 12);
}
