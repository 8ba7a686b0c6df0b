import { hash } from 'node:crypto';
import type { FactTag } from '../../contracts/fact-tags.js';
import { KEPT } from '../../contracts/kept.js';
import type { Role } from '../../contracts/kinds.js';
import type { ResultOf } from '../../contracts/results.js';
import type { Severity } from '../../contracts/severity.js';
import { clipText, quoted } from '../../shared/text.js';
import { type FactGroup, groupOf, isBare } from './fact-groups.js';

/** What a fact is about; used to filter, never shown. */
export type SessionFactTag = FactTag;

/**
 * One thing a dispatch taught: `subject relation object`. Immutable; a later dispatch closes it by replacing it with
 * a copy that has a `validTo`.
 */
export interface SessionFact {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  readonly tags: readonly SessionFactTag[];
  /** Of a finding in a file: how much it matters. */
  readonly severity?: Severity | undefined;
  /** Of a finding in a file: what the reviewer suggests to do. */
  readonly fix?: string | undefined;
  /** When the dispatch arrived, ISO 8601 in UTC. */
  readonly validFrom: string;
  /** When a later dispatch closed it, ISO 8601 in UTC; absent while the fact is valid. */
  readonly validTo?: string;
  /** Sequence of the dispatch that closed it; present together with `validTo`. */
  readonly closedBy?: number;
  readonly sourceTaskId: string;
  readonly sourceRole: Role;
  /** `DISPATCH` sequence of the dispatch that said it: the order of facts. */
  readonly sourceSequence: number;
  /** Sequence of the session event that carries it; 0 while it has not been appended. */
  readonly eventSequence: number;
  /** 0 to 1; a rule that reads a field gives 1. */
  readonly confidence: number;
  /** Whether its dispatch is from before the session. */
  readonly history?: true;
}

/** The part of a fact that travels on an event; the dispatch beside it says the rest. */
export interface RecordedFact {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  readonly tags: readonly SessionFactTag[];
  readonly severity?: Severity | undefined;
  readonly fix?: string | undefined;
  /** Absent means 1. */
  readonly confidence?: number | undefined;
}

/** Where facts come from: one dispatch, its place in the `DISPATCH` stream, and when it arrived there. */
export interface DispatchOrigin {
  readonly sequence: number;
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly role: Role;
  readonly taskId: string;
  /** Whether it is from before the session. */
  readonly history?: true;
}

/** Turns results into facts by rule. Never throws: a rule that fails is reported, and the others still run. */
export interface IFactExtractor {
  extractFromImplementer(result: ResultOf<'implementer'>, origin: DispatchOrigin): SessionFact[];
  extractFromReviewer(result: ResultOf<'reviewer'>, origin: DispatchOrigin): SessionFact[];
}

/** A fact with what a query is compared with. */
export interface IndexedFact {
  readonly fact: SessionFact;
  readonly group: FactGroup;
  /** Tells apart facts of one dispatch: the order in which its rules gave them. */
  readonly slot: number;
  /** Its place in the index: less than the most facts that were ever in it, and taken again when the fact is gone. */
  readonly place: number;
  /** What it says and what of, each token once. A task that it is about is none of them: its id says nothing. */
  readonly words: readonly string[];
  /** How many of the words are of the object: they come first. */
  readonly own: number;
  /** Those of them with a digit, in order: facts with others are about two matters. */
  readonly numbers: string;
  /** As `isBare` and `isSummary` say of it. */
  readonly isBare: boolean;
  readonly isSummary: boolean;
  /** Whether it says only that a file was changed, or that something went as it should. */
  readonly isDull: boolean;
  /** Whether it is about its task as a whole. */
  readonly isOfTask: boolean;
  /** Its group and severity as a number, which is lower for what matters more. */
  readonly standing: number;
  /** What it says, and of what: of two with the same the newer is enough. */
  readonly saying: string;
}

