import type { CompileHints } from '../contracts/compile-request.js';
import { type FactTag, kindOf } from '../contracts/kinds.js';
import { RELATIONS } from '../contracts/relations.js';
import { isSentBack } from '../ledger/task-ledger.js';
import type { FactIndex } from '../memory/facts/fact-index.js';
import { PLACES, rankFacts } from '../memory/facts/fact-ranking.js';
import {
  isBare,
  type RankedFact,
  rankOf,
  type SessionFact,
  type WeighedFact,
  workOf,
} from '../memory/facts/fact-types.js';
import { coveringTasks, EARLY, MOST_WORK, sharesOf } from '../memory/search/covering-work.js';
import { LEADING, LIKELY, type LikelyFile, PERHAPS, recall } from '../memory/search/likely-files.js';
import { fileClass, queryPaths } from '../memory/search/path-table.js';
import { isRoutine, isTelling, queryTokens, withoutType } from '../memory/search/tokens.js';
import { closenessTo, type WordVectors } from '../memory/search/word-vectors.js';
import { factsOf, ledgersOf, pastOf, type SessionState } from '../memory/session/session-state.js';
import { counted, quoted, recordOf } from '../shared/text.js';
import {
  type Item,
  type Listed,
  type Sections,
  type Shown,
  type Stretch,
  wholeItems,
} from './fill-prompt.js';
import { demandsPart, filesPart, laterPart, type NoteContext, noteItem, perhapsLine } from './note-items.js';
import { isForOthers } from './task-text.js';

/** The session context as notes: relevant knowledge for a task, by importance. */
export const NOTE_SECTIONS = [
  'findings',
  'decisions',
  'facts',
  'failed',
  'tests',
  'files',
  'perhaps',
  'work',
  'requirements',
] as const;
export type NoteSection = (typeof NOTE_SECTIONS)[number];

const SECTION_OF = {
  findings: 'findings',
  conventions: 'decisions',
  decisions: 'decisions',
  tests: 'tests',
  requirements: 'requirements',
  work: 'work',
  files: 'facts',
  facts: 'facts',
} as const satisfies Record<RankedFact['group'], NoteSection>;

/** A passing test does not belong under "Failing tests". */
function sectionOf({ group, fact }: Pick<RankedFact, 'group' | 'fact'>): NoteSection {
  if (fact.relation === RELATIONS.failed) return 'failed';
  return group === 'tests' && isBare(fact) ? 'facts' : SECTION_OF[group];
}

export const CONSIDERED = 30;
const LED_BY = 10;
/** Files on a line of their own, and on the line of those that the task may touch. */
const MAX_LIKELY = 5;
const MAX_PERHAPS = 4;
const MAX_LEFT = 3;
/** Decisions, conventions and facts in words that are shown even if nothing speaks for them. */
const MAX_LASTING = 20;

/** What was left to do is old after this time and this many results with files: then it must share this many words with the task. */
const OLD_MS = 7 * 24 * 3_600_000;
const OLD_RESULTS = 50;
const STRONG = 3;
/** Results on other files whose words are mostly those of the task, such as "remove simple-get from the reply tests". */
const MOST_PRECEDENTS = 1;
/** Past work with files may share only one telling word with the task at this likeness, or if it is this share of the task. */
const NEAR_ENOUGH = 0.45;
const MUCH = 0.25;

interface MemoryQuery {
  readonly text: string;
  /** Its facts are selected only if its ledger lacks them. */
  readonly taskId: string;
  readonly tags?: readonly FactTag[] | undefined;
  readonly maxFacts?: number | undefined;
  readonly maxFiles: number;
  readonly now?: string | undefined;
  readonly hints?: CompileHints | undefined;
  readonly branch?: string | undefined;
  /** True if the prompt lists the notes elsewhere. */
  readonly withoutNotes?: boolean | undefined;
  readonly explain?: boolean | undefined;
}

