import type { LeftTask, ProgressTask, TasksDocument } from '../contracts/plan-requests.js';
import { addTo, defined } from '../shared/collections.js';
import { isSlipOf } from '../shared/nearest-name.js';
import { MAX_TEXT } from './plan-document.js';

/**
 * Gives the tasks of a new version of a plan the ids that they had, so that an id means the same words for as long as its
 * session lives: results, findings, claims and leases stay with the task that they are about, late results too.
 *
 * An id that the author wrote stays as written, unless its results are about other words: words that share nothing but what
 * other tasks say too, or that stand at another id now, or stood there before. It is then `T001~2`. A
 * generated id stays with its words wherever they move, and with words that are mostly the same in the same place. New
 * words get an id that no other words had.
 */

/** The plan as it was: the ids that its lines had stay theirs. */
export type EarlierPlan = Pick<TasksDocument, 'tasks' | 'left'>;

type Line = Pick<ProgressTask, 'id' | 'text' | 'parent' | 'was' | 'written'>;

interface Words {
  readonly all: readonly string[];
  /** Those that say what it is about, unlike `add` and `the`; all of a text that has none. */
  readonly telling: ReadonlySet<string>;
  readonly numbers: string;
}

interface Worded<Task extends Line> {
  readonly task: Task;
  readonly words: Words;
  readonly key: string;
  /** Words of its parent, else of the heading in its id; without numbers. */
  readonly context: string;
}

interface Earlier extends Worded<Line> {
  /** Its words when its first result came. */
  readonly anchor: Words;
  readonly isLeft: boolean;
}

/** Returns the document with the ids that its tasks had. `unnamed`: not by the author; `isKnown`: has results or claims. */
export function withKeptIds(
  document: TasksDocument,
  unnamed: ReadonlySet<string>,
  before: EarlierPlan,
  isKnown: (id: string) => boolean,
): TasksDocument {
  if (before.tasks.length + (before.left?.length ?? 0) === 0) return document;
  const kept = hasSameLines(document, before)
    ? before.tasks.map((earlier): Kept => ({ id: earlier.id, earlier }))
    : keptIds(document, unnamed, before, isKnown);
  const ids = new Map(document.tasks.map(({ id }, at) => [id, kept[at]?.id ?? id]));
  const idOf = (id: string) => ids.get(id) ?? id;
  const tasks = document.tasks.map((task, at): ProgressTask => {
    const { id, text, parent, dependsOn, ...others } = task;
    const now = idOf(id);
    const earlier = kept[at]?.earlier;
    const was = earlier !== undefined && isKnown(now) ? (earlier.was ?? earlier.text) : text;
    return {
      id: now,
      text,
      ...(was !== text && { was }),
      ...(now !== id && !unnamed.has(id) && { written: id }),
      ...others,
      ...(parent !== undefined && { parent: idOf(parent) }),
      ...(dependsOn !== undefined && { dependsOn: dependsOn.map(idOf) }),
    };
  });
  const used = new Set(tasks.map(({ id }) => id));
  const isGone = ({ id }: { readonly id: string }) => !used.has(id);
  const left = leftTasks({ tasks: before.tasks.filter(isGone), left: (before.left ?? []).filter(isGone) });
  const known = left.filter(({ id }) => isKnown(id)).slice(-MAX_KNOWN);
  const others = new Set(left.filter(({ id }) => !isKnown(id)).slice(-MAX_UNKNOWN));
  const remembered = left.filter((task) => others.has(task) || known.includes(task));
  return { ...document, tasks, ...(remembered.length > 0 && { left: remembered }) };
}

/** True for a plan that is read again, with other boxes ticked at most. */
function hasSameLines({ tasks }: TasksDocument, before: EarlierPlan): boolean {
  const isSame = ({ id, text, written = id }: ProgressTask, now: ProgressTask | undefined) =>
    text === now?.text && written === now.id;
  return tasks.length === before.tasks.length && before.tasks.every((task, at) => isSame(task, tasks[at]));
}

/** Limits of departed tasks that are remembered: with results, as many as a session keeps ledgers, and without. */
const MAX_KNOWN = 300;
const MAX_UNKNOWN = 100;

/** Returns all tasks of a plan as tasks of an earlier version, the newest last. */
export function leftTasks({ tasks, left = [] }: EarlierPlan): LeftTask[] {
  return [...left, ...tasks.map(({ id, text, was = text, written }) => defined({ id, text: was, written }))];
}

interface Kept {
  readonly id: string;
  readonly earlier?: Line;
}

