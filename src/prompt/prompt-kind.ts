import type { CompileRequest } from '../contracts/compile-request.js';
import { ThroughlineError } from '../contracts/errors.js';
import { KINDS, ROLES, type Role } from '../contracts/kinds.js';
import type {
  CompiledFact,
  CompiledFile,
  CompileReply,
  Considered,
  ConsideredFact,
  ConsideredFile,
  LearningsReport,
  PromptLine,
} from '../contracts/replies/compile-reply.js';
import {
  type RankedFact,
  SESSION_CONTEXT_HEADER,
  type SessionFact,
  type WeighedFact,
} from '../memory/facts/fact-types.js';
import { formatRelevantLearnings, type LearningsInPrompt } from '../memory/learnings/learnings-state.js';
import type { LikelyFile } from '../memory/search/likely-files.js';
import type { SessionState } from '../memory/session/session-state.js';
import { DEFAULT_SUMMARY_TOKENS } from '../memory/traces/trace-summary.js';
import { defined } from '../shared/collections.js';
import { recordOf } from '../shared/text.js';
import { isShortened, type Sections, type Shown, type ShownItem, type Stretch } from './fill-prompt.js';
import {
  type CappedMemory,
  CONSIDERED,
  NOTE_SECTIONS,
  type NoteSection,
  type NotesAt,
  type SessionMemory,
} from './session-notes.js';

/** A kind of prompt as data: its budget and its sections in order. `compile-prompt.ts` has what is common to all. */
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

interface PromptAsks {
  /** Names the prompt in errors: `the iteration prompt`. */
  readonly name: string;
  readonly room: number;
  /** The task whose ledger is shown: its facts are not repeated. Empty for none. */
  readonly taskId: string;
  readonly intent?: string | undefined;
  /** Introduces the notes, if no other part does. */
  readonly intro?: string;
}

interface PromptInput<Request> {
  readonly state: SessionState;
  readonly request: Request;
  readonly learnings: LearningsInPrompt;
  /** Indexes of constraints and requests in the compacted history. */
  readonly demands: ReadonlySet<number>;
  readonly common: Sections<CommonSection>;
  /** `throughline tool <words> --session <session>` */
  readonly command: (words: string) => string;
}

/** The parts that every kind has; each kind puts them in its place. */
type CommonParts = Readonly<Record<'compacted' | 'learnings' | 'notes' | 'recent' | 'leftOut', PromptPart>>;

interface PromptDraft<Section extends string, Own extends object> {
  /** Its sections; a common one only if it differs. */
  readonly sections: Sections<Exclude<Section, CommonSection>> & Partial<Sections<CommonSection>>;
  readonly essential?: readonly Stretch<Section>[];
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
  readonly parts: (shown: Shown<Section>, common: CommonParts) => readonly PromptPart[];
  readonly replyFields: (shown: Shown<Section>, parts: readonly PromptPart[], prompt: string) => Own;
}

export type LineOrigin = Omit<PromptLine, 'from' | 'to' | 'section'> & { readonly section?: string };

export interface PromptPart {
  readonly section: string;
  /** Empty for an absent part. */
  readonly text: string;
  /** The message that contains it, for prompts sent as messages. */
  readonly message?: 'system' | 'user';
  /** The sources of its lines, in order; lazy. */
  readonly lines?: () => readonly LineOrigin[];
  readonly origin?: LineOrigin;
  readonly inner?: readonly PromptPart[];
}

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
}

export const DEFAULT_BUDGET: PromptBudget = {
  caps: recordOf(ROLES, (role) => KINDS[role].tokens),
  maxOutputTokens: 1200,
  maxSummaryTokens: DEFAULT_SUMMARY_TOKENS,
};

export function promptOverflow(what: string, tokens: number, room: number): ThroughlineError {
  return new ThroughlineError(
    'prompt_overflow',
    `${what} needs ${tokens} tokens for what must not be left out, ${tokens - room} more than the ${room} that it has. ` +
      `Raise budget.inputTokens (--room) to at least ${tokens}, ` +
      'or shorten taskPrompt (--prompt), systemPrompt, template (--template) or extra (--extra)',
    { details: { tokens, room, over: tokens - room } },
  );
}

/** Titles of the sections, and the options of `throughline facts` that list their candidates. */
const NOTES: Readonly<Record<NoteSection, { readonly title: string; readonly listed: string }>> = {
  findings: { title: 'Open findings', listed: '--relation must_fix issue' },
  files: { title: 'Likely files', listed: '--relation modified_by' },
  perhaps: { title: 'Perhaps', listed: '--relation modified_by' },
  work: { title: 'Related work', listed: '--relation summary review_summary observed' },
  decisions: { title: 'Decisions and conventions', listed: '' },
  failed: { title: 'Tried and failed', listed: '--relation failed' },
  tests: { title: 'Failing tests', listed: '--relation test_result' },
  requirements: { title: 'Left to do by other tasks', listed: '--relation requires blocked_by' },
  facts: { title: 'Also known', listed: '' },
};

