import { type FileClass, fileClass } from '../search/file-class.js';
import { tokens } from '../search/tokens.js';
import { endOf, fileWords, isNamed } from '../search/touched-files.js';
import { byWorth, FactChoice, saySame } from './fact-choice.js';
import { FactHits, type Lead } from './fact-hits.js';
import type {
  FactRanking,
  IFactIndex,
  IndexedFact,
  ISessionFactStore,
  SessionFactTag,
} from './fact-types.js';

/**
 * The facts that a task needs, by the words that they share with it, the files that it will likely touch, and the past
 * results that it is like.
 *
 * A rare word counts 1, a common one less; what speaks for a fact is added up and multiplied by the weight of its group.
 * See docs/explanation/relevance.md for what this reaches and how to measure it.
 */
export interface FactsAsked {
  /** The task in words. */
  readonly text: string;
  /** Its facts are left out: the agent that works on it knows them from its own ledger. */
  readonly taskId: string;
  /** Facts that carry at least one of them; absent means any. */
  readonly tags?: readonly SessionFactTag[] | undefined;
  /** Facts in all, at most; absent: all that have to do with the task. */
  readonly maxFacts?: number | undefined;
  /** Stop choosing at this many tokens, once the first places are filled: more would not fit. */
  readonly room?: number | undefined;
  /** So many of the rest at most, within `maxFacts`; absent: none. */
  readonly rest?: number | undefined;
  /** Files that the task will likely touch, best first. */
  readonly files: readonly string[];
  /** Files that are open, relative to the project or absolute. */
  readonly open?: readonly string[] | undefined;
  /**
   * Whether the answer stands beside the task's ledger and its likely files. Then the task's own decisions, conventions and
   * other facts in words are chosen too, which the ledger does not say. File changes are not, unless by `tags`, and the rest
   * holds no verdicts and no tests that pass.
   */
  readonly besideLedger?: boolean | undefined;
  /** Tasks of similar past results, with the similarity, 0 to 1. */
  readonly similar: ReadonlyMap<string, number>;
}

/** Files that most results touch, whatever they are about. */
const BUSY: ReadonlySet<FileClass> = new Set(['lock', 'manifest', 'changelog']);

/** Longest query that is read, in characters and tokens. */
const MAX_QUERY = 8000;
const MAX_TOKENS = 400;
const SHORT_QUERY = 25;

/** Chooses facts; the same facts and the same request give the same answer, in whatever order the facts came. */
export function rankFacts(store: ISessionFactStore, asked: FactsAsked): FactRanking {
  const index = store.index();
  const { maxFacts = Number.POSITIVE_INFINITY, room = Number.POSITIVE_INFINITY, rest = 0 } = asked;
  const withChanges = !asked.besideLedger || asked.tags !== undefined;
  const isAsked = (entry: IndexedFact) =>
    (withChanges || entry.group !== 'files') &&
    (asked.tags === undefined || entry.fact.tags.some((tag) => asked.tags?.includes(tag))) &&
    (entry.fact.sourceTaskId !== asked.taskId ||
      (asked.besideLedger === true && isBesideLedger(entry, index)));
  const words = tokens(asked.text.slice(0, MAX_QUERY), MAX_TOKENS);
  const hits = new FactHits(index, words);
  hits.addWords();
  hits.addFiles(leadsFrom(asked, index));
  hits.addSimilar(asked.similar);
  hits.addOwn(index.ofTask(asked.taskId).filter(isAsked));
  const chance = Math.max(1, Math.sqrt(words.length / SHORT_QUERY));
  const { found, faint } = hits.found(chance);
  const candidates = found.filter(({ entry }) => isAsked(entry)).sort(byWorth);
  const choice = new FactChoice({ maxFacts, room }, candidates, new Set(asked.files));
  const isAllowed = (entry: IndexedFact) => !(asked.besideLedger && entry.isDull) && isAsked(entry);
  if (rest > 0 && !choice.isFull)
    choice.fill({ index, faint, isAllowed, total: allowedOf(asked, index, isAllowed) }, rest);
  return { ...choice.facts(), considered: choice.considered(), total: candidates.length };
}

/** The files whose facts matter, best first: open ones, those that the task names, and those that it will likely touch. */
function leadsFrom({ text, open = [], files }: FactsAsked, index: IFactIndex): Lead[] {
  const words = fileWords(text.slice(0, MAX_QUERY));
  const found = [...open, ...words].flatMap(
    (path) => endOf(path, (end) => index.ofFile(end).length > 0) ?? [],
  );
  const meant = new Set([...found, ...files.filter((path) => isNamed(path, words))]);
  const likely = files.filter((path) => !meant.has(path) && !BUSY.has(fileClass(path)));
  return [
    ...[...meant].map((path) => ({ path, isMeant: true })),
    ...likely.map((path) => ({ path, isMeant: false })),
  ];
}

/** How many facts an answer may be filled up with: without tags, all but some of the task's own. */
function allowedOf(
  { tags, taskId, besideLedger }: FactsAsked,
  index: IFactIndex,
  isAllowed: (entry: IndexedFact) => boolean,
): number {
  if (tags !== undefined) {
    let total = 0;
    for (const entry of index.all()) if (isAllowed(entry)) total += 1;
    return total;
  }
  const isCounted = ({ isDull }: IndexedFact) => !(besideLedger && isDull);
  const own = index.ofTask(taskId).filter((entry) => isCounted(entry) && !isAllowed(entry));
  return index.byAge(false).size + (besideLedger ? 0 : index.byAge(true).size) - own.length;
}

/** Whether the ledger of its task does not say it: what was decided, and rules and facts in words. */
function isBesideLedger(entry: IndexedFact, index: IFactIndex): boolean {
  const { fact, group, isBare } = entry;
  if (group === 'decisions') return true;
  if (group === 'facts') return !isBare;
  const saysSo = (other: IndexedFact) => other.group === 'findings' && saySame(entry, other);
  return group === 'conventions' && !index.ofTask(fact.sourceTaskId).some(saysSo);
}
