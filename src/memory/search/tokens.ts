import { stemmer } from 'stemmer';
import { lowerBound, onceFor } from '../../shared/collections.js';
import { withoutEnd } from '../../shared/text.js';

/**
 * The one tokenizer: facts, results, paths, learnings and queries are compared by its tokens.
 *
 * Splits at anything but letters and digits of any script, then at camelCase borders and between letters and digits;
 * the whole identifier counts too. Words longer than three letters are stemmed. Chinese, Japanese and Korean text
 * becomes bigrams. A commit type or leading verb becomes one token in angle brackets, so that `fix:`, `Fixed` and
 * `bugfix` are equal.
 */

// The number in `#123` does not describe what it names.
const RUNS = /#\d+|[\p{L}\p{N}\p{M}]+/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the first of all characters
const FOREIGN = /[^\u0000-\u007f]/;
const ASCII = /^[a-zA-Z\d]+$/;
// A letter before a number belongs to it: `e2e`, `k8s` and `v2` are one word each.
const WORDS = /[a-zA-Z]\d+(?:[a-zA-Z](?![a-z]))?|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const TYPE = /^\s{0,8}\[?([a-zA-Z]{2,12})(?:\]|(?:\([^()]{0,64}\))?!?:)/;
const LEADING = /^\s{0,8}([a-zA-Z]{2,12})(?![\p{L}\p{N}_:/.-])/u;

/** Longer tokens are never repeated by another text. */
const MAX_TOKEN = 40;

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the is are was were be been being have has had do does did will would shall should may might can could ' +
    'of in to for with on at by from as or and but not no this that it its if when so than then into ' +
    'use uses used using only all any each both some via you your we our they their there here just also even still ' +
    'very too such same more most other another one how what which who where while about get'
  ).split(' '),
);

const ACTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    fix: 'fix fixes fixed fixing bugfix hotfix correct corrects corrected repair resolve resolves',
    feat: 'feat feature features add adds added adding implement implements implemented introduce create support',
    docs: 'docs doc document documentation',
    test: 'test tests testing',
    refactor: 'refactor refactors refactored refactoring rename move extract simplify cleanup clean',
    chore: 'chore bump bumps upgrade deps release',
    update: 'update updates updated change changes changed improve improves enhance',
    remove: 'remove removes removed drop drops dropped delete deletes deleted',
    perf: 'perf optimize optimise',
    ci: 'ci build',
    style: 'style format lint',
    revert: 'revert reverts reverted',
  }).flatMap(([action, words]) => words.split(' ').map((word) => [word, `<${action}>`] as const)),
);

/** Returns the distinct tokens in order of first occurrence, at most `most`. */
export function tokens(text: string, most = Number.POSITIVE_INFINITY): string[] {
  return [...tokenCounts(text, most).keys()].slice(0, most);
}

/** Limits of a query, in characters and tokens: the first words state the subject of a task. */
export const MAX_QUERY = 8000;
export const MAX_TOKENS = 400;

/** Returns the tokens of a query. Several searches of a prompt need them. */
export const queryTokens = onceFor((query: string): readonly string[] =>
  tokens(query.slice(0, MAX_QUERY), MAX_TOKENS),
);

/** Returns how often each token occurs, in order of first occurrence; stops once there are `most` of them. */
export function tokenCounts(text: string, most = Number.POSITIVE_INFINITY): Map<string, number> {
  const counts = new Map<string, number>();
  const [whole = '', word = ''] = TYPE.exec(text) ?? LEADING.exec(text) ?? [];
  const token = ACTIONS.get(word.toLowerCase());
  if (token !== undefined) counts.set(token, 1);
  // The scope after the word is kept.
  const rest = token === undefined ? text : text.slice(whole.indexOf(word) + word.length);
  for (const [run] of plain(rest).matchAll(RUNS)) {
    if (counts.size >= most) break;
    if (!run.startsWith('#'))
      for (const token of tokensOf(run)) counts.set(token, (counts.get(token) ?? 0) + 1);
  }
  return counts;
}

export function plainWords(text: string, most = Number.POSITIVE_INFINITY): string[] {
  const found: string[] = [];
  for (const [run] of plain(text).matchAll(RUNS)) {
    if (found.length >= most) break;
    if (!run.startsWith('#') && run.length <= MAX_TOKEN) found.push(run.toLowerCase());
  }
  return found;
}