/** Renders the notes; empty if nothing is shown. */
export function notesPart(
  memory: CappedMemory,
  shown: Shown<NoteSection>,
  { session, binary, task, intro }: NotesAt,
): PromptPart {
  const lines: { text: string; section?: NoteSection; index?: number }[] = [];
  for (const section of NOTE_SECTIONS) {
    const { title, listed } = NOTES[section];
    const [items, some] = [memory.sections[section], shown[section]];
    if (some.length === 0) continue;
    if (section !== 'perhaps') {
      const command = `${binary} facts ${session}${listed === '' ? '' : ` ${listed}`}`;
      const total = section === 'findings' ? memory.findings : (memory.totals[section] ?? items.length);
      const isWhole = !isShortened(items, some) && total <= items.length;
      const rest = isWhole ? '' : ` (${some.length} of ${total}; all: \`${command}\`)`;
      const isOthers = section === 'findings' && task !== undefined;
      const whose = isOthers ? ' of other tasks, not yours unless you touch their files' : '';
      lines.push({ text: `${title}${whose}${rest}:`, section });
    }
    lines.push(...some.map(({ text, index }) => ({ text, section, index })));
  }
  const head = [SESSION_CONTEXT_HEADER, ...(intro === undefined ? [] : [intro])];
  if (lines.length > 0) lines.unshift(...head.map((text) => ({ text })));
  return {
    section: 'notes',
    text: lines.map(({ text }) => text).join('\n'),
    lines: () => lines.map(({ section, index }) => noteOrigin(memory, section, index)),
  };
}

function noteOrigin(
  { facts, files }: SessionMemory,
  section: NoteSection | undefined,
  index: number | undefined,
): LineOrigin {
  if (section === undefined) return {};
  if (index === undefined || section === 'perhaps') return { section };
  if (section === 'files') {
    const { path, tasks: [task] = [] } = files[index] ?? {};
    return { section, ...(path !== undefined && { file: path }), ...(task !== undefined && { task }) };
  }
  const fact = facts[section][index]?.fact;
  return fact === undefined ? { section } : { section, fact: fact.id, ...originOf(fact) };
}

export function originOf({ sourceTaskId: task, sourceSequence: dispatch, eventSequence }: SessionFact) {
  return { task, dispatch, eventSequence };
}

export function learningsShown(learnings: LearningsInPrompt, shown: readonly ShownItem[]): LearningsInPrompt {
  return { ...learnings, ranked: shown.flatMap(({ index }) => learnings.ranked[index] ?? []) };
}

export function learningsPart(learnings: LearningsInPrompt, shown: readonly ShownItem[], isScored: boolean) {
  const some = learningsShown(learnings, shown);
  return {
    section: 'learnings',
    text: formatRelevantLearnings(some, isScored),
    lines: () => [{}, ...some.ranked.map(({ learning }) => ({ learning: learning.id }))],
  };
}

export function describeLearnings(
  learnings: LearningsInPrompt,
  shown: readonly ShownItem[],
  isIncluded: boolean,
): LearningsReport {
  const { ranked, total, pending, method, sequence } = learningsShown(learnings, shown);
  const shownOnes = ranked.map(({ learning: { id, type, content }, score }) => ({
    id,
    type,
    content,
    score,
  }));
  return {
    ...(isIncluded && { learnings: shownOnes }),
    learningsShown: ranked.length,
    learningsTotal: total,
    proposalCount: pending.length,
    method,
    learningsSequence: sequence,
  };
}

export function describeFile({ reasons: _, why: __, ...file }: LikelyFile): CompiledFile {
  return { ...file, score: rounded(file.score) };
}

export function describeFact({ fact, score, tokens }: RankedFact): CompiledFact {
  const { subject, relation, object, sourceTaskId: task, severity, fix, id, ref, eventSequence } = fact;
  const words = defined({ subject, relation, object, task, severity, fix, ref });
  return { ...words, id, dispatch: fact.sourceSequence, eventSequence, score: rounded(score), tokens };
}

