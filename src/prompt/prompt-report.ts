import type {
  CompiledFact,
  CompiledFile,
  Considered,
  ConsideredFact,
  ConsideredFile,
  LearningsReport,
  PromptLine,
} from '../contracts/replies/compile-reply.js';
import type { RankedFact, SessionFact, WeighedFact } from '../memory/facts/fact-types.js';
import {
  formatLearning,
  formatRelevantLearnings,
  type LearningsInPrompt,
} from '../memory/learnings/learnings-state.js';
import type { LikelyFile } from '../memory/search/likely-files.js';
import { defined } from '../shared/collections.js';
import { type Item, type Shown, type ShownItem, wholeItems } from './fill-prompt.js';
import type { LineOrigin, PromptPart } from './prompt-kind.js';
import {
  type CappedMemory,
  CONSIDERED,
  type NoteSection,
  type NotesAt,
  noteLines,
  type SessionMemory,
} from './session-notes.js';

/** Renders the notes, with the fact or file of each line. */
export function notesPart(memory: CappedMemory, shown: Shown<NoteSection>, at: NotesAt): PromptPart {
  const lines = noteLines(memory, shown, at);
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

/** Returns the task, the result and the event of a fact. */
export function originOf({ sourceTaskId: task, sourceSequence: dispatch, eventSequence }: SessionFact) {
  return { task, dispatch, eventSequence };
}

export function learningItems(learnings: LearningsInPrompt, isScored: boolean): Item[] {
  return wholeItems(learnings.ranked.map((each) => formatLearning(each, isScored)));
}

export function learningsShown(learnings: LearningsInPrompt, shown: readonly ShownItem[]): LearningsInPrompt {
  return { ...learnings, ranked: shown.flatMap(({ index }) => learnings.ranked[index] ?? []) };
}

/** Renders the shown learnings: a title, then one line each. */
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
  const { subject, relation, object, sourceTaskId: taskId, severity, fix, id, eventSequence } = fact;
  const words = defined({ subject, relation, object, taskId, severity, fix });
  return { ...words, id, dispatch: fact.sourceSequence, eventSequence, score: rounded(score), tokens };
}

export function describeConsidered(
  { considered, candidates, files }: SessionMemory,
  facts: readonly RankedFact[],
  filesShown: readonly LikelyFile[],
): Considered {
  const shownFacts = new Set(facts.map(({ fact }) => fact));
  const likely = new Set(files.map(({ path }) => path));
  const fact = (weighed: WeighedFact): ConsideredFact => {
    const isShown = shownFacts.has(weighed.fact);
    const { group: kind, because, matched: words, left = 'budget', duplicateOf } = weighed;
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
  said: 'unread messages, decisions and obstacles that fit the task',
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
  decided: 'decisions and conventions that hold, the newest first',
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

/** 1-based. */
function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < place; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** The facts and learnings that a prompt shows, and the best facts that it does not. */
export interface Chosen {
  readonly shown: readonly Pick<RankedFact, 'fact' | 'score'>[];
  readonly left: readonly Pick<WeighedFact, 'fact' | 'score' | 'left'>[];
  /** Ids. */
  readonly learnings: readonly string[];
}

/** Limit of reported facts that were left out. */
const MOST_LEFT = 10;

/** Cheap, since it runs for every prompt: ids are made later by the one consumer that needs them. */
export function chosenOf(
  { considered }: Pick<SessionMemory, 'considered'>,
  facts: readonly RankedFact[],
  own: readonly SessionFact[],
  learnings: LearningsInPrompt['ranked'],
): Chosen {
  const shown = new Set(facts.map(({ fact }) => fact));
  return {
    shown: [...facts, ...own.map((fact) => ({ fact, score: 0 }))],
    left: considered.filter(({ fact }) => !shown.has(fact)).slice(0, MOST_LEFT),
    learnings: learnings.map(({ learning }) => learning.id),
  };
}

function rounded(score: number): number {
  return Math.round(score * 1000) / 1000;
}
