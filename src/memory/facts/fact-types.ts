import { KEPT } from '../../contracts/kept-limits.js';
import {
  type FactTag,
  kindOf,
  ORIGINS,
  ROLES,
  type Role,
  rolesOf,
  type Severity,
} from '../../contracts/kinds.js';
import type { StatementScope, recordedFact as storedFact } from '../../contracts/recorded-fact.js';
import { BLOCKED_BY, RELATIONS } from '../../contracts/relations.js';
import type { answerView, note } from '../../contracts/replies/session-reply.js';
import type { ResultOf } from '../../contracts/results.js';
import type { Output } from '../../contracts/schema-fields.js';
import { hashOf } from '../../shared/hash.js';
import { clipText, lengthOf, quoted } from '../../shared/text.js';
import { fileWords } from '../search/path-table.js';
import type { restored, storedSessionFact } from './stored-fact.js';

/** The topic of a fact, for filtering. */
export type SessionFactTag = FactTag;

/** Something that a dispatch taught: `subject relation object`. Immutable; a closed copy has a `validTo`. */
export interface SessionFact extends Output<typeof storedSessionFact> {
  /** `createFactId` of its three fields. */
  readonly id: string;
}

/** A note for later agents. */
export type Note = Output<typeof note>;

/** An answer to a question of an agent. */
export type Answer = Output<typeof answerView>;

/** The return of a statement by a person. */
export type Restored = Output<typeof restored>;

/** The part of a fact that its event stores; the dispatch beside it has the rest. */
export type RecordedFact = Output<typeof storedFact>;

export function outranks(one: Pick<RecordedFact, 'origin'>, other: Pick<RecordedFact, 'origin'>): boolean {
  return rankOf(one) < rankOf(other);
}

/** Names the work that a fact is from: its task, or its turn, since a turn of a conversation is a result of its own. */
export function workOf({ sourceTaskId: task, sourceSequence, sourceRole }: SessionFact): string {
  return kindOf(sourceRole).part === 'note' ? turnOf(task, sourceSequence) : task;
}

export function turnOf(task: string, sequence: number): string {
  return `${task}\n${sequence}`;
}

/** True for the id of a note or an answer: no result says them. */
export function isOfCommand(ref: string | undefined): boolean {
  return ref?.startsWith('N') === true;
}

/** Returns how the fact of an answer begins: with its questions. Empty for another fact. */
export function questionPrefix(answer: SessionFact['answer']): string {
  return answer === undefined ? '' : `${quoted(answer.questions.join(' '))} `;
}

export function rankOf({ origin = 'agent' }: Pick<RecordedFact, 'origin'>): number {
  return ORIGINS.indexOf(origin);
}

/** Returns why an agent may not change a fact: a person or the user said it, or a person withdrew it. */
export function refusalOf(
  person: true | undefined,
  { id, ref = id, origin, retracted }: SessionFact,
): string | undefined {
  const isWithdrawn = retracted !== undefined && !retracted.agent;
  if (person || (!isWithdrawn && !outranks({ origin }, {}))) return undefined;
  // The labelled lines of the agent that a user talks to have this origin, too.
  const reason =
    origin === 'user'
      ? "is from the user's conversation and has the user's rank"
      : `is what the ${origin} said`;
  const what = isWithdrawn ? `was withdrawn by ${retracted.by}` : reason;
  return `fact ${ref} ${what}: ${ONLY_A_PERSON}`;
}

export const ONLY_A_PERSON = 'only a person changes it, at a terminal or on the page';

/** The source of facts: a dispatch, its position in the `DISPATCH` stream, and its arrival. */
export interface DispatchOrigin {
  readonly sequence: number;
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly role: Role;
  readonly taskId: string;
  /** True if it is from before the session. */
  readonly history?: true;
}

/** Extracts facts from results by rules. Never throws: a failing rule is reported, and the others still run. */
export interface IFactExtractor {
  extractFromImplementer(result: ResultOf<'implementer'>, origin: DispatchOrigin): SessionFact[];
  extractFromReviewer(result: ResultOf<'reviewer'>, origin: DispatchOrigin): SessionFact[];
}

/** Filters and limit of an answer. */
export interface FactSelection {
  /** Facts of this task are left out, since its own ledger shows them. */
  readonly taskId: string;
  /** Only facts with at least one of these; absent means any. */
  readonly tags?: readonly SessionFactTag[] | undefined;
  readonly maxFacts: number;
}

/** A request for the facts of a prompt. */
export interface FactQuery extends FactSelection {
  readonly taskDescription: string;
  /** Token budget, at four characters a token. */
  readonly maxTokens: number;
}

/** A fact with the reasons for its rank. */
export interface RankedFact {
  readonly fact: SessionFact;
  readonly group: FactGroup;
  /** Relevance, 0 to 1, for comparison; 0 if selected for recency alone. */
  readonly score: number;
  readonly tokens: number;
  /** Query words that it contains, as tokens. */
  readonly matched: readonly string[];
}

