import type { CompileHints } from '../contracts/compile-request.js';
import type { FactTag } from '../contracts/kinds.js';
import { RELATIONS } from '../contracts/relations.js';
import { isSentBack } from '../ledger/task-ledger.js';
import { PLACES, rankFacts } from '../memory/facts/fact-ranking.js';
import {
  isBare,
  type RankedFact,
  SESSION_CONTEXT_HEADER,
  type SessionFact,
  type WeighedFact,
} from '../memory/facts/fact-types.js';
import { coveringTasks } from '../memory/search/covering-work.js';
import { LIKELY, type LikelyFile, PERHAPS, recall } from '../memory/search/likely-files.js';
import { closenessTo, type WordVectors } from '../memory/search/word-vectors.js';
import { factsOf, ledgersOf, pastOf, type SessionState } from '../memory/session/session-state.js';
import { recordOf } from '../shared/text.js';
import {
  alikePart,
  demandsPart,
  fileLine,
  filesPart,
  laterPart,
  noteItem,
  perhapsLine,
} from './note-items.js';
import {
  type Item,
  isShortened,
  type Listed,
  type Sections,
  type Shown,
  type ShownItem,
  type Stretch,
  wholeItems,
} from './prompt-items.js';
import { isForOthers } from './task-text.js';

/** The session context as notes: relevant knowledge for a task, by importance. Each line ends with its task. */
export const NOTE_SECTIONS = [
  'findings',
  'files',
  'perhaps',
  'decisions',
  'failed',
  'facts',
  'tests',
  'requirements',
  'work',
] as const;
export type NoteSection = (typeof NOTE_SECTIONS)[number];

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

/** Limit of facts and files reported with `explain`. */
export const CONSIDERED = 30;
/** Number of likely files whose facts are searched. */
const LED_BY = 10;
/** Files on the line of those that the task may touch. */
const MAX_PERHAPS = 7;
/** Decisions, conventions and facts in words that are shown even if nothing speaks for them. */
const MAX_LASTING = 20;

/** What was left to do is old after this time and this many results with files: then it must share this many words with the task. */
const OLD_MS = 7 * 24 * 3_600_000;
const OLD_RESULTS = 50;
const STRONG = 3;

