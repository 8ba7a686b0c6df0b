import {
  type DEMAND_KINDS,
  type LearningEvidence,
  MAX_LEARNING,
  type RelevanceMethod,
} from '../../contracts/learning-events.js';
import type { ReplyTo } from '../../contracts/requests.js';
import { defined, onceForEach } from '../../shared/collections.js';
import { hashOf } from '../../shared/hash.js';
import { clipText, quoted } from '../../shared/text.js';

/** The fold of a project's events. Only `evolve` changes it. */
export interface LearningState {
  readonly project: string;
  /** By id, pending and decided ones, the newest last. */
  readonly proposals: Map<string, Proposal>;
  /** Active learnings: the proposals that were accepted and neither merged nor retracted, in the order of acceptance. */
  readonly active: Map<string, Learning>;
  /** Demands of reviews by id. */
  readonly observations: Map<string, Observation>;
  /** Sequence up to which the log has been folded; 0 before the first event. */
  sequence: number;
  /** Sequence of the newest event that counted; 0 before the first. Other messages may follow it. */
  lastEvent: number;
  /** Time of the newest event, ISO 8601; empty before the first. */
  lastEventAt: string;
}

export interface Observation {
  readonly kind: (typeof DEMAND_KINDS)[number];
  /** The first wording. */
  readonly text: string;
  /** The dispatch of that wording. */
  readonly first: number;
  /** One per task of a session, the newest last. */
  readonly evidence: readonly LearningEvidence[];
}

export function emptyLearnings(project: string): LearningState {
  return {
    project,
    proposals: new Map(),
    active: new Map(),
    observations: new Map(),
    sequence: 0,
    lastEvent: 0,
    lastEventAt: '',
  };
}

const ENTRY = 1500;

/** Estimates the memory of a state in bytes. */
export function learningBytes({ proposals, observations }: LearningState): number {
  return ENTRY * (1 + proposals.size + observations.size);
}

export function learningOf(proposal: Proposal): Learning {
  const { id, type, content, tags, source, evidence, extractedAt, confidence } = proposal;
  const confirmedAt = proposal.decidedAt ?? extractedAt;
  return defined({ id, type, content, tags, source, evidence, extractedAt, confirmedAt, confidence });
}

/** Cached per event, to avoid copying thousands of learnings for each prompt. */
const views = new WeakMap<LearningState, ReturnType<typeof viewAt>>();

/** Returns an immutable view of a state: its active learnings, and the pending proposals, the newest first. */
export function viewOf(state: LearningState) {
  const known = views.get(state);
  if (known?.sequence === state.sequence) return known;
  const view = viewAt(state);
  views.set(state, view);
  return view;
}

function viewAt({ active, proposals, sequence }: LearningState) {
  const all: readonly Proposal[] = [...proposals.values()].reverse();
  const pending = all.filter(({ status }) => status === 'pending');
  return { active: new Map(active) as ReadonlyMap<string, Learning>, pending, sequence };
}

/** An accepted proposal: one sentence that is valid across the sessions of a project. */
export type Learning = RankedLearning['learning'];

/** A learning proposed for a person to decide on and, once decided, the newest decision. Edits and evidence change it. */
export type Proposal = ReplyTo<'proposal.show'>['proposal'];

/** A learning with its relevance for one query. */
export type RankedLearning = ReplyTo<'learning.search'>['results'][number];

/** Returns one quoted line of at most 200 characters; may be empty. */
export function learningText(text: string): string {
  return clipText(quoted(text), MAX_LEARNING);
}

export function learningTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(learningText))].filter((tag) => tag !== '');
}

export function learningId(project: string, text: string): string {
  return idOf(project, keyOf(text));
}

/** Returns the id of a reviewer's demand; also ignores paths and numbers, which differ from task to task. */
export function demandId(project: string, text: string): string {
  const placeless = wordsOf(text.replace(PLACE, ' '));
  return idOf(project, placeless.length < FEWEST_WORDS ? keyOf(text) : placeless.join(' '));
}

/** A demand must have words besides its places: `Fix src/a.ts` is about that file. */
const FEWEST_WORDS = 2;

export function sameText(a: string, b: string): boolean {
  return keyOf(a) === keyOf(b);
}

const NEAR_DUPLICATE = 0.7;

interface WordSet {
  readonly text: string;
  readonly words: ReadonlySet<string>;
  readonly negated: boolean;
}

export function wordSet(text: string): WordSet {
  const words = new Set(wordsOf(text));
  // Two negations in one sentence cancel each other.
  return { text, words, negated: [...words].filter((word) => NEGATION.test(word)).length % 2 === 1 };
}

/** Jaccard similarity, 0 to 1. A negated and a positive text are never alike: one word apart, they mean the opposite. */
export function likeness(a: WordSet, b: WordSet): number {
  if (a.negated !== b.negated) return 0;
  if (a.words.size === 0 || b.words.size === 0) return sameText(a.text, b.text) ? 1 : 0;
  let shared = 0;
  for (const word of a.words) if (b.words.has(word)) shared += 1;
  return shared / (a.words.size + b.words.size - shared);
}

// Operators count as words: `==` and `===`, or C, C++ and C#, differ.
const WORD =
  /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:\+\+|#)?|[=!<>]=+|&&|\|\||(?<=\s)[<>](?=\s)|(?<=^|\s)--?(?=[\p{L}\p{N}])/gu;

const NEGATION =
  /^(?:not|no|none|nothing|never|neither|nor|cannot|without|avoid|stop|forbid|(?:do|does|did|is|are|was|were|has|have|had|wo|ca|could|should|would|must|need)nt)$/;

