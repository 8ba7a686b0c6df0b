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
 * Selects the facts that a task needs, by shared words, likely files, and similar past results.
 *
 * A rare word counts 1, a common one less; the sum of evidence is multiplied by the weight of the group. See
 * docs/explanation/relevance.md for quality figures and their measurement.
 */
export interface FactsAsked {
  /** The task in words. */
  readonly text: string;
  /** Its facts are left out, since its own ledger shows them. */
  readonly taskId: string;
  /** Only facts with at least one of these; absent means any. */
  readonly tags?: readonly SessionFactTag[] | undefined;
  /** Maximum number of facts; absent: all relevant ones. */
  readonly maxFacts?: number | undefined;
  /** Token budget at which to stop once the first places are filled. */
  readonly room?: number | undefined;
  /** Maximum number of filler facts within `maxFacts`; absent: none. */
  readonly rest?: number | undefined;
  /** Likely files, best first. */
  readonly files: readonly string[];
  /** Open files, relative to the project or absolute. */
  readonly open?: readonly string[] | undefined;
  /**
   * True if the answer is shown beside the task's ledger and likely files. Then the task's own decisions, conventions
   * and explicit facts are included, which the ledger lacks; file changes are not, unless requested by `tags`; and
   * filler facts exclude verdicts and passing tests.
   */
  readonly besideLedger?: boolean | undefined;
  /** Similarity, 0 to 1, by task of similar past results. */
  readonly similar: ReadonlyMap<string, number>;
}

/** Files that most results touch, whatever their subject. */
const BUSY: ReadonlySet<FileClass> = new Set(['lock', 'manifest', 'changelog']);

/** Limits of the query, in characters and tokens. */
const MAX_QUERY = 8000;
const MAX_TOKENS = 400;
const SHORT_QUERY = 25;

/** Selects facts. The same facts and request give the same answer, whatever the order in which facts arrived. */
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

/** Returns the files whose facts matter, best first: open ones, those that the task names, likely ones. */
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

/** Counts the filler candidates: without tags, all except some of the task's own. */
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

/** True if the ledger of its task lacks it: decisions, conventions, explicit facts. */
function isBesideLedger(entry: IndexedFact, index: IFactIndex): boolean {
  const { fact, group, isBare } = entry;
  if (group === 'decisions') return true;
  if (group === 'facts') return !isBare;
  const saysSo = (other: IndexedFact) => other.group === 'findings' && saySame(entry, other);
  return group === 'conventions' && !index.ofTask(fact.sourceTaskId).some(saysSo);
}