/** Valid facts by their words, files and tasks; what is said in words and which files changed are counted apart. */
export interface IFactIndex {
  readonly counts: { readonly said: number; readonly changed: number };
  /** More than the place of any fact. */
  readonly places: number;
  /** Words of a fact on average: of changed files, or of what is said in words. */
  averageWords(group: FactGroup): number;
  all(): Iterable<IndexedFact>;
  /** Those that are dull, or all others, by their age. */
  byAge(isDull: boolean): { readonly size: number; newestFirst(): Iterable<IndexedFact> };
  /** Facts that say something with this word. */
  said(word: string): readonly IndexedFact[];
  /** Facts of changed files with this word in the path. */
  changed(word: string): readonly IndexedFact[];
  /** Other words that begin as this one does and differ by an ending: `parser` and `parse`. */
  kin(word: string): readonly string[];
  /** Facts about a file, or that name it. */
  ofFile(path: string): readonly IndexedFact[];
  ofTask(task: string): readonly IndexedFact[];
}

/** Holds one session's facts. Synchronous; never throws. */
export interface ISessionFactStore {
  /**
   * Adds facts, in any order of dispatches and any number of times. Between dispatches the newest wins: facts with
   * the same subject and relation from an older one are closed. Facts of one dispatch never close each other. Findings,
   * that is `must_fix` and `issue` facts, belong to their task: a review of it closes the older ones, whatever it says;
   * a review of another task closes none. An approval closes its own findings as well. Blockers are closed by the next
   * work result of their task, or by an approval. Facts from before the session close only others of that time.
   */
  add(facts: readonly SessionFact[]): void;
  /** Closes all valid facts with this subject and relation, on behalf of `by`. */
  invalidate(subject: string, relation: string, by: Pick<DispatchOrigin, 'sequence' | 'at'>): void;
  /** Valid facts, oldest dispatch first. */
  getValid(): readonly SessionFact[];
  /** Valid facts that carry at least one of the tags. */
  getValidByTags(tags: readonly SessionFactTag[]): readonly SessionFact[];
  /** The valid facts by their words, files and tasks: what `rankFacts` chooses by. */
  index(): IFactIndex;
  /** Number of valid facts. */
  count(): number;
  /**
   * Drops facts until at most `maxFacts` are held, and their words have at most `maxBytes` (500,000 by default): closed ones
   * first, then file changes, verdicts, summaries, other facts, failing tests, and last findings, conventions and
   * decisions; of equal ones the oldest first. Of those that come last, at most three quarters of `maxFacts` are spared.
   */
  compact(maxFacts: number, maxBytes?: number): void;
}

/** Which facts may be in an answer, and how many. */
export interface FactSelection {
  /** Facts of this task are left out: the agent that works on it knows them from its own ledger. */
  readonly taskId: string;
  /** Facts that carry at least one of them; absent means any. */
  readonly tags?: readonly SessionFactTag[] | undefined;
  readonly maxFacts: number;
}

/** A request for facts for a prompt. */
export interface FactQuery extends FactSelection {
  readonly taskDescription: string;
  /** `relevant`: only what has to do with the task is chosen. `recent`, the default: what is left of `maxFacts` goes to the newest facts. */
  readonly fill?: 'relevant' | 'recent' | undefined;
  /** Budget in tokens, four characters each. */
  readonly maxTokens: number;
}

/** A fact with the reasons for its place in the answer. */
export interface RankedFact {
  readonly fact: SessionFact;
  readonly group: FactGroup;
  /** How much the task may need it, 0 to 1: a number to compare by. 0 for one that is there for being new. */
  readonly score: number;
  readonly tokens: number;
  /** Words of the query that it holds, as tokens. */
  readonly matched: readonly string[];
}

/** A fact that was looked at, with why, and why it was left out if it was. */
export interface WeighedFact extends RankedFact {
  /** What spoke for it most. */
  readonly because: 'words' | 'file' | 'similar' | 'recent';
  readonly left?: 'rank' | 'near-duplicate' | 'one task' | 'held' | 'likely file' | undefined;
  /** Id of the fact that says the same. */
  readonly duplicateOf?: string;
}

