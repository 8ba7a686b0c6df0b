import type { CompileRequest } from '../contracts/compile-request.js';
import { ThroughlineError } from '../contracts/errors.js';
import { KINDS, ROLES, type Role } from '../contracts/kinds.js';
import type { CompileReply, PromptLine } from '../contracts/replies/compile-reply.js';
import type { SessionFact } from '../memory/facts/fact-types.js';
import type { LearningsInPrompt } from '../memory/learnings/learnings-state.js';
import { type ResolvedSettings, resolvedSettings } from '../memory/session/charter.js';
import type { SessionState } from '../memory/session/session-state.js';
import { DEFAULT_SUMMARY_TOKENS } from '../memory/traces/trace-summary.js';
import { approximateTokenizer, type Tokenizer } from '../shared/text.js';
import type { Sections, Shown, Stretch } from './fill-prompt.js';
import type { TraceItems } from './role-lines.js';
import type { NoteSection } from './session-notes.js';

/**
 * A kind of prompt as a descriptor: its budget, and its sections in order. The rest is common to all kinds, in
 * `compile-prompt.ts`.
 */
export interface PromptDescriptor<
  Request extends CompileRequest,
  Section extends string,
  Own extends object,
> {
  asks(request: Request, budget: PromptBudget): PromptAsks;
  draft(input: PromptInput<Request>): PromptDraft<Section | CommonSection, Own>;
}

/** Sections of every kind: the notes, learnings, and the trace of the active intent. */
export type CommonSection = NoteSection | 'learnings' | 'compacted' | 'recent';

/** Parameters of a kind for the pipeline. */
interface PromptAsks {
  /** Names the prompt in errors: `the iteration prompt`. */
  readonly name: string;
  /** Token budget of the whole prompt. */
  readonly room: number;
  /** The task whose ledger is shown: its facts are not repeated. Empty for none. */
  readonly taskId: string;
  /** The intent whose trace is shown. */
  readonly intent?: string | undefined;
  /** Introduces the notes, if no other part does. */
  readonly intro?: string;
}

/** The pipeline's data for a kind. */
interface PromptInput<Request> {
  readonly state: SessionState;
  readonly request: Request;
  readonly learnings: LearningsInPrompt;
  readonly trace: TraceItems;
  /** The common sections with all their items. */
  readonly common: Sections<CommonSection>;
  /** `throughline tool <words> --session <session>` */
  readonly command: (words: string) => string;
}

/** The parts that every kind has; each kind puts them in its place. */
type CommonParts = Readonly<Record<'compacted' | 'learnings' | 'notes' | 'recent' | 'leftOut', PromptPart>>;

interface PromptDraft<Section extends string, Own extends object> {
  /** Its sections; a common one only if it differs. */
  readonly sections: Sections<Exclude<Section, CommonSection>> & Partial<Sections<CommonSection>>;
  /** Sections that are always shown completely. */
  readonly essential?: readonly Stretch<Section>[];
  /** All others, by importance. */
  readonly order: readonly Stretch<Section>[];
  /** Original numbers of items of incomplete sections. */
  readonly totals?: { readonly [Name in Section]?: number };
  /** Sections that do not say themselves what they leave out, with the command that shows all of it. */
  readonly lists: readonly {
    readonly name: string;
    readonly sections: readonly Section[];
    readonly command: string;
  }[];
  /** The facts of its own sections that are shown. */
  readonly facts?: (shown: Shown<Section>) => readonly SessionFact[];
  /** Renders the parts of the prompt. */
  readonly parts: (shown: Shown<Section>, common: CommonParts) => readonly PromptPart[];
  /** Fields of the reply specific to this kind. */
  readonly replyFields: (shown: Shown<Section>, parts: readonly PromptPart[], prompt: string) => Own;
}

/** The source of a prompt line. */
export type LineOrigin = Omit<PromptLine, 'from' | 'to' | 'section'> & { readonly section?: string };

/** A part of a prompt. */
export interface PromptPart {
  readonly section: string;
  /** Empty for an absent part. */
  readonly text: string;
  /** The message that contains it, for prompts sent as messages. */
  readonly message?: 'system' | 'user';
  /** The sources of its lines, in order; lazy. */
  readonly lines?: () => readonly LineOrigin[];
  /** The source of all its lines. */
  readonly origin?: LineOrigin;
  /** Its parts. */
  readonly inner?: readonly PromptPart[];
}

/** Joins the non-empty parts. */
export function joinedParts(parts: readonly PromptPart[]): string {
  return parts
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n\n');
}

/** The part of a kind's reply that depends only on state and request: the same inputs give the same bytes. */
export type CompiledAs<Kind extends CompileReply['kind']> = Decided<
  Extract<CompileReply, { readonly kind: Kind }>
>;

// Distributes over the union: `Omit` alone keeps only common fields.
type Decided<Reply> = Reply extends CompileReply
  ? Omit<Reply, 'sequence' | 'snapshotSequence' | 'replayed' | 'ledger'>
  : never;

/** The input budget: the cap of a role minus the output limit. */
export interface PromptBudget {
  /** Tokens of input and output together, by role. */
  readonly caps: Readonly<Record<Role, number>>;
  readonly maxOutputTokens: number;
  /** Maximum tokens of a compacted history. */
  readonly maxSummaryTokens: number;
  readonly tokenizer: Tokenizer;
}

export function budgetOf(settings: ResolvedSettings, tokenizer: Tokenizer): PromptBudget {
  const caps = ROLES.map((role) => [role, settings[KINDS[role].tokens]]);
  return {
    caps: Object.fromEntries(caps),
    maxOutputTokens: settings.maxOutputTokens,
    maxSummaryTokens: DEFAULT_SUMMARY_TOKENS,
    tokenizer,
  };
}

export const DEFAULT_BUDGET: PromptBudget = budgetOf(resolvedSettings(), approximateTokenizer);

export function promptOverflow(what: string, tokens: number, room: number): ThroughlineError {
  return new ThroughlineError(
    'prompt_overflow',
    `${what} needs ${tokens} tokens for what must not be left out, ${tokens - room} more than the ${room} that it has. ` +
      `Raise budget.inputTokens (--room) to at least ${tokens}, ` +
      'or shorten taskPrompt (--prompt), systemPrompt, template (--template) or extra (--extra)',
    { details: { tokens, room, over: tokens - room } },
  );
}