export function describeConsidered(
  { considered, candidates, files, facts: placed }: SessionMemory,
  facts: readonly RankedFact[],
  filesShown: readonly LikelyFile[],
): Considered {
  const shownFacts = new Set(facts.map(({ fact }) => fact));
  const likely = new Set(files.map(({ path }) => path));
  // A fact that has a place and is not shown exceeded the budget.
  const fitting = new Set(Object.values(placed).flatMap((some) => some.map(({ fact }) => fact)));
  const fact = (weighed: WeighedFact): ConsideredFact => {
    const isShown = shownFacts.has(weighed.fact);
    const { group: kind, because, matched: words, duplicateOf } = weighed;
    const { left = fitting.has(weighed.fact) ? 'budget' : 'rank' } = weighed;
    const why = isShown ? {} : defined({ left, duplicateOf });
    return { ...describeFact(weighed), shown: isShown, kind, because, words, ...why };
  };
  const shownPaths = new Set(filesShown.map(({ path }) => path));
  const file = ({ reasons = {}, why: _, score, ...fields }: LikelyFile): ConsideredFile => {
    const isShown = shownPaths.has(fields.path);
    const left = likely.has(fields.path) ? 'budget' : 'rank';
    return { ...fields, score: rounded(score), shown: isShown, reasons, ...(!isShown && { left }) };
  };
  return { facts: considered.slice(0, CONSIDERED).map(fact), files: candidates.map(file) };
}

/** Why the lines of a section are shown, where the section alone decides. */
const WHY: Readonly<Record<string, string>> = {
  prefix: 'the same for a role at every call, so that a provider can cache it',
  unreadable: 'the last result of the task could not be read',
  answers: 'questions of this task, with their answers; never left out',
  unread: 'messages that nobody has read yet',
  ledger: 'results and reviews of this task; required fixes and blockers are never left out',
  replan: 'the task makes no progress',
  guide: 'what the state of the task asks for',
  compacted: 'a summary of the trace of the active intent',
  recent: 'the newest steps of the trace of the active intent',
  perhaps: 'files that the task may touch, less likely than those above',
  left_out: 'what did not fit, with the commands that show it',
  goal: 'what the session is for',
  next: 'progress of plan and board, and unread messages',
  kept: 'statements of the last turn, so that a wrong one is corrected',
  rules: 'rules that hold, the newest first',
  decided: 'decisions that hold, the newest first',
  found: 'causes that hold, the newest first',
  noted: 'notes that hold, the newest first',
  open: 'waits for a fix, a person or a later agent',
  tried: 'attempts that failed',
  last: 'the newest results, without bumps, releases and formatting',
  proposals: 'wait for a person, the newest first',
};

/** Returns why a fact, a file or a learning was chosen; by the section where that alone decides. */
function whyShown({ section = '', fact, file }: LineOrigin, memory: SessionMemory): string | undefined {
  const weighed = memory.considered.find((other) => fact !== undefined && other.fact.id === fact);
  if (weighed === undefined) return memory.files.find(({ path }) => path === file)?.why ?? WHY[section];
  const { because, matched } = weighed;
  if (matched.length === 0) return because;
  return `${because === 'words' ? '' : `${because}, `}words: ${matched.join(' ')}`;
}

export function describeLines(prompt: string, parts: readonly PromptPart[], memory: SessionMemory) {
  const line = (from: number, to: number, source: LineOrigin & { readonly section: string }) => {
    const why = whyShown(source, memory);
    return { ...source, from, to, ...(why !== undefined && { why }) };
  };
  let cursor = 0;
  const all = parts.flatMap((part) => part.inner ?? [part]);
  const lines = all.flatMap(({ section, text: written, origin, lines: origins }): PromptLine[] => {
    const text = written.trimEnd();
    if (text === '') return [];
    const following = prompt.indexOf(text, cursor);
    const at = following === -1 ? prompt.indexOf(text) : following;
    if (at === -1) return [];
    if (following !== -1) cursor = following + text.length;
    const first = lineAt(prompt, at);
    const last = first + lineAt(text, text.length) - 1;
    if (origins === undefined) return [line(first, last, { section, ...origin })];
    return origins().map((source, index) => line(first + index, first + index, { section, ...source }));
  });
  return lines.sort((one, other) => one.from - other.from);
}

function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < place; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** The facts and learnings that a prompt shows, and the best facts that it does not. */
export interface Chosen {
  readonly shown: readonly Pick<RankedFact, 'fact' | 'score'>[];
  readonly left: readonly Pick<WeighedFact, 'fact' | 'score' | 'left'>[];
  readonly learnings: readonly string[];
}

const MOST_LEFT = 10;

/** Cheap, since it runs for every prompt: ids are made later by the one consumer that needs them. */
export function chosenOf(
  { considered }: Pick<SessionMemory, 'considered'>,
  facts: readonly RankedFact[],
  draftFacts: readonly SessionFact[],
  learnings: LearningsInPrompt['ranked'],
): Chosen {
  const shown = new Set(facts.map(({ fact }) => fact));
  return {
    shown: [...facts, ...draftFacts.map((fact) => ({ fact, score: 0 }))],
    left: considered.filter(({ fact }) => !shown.has(fact)).slice(0, MOST_LEFT),
    learnings: learnings.map(({ learning }) => learning.id),
  };
}

function rounded(score: number): number {
  return Math.round(score * 1000) / 1000;
}