export interface WeighedFact extends RankedFact {
  readonly because: 'words' | 'file' | 'similar' | 'meaning' | 'recent';
  readonly left?: 'rank' | 'near-duplicate' | 'one task' | 'reserved' | 'likely file' | undefined;
  readonly duplicateOf?: string | undefined;
}

export interface FactRanking {
  /** Relevant facts: the best `PLACES`, best first, then the others, best first. */
  readonly chosen: readonly RankedFact[];
  readonly cut: readonly Pick<RankedFact, 'fact' | 'group'>[];
  /** Facts that nothing else speaks for: by faint words, then the newest. */
  readonly rest: readonly RankedFact[];
  /** The best 30 candidates, best first. */
  readonly considered: readonly WeighedFact[];
  readonly total: number;
}

/** Selects the facts that a task needs, and fills up to `maxFacts` with the newest. Never throws. */
export interface IFactRetriever {
  retrieve(query: FactQuery): SessionFact[];
  /** Returns the same selection with scores and tokens. */
  rank(query: FactQuery): RankedFact[];
}

/** Unit separator: a control character, which `quoted()` removed from every field. */
const SEPARATOR = '\u001f';

/** Returns a fact's id: 16 hex characters of SHA-256 over its three fields. Escaped separators keep the texts distinct. */
export function createFactId(subject: string, relation: string, object: string): string {
  const text = `${escaped(subject)}${SEPARATOR}${escaped(relation)}${SEPARATOR}${escaped(object)}`;
  return hashOf(text);
}

export function factId({ subject, relation, object }: RecordedFact): string {
  return createFactId(subject, relation, object);
}

export function saysTheSame(one: RecordedFact, other: RecordedFact): boolean {
  return one.object === other.object && one.subject === other.subject && one.relation === other.relation;
}

function escaped(field: string): string {
  return field.includes(SEPARATOR) || field.includes('\\')
    ? field.replaceAll('\\', '\\\\').replaceAll(SEPARATOR, '\\u')
    : field;
}

/** Makes a fact from raw text: fields are quoted, clipped lines; `undefined` if one is empty. `finding`: severity and fix. */
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

export const OPEN_VALUE = 2;
export const MOST_VALUE = 7;
/** Value of an open rule, and of the word of a person or user. */
const RESERVED_VALUE = 8;

const OPEN_VALUES: Readonly<Record<FactGroup, number>> = {
  // Past results keep files and summaries too.
  files: OPEN_VALUE,
  work: 4,
  requirements: 5,
  facts: 6,
  tests: 6,
  decisions: MOST_VALUE,
  conventions: RESERVED_VALUE,
  findings: MOST_VALUE,
};

/** Returns the value of a fact for compaction: closed facts less than open ones, which are valued by group. */
export function worthOf(fact: SessionFact): number {
  // Its text must stay known, so that no later fact repeats it.
  if (fact.retracted !== undefined) return MOST_VALUE;
  const group = groupOf(fact);
  const isCheap = isBare(fact) || group === 'files';
  if (fact.validTo !== undefined) return isCheap ? 0 : 1;
  if (fact.origin !== undefined) return RESERVED_VALUE;
  return isBare(fact) ? OPEN_VALUE + 1 : OPEN_VALUES[group];
}

export function bytesOfFact({ subject, relation, object, fix = '' }: RecordedFact): number {
  return Buffer.byteLength(subject) + relation.length + Buffer.byteLength(object) + Buffer.byteLength(fix);
}

export const FACT_GROUPS = [
  'findings',
  'conventions',
  'decisions',
  'tests',
  'requirements',
  'work',
  'files',
  'facts',
] as const;
export type FactGroup = (typeof FACT_GROUPS)[number];

interface RelationAndTags {
  readonly relation: string;
  readonly tags: readonly FactTag[];
}

const DECIDES = /^(?:decid|decision|chose|choos)/;
const OUTCOMES: ReadonlySet<string> = new Set(ROLES.flatMap((role) => kindOf(role).relations.verdict ?? []));
const SUMMARIES: ReadonlySet<string> = new Set(ROLES.map((role) => kindOf(role).relations.summary));

/** Returns the group of a fact, by its relation and, for explicit facts, its tags. */
export function groupOf({ relation, tags }: RelationAndTags): FactGroup {
  switch (relation) {
    case RELATIONS.requiredFix:
    case RELATIONS.issue:
      return 'findings';
    case RELATIONS.changedBy:
      return 'files';
    case RELATIONS.requires:
    case BLOCKED_BY:
      return 'requirements';
    case RELATIONS.test:
      return 'tests';
    default:
  }
  if (SUMMARIES.has(relation) || OUTCOMES.has(relation)) return 'work';
  const isRule = relation === RELATIONS.convention || relation === RELATIONS.rule;
  if (isRule || tags.includes('convention')) return 'conventions';
  if (tags.includes('decision') || DECIDES.test(relation)) return 'decisions';
  if (relation === RELATIONS.suggested) return 'requirements';
  return 'facts';
}