/** Normalizes half-width, full-width and decomposed characters. */
export function plain(text: string): string {
  return FOREIGN.test(text) ? text.normalize('NFKC') : text;
}

/** A cache of the tokens of a run: words recur. */
const known = new Map<string, readonly string[]>();
const MAX_KNOWN = 20_000;

function tokensOf(run: string): readonly string[] {
  const before = known.get(run);
  if (before !== undefined) return before;
  // A copy, since V8 keeps the whole text in memory for a slice of it.
  const copy = Buffer.from(run).toString();
  const found = new Set<string>();
  if (ASCII.test(copy)) addWords(copy.match(WORDS) ?? [], copy, found);
  else addForeign(copy, found);
  const result = [...found];
  if (copy.length > MAX_TOKEN) return result;
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(copy, result);
  return result;
}

function addWords(parts: readonly string[], run: string, found: Set<string>): void {
  for (const part of parts) addWord(part.toLowerCase(), found);
  if (parts.length > 1 && run.length <= MAX_TOKEN) found.add(run.toLowerCase());
}

function addWord(word: string, found: Set<string>): void {
  if (word.length > MAX_TOKEN || STOP_WORDS.has(word)) return;
  found.add(word.length > 3 ? stemmer(word) : word);
}

/** Splits text of any script: bigrams for scripts without spaces, words for the rest. */
function addForeign(run: string, found: Set<string>): void {
  let dense: string[] = [];
  let parts: string[] = [];
  let part = '';
  let before = '';
  const endPart = () => {
    if (part !== '') parts.push(part);
    part = '';
  };
  const endWord = () => {
    endPart();
    const whole = parts.join('');
    addWords(ASCII.test(whole) ? (whole.match(WORDS) ?? []) : parts, whole, found);
    parts = [];
  };
  const endDense = () => {
    if (dense.length === 1) found.add(dense[0] ?? '');
    for (let at = 1; at < dense.length; at += 1) found.add(`${dense[at - 1]}${dense[at]}`);
    dense = [];
  };
  for (const character of run) {
    if (CJK.test(character)) {
      endWord();
      dense.push(character);
      before = '';
      continue;
    }
    endDense();
    const kind = kindOfCharacter(character);
    if (before !== '' && kind !== before && !(before === 'upper' && kind === 'lower')) endPart();
    part += character;
    before = kind;
  }
  endDense();
  endWord();
}

function kindOfCharacter(character: string): 'digit' | 'upper' | 'lower' {
  if (/\p{N}/u.test(character)) return 'digit';
  return /\p{Lu}/u.test(character) ? 'upper' : 'lower';
}

/** Words common to all texts, which do not indicate a common subject. */
const COMMON: ReadonlySet<string> = new Set(
  // The dash prevents the first word from being read as a verb.
  tokens(
    '- i me my you your we us our they them their he she his her who whose which what where when why how while because ' +
      'since until before after during about without within over under between through out off up down here there ' +
      'all any each every both some few more most less other another such only own same too very just also even still ' +
      'yet again ever never always often now one two first last next new old good better best well way thing something ' +
      'nothing everything like per via instead rather must need let please prefer avoid ensure make made making use ' +
      'using get go going put take give keep run work task want know see look say try add fix change update create ' +
      'implement improve support write wrote written logic method function specify specific specified',
  ),
);

