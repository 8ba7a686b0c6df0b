import { z } from 'zod';
import type { BudgetReport } from './budget-report.js';
import { timestamp } from './event.js';
import { FACT_TAGS } from './fact-tags.js';
import { ROLES } from './kinds.js';
import type { LearningType, RelevanceMethod } from './learning-events.js';
import { maxLearnings, minSimilarity } from './learning-requests.js';
import type { StoredRepair } from './reading/repairs.js';
import { taskId } from './results.js';
import type { Severity } from './severity.js';

/** `prompt.compile`: the request and its reply. */

const DEFAULT_MAX_FACTS = 10;
const DEFAULT_MAX_FILES = 10;
/** More than any model reads. */
const MAX_ROOM = 2_000_000;

const sequence = z.int().positive('must be a sequence, 1 or more');

const tags = z.array(z.enum(FACT_TAGS)).max(20, 'must be at most 20 tags');
const binary = z
  .string()
  .min(1, 'must not be empty')
  .max(1024, 'must be at most 1024 characters')
  .default('throughline');
const taskPrompt = z.string().min(1, 'must not be empty').max(200_000, 'must be at most 200000 characters');

const hintedPath = z.string().min(1, 'must not be empty').max(1024, 'must be at most 1024 characters');

/** What chooses among the files of a session, beside the words of the task. */
const fileFields = {
  /** Maximum number of files that the task will likely touch. */
  maxFiles: z.int().min(0, 'must be 0 to 50').max(50, 'must be 0 to 50').default(DEFAULT_MAX_FILES),
  /** Where the agent works: raises the files that touch it. */
  hints: z
    .object({
      /** Files that are open, relative to the project or absolute. */
      files: z.array(hintedPath).max(50, 'must be at most 50 files').optional(),
      /** The folder in which the agent works, relative to the project or absolute. */
      cwd: hintedPath.optional(),
    })
    .optional(),
};

/** What chooses among the learnings of a project. */
const learningFields = {
  /**
   * Maximum number of learnings: by default 3 for a dispatch, 5 for an iteration whose template shows them and for a
   * session start. Only those that fit the task; a session start shows the newest where none fits.
   */
  maxLearnings: maxLearnings.optional(),
  /** Minimum similarity of learnings that are found by meaning; there is a default. */
  minSimilarity: minSimilarity.optional(),
  /** A project sequence, from `learningsSequence` of a reply: the learnings as they were then. */
  learningsAsOf: sequence.optional(),
  /** The project whose learnings to use, instead of the session's own. */
  project: z.string().trim().min(1, 'must not be empty').max(64, 'must be at most 64 characters').optional(),
};

const room = z.int().min(1, 'must be 1 to 2000000').max(MAX_ROOM, 'must be 1 to 2000000').optional();

/** What chooses how long a prompt may be. */
const budgetFields = {
  /** How many tokens prompt and answer may have; by default the settings of the session say. */
  budget: z
    .object({
      /** Tokens of the whole prompt, system text included. */
      inputTokens: room,
      /** Tokens of the answer: a dispatch prompt says it to the agent. */
      outputTokens: room,
    })
    .optional(),
  /** Maximum number of tokens of session context and learnings together, four characters a token; by default as many as fit. */
  maxTokens: z.int().min(0, 'must be 0 to 1000000').max(1_000_000, 'must be 0 to 1000000').optional(),
};

/** Fields of every kind of prompt. */
const common = {
  /** The session to remember. */
  session: z.string(),
  ...learningFields,
  ...fileFields,
  ...budgetFields,
  /** Only facts that carry one of these. */
  tags: tags.optional(),
  maxFacts: z.int().min(0, 'must be 0 to 1000').max(1000, 'must be 0 to 1000').default(DEFAULT_MAX_FACTS),
  /** What becomes of facts that match nothing: left out, or the newest shown while there are less than `maxFacts`. */
  fill: z.enum(['relevant', 'recent']).default('relevant'),
  /** The command that the prompt tells agents to use. */
  binary,
  /** A `DISPATCH` sequence, from a publisher's PubAck: the prompt reflects that dispatch, or the reply is an error. */
  after: sequence.optional(),
  /** Longest wait for `after`, in milliseconds: less than what the caller waits for its answer. The service has a limit of its own. */
  afterTimeoutMs: z.int().min(0, 'must be 0 to 600000').max(600_000, 'must be 0 to 600000').optional(),
  /** A session sequence: the prompt as it was when that event was the last. */
  asOf: sequence.optional(),
  /** The active intent: the compacted history of its trace goes before the prompt. */
  activeIntentId: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(128, 'must be at most 128 characters')
    .optional(),
  /** Adds to each fact where it comes from and why it was chosen. */
  explain: z.boolean().default(false),
};