function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase().replace(/['’]/g, '');
  return plain.match(WORD) ?? [];
}

function keyOf(text: string): string {
  const words = wordsOf(text);
  return words.length === 0 ? text : words.join(' ');
}

function idOf(project: string, key: string): string {
  return hashOf(`${project}\u001f${key}`).slice(0, 12);
}

/**
 * Patterns of places in the code, which differ from task to task: paths, files with line and column, numbers.
 *
 * Only clear places count: `input/output` is not a path, and `path.join` is not a file. Confusing two demands is worse
 * than missing a recurrence.
 */
const EXTENSIONS =
  'bash|c|cc|cjs|conf|cpp|cs|css|csv|cts|dart|env|ex|exs|go|gradle|h|hpp|htm|html|ini|java|js|json|jsonl|jsx|kt|kts|' +
  'less|lock|log|lua|m|md|mdx|mjs|mts|php|pl|proto|ps1|py|rb|rs|rst|sass|scala|scss|sh|snap|sql|svelte|svg|swift|' +
  'tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zig|zsh';

const SEGMENT = String.raw`[\p{L}\p{N}_@.~*+-]+`;
const SLASH = String.raw`[/\\]`;

const PLACES = [
  // A rooted or relative path, one with three parts or more, or one that ends with a slash.
  String.raw`(?<![\p{L}\p{N}])(?:[A-Za-z]:|\.{1,2}|~)?${SLASH}${SEGMENT}(?:${SLASH}${SEGMENT})*${SLASH}?`,
  `${SEGMENT}(?:${SLASH}${SEGMENT}){2,}${SLASH}?`,
  String.raw`${SEGMENT}${SLASH}(?=\s|$|[.,;:)\]}'"\x60])`,
  // A file, with or without its folder.
  String.raw`(?:${SEGMENT}${SLASH})*[\p{L}\p{N}_@-][\p{L}\p{N}_@.-]*\.(?:${EXTENSIONS})(?![\p{L}\p{N}_(])(?!\.[\p{L}\p{N}])`,
  // Line and column, after a file or alone.
  String.raw`(?<![\p{L}\p{N}])[Ll]?\p{N}+(?![\p{L}\p{N}])`,
];

const PLACE = new RegExp(PLACES.join('|'), 'gu');

const wordsOfLearning = onceForEach(({ content }: Learning) => wordSet(content));

export function nearDuplicate(state: LearningState, text: string, except: string) {
  let best: Learning | undefined;
  let closest = 0;
  const words = wordSet(text);
  for (const learning of state.active.values()) {
    if (learning.id === except) continue;
    const alike = likeness(words, wordsOfLearning(learning));
    // Word order may differ; identical text is closer still.
    const closer = alike > closest || (alike === 1 && sameText(text, learning.content));
    if (alike < NEAR_DUPLICATE || !closer) continue;
    closest = alike;
    best = learning;
  }
  return best && { learning: best.id, content: best.content, similarity: Math.round(closest * 100) / 100 };
}

export interface LearningsInPrompt {
  readonly method: RelevanceMethod;
  /** The most relevant first. */
  readonly ranked: readonly RankedLearning[];
  readonly total: number;
  /** Pending proposals, the newest first. */
  readonly pending: readonly Proposal[];
  /** Project sequence that this reflects. */
  readonly sequence: number;
}

export const NO_LEARNINGS: LearningsInPrompt = {
  method: 'recency',
  ranked: [],
  total: 0,
  pending: [],
  sequence: 0,
};

/** Renders `Relevant learnings (3/15):`, best first, or `Recent learnings (5/15):` if only by recency; without scores. */
export function formatRelevantLearnings({ method, ranked, total }: LearningsInPrompt, isScored = false) {
  if (ranked.length === 0) return '';
  const title = method === 'recency' ? 'Recent' : 'Relevant';
  const lines = ranked.map((entry) => formatLearning(entry, isScored));
  return [`${title} learnings (${ranked.length}/${total}):`, ...lines].join('\n');
}

/** Renders a learning, perhaps with its score; one that is shown for its age alone has none. */
export function formatLearning({ learning, score }: RankedLearning, isScored: boolean): string {
  const end = isScored && score > 0 ? ` (${score.toFixed(2)})` : '';
  return `  - ${learning.type}: ${learningText(learning.content)}${end}`;
}

const INDEXED_PROPOSALS = 5;
const INDEX_ID = 5;
const INDEX_TEXT = 40;
const TYPE_COLUMN = 8;

/** Returns an index line for each of the newest proposals: `  abc12 pattern  "Prefers explicit errors" (0.82)`. */
export function compactProposals(pending: readonly Proposal[]): string[] {
  return pending.slice(0, INDEXED_PROPOSALS).map(({ id, type, content, confidence }) => {
    const text = clipText(quoted(content), INDEX_TEXT);
    const sure = confidence === undefined ? 'N/A' : confidence.toFixed(2);
    return `  ${id.slice(0, INDEX_ID)} ${type.padEnd(TYPE_COLUMN)} "${text}" (${sure})`;
  });
}

/** Renders the index of proposals for people to decide on; empty without lines. */
export function formatCompactProposals(lines: readonly string[], total: number, review: string): string {
  if (lines.length === 0) return '';
  const more = total > lines.length ? ['  ...'] : [];
  return [`Pending proposals (${total}):`, ...lines, ...more, '', `Review: \`${review}\``].join('\n');
}