export interface FactRanking {
  /** What has to do with the task: the best `PLACES`, best first, then all others, best first. */
  readonly chosen: readonly RankedFact[];
  /** What has to do with the task as well, and has no room. */
  readonly cut: readonly Pick<RankedFact, 'fact' | 'group'>[];
  /** What does not, or too little: what something speaks for first, then the newest. */
  readonly rest: readonly RankedFact[];
  /** How many of them there are. */
  readonly restTotal: number;
  /** The best 30, chosen or not, best first. */
  readonly considered: readonly WeighedFact[];
  /** All that have to do with the task. */
  readonly total: number;
}

/** Picks the facts that a task needs. Never throws; nothing relevant gives an empty list. */
export interface IFactRetriever {
  retrieve(query: FactQuery): SessionFact[];
  /** The same choice with each fact's score and tokens. */
  rank(query: FactQuery): RankedFact[];
}

/** Unit separator: a control character, which `quoted()` folds out of every field before it gets here. */
const SEPARATOR = '\u001f';

/**
 * Id of a fact: the first 16 hex characters of SHA-256 over its three fields. A separator inside a field is escaped,
 * so that no two different triples share their text.
 */
export function createFactId(subject: string, relation: string, object: string): string {
  const said = `${escaped(subject)}${SEPARATOR}${escaped(relation)}${SEPARATOR}${escaped(object)}`;
  return hash('sha256', said).slice(0, 16);
}

/** The id of a fact, made from its words. */
export function factId({ subject, relation, object }: RecordedFact): string {
  return createFactId(subject, relation, object);
}

/** Whether two facts would have the same id, without making it. */
export function saysTheSame(one: RecordedFact, other: RecordedFact): boolean {
  return one.object === other.object && one.subject === other.subject && one.relation === other.relation;
}

function escaped(field: string): string {
  return field.includes(SEPARATOR) || field.includes('\\')
    ? field.replaceAll('\\', '\\\\').replaceAll(SEPARATOR, '\\u')
    : field;
}

/**
 * Makes a recorded fact from raw words: one quoted, clipped line each; `undefined` if one of them is empty.
 *
 * @param finding of a finding in a file: how severe it is, and what to do
 */
export function recordedFact(
  subject: string,
  relation: string,
  object: string,
  tags: readonly SessionFactTag[],
  finding?: { readonly severity: Severity; readonly fix?: string | undefined },
): RecordedFact | undefined {
  const from = clipText(quoted(subject), KEPT.fact.subject);
  const to = clipText(quoted(object), KEPT.fact.object);
  if (from === '' || to === '') return undefined;
  const fact = { subject: from, relation, object: to, tags };
  if (finding === undefined) return fact;
  const fix = clipText(quoted(finding.fix ?? ''), KEPT.fact.object);
  const { severity } = finding;
  return fix === '' ? { ...fact, severity } : { ...fact, severity, fix };
}

/** What a fact is worth that is open and worth least. */
export const OPEN_VALUE = 2;
/** What a finding, a convention or a decision is worth while it is open. */
export const MOST_VALUE = 7;

const OPEN_VALUES: Readonly<Record<FactGroup, number>> = {
  // Past results keep which files were touched, and what they said.
  files: OPEN_VALUE,
  work: 4,
  facts: 5,
  requirements: 5,
  tests: 6,
  decisions: MOST_VALUE,
  conventions: MOST_VALUE,
  findings: MOST_VALUE,
};

/** What a fact is worth when not all can be kept: what is closed less than what is open, and that by its group. */
export function worthOf(fact: SessionFact): number {
  const group = groupOf(fact);
  const isCheap = isBare(fact) || group === 'files';
  if (fact.validTo !== undefined) return isCheap ? 0 : 1;
  return isBare(fact) ? OPEN_VALUE + 1 : OPEN_VALUES[group];
}

/** Bytes of its words. */
export function bytesOfFact({ subject, relation, object, fix = '' }: RecordedFact): number {
  return Buffer.byteLength(subject) + relation.length + Buffer.byteLength(object) + Buffer.byteLength(fix);
}