export function keptIds(
  now: { readonly tasks: readonly Line[] },
  unnamed: ReadonlySet<string>,
  before: { readonly tasks: readonly Line[] } & Omit<EarlierPlan, 'tasks'>,
  isKnown: (id: string) => boolean,
): Kept[] {
  const known = (tasks: readonly Line[], isLeft: boolean) =>
    worded(tasks).map((line): Earlier => {
      const { was } = line.task;
      return { ...line, anchor: was === undefined ? line.words : wordsOf(was), isLeft };
    });
  const earlier = [...known(before.tasks, false), ...known(before.left ?? [], true).reverse()];
  const lines = worded(now.tasks);
  const isNamed = ({ task }: Worded<Line>) => !unnamed.has(task.id);
  const found = new Map<Worded<Line>, Earlier>();
  const matching = { lines, earlier, found, isNamed };
  matchNames(matching, isKnown);
  matchWords(matching);
  matchPlaces(matching);
  const used = new Set([...found.values()].map(({ task }) => task.id));
  const given = new Set(earlier.map(({ task }) => task.id));
  const fresh = freshIds(used, (id, isWritten) => given.has(id) || (isKnown(id) && !isWritten));
  const ids = new Map<Worded<Line>, string>();
  // An id that the author wrote comes before one that is generated.
  for (const line of [...lines.filter(isNamed), ...lines.filter((candidate) => !isNamed(candidate))])
    ids.set(line, found.get(line)?.task.id ?? fresh(line.task.id, isNamed(line)));
  return lines.map((line) => {
    const task = found.get(line)?.task;
    return { id: ids.get(line) ?? line.task.id, ...(task !== undefined && { earlier: task }) };
  });
}

interface Matching {
  readonly lines: readonly Worded<Line>[];
  readonly earlier: readonly Earlier[];
  readonly found: Map<Worded<Line>, Earlier>;
  readonly isNamed: (line: Worded<Line>) => boolean;
}

/** Finds the tasks of written ids. Results of an id that moved to other words do not go with it. */
function matchNames({ lines, earlier, found, isNamed }: Matching, isKnown: (id: string) => boolean): void {
  const byName = new Map<string, Earlier[]>();
  for (const former of earlier) addTo(byName, former.task.written ?? former.task.id, former);
  const ordered = earlier.filter(({ isLeft }) => !isLeft);
  const keysNow = new Set(lines.map(({ key }) => key));
  const keysBefore = new Set(ordered.map(({ key }) => key));
  const isUnique = uniqueWords(lines, ordered);
  for (const line of lines.filter(isNamed)) {
    const candidates = byName.get(line.task.id) ?? [];
    const fits = ({ task, key, anchor }: Earlier) =>
      !isKnown(task.id) ||
      (!keysNow.has(key) &&
        !keysBefore.has(line.key) &&
        (likenessOf(anchor, line.words) > 0.5 ||
          [...line.words.telling].some((word) => isUnique(word) && anchor.telling.has(word))));
    const one = candidates.find(({ key }) => key === line.key) ?? candidates.find(fits);
    if (one !== undefined) found.set(line, one);
  }
}

/** Finds lines with equal words: under the same heading in their order, else where the words stand only once. */
function matchWords({ lines, earlier, found, isNamed }: Matching): void {
  const below = ({ context, key }: Worded<Line>) => `${context}\n${key}`;
  const alone = ({ key }: Worded<Line>) => key;
  const rounds = [
    { nameOf: below, isOnce: false, isLeft: false },
    { nameOf: alone, isOnce: true, isLeft: false },
    { nameOf: alone, isOnce: true, isLeft: true },
  ];
  for (const { nameOf, isOnce, isLeft } of rounds) {
    const taken = new Set(found.values());
    const olds = new Map<string, Earlier[]>();
    for (const former of earlier)
      if (former.isLeft === isLeft && !taken.has(former)) addTo(olds, nameOf(former), former);
    const news = new Map<string, Worded<Line>[]>();
    for (const line of lines) if (!isNamed(line) && !found.has(line)) addTo(news, nameOf(line), line);
    for (const [name, same] of news) {
      const old = olds.get(name) ?? [];
      if (isOnce && (same.length > 1 || (old.length > 1 && !isLeft))) continue;
      for (const [at, line] of same.entries()) {
        const one = old[at];
        if (one !== undefined) found.set(line, one);
      }
    }
  }
}

/** Lines in one gap that are compared with each other: a plan may be rewritten as a whole. */
const MOST_APART = 3;

/** Finds reworded lines: beside the same task, with its first word and over half the telling ones; the likeliest first. */
function matchPlaces({ lines, earlier, found, isNamed }: Matching): void {
  const taken = new Set(found.values());
  const present = earlier.filter(({ isLeft }) => !isLeft);
  const olds = gapsOf(present, (former) => (taken.has(former) ? former.task.id : undefined));
  const writtenAs = (line: Worded<Line>) => (isNamed(line) ? `written ${line.task.id}` : undefined);
  const news = gapsOf(lines, (line) => found.get(line)?.task.id ?? writtenAs(line));
  const pairs: { readonly line: Worded<Line>; readonly old: Earlier; readonly likeness: number }[] = [];
  for (const [gap, open] of news)
    for (const [at, line] of open.entries())
      for (const old of (olds.get(gap) ?? []).slice(Math.max(0, at - MOST_APART), at + MOST_APART)) {
        const likeness = likenessOf(old.anchor, line.words);
        if (likeness > 0.5 && beginsLike(old.anchor, line.words)) pairs.push({ line, old, likeness });
      }
  for (const { line, old } of pairs.sort((a, b) => b.likeness - a.likeness)) {
    if (found.has(line) || taken.has(old)) continue;
    found.set(line, old);
    taken.add(old);
  }
}