/** The relevant memory for a task, as items with their sources. */
export interface SessionMemory {
  readonly sections: Sections<NoteSection>;
  /** By section: the fact of each item; `files` has none. */
  readonly facts: Readonly<Record<NoteSection, readonly RankedFact[]>>;
  /** Positions of relevant items, by importance. */
  readonly places: readonly { readonly section: NoteSection; readonly index: number }[];
  readonly files: readonly LikelyFile[];
  readonly perhaps: readonly LikelyFile[];
  /** Number of open findings of other tasks, most of which do not concern this one. */
  readonly findings: number;
  /** The likely files and, with `explain`, the next best. */
  readonly candidates: readonly LikelyFile[];
  readonly considered: readonly WeighedFact[];
  /** Version of the word vectors that ordered the facts; `undefined` if words alone did. */
  readonly vectors: string | undefined;
  /** Original numbers of items of incomplete sections. */
  readonly totals: { readonly [Name in NoteSection | 'learnings']?: number };
}

/** @param room token limit of the whole prompt */
export function memoryOf(state: SessionState, query: MemoryQuery, room: number, words?: WordVectors) {
  const { text, taskId, maxFiles, hints } = query;
  const [store, ledgers] = [factsOf(state), ledgersOf(state)];
  const index = store.index();
  const past = index.byWork(pastOf(state));
  const { files: known, similar } = recall(past, {
    text,
    explain: query.explain,
    maxFiles: Math.max(maxFiles, CONSIDERED),
  });
  const { missing = [] } = hints ?? {};
  const candidates = known
    .filter(({ path }) => !missing.includes(path) && fileClass(path) !== 'lock')
    .map((file) => ({ ...file, tasks: [...new Set(file.tasks.flatMap((work) => work.split('\n', 1)))] }));
  // The ledger of the task lists the files that it has changed itself.
  const changed = new Set(ledgers.get(taskId)?.work.files);
  const others = candidates.slice(0, maxFiles).filter(({ path }) => !changed.has(path));
  const files = others.filter(({ score }) => score >= LIKELY).slice(0, MAX_LIKELY);
  const perhaps = others.filter(({ score }) => score < LIKELY && score >= PERHAPS).slice(0, MAX_PERHAPS);
  // The selection of facts does not depend on the number of shown files.
  const likely = candidates.filter(({ score }, place) => place < LED_BY && score >= LEADING);
  // A bump says how the next bump is made, and nothing else.
  const isAside = (summary: string) => isRoutine(summary) && !isRoutine(text);
  const covering = coveringTasks(past, candidates, text, (work) =>
    index.ofWork(work).some(({ isSummary, fact }) => isSummary && !isAside(fact.object)),
  );
  const paths = [...likely.map(({ path }) => path), ...queryPaths(text), ...changed];
  const branch = index.ofTask(taskId).find(({ fact }) => fact.relation === RELATIONS.branch)?.fact.object;
  const here = { branch: query.branch ?? branch, ...(taskId !== '' && { task: taskId, paths }) };
  const closeness = closenessTo(words, text);
  const { chosen, cut, rest, considered } = rankFacts(store, {
    ...query,
    room,
    work: covering,
    lasting: MAX_LASTING,
    here,
    closeness,
    files: likely.map(({ path }) => path),
    besideLedger: true,
    similar: new Map([...similar].reverse().map(({ task, similarity }) => [task, similarity])),
  });
  const facts = recordOf(NOTE_SECTIONS, (): RankedFact[] => []);
  const useful = new Set(covering.map(({ task }) => task));
  const hasFiles = (work: string) => past.rows.some((row) => row.task === work);
  const isAnothers = isForOthers(state, taskId, text);
  const telling = queryTokens(text).filter(isTelling).length;
  let precedents = 0;
  const shares = sharesOf(past, withoutType(text));
  const shareOf = (word: string) => shares.get(past.wordOf(word) ?? Number.NaN) ?? 0;
  /** Among many results, one common word is chance, unless it is much of the task or the meaning is near, too. */
  const isNear = ({ object }: SessionFact) => {
    const likeness = closeness?.(object) ?? 0;
    // Without a vector, nothing is known of the meaning.
    if (likeness === 0 || likeness >= NEAR_ENOUGH || past.rows.length < EARLY.results) return true;
    const shared = [...new Set(queryTokens(object))].filter((word) => shareOf(word) > 0);
    // A part of a word is not a further one.
    const isPart = (word: string) => shared.some((other) => other !== word && other.includes(word));
    return (
      shared.filter((word) => !isPart(word)).length > 1 ||
      shared.reduce((sum, word) => sum + shareOf(word), 0) >= MUCH
    );
  };
  /** A later round of its task answered the review. */
  const isSettled = ({ sourceRole, sourceTaskId, sourceSequence }: SessionFact) =>
    kindOf(sourceRole).part === 'review' && (ledgers.get(sourceTaskId)?.last.sequence ?? 0) > sourceSequence;
  const namesLikely = ({ object }: SessionFact) => likely.some(({ path }) => object.includes(path));
  const relevant = [...chosen, ...rest].filter((hit) => {
    const { group, fact } = hit;
    if (taskId !== '' && fact.note !== undefined && isAnothers(fact.object)) return false;
    if (group === 'requirements')
      return !isOld(state, fact) || hit.matched.length >= STRONG || namesLikely(fact);
    if (group !== 'work') return true;
    if (isSettled(fact)) return false;
    if (fact.sourceTaskId !== taskId && hit.matched.length > 0 && hasFiles(workOf(fact)) && !isNear(fact))
      return false;
    if (useful.has(workOf(fact)) || fact.sourceTaskId === taskId) return true;
    if (isAside(fact.object)) return false;
    // Near by meaning alone: work in words may say what the task must know, changes are hardly ever of use beside those that fit.
    const isInWords = !hasFiles(workOf(fact));
    if (hit.matched.length === 0) return isInWords || useful.size <= 1;
    // Work with files is of use by its files, or shows how the same was done elsewhere.
    if (isInWords) return true;
    if (precedents === MOST_PRECEDENTS || hit.matched.length < Math.max(3, (2 * telling) / 3)) return false;
    precedents += 1;
    return true;
  });
  relevant.sort((a, b) => rankOf(a.fact) - rankOf(b.fact));
  const failed = relevant.filter(({ fact }) => fact.relation === RELATIONS.failed);
  const isTriedAbove = ({ object, sourceTaskId: task }: SessionFact) =>
    failed.some(({ fact }) => fact.sourceTaskId === task && object.includes(fact.object));
  const revertOf = reverts(index);
  const places: { section: NoteSection; index: number }[] = [];
  for (const hit of relevant) {
    const section = sectionOf(hit);
    const fact = (section === 'work' && revertOf(hit.fact)) || hit.fact;
    if (facts[section].length === MOST[section]) continue;
    if (section === 'work' && (isTriedAbove(fact) || facts.work.some((other) => other.fact === fact)))
      continue;
    const { group, score, tokens, matched } = hit;
    const shown = fact === hit.fact ? hit : { fact, group, score, tokens, matched };
    places.push({ section, index: facts[section].push(shown) - 1 });
  }
  const ranks = new Map([...useful].map((work, rank) => [work, rank]));
  const placeOf = ({ fact }: RankedFact) => ranks.get(workOf(fact)) ?? useful.size;
  facts.work.sort((a, b) => placeOf(a) - placeOf(b));
  const filesOf = new Map([...similar, ...covering].map(({ task, files }) => [task, files]));
  newestFirst(facts.work, filesOf);
  // Open findings and conventions are not repeated.
  const shownAbove = new Set([...facts.findings, ...facts.decisions].map(({ fact }) => fact.object));
  const alikeOf = new Map(covering.map(({ task, alike }) => [task, alike.length]));
  const shownWork = new Set<string>();
  /** The results of a task are shown once, at its first mention. */
  const moreOfWork = (fact: SessionFact): string[] => {
    const { sourceTaskId: task, object: summary } = fact;
    const work = workOf(fact);
    if (shownWork.has(work)) return [];
    shownWork.add(work);
    const alike = alikeOf.get(work) ?? 0;
    const unmentioned = store.findingsOf(task).filter(({ object }) => !shownAbove.has(object));
    return [
      ...(isSentBack(ledgers.get(task)) ? ['| Sent back by its review'] : []),
      ...demandsPart(unmentioned, summary),
      ...filesPart((filesOf.get(work) ?? []).filter((path) => !missing.includes(path))),
      // Similar tasks with the same files have no line of their own.
      ...(alike > 0 ? [`| ${counted(alike, 'more result')} like it`] : []),
    ];
  };
  const context = contextOf(state, query.now, missing, query.branch);
  const sections = recordOf(NOTE_SECTIONS, (name): Item[] => {
    if (name === 'files') return wholeItems(files.map(({ path, why }) => `- ${quoted(path)} (${why})`));
    if (name === 'perhaps') return wholeItems(perhaps.length === 0 ? [] : [perhapsLine(perhaps)]);
    return facts[name].map((hit) => {
      const { sourceTaskId: task } = hit.fact;
      const later = name === 'failed' ? laterPart(hit.fact, ledgers.get(task)) : [];
      return noteItem(hit, name === 'work' ? moreOfWork(hit.fact) : later, context);
    });
  });
  const totals: { [Name in NoteSection]?: number } = {};
  for (const hit of cut) {
    const section = sectionOf(hit);
    totals[section] = 1 + (totals[section] ?? sections[section].length);
  }
  const taskFindings = store.findingsOf(taskId).filter(({ validTo }) => validTo === undefined);
  return {
    sections,
    facts,
    places,
    files,
    perhaps,
    candidates,
    considered,
    totals,
    findings: index.findings - taskFindings.length,
    vectors: closeness === undefined ? undefined : words?.version,
  };
}