/** True for a fact that only states success or an outcome: a verdict, a passing test, a review that says "Good now." */
export function isBare({ relation, tags, object }: RelationAndTags & { readonly object: string }): boolean {
  if (REVIEW_SUMMARIES.has(relation))
    return object.split(/\s+/, BARE_WORDS).length < BARE_WORDS && !NAMES.test(object);
  return (
    OUTCOMES.has(relation) ||
    relation === RELATIONS.branch ||
    relation === RELATIONS.branchEnded ||
    relation === RELATIONS.settled ||
    relation === RELATIONS.commit ||
    (relation === RELATIONS.test && !tags.includes('error'))
  );
}

/** Groups that outlive their task and may matter without a shared word. */
const LASTING: ReadonlySet<FactGroup> = new Set(['decisions', 'conventions', 'facts']);

/** A definition can be found in the code, and a question concerns its own task. */
const PASSING: ReadonlySet<string> = new Set([RELATIONS.defined, RELATIONS.asks]);

export function isLasting(fact: RelationAndTags & { readonly object: string }): boolean {
  return LASTING.has(groupOf(fact)) && !PASSING.has(fact.relation) && !isBare(fact);
}

const REVIEW_SUMMARIES: ReadonlySet<string> = new Set(
  rolesOf('review').map((role) => kindOf(role).relations.summary),
);
/** A review summary of fewer words says no more than its verdict, unless it names a file, a number or a symbol. */
const BARE_WORDS = 5;
const NAMES = /\d|[\w)][./_:(]\w|`/;

export function isSummary({ relation }: Pick<RelationAndTags, 'relation'>): boolean {
  return SUMMARIES.has(relation);
}

export const SESSION_CONTEXT_HEADER = '[Session Context]';
/** Maximum length of a fact's line, in characters. */
export const MAX_FACT_LINE = 120;

const MAX_SUFFIX = 60;

/**
 * Renders facts for a prompt: the header, then a line `- {subject} {relation} {object} [task:{id}]` each. Returns an
 * empty string without facts. Long lines lose the end of the object, then of the subject; the suffix is kept.
 */
export function formatSessionFacts(facts: readonly SessionFact[]): string {
  return facts.length === 0 ? '' : [SESSION_CONTEXT_HEADER, ...facts.map(factLine)].join('\n');
}

/** Renders a fact as one line of at most 120 characters. */
export function factLine(fact: SessionFact): string {
  const suffix = ` [task:${clipText(quoted(fact.sourceTaskId).replace(/[[\]]/g, ''), MAX_SUFFIX)}]`;
  const room = MAX_FACT_LINE - lengthOf(suffix);
  // Quoted as a whole: harmless parts such as `[task` and `: 9]` would combine into a forged origin.
  const line = `- ${quoted(`${quoted(fact.subject)} ${quoted(fact.relation)} ${quoted(fact.object)}`)}`;
  return clipText(line, room) + suffix;
}

// A bracket in a task id would end the suffix early, and the rest could forge another.
/** The place of a reader, compared with the scopes of statements. An absent field excludes no statement. */
export type Here = { readonly [Part in keyof StatementScope]: Readonly<StatementScope[Part]> };
type Scoped = Pick<RecordedFact, 'scope'>;

export function isElsewhere({ scope = {} }: Scoped, here: Here): boolean {
  const { task = here.task, branch = here.branch, paths } = scope;
  const isOther = (wanted = '', known = wanted) => wanted !== known;
  const areOthers = paths !== undefined && here.paths !== undefined && !areIn(here.paths, paths);
  return isOther(task, here.task) || isOther(branch, here.branch) || areOthers;
}

/** True if a statement is about files at hand: by its scope, else by the paths that it names. */
export function isAtHand({ scope, object }: RecordedFact, { paths = [] }: Here): boolean {
  return paths.length > 0 && areIn(paths, scope?.paths ?? fileWords(object));
}

/** One by subject or by contrast ends only what holds in the same place. */
export function isSameScope({ scope }: Scoped, other: Scoped): boolean {
  return scope === other.scope || JSON.stringify(scope) === JSON.stringify(other.scope);
}

/** A folder stands for all below it, and a star for anything: `legacy/`, `legacy/**`, `*.sql`. */
function areIn(paths: readonly string[], globs: readonly string[]): boolean {
  return globs.some((glob) => {
    const [start = '', ...rest] = glob
      .replace(/^\.?\//, '')
      .replace(/\/\*\*$/, '')
      .split(/\*+/);
    const end = rest.at(-1) ?? '';
    const folder = `/${start.replace(/\/$/, '')}/`;
    return paths.some((path) => {
      const below = `/${path.replaceAll('\\', '/').replace(/^\.?\//, '')}`;
      if (rest.length === 0)
        return path.startsWith('/') ? `${below}/`.includes(folder) : `${below}/`.startsWith(folder);
      const begins = path.startsWith('/') ? below.includes(`/${start}`) : below.startsWith(`/${start}`);
      return begins && below.endsWith(end);
    });
  });
}
