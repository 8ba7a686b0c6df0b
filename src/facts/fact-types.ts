import type { FactTag } from '../contracts/fact-tags.js';
import type { Role } from '../contracts/kinds.js';
import type { ResultOf } from '../contracts/results.js';
import type { Severity } from '../contracts/severity.js';

/** What a fact is about; used to filter, never shown. */
export type SessionFactTag = FactTag;

/**
 * One thing a dispatch taught: `subject relation object`. Immutable; a later dispatch closes it by replacing it with
 * a copy that has a `validTo`.
 */
export interface SessionFact {
  /** As its event carries it; `factId(fact)` gives the id of any fact. */
  readonly id?: string | undefined;
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
  /** Events that an earlier version wrote have it. It says nothing that the words do not. */
  readonly id?: string | undefined;
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

/** A fact that is a candidate for an answer. */
export interface Match {
  readonly fact: SessionFact;
  /** Tells apart facts of one dispatch: the order in which its rules gave them. */
  readonly order: number;
  /** How many of the words asked for it holds. */
  readonly hits: number;
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
  /**
   * The valid facts that a query asks for, at most `maxFacts`: those that hold most of the words (`words()`) first,
   * then critical findings, then important ones, then what is said in words before verdicts and modified files, then the newest dispatch, and within one dispatch as its rules gave them. What holds none of the words comes last.
   */
  best(asked: Iterable<string>, query: FactSelection): readonly Match[];
  /** Number of valid facts. */
  count(): number;
  /** Drops facts until at most `maxFacts` are held: closed ones first, then valid ones, the oldest first. */
  compact(maxFacts: number): void;
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
  /** Budget in tokens, four characters each. */
  readonly maxTokens: number;
}

/** A fact with the reasons for its place in the answer. */
export interface RankedFact {
  readonly fact: SessionFact;
  /** Share of the query's words that the fact holds, 0 to 1. */
  readonly score: number;
  readonly tokens: number;
}

/** Picks the facts that a task needs. Never throws; nothing relevant gives an empty list. */
export interface IFactRetriever {
  retrieve(query: FactQuery): SessionFact[];
  /** The same choice with each fact's score and tokens. */
  rank(query: FactQuery): RankedFact[];
}