/** A query of a session's memory. */
export interface MemoryAsked {
  /** The task in words. */
  readonly text: string;
  /** Its facts are selected only if its ledger lacks them. */
  readonly taskId: string;
  readonly tags?: readonly FactTag[] | undefined;
  /** Absent: all relevant ones. */
  readonly maxFacts?: number | undefined;
  readonly maxFiles: number;
  readonly hints?: CompileHints | undefined;
  /** True if the prompt lists the notes elsewhere. */
  readonly withoutNotes?: boolean | undefined;
  /** Also report the candidates. */
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
  /** Less likely ones, which share one line. */
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
export function memoryOf(
  state: SessionState,
  asked: MemoryAsked,
  room: number,
  words?: WordVectors,
): SessionMemory {
  const { text, maxFiles, hints } = asked;
  const past = pastOf(state);
  const { files: candidates, similar } = recall(past, {
    ...{ text, explain: asked.explain },
    maxFiles: Math.max(maxFiles, CONSIDERED),
    ...{ open: hints?.files, folder: hints?.cwd },
  });
  // The ledger of the task lists the files that it has changed itself.
  const ledgers = ledgersOf(state);
  const changed = new Set(ledgers.get(asked.taskId)?.work.files);
  const others = candidates.slice(0, maxFiles).filter(({ path }) => !changed.has(path));
  const files = others.filter(({ score }) => score >= LIKELY);
  const perhaps = others.filter(({ score }) => score < LIKELY && score >= PERHAPS).slice(0, MAX_PERHAPS);
  // The selection of facts does not depend on the number of shown files.
  const likely = candidates.filter(({ score }, place) => place < LED_BY && score >= LIKELY);
  const index = factsOf(state).index();
  const isTold = (task: string) => index.ofTask(task).some((each) => each.isSummary);
  const covering = coveringTasks(past, candidates, isTold);
  const closeness = closenessTo(words, text);
  const { chosen, cut, rest, considered } = rankFacts(factsOf(state), {
    ...asked,
    ...{ room, work: covering, lasting: MAX_LASTING },
    closeness,
    ...{ files: likely.map(({ path }) => path), open: hints?.files, besideLedger: true },
    similar: new Map([...similar].reverse().map(({ task, similarity }) => [task, similarity])),
  });
  const own = factsOf(state).findingsOf(asked.taskId);
  const findings = index.findings - own.filter(({ validTo }) => validTo === undefined).length;
  const facts = recordOf(NOTE_SECTIONS, (): RankedFact[] => []);
  const isAnothers = isForOthers(state, asked.taskId, asked.text);
  const isShown = ({ group, fact, matched }: RankedFact) =>
    !(asked.taskId !== '' && fact.note !== undefined && isAnothers(fact.object)) &&
    (group !== 'requirements' ||
      !isOld(state, fact) ||
      matched.length >= STRONG ||
      likely.some(({ path }) => fact.object.includes(path)));
  const places = [...chosen, ...rest].filter(isShown).map((each) => {
    const section = sectionOf(each);
    return { section, index: facts[section].push(each) - 1 };
  });
  // Open findings and conventions are not repeated.
  const shownAbove = new Set([...facts.findings, ...facts.decisions].map(({ fact }) => fact.object));
  const filesOf = new Map([...similar, ...covering].map(({ task, files }) => [task, files]));
  const alikeOf = new Map(covering.map(({ task, alike }) => [task, alike.length]));
  const told = new Set<string>();
  /** The results of a task are shown once, at its first mention. */
  const moreOfTask = ({ sourceTaskId: task, object: summary }: SessionFact): string[] => {
    if (told.has(task)) return [];
    told.add(task);
    const findings = factsOf(state).findingsOf(task);
    return [
      ...(isSentBack(ledgers.get(task)) ? ['| Sent back by its review'] : []),
      ...demandsPart(
        findings.filter(({ object }) => !shownAbove.has(object)),
        summary,
      ),
      ...filesPart(filesOf.get(task) ?? []),
      ...alikePart(alikeOf.get(task) ?? 0),
    ];
  };
  const planned = new Set(state.run?.document.tasks.map(({ id }) => id));
  const isOpen = (task: string) => planned.has(task) || state.board.tasks.has(task);
  const itemsOf = (name: NoteSection): Item[] => {
    if (name === 'files') return files.map((file) => ({ forms: [fileLine(file)] }));
    if (name === 'perhaps') return perhaps.length === 0 ? [] : wholeItems([perhapsLine(perhaps)]);
    const moreOf = ({ fact }: RankedFact) =>
      name === 'failed' ? laterPart(fact, ledgers.get(fact.sourceTaskId)) : [];
    return facts[name].map((each) =>
      noteItem(
        each,
        name === 'work' ? moreOfTask(each.fact) : moreOf(each),
        isOpen(each.fact.sourceTaskId),
        replaced.get(each.fact.ref ?? ''),
      ),
    );
  };
  const replaced = factsOf(state).replaced();
  const sections = recordOf(NOTE_SECTIONS, itemsOf);
  const totals: { [Name in NoteSection]?: number } = {};
  for (const each of cut) {
    const section = sectionOf(each);
    totals[section] = 1 + (totals[section] ?? sections[section].length);
  }
  const vectors = closeness === undefined ? undefined : words?.version;
  return { sections, facts, places, files, perhaps, findings, candidates, considered, totals, vectors };
}

/** True for something left to do of long ago, which was probably done or given up. */
function isOld(state: SessionState, { validFrom, sourceSequence }: SessionFact): boolean {
  if (Date.parse(state.lastEventAt) - Date.parse(validFrom) < OLD_MS) return false;
  return pastOf(state).rows.filter(({ sequence }) => sequence > sourceSequence).length > OLD_RESULTS;
}

/** Restricts each section in an order to the first `PLACES` facts of the memory, and appends all others. */
export function bestFirst<Name extends string>(
  order: readonly Stretch<Name>[],
  { places }: SessionMemory,
): Stretch<Name | NoteSection>[] {
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

/** Returns the shown facts in the order of the notes. */
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

/** A line of the notes with its section and item. */
interface NoteLine {
  readonly text: string;
  readonly section?: NoteSection;
  readonly index?: number;
}

/** Renders the notes line by line; empty if nothing is shown. */
export function noteLines(
  memory: CappedMemory,
  shown: Shown<NoteSection>,
  { session, binary, task, intro }: NotesAt,
): NoteLine[] {
  const { sections, totals } = memory;
  const linesOf = (section: NoteSection, items: readonly ShownItem[]) =>
    items.map(({ text, index }): NoteLine => ({ text, section, index }));
  const lines = NOTE_SECTIONS.flatMap((name): NoteLine[] => {
    const { title, listed } = NOTES[name];
    const [items, some] = [sections[name], shown[name]];
    if (some.length === 0) return [];
    if (name === 'perhaps') return linesOf(name, some);
    const command = `${binary} facts ${session}${listed === '' ? '' : ` ${listed}`}`;
    const total = name === 'findings' ? memory.findings : (totals[name] ?? items.length);
    const isWhole = !isShortened(items, some) && total <= items.length;
    const rest = isWhole ? '' : ` (${some.length} of ${total}; all: \`${command}\`)`;
    const whose =
      name === 'findings' && task !== undefined
        ? ' of other tasks, not yours unless you touch their files'
        : '';
    return [{ text: `${title}${whose}${rest}:`, section: name }, ...linesOf(name, some)];
  });
  if (lines.length === 0) return [];
  return [SESSION_CONTEXT_HEADER, ...(intro === undefined ? [] : [intro])]
    .map((text): NoteLine => ({ text }))
    .concat(lines);
}

/** Describes sections of which nothing is shown; the others have their own notes. */
export function notesLeftOut(
  { sections, totals }: CappedMemory,
  shown: Shown<NoteSection>,
  { session, binary }: NotesAt,
): Listed {
  const gone = NOTE_SECTIONS.filter((name) => shown[name].length === 0);
  const items = gone.flatMap((name) => sections[name]);
  const total = gone.reduce((sum, name) => sum + (totals[name] ?? sections[name].length), 0);
  return { name: 'the session context', items, total, shown: [], command: `${binary} facts ${session}` };
}