function gapsOf<Task>(tasks: readonly Task[], settledAs: (task: Task) => string | undefined) {
  const gaps = new Map<string, Task[]>();
  for (const [side, ordered] of [
    ['after', tasks],
    ['before', tasks.toReversed()],
  ] as const) {
    let beside = '';
    for (const task of ordered) {
      const settled = settledAs(task);
      if (settled !== undefined) beside = settled;
      else addTo(gaps, `${side} ${beside}`, task);
    }
  }
  return gaps;
}

/** Returns names for new words: `1#3` after `1#2`, `T001~2` after `T001`. */
function freshIds(
  used: Set<string>,
  isGiven: (id: string, isWritten: boolean) => boolean,
): (wanted: string, isWritten: boolean) => string {
  const counts = new Map<string, number>();
  return (wanted, isWritten) => {
    const [, ordinal, number] = /^(.*#)(\d+)$/.exec(wanted) ?? [];
    const stem = ordinal ?? `${wanted}~`;
    let count = Math.max(counts.get(stem) ?? 0, Number(number ?? 2));
    let id = wanted;
    for (; used.has(id) || isGiven(id, isWritten && id === wanted); count += 1) id = `${stem}${count}`;
    counts.set(stem, count);
    used.add(id);
    return id;
  };
}

/** Characters that are compared: longer texts are stored without their ends. */
const COMPARED = MAX_TEXT - '...'.length;

function worded<Task extends Line>(tasks: readonly Task[]): Worded<Task>[] {
  const texts = new Map(tasks.map(({ id, text }) => [id, text]));
  return tasks.map((task) => {
    const words = wordsOf(task.text);
    const above = task.parent === undefined ? undefined : texts.get(task.parent);
    const context = wordsOf(above ?? /^(.*)#\d+$/.exec(task.id)?.[1] ?? '').all.filter(isWord);
    return { task, words, key: words.all.join(' ') || task.text.trim(), context: context.join(' ') };
  });
}

const DENSE = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]`;
/** A character of a script without spaces, a word, or a number. */
const WORDS = new RegExp(`${DENSE}|(?:(?!${DENSE})[\\p{L}\\p{M}])+|\\p{N}+`, 'gu');
// Much faster, and most plans need no more.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the first of all characters
const PLAIN = /^[\u0000-\u007f]*$/;
const PLAIN_WORDS = /[a-z]+|\d+/g;
const IS_DENSE = new RegExp(`^${DENSE}`, 'u');
/** Letters of a telling word, of which one may be wrong. */
const TELLING = 4;

function wordsOf(whole: string): Words {
  const text = whole.slice(0, COMPARED);
  const isPlain = PLAIN.test(text);
  const lower = (isPlain ? text : text.normalize('NFKC')).toLowerCase();
  const all: readonly string[] = lower.match(isPlain ? PLAIN_WORDS : WORDS) ?? [];
  const telling = all.filter((word) => isWord(word) && (word.length >= TELLING || IS_DENSE.test(word)));
  const numbers = all.filter((word) => !isWord(word)).join(' ');
  return { all, telling: new Set(telling.length > 0 ? telling : all), numbers };
}

function isWord(word: string): boolean {
  return !/^\p{N}/u.test(word);
}

/** Returns a test for words that only one task has, before and now. */
function uniqueWords(...versions: readonly (readonly Worded<Line>[])[]): (word: string) => boolean {
  const shared = new Set<string>();
  for (const lines of versions) {
    const seen = new Set<string>();
    for (const word of lines.flatMap(({ words }) => [...words.telling])) {
      if (seen.has(word)) shared.add(word);
      seen.add(word);
    }
  }
  return (word) => !shared.has(word);
}

/** Returns the share of telling words that two texts have in common, 0 to 1; 0 if they name different numbers. */
function likenessOf(one: Words, other: Words): number {
  const size = one.telling.size + other.telling.size;
  if (size === 0 || one.numbers !== other.numbers) return 0;
  const isShared = (word: string) =>
    other.telling.has(word) ||
    (word.length >= TELLING && [...other.telling].some((otherWord) => isSlipOf(word, otherWord)));
  const shared = [...one.telling].filter(isShared);
  return (2 * shared.length) / size;
}

function beginsLike({ all: [one = ''] }: Words, { all: [other = ''] }: Words): boolean {
  return one === other || (one.length >= TELLING && isSlipOf(one, other));
}