const dispatchRequest = z.object({
  // The kind of a request that names none.
  kind: z.literal('dispatch').optional().default('dispatch'),
  ...common,
  taskId,
  /** What the next agent is asked to do; the facts are chosen by its words. */
  taskPrompt,
  role: z.enum(ROLES).default(ROLES[0]),
  /** Your own system text, instead of the built-in one of the role. */
  systemPrompt: z
    .string()
    .min(1, 'must not be empty')
    .max(200_000, 'must be at most 200000 characters')
    .optional(),
});

/** The time at which a prompt is read, ISO 8601 in UTC: it then says how long ago things were, and otherwise does not. */
const now = timestamp.optional();

const iterationRequest = z.object({
  kind: z.literal('iteration'),
  ...common,
  /** Chooses the facts; by default the session's goal and its ready tasks do. */
  taskPrompt: taskPrompt.optional(),
  taskId: taskId.optional(),
  /** Your own template, instead of the built-in one. */
  template: z
    .string()
    .min(1, 'must not be empty')
    .max(100_000, 'must be at most 100000 characters')
    .optional(),
  now,
  /** Text at the end of the prompt. */
  extra: z.string().max(50_000, 'must be at most 50000 characters').optional(),
});

const sessionStartRequest = z.object({
  kind: z.literal('session-start'),
  session: common.session,
  ...learningFields,
  ...fileFields,
  ...budgetFields,
  after: common.after,
  afterTimeoutMs: common.afterTimeoutMs,
  asOf: common.asOf,
  now,
  /** Chooses learnings, facts and files; by default the session's goal and its ready tasks do. */
  taskPrompt: taskPrompt.optional(),
  /** The command that the prompt tells people to use. */
  binary,
  explain: common.explain,
});

export const compileRequest = z
  .discriminatedUnion('kind', [dispatchRequest, iterationRequest, sessionStartRequest])
  .refine((request) => request.after === undefined || request.asOf === undefined, {
    message: 'cannot be combined with after: asOf asks for the past, after for the newest',
    path: ['asOf'],
  });

/** A request as a caller writes it. */
export type CompileRequestInput =
  | z.input<typeof dispatchRequest>
  | z.input<typeof iterationRequest>
  | z.input<typeof sessionStartRequest>;
/** A request with its defaults filled in. */
export type CompileRequest = DispatchRequest | IterationRequest | SessionStartRequest;
export type DispatchRequest = z.output<typeof dispatchRequest>;
export type IterationRequest = z.output<typeof iterationRequest>;
/** Where an agent works. */
export type CompileHints = NonNullable<DispatchRequest['hints']>;
/** How many tokens prompt and answer may have. */
export type RequestedBudget = NonNullable<DispatchRequest['budget']>;
export type SessionStartRequest = z.output<typeof sessionStartRequest>;

/** A fact of a reply. */
export interface CompiledFact {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  readonly taskId: string;
  /** Of a finding in a file, and what its reviewer suggests to do. */
  readonly severity?: Severity;
  readonly fix?: string;
}

/** A fact of a reply to a request with `explain`. */
export interface ExplainedFact extends CompiledFact {
  /** `createFactId` of its words. */
  readonly id: string;
  /** Sequence of its dispatch in the `DISPATCH` stream. */
  readonly dispatch: number;
  /** Sequence of its event in the session's stream. */
  readonly eventSequence: number;
  /** Share of the query's words that it holds, 0 to 1. */
  readonly score: number;
  readonly tokens: number;
  /** What was repaired in the result that it comes from; left out for nothing. */
  readonly repairs?: readonly StoredRepair[];
}

/** A file of a reply, which the task will likely touch. The session knows it from a result. */
export interface CompiledFile {
  readonly path: string;
  /** 0 to 1, from all that speaks for it: comparable within a reply. */
  readonly score: number;
  /** How many results touched it. */
  readonly uses: number;
  /** Up to three tasks that touched it, the one most like what is asked first. */
  readonly tasks: readonly string[];
}

/** A fact that was considered, with `explain`. */
export interface ConsideredFact extends ExplainedFact {
  /** Whether the prompt shows it. */
  readonly shown: boolean;
  /** What it is: findings, conventions, decisions, tests, requirements, work, files or facts. */
  readonly kind: string;
  /** What speaks for it most: words of the task, a likely or open file, a similar result, or that it is new. */
  readonly because: 'words' | 'file' | 'similar' | 'recent';
  /** The words of the task that it holds, as stems. */
  readonly words: readonly string[];
  /**
   * Why it is not shown: others came first, another says nearly the same, one task would take too many places, only a
   * likely file speaks for it and the places held for findings and conventions are taken, a likely file says it already,
   * or the room was used up.
   */
  readonly left?: 'rank' | 'near-duplicate' | 'one task' | 'held' | 'likely file' | 'budget';
  /** Id of the fact that says nearly the same. */
  readonly duplicateOf?: string;
}