const COMMIT_TYPE = /^\s{0,8}(?:\w{2,12}(?:\([^()]{0,40}\))?!?: |\[\w{2,12}\] )/;
const ROUTINES: readonly RegExp[] = [
  /^\[?(?:bump(?:s|ed|ing)?|releas(?:e|ed|ing) v?\d+|merged? (?:branch|commit|pull request|remote|tag))\b/i,
  /^(?:version )?v?\d{1,4}\.\d{1,4}\S{0,20}(?: \(#\d{1,7}\))?$/i,
  /^update (?:all )?(?:the )?(?:non-major )?(?:dev)?(?:deps|dependenc)/i,
  /^(?:auto-?update|(?:re|auto-?)generate)d?\b/i,
  /\bhas signed the (?:cla|contributor license agreement)\b/i,
  /^update (?:\S{1,60} ){1,4}to \^?v?\d/i,
  /^(?:run |ran |fix(?:ed)? )?(?:lint|fmt|format|formatting|prettier|whitespace|indentation|typos?|cog)(?: fix(?:es)?)?(?: \(#\d{1,7}\))?$/i,
];

export function isRoutine(summary: string): boolean {
  return [summary, withoutType(summary)].some((text) => ROUTINES.some((routine) => routine.test(text)));
}

/** Returns what a commit's subject says behind its type and scope. */
export function withoutType(subject: string): string {
  return subject.replace(COMMIT_TYPE, '');
}

/** True if sharing the token indicates a common subject: false for common words and bare numbers. */
export function isTelling(token: string): boolean {
  return !COMMON.has(token) && !/^\p{N}+$/u.test(token);
}

const MAX_READ = 2000;

/** Returns the ids that a text may name, in lower case: words with a digit, whole numbers only as `task 2` or `#2`. */
export function mentionsIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { groups } of text.slice(0, MAX_READ).toLowerCase().matchAll(MENTION)) {
    const id = withoutEnd(groups?.id ?? '');
    if (!/^\d+$/.test(id) || groups?.task !== undefined) found.add(id);
  }
  return found;
}

const MENTION =
  /(?:(?<task>\btask(?!\p{L})[ :#-]{0,3}|#)|(?<![\p{L}\p{N}_.-]))(?<id>(?=[\p{L}_.-]{0,40}\p{N})[\p{L}\p{N}][\p{L}\p{N}_.-]{0,63})/gu;

export interface IndexedText {
  /** Higher than that of each text added before. */
  readonly slot: number;
  readonly words: readonly string[];
  readonly times: readonly number[];
  /** Its size in words, which makes each of them count less. */
  readonly length: number;
}

/** The texts that have a word, and how often each has it. */
interface Posting<Text> {
  readonly entries: Text[];
  readonly times: number[];
}

const NOWHERE: Posting<never> = { entries: [], times: [] };

/** The one index of words: facts, changed files and learnings are found by it, with BM25. */
export class WordIndex<Text extends IndexedText> {
  readonly #postings = new Map<string, Posting<Text>>();
  #texts = 0;
  #words = 0;

  get size(): number {
    return this.#texts;
  }

  get averageLength(): number {
    return this.#texts === 0 ? 1 : this.#words / this.#texts;
  }

  of(word: string): Posting<Text> {
    return this.#postings.get(word) ?? NOWHERE;
  }

  add(text: Text): void {
    this.#texts += 1;
    this.#words += text.length;
    for (const [at, word] of text.words.entries()) {
      const posting = this.#postings.get(word) ?? { entries: [], times: [] };
      this.#postings.set(word, posting);
      posting.entries.push(text);
      posting.times.push(text.times[at] as number);
    }
  }

  remove(text: Text): void {
    this.#texts -= 1;
    this.#words -= text.length;
    for (const word of text.words) {
      const { entries, times } = this.of(word);
      const at = placeIn(entries, text);
      if (entries.length === 1) this.#postings.delete(word);
      else if (at >= 0) for (const list of [entries, times]) list.splice(at, 1);
    }
  }

  /**
   * Calls `found` with each text that has a word of the query, the times that it has it, and its score for the word: the share
   * of the query's weight that the word has, less in a long text. The scores of a text add up to at most 1.
   */
  search(
    words: readonly string[],
    found: (text: Text, score: number, word: string, times: number) => void,
  ): void {
    const weights = words.map((word) => rarity(this.of(word).entries.length, this.#texts));
    const whole = weights.reduce((sum, weight) => sum + weight, 0);
    for (const [place, word] of words.entries()) {
      const share = (weights[place] as number) / whole;
      const { entries, times } = this.of(word);
      for (const [at, text] of entries.entries()) {
        const count = times[at] as number;
        found(text, share * saturation(count, text.length / this.averageLength), word, count);
      }
    }
  }
}

export function placeIn<Text extends Pick<IndexedText, 'slot'>>(texts: readonly Text[], text: Text): number {
  const at = lowerBound(texts, text.slot, ({ slot }) => slot);
  return texts[at] === text ? at : -1;
}

/** The usual constants: saturation of repetitions, and weight of length. */
const K1 = 1.2;
const B = 0.75;

export function rarity(holders: number, all: number): number {
  return Math.log(1 + (all - holders + 0.5) / (holders + 0.5));
}

/** Returns a word's share of its weight for `times` occurrences, 0 to 1; `relativeLength` is relative to the mean. */
export function saturation(times: number, relativeLength: number, weightOfLength = B): number {
  return times / (times + K1 * (1 - weightOfLength + weightOfLength * relativeLength));
}
