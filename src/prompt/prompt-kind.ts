import type { CompileRequest } from '../contracts/compile-request.js';
import { ThroughlineError } from '../contracts/errors.js';
import { KINDS, ROLES, type Role } from '../contracts/kinds.js';
import type { CompileReply, PromptLine } from '../contracts/replies/compile-reply.js';
import type { LearningsInPrompt } from '../memory/learnings/learning-text.js';
import { type ResolvedSettings, resolvedSettings } from '../memory/session/charter.js';
import type { SessionState } from '../memory/session/session-state.js';
import { DEFAULT_SUMMARY_TOKENS } from '../memory/traces/trace-summary.js';
import { approximateTokenizer, type Tokenizer } from '../shared/tokenizer.js';
import type { Listed, Sections, Shown, Stretch } from './prompt-items.js';
import type { TraceItems } from './role-lines.js';
import type { CappedMemory, NoteSection } from './session-notes.js';

/**
 * A kind of prompt as a descriptor: how much room it has, and which sections it shows in which order. Everything else is
 * the same for all kinds and stands in `compile-prompt.ts`.
 */
export interface PromptDescriptor<
  Request extends CompileRequest,
  Section extends string,
  Own extends object,
> {
  asks(request: Request, budget: PromptBudget): PromptAsks;
  draft(input: PromptInput<Request>): PromptDraft<Section | CommonSection, Own>;
}

/** Sections that every kind shows. */
export type CommonSection = NoteSection | 'learnings';

/** What a kind of prompt asks the pipeline for. */
interface PromptAsks {
  /** Names the prompt in errors: `the iteration prompt`. */
  readonly name: string;
  /** Tokens of the whole prompt, and how many it may have with less related facts in it. */
  readonly room: number;
  readonly usual: number;
  /** The task whose ledger the prompt shows: its facts are not told twice. Empty for none. */
  readonly taskId: string;
  /** The intent whose trace the prompt shows. */
  readonly intent?: string | undefined;
  /** Says what the notes are, where no other part of the prompt does. */
  readonly intro?: string;
}

/** What a kind of prompt is made of. */
interface PromptInput<Request> {
  readonly state: SessionState;
  readonly request: Request;
  readonly budget: PromptBudget;
  readonly memory: CappedMemory;
  readonly learnings: LearningsInPrompt;
  readonly trace: TraceItems;
  /** `throughline tool <words> --session <session>`. */
  readonly command: (words: string) => string;
  readonly notesPart: (shown: Shown<NoteSection>) => PromptPart;
  readonly notesLeftOut: (sections: Sections<NoteSection>, shown: Shown<NoteSection>) => Listed;
}

interface PromptDraft<Section extends string, Own extends object> {
  readonly sections: Sections<Section>;
  /** Shown whole whatever the room. */
  readonly essential?: readonly Stretch<Section>[];
  /** All others, those that are worth most first. */
  readonly order: readonly Stretch<Section>[];
  /** Of sections that do not hold all there is: how many items there are. */
  readonly totals?: { readonly [Name in Section]?: number };
  /** The section of the compacted history. */
  readonly compacted?: Section;
  /** The prompt part by part, with what is shown. */
  readonly parts: (shown: Shown<Section>) => readonly PromptPart[];
  /** Fields of the reply that only this kind has. */
  readonly own: (shown: Shown<Section>, parts: readonly PromptPart[], prompt: string) => Own;
}

/** What a line of a prompt comes from. */
export type LineOrigin = Omit<PromptLine, 'from' | 'to' | 'section'> & { readonly section?: string };

/** A stretch of a prompt that belongs together. */
export interface PromptPart {
  readonly section: string;
  /** As the prompt says it; empty for a part that is not there. */
  readonly text: string;
  /** The message that holds it, of a prompt that is sent as messages. */
  readonly message?: 'system' | 'user';
  /** What each of its lines comes from, in their order; only made when it is asked for. */
  readonly lines?: () => readonly LineOrigin[];
  /** What all of its lines come from. */
  readonly origin?: LineOrigin;
  /** The parts that it is made of. */
  readonly inner?: readonly PromptPart[];
}

/** The parts that are there, as one text. */
export function joinedParts(parts: readonly PromptPart[]): string {
  return parts
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n\n');
}

/** The part of a reply that state and request alone decide: the same two give the same bytes. */
export type CompiledPrompt = Decided<CompileReply>;
/** The same of one kind. */
export type CompiledAs<Kind extends CompileReply['kind']> = Extract<CompiledPrompt, { readonly kind: Kind }>;

// Taken from each kind apart: of a union, `Omit` keeps only what all members have.
type Decided<Reply> = Reply extends CompileReply
  ? Omit<Reply, 'sequence' | 'snapshotSequence' | 'replayed' | 'ledger'>
  : never;

/** Room for input: the cap of a role less what the model may answer. */
export interface PromptBudget {
  /** Tokens of input and output together, by role. */
  readonly caps: Readonly<Record<Role, number>>;
  readonly maxOutputTokens: number;
  /** Most tokens of a compacted history. */
  readonly maxSummaryTokens: number;
  readonly tokenizer: Tokenizer;
}

/** The budget of a session by its settings. */
export function budgetOf(settings: ResolvedSettings, tokenizer: Tokenizer): PromptBudget {
  const caps = ROLES.map((role) => [role, settings[KINDS[role].tokens]]);
  return {
    caps: Object.fromEntries(caps),
    maxOutputTokens: settings.maxOutputTokens,
    maxSummaryTokens: DEFAULT_SUMMARY_TOKENS,
    tokenizer,
  };
}

/** The budget of a session without settings of its own. */
export const DEFAULT_BUDGET: PromptBudget = budgetOf(resolvedSettings(), approximateTokenizer);

/** Returns the error for a prompt of which not even the essentials fit. */
export function promptOverflow(what: string, tokens: number, room: number): ThroughlineError {
  return new ThroughlineError(
    'prompt_overflow',
    `${what} needs ${tokens} tokens for what must not be left out, ${tokens - room} more than the ${room} that it has. ` +
      `Raise budget.inputTokens (--room) to at least ${tokens}, ` +
      'or shorten taskPrompt (--prompt), systemPrompt, template (--template) or extra (--extra)',
    { details: { tokens, room, over: tokens - room } },
  );
}