/**
 * @param missing files that do not exist where the reader works
 * @param branch where the reader works
 */
export function contextOf(
  state: SessionState,
  now: string | undefined,
  missing: readonly string[] = [],
  branch?: string,
): NoteContext {
  const store = factsOf(state);
  const commits = (task: string) =>
    store
      .index()
      .ofTask(task)
      .find(({ fact }) => fact.relation === RELATIONS.commit);
  const planned = new Set(state.run?.document.tasks.map(({ id }) => id));
  return {
    newest: state.lastEventAt,
    now,
    missing,
    replaced: store.replaced(),
    isOpen: (task) => planned.has(task) || state.board.tasks.has(task),
    commitOf: (task) => commits(task)?.fact.object,
    otherBranchOf(fact) {
      const on = store.openBranchOf(fact);
      return branch === undefined || on === branch ? undefined : on;
    },
  };
}

const MOST: { readonly [Section in NoteSection]?: number } = { work: MOST_WORK, requirements: MAX_LEFT };

/** The words of git, and of a commit with a type. */
const REVERT = /^(?:revert|reapply)\w{0,3}:? "?(.+?)"?(?: \(#\d{1,9}\))?$/i;

/** Returns the result that undid another one, by git's words, if it was not undone itself. */
function reverts(index: FactIndex): (fact: SessionFact) => SessionFact | undefined {
  const undone = new Map<string, SessionFact>();
  for (const { fact, isSummary } of index.text.of('<revert>').entries) {
    const [, subject] = (isSummary && REVERT.exec(fact.object)) || [];
    if (subject !== undefined) undone.set(plainSubject(subject), fact);
  }
  const later = (fact: SessionFact) => {
    const by = undone.get(plainSubject(fact.object));
    return by !== undefined && by.sourceSequence > fact.sourceSequence ? by : undefined;
  };
  return (fact) => {
    const by = later(fact);
    return by === undefined || later(by) !== undefined ? undefined : by;
  };
}

function plainSubject(subject: string): string {
  return subject.replace(/ \(#\d{1,9}\)"?$/, '');
}

function newestFirst(work: RankedFact[], filesOf: ReadonlyMap<string, readonly string[]>): void {
  const keyOf = ({ fact }: RankedFact) => filesOf.get(workOf(fact))?.toSorted().join('\n');
  const keys = work.map(keyOf);
  for (const [at, key] of keys.entries()) {
    const same = work.filter((_, other) => other >= at && key !== undefined && keys[other] === key);
    const newest = same.sort((a, b) => b.fact.sourceSequence - a.fact.sourceSequence)[0];
    const from = newest === undefined ? at : work.indexOf(newest);
    [work[at], work[from]] = [work[from] as RankedFact, work[at] as RankedFact];
  }
}

/** True for something left to do of long ago, which was probably done or given up. */
export function isOld(state: SessionState, { validFrom, sourceSequence }: SessionFact): boolean {
  if (Date.parse(state.lastEventAt) - Date.parse(validFrom) < OLD_MS) return false;
  return (pastOf(state).rows.at(-1 - OLD_RESULTS)?.sequence ?? sourceSequence) > sourceSequence;
}

/** Restricts each section in an order to the first `PLACES` facts of the memory, and appends all others. */
export function bestFirst<Name extends string>(order: readonly Stretch<Name>[], { places }: SessionMemory) {
  const best = recordOf(NOTE_SECTIONS, () => new Set<number>());
  for (const { section, index } of places.slice(0, PLACES)) best[section].add(index);
  const onlyBest = (stretch: Stretch<Name>) =>
    isFactSection(stretch.section) ? { ...stretch, only: best[stretch.section] } : stretch;
  const others = places.slice(PLACES).map(({ section, index }) => ({ section, only: new Set([index]) }));
  return [...order.map(onlyBest), ...others];
}

function isFactSection(name: string): name is NoteSection {
  return name !== 'files' && name !== 'perhaps' && (NOTE_SECTIONS as readonly string[]).includes(name);
}

/** A memory with learnings, within their common limit. */
export interface CappedMemory extends SessionMemory {
  readonly learnings: readonly Item[];
}

/** Cuts memory and learnings to a number of tokens of four characters, by importance; unchanged without a limit. */
export function cappedMemory(
  memory: SessionMemory,
  learnings: readonly Item[],
  maxTokens: number | undefined,
): CappedMemory {
  if (maxTokens === undefined) return { ...memory, learnings };
  let left = maxTokens;
  const capped = (items: readonly Item[]) =>
    items.flatMap(({ forms }) => {
      const kept = forms.filter((form) => Math.ceil(form.length / 4) <= left);
      left = kept.length < forms.length ? 0 : left - Math.ceil((forms.at(-1) ?? '').length / 4);
      return kept.length === 0 ? [] : [{ forms: kept }];
    });
  const sections = recordOf(NOTE_SECTIONS, (name) => capped(memory.sections[name]));
  const some = { sections, learnings: capped(learnings) };
  const lengths = recordOf(NOTE_SECTIONS, (name) => memory.sections[name].length);
  return { ...memory, ...some, totals: { ...lengths, learnings: learnings.length, ...memory.totals } };
}

export function factsShown(memory: SessionMemory, shown: Shown<NoteSection>): RankedFact[] {
  return NOTE_SECTIONS.flatMap((name) => shown[name].flatMap(({ index }) => memory.facts[name][index] ?? []));
}

export function filesShown({ files, perhaps }: SessionMemory, shown: Shown<NoteSection>): LikelyFile[] {
  return [
    ...shown.files.flatMap(({ index }) => files[index] ?? []),
    ...(shown.perhaps.length > 0 ? perhaps : []),
  ];
}

/** The session of the notes and, in the prompt of a task, that task. */
export interface NotesAt {
  readonly session: string;
  /** The name of the command in the prompt. */
  readonly binary: string;
  readonly task?: string;
  /** Introduces the notes, if no other part does. */
  readonly intro?: string;
}

/** Describes sections of which nothing is shown; the others have their own notes. */
export function notesLeftOut(
  { sections, totals }: CappedMemory,
  shown: Shown<NoteSection>,
  { session, binary }: NotesAt,
): Listed {
  const dropped = NOTE_SECTIONS.filter((name) => shown[name].length === 0);
  const items = dropped.flatMap((name) => sections[name]);
  const total = dropped.reduce((sum, name) => sum + (totals[name] ?? sections[name].length), 0);
  return { name: 'the session context', items, total, shown: [], command: `${binary} facts ${session}` };
}