/** A file that was considered, with `explain`. */
export interface ConsideredFile extends CompiledFile {
  readonly shown: boolean;
  /** What adds to its score: similar results, its path, that it is named, how lately and often it was touched, ... */
  readonly reasons: Readonly<Record<string, number>>;
  readonly left?: 'rank' | 'budget';
}

/** What was considered for a prompt, the best 30 of each. */
export interface Considered {
  readonly facts: readonly ConsideredFact[];
  readonly files: readonly ConsideredFile[];
}

/** A learning of a reply. */
export interface CompiledLearning {
  readonly id: string;
  readonly type: LearningType;
  readonly content: string;
  /**
   * Half for each way that found it, words and meaning: a half where it came first, a quarter where it came second, and
   * so on. 1 is first both ways, 0 is where only recency chose it.
   */
  readonly score: number;
}

export interface PromptMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

/** `ledger`: all known data was used; `ledger_plus_fallback`: a part is missing or may be out of date. */
export interface LedgerReport {
  readonly mode: 'none' | 'ledger' | 'ledger_plus_fallback';
  readonly reason?: 'rebuild_failed' | 'progress_ledger_incomplete';
  /** What went wrong, for people. */
  readonly message?: string;
}

/** What a summary of compacted trace entries stands for. */
export interface CompactedReport {
  /** Entries that the summary stands for, and the blocks in which they were compacted. */
  readonly entries: number;
  readonly blocks: number;
  /** Tokens of those entries, and of the summary. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Fields of every kind of reply. */
interface CompileReplyBase {
  readonly prompt: string;
  /** Facts and likely files as the prompt shows them; empty without any. */
  readonly sessionContext: string;
  readonly facts: readonly (CompiledFact | ExplainedFact)[];
  readonly factsShown: number;
  /** Valid facts that the session holds. */
  readonly factsTotal: number;
  /** The likely files shown, best first. */
  readonly files: readonly CompiledFile[];
  /** With `explain`: what was considered, and why it is shown or not. */
  readonly considered?: Considered;
  /** Tokens of the whole prompt, by the configured tokenizer. */
  readonly tokenEstimate: number;
  /** How the prompt fills its room, and what was left out. */
  readonly budget: BudgetReport;
  /** The summary before the prompt; null without an intent, or below the threshold. */
  readonly compacted: CompactedReport | null;
  /** The session sequence that the prompt reflects; 0 for a session without events. */
  readonly sequence: number;
  /** Sequence of the snapshot that the load began from; 0 for none. */
  readonly snapshotSequence: number;
  /** Events read and folded for this request. */
  readonly replayed: number;
}

/** The learnings of a reply. */
export interface LearningsReport {
  /** Those shown. */
  readonly learnings: readonly CompiledLearning[];
  readonly learningsShown: number;
  /** Active learnings in the project. */
  readonly learningsTotal: number;
  /** Proposals that wait for a decision. */
  readonly proposalCount: number;
  /** How the learnings were found. */
  readonly method: RelevanceMethod;
  /** The project sequence that the learnings reflect. */
  readonly learningsSequence: number;
}

/** The learnings of a reply that needs none. */
interface OptionalLearnings extends Partial<LearningsReport> {
  /** Why there are none, where they could not be read and the request did not ask for any. */
  readonly learningsError?: { readonly code: string; readonly message: string };
}

/** The prompt of one task. `learnings` and what belongs to them is left out only for `maxLearnings` 0 and for an error. */
export interface DispatchReply extends CompileReplyBase, OptionalLearnings {
  readonly kind: 'dispatch';
  /** The same prompt as messages, system and user. */
  readonly messages: readonly PromptMessage[];
  /** Hash of the first part, which stays the same for a role. */
  readonly stablePrefixHash: string;
  /** Hash of the whole prompt. */
  readonly fullPromptHash: string;
  /** Which ledgers the prompt was made from. */
  readonly ledger: LedgerReport;
}

/** The prompt of one iteration. `learnings` and what belongs to them is left out as well for a template without them. */
export interface IterationReply extends CompileReplyBase, OptionalLearnings {
  readonly kind: 'iteration';
}

/** What an agent reads first in a session. */
export interface SessionStartReply extends CompileReplyBase, LearningsReport {
  readonly kind: 'session-start';
}

export type CompileReply = DispatchReply | IterationReply | SessionStartReply;

/** The reply to a request, by its kind. */
export type CompileReplyTo<Request extends CompileRequestInput> = Request extends {
  readonly kind: infer Kind;
}
  ? Extract<CompileReply, { readonly kind: Kind }>
  : DispatchReply;
