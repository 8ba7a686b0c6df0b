import { createHash } from 'node:crypto';
import { MAX_LEARNING } from '../../contracts/learning-events.js';
import { clipText, quoted } from '../../shared/text.js';
import type {
  Learning,
  LearningState,
  Proposal,
  RankedLearning,
  RelevanceMethod,
} from './learnings-state.js';

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
const NEAR_DUPLICATE = 0.7;

/** The distinct words of a text, and what they are compared by. */
interface WordSet {
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

/**
 * Where in the code a demand was made, which differs from task to task: paths, files with line and column, numbers.
 *
 * What only looks like a place counts: `input/output` is not a path, nor is `path.join` a file. A demand taken for
 * another one is worse than one that is not seen to recur.
 */
const EXTENSIONS =
  'bash|c|cc|cjs|conf|cpp|cs|css|csv|cts|dart|env|ex|exs|go|gradle|h|hpp|htm|html|ini|java|js|json|jsonl|jsx|kt|kts|' +
  'less|lock|log|lua|m|md|mdx|mjs|mts|php|pl|proto|ps1|py|rb|rs|rst|sass|scala|scss|sh|snap|sql|svelte|svg|swift|' +
  'tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zig|zsh';

const SEGMENT = String.raw`[\p{L}\p{N}_@.~*+-]+`;
const SLASH = String.raw`[/\\]`;

const PLACES = [
  // A path from a root or the current folder, one of three parts or more, or one that names a folder.
  String.raw`(?<![\p{L}\p{N}])(?:[A-Za-z]:|\.{1,2}|~)?${SLASH}${SEGMENT}(?:${SLASH}${SEGMENT})*${SLASH}?`,
  `${SEGMENT}(?:${SLASH}${SEGMENT}){2,}${SLASH}?`,
  String.raw`${SEGMENT}${SLASH}(?=\s|$|[.,;:)\]}'"\x60])`,
  // A file, with or without the way to it.
  String.raw`(?:${SEGMENT}${SLASH})*[\p{L}\p{N}_@-][\p{L}\p{N}_@.-]*\.(?:${EXTENSIONS})(?![\p{L}\p{N}_(])(?!\.[\p{L}\p{N}])`,
  // Line and column after a file, or by themselves.
  String.raw`(?<![\p{L}\p{N}])[Ll]?\p{N}+(?![\p{L}\p{N}])`,
];

const PLACE = new RegExp(PLACES.join('|'), 'gu');

/** A text without the places that it names. */
function withoutPlaces(text: string): string {
  return text.replace(PLACE, ' ');
}

/** A learning that says nearly the same. */
interface NearDuplicate {
  readonly learning: string;
  readonly content: string;
  /** 0.7 to 1; 1 for the same words. */
  readonly similarity: number;
}

/** A learning never changes: its words are found once. */
const words = new WeakMap<Learning, WordSet>();

function wordsOfLearning(learning: Learning): WordSet {
  const known = words.get(learning) ?? wordSet(learning.content);
  words.set(learning, known);
  return known;
}

/** The active learning that comes closest to a text, if one says nearly the same; `except` is left out. */
export function nearDuplicate(state: LearningState, text: string, except: string): NearDuplicate | undefined {
  let best: NearDuplicate | undefined;
  let closest = 0;
  const said = wordSet(text);
  for (const learning of state.active.values()) {
    const { id, content } = learning;
    if (id === except) continue;
    const alike = likeness(said, wordsOfLearning(learning));
    // The same words may stand in another order: the very text is closer still.
    const closer = alike > closest || (alike === 1 && sameText(text, content));
    if (alike < NEAR_DUPLICATE || !closer) continue;
    closest = alike;
    best = { learning: id, content, similarity: Math.round(alike * 100) / 100 };
  }
  return best;
}

/** Learnings and proposals as a prompt shows them: one quoted line each. Empty where there are none. */

/** The part of a project's learnings that a prompt may show. */
export interface LearningsInPrompt {
  readonly method: RelevanceMethod;
  /** The most relevant first. */
  readonly ranked: readonly RankedLearning[];
  /** Active learnings. */
  readonly total: number;
  /** Proposals that wait for a decision, the newest first. */
  readonly pending: readonly Proposal[];
  /** Project sequence that this reflects. */
  readonly sequence: number;
}

export const NO_LEARNINGS: LearningsInPrompt = {
  method: 'recency',
  ranked: [],
  total: 0,
  pending: [],
  sequence: 0,
};

/**
 * `Relevant learnings (3/15):`, the best first, or `Recent learnings (5/15):` where only recency chose them. Scores are
 * not shown: they say an order, which the lines have, and depend on whether vectors came in time.
 */
export function formatRelevantLearnings({ method, ranked, total }: LearningsInPrompt): string {
  if (ranked.length === 0) return '';
  const title = method === 'recency' ? 'Recent' : 'Relevant';
  const lines = ranked.map(formatLearning);
  return [`${title} learnings (${ranked.length}/${total}):`, ...lines].join('\n');
}

/** The line of one learning. */
export function formatLearning({ learning }: RankedLearning): string {
  return `  - ${learning.type}: ${learningText(learning.content)}`;
}
