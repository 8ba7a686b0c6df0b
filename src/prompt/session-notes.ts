import type { CompileHints } from '../contracts/compile-request.js';
import type { FactTag } from '../contracts/fact-tags.js';
import { PLACES } from '../memory/facts/fact-choice.js';
import { isBare } from '../memory/facts/fact-groups.js';
import { rankFacts } from '../memory/facts/fact-ranking.js';
import type { RankedFact, SessionFact, WeighedFact } from '../memory/facts/fact-types.js';
import { SESSION_CONTEXT_HEADER } from '../memory/facts/format-facts.js';
import { type LikelyFile, recall } from '../memory/search/likely-files.js';
import { factsOf, pastOf, type SessionState } from '../memory/session/session-state.js';
import { recordOf } from '../shared/is-object.js';
import { demandsPart, fileLine, filesPart, noteItem, RestItem } from './note-items.js';
import {
  type Item,
  isShortened,
  type Listed,
  type Sections,
  type Shown,
  type ShownItem,
  type Stretch,
} from './prompt-items.js';

/**
 * The session context as notes: what the session knows that matters for a task, by what it is worth. A line says its task
 * once, at its end.
 */
export const NOTE_SECTIONS = [
  'findings',
  'files',
  'work',
  'decisions',
  'tests',
  'requirements',
  'facts',
  'rest',
] as const;
/** For the room that all others leave: what little or nothing speaks for may be worth knowing all the same. */
export const FILLER = 'rest';
export type NoteSection = (typeof NOTE_SECTIONS)[number];

/** The line that opens each section, and the options of `throughline facts` that list what it chooses from. */
const NOTES: Readonly<Record<NoteSection, { readonly title: string; readonly listed: string }>> = {
  findings: { title: 'Open findings', listed: '--relation must_fix issue' },
  files: { title: 'Likely files', listed: '--relation modified_by' },
  work: { title: 'Related work', listed: '--relation summary review_summary observed' },
  decisions: { title: 'Decisions and conventions', listed: '' },
  tests: { title: 'Failing tests', listed: '--relation test_result' },
  requirements: { title: 'Left to do by other tasks', listed: '--relation requires blocked_by' },
  facts: { title: 'Also known', listed: '' },
  rest: { title: 'Less related', listed: '' },
};

/** What the rest is divided into, from what an agent can least spare to what it can. */
const REST_KINDS = {
  decisions: 'Decisions',
  findings: 'Findings',
  requirements: 'Left to do',
  tests: 'Tests',
  work: 'Work done',
  facts: 'Facts',
} as const satisfies { readonly [Name in NoteSection]?: string };
type RestKind = keyof typeof REST_KINDS;

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

/** A test that passes does not stand among those that fail. */
function sectionOf({ group, fact }: Pick<RankedFact, 'group' | 'fact'>): NoteSection {
  return group === 'tests' && isBare(fact) ? 'facts' : SECTION_OF[group];
}

/** Facts and files that are told with `explain`. */
export const CONSIDERED = 30;
/** The best of the likely files, whose facts are looked for. */
const LED_BY = 10;
/** Tokens of a short line: more of the rest than this leaves room for is not looked for. */
const SHORT_LINE = 10;

/** What is asked of the memory of a session. */
export interface MemoryAsked {
  /** The task in words. */
  readonly text: string;
  /** Of its facts, only those are chosen that its ledger does not say. */
  readonly taskId: string;
  readonly tags?: readonly FactTag[] | undefined;
  /** Absent: all that have to do with the task. */
  readonly maxFacts?: number | undefined;
  readonly maxFiles: number;
  /** Whether the rest goes into the room that is left: by default where `maxFacts` is absent. */
  readonly fill?: 'relevant' | 'recent' | undefined;
  readonly hints?: CompileHints | undefined;
  /** Whether what was considered is told. */
  readonly explain?: boolean | undefined;
}

/** What the memory has for a task, as items of a prompt with what each stands for. */
export interface SessionMemory {
  readonly sections: Sections<NoteSection>;
  /** By section: the fact of each item; those of `files` have none. */
  readonly facts: Readonly<Record<NoteSection, readonly RankedFact[]>>;
  /** Where those are that have to do with the task: what is worth most first. */
  readonly places: readonly { readonly section: NoteSection; readonly index: number }[];
  readonly files: readonly LikelyFile[];
  /** The likely files and, with `explain`, the next best. */
  readonly candidates: readonly LikelyFile[];
  readonly considered: readonly WeighedFact[];
  /** Of the sections that do not hold all that there is: how many items there are. */
  readonly totals: { readonly [Name in NoteSection | 'learnings']?: number };
}

/** Tokens of the whole prompt: as many as it may have, and with the rest in it. */
export interface MemoryRoom {
  readonly room: number;
  readonly usual: number;
}

export function memoryOf(
  state: SessionState,
  asked: MemoryAsked,
  { room, usual }: MemoryRoom,
): SessionMemory {
  const { text, maxFacts, maxFiles, hints, fill = maxFacts === undefined ? 'recent' : 'relevant' } = asked;
  const past = pastOf(state);
  const most = Math.max(maxFiles, LED_BY, asked.explain ? CONSIDERED : 0);
  const {
    files: candidates,
    leads,
    similar,
  } = recall(past, {
    ...{ text, maxFiles: most, explain: asked.explain },
    ...{ open: hints?.files, folder: hints?.cwd },
  });
  const files = candidates.slice(0, maxFiles);
  // Which facts are chosen does not depend on how many files are shown.
  const likely = candidates.slice(0, LED_BY).map(({ path }) => path);
  const { chosen, cut, rest, restTotal, considered } = rankFacts(factsOf(state), {
    ...asked,
    room,
    rest: fill === 'recent' ? Math.ceil(usual / SHORT_LINE) : 0,
    ...{ files: likely.filter((path) => leads.has(path)), open: hints?.files, besideLedger: true },
    similar: new Map([...similar].reverse().map(({ task, similarity }) => [task, similarity])),
  });
  const facts = recordOf(NOTE_SECTIONS, (): RankedFact[] => []);
  const places = chosen.map((each) => {
    const section = sectionOf(each);
    return { section, index: facts[section].push(each) - 1 };
  });
  facts[FILLER].push(...rest);
  // What stands under the findings is not said again.
  const open = new Set(facts.findings.map(({ fact }) => fact));
  const byTask = new Map(similar.map((each) => [each.task, each]));
  const told = new Set<string>();
  /** What a task led to: said once, where it is named first. */
  const moreOfTask = ({ sourceTaskId: task }: SessionFact): string[] => {
    if (told.has(task)) return [];
    told.add(task);
    const findings = factsOf(state).findingsOf(task);
    const demands = findings.filter((finding) => !open.has(finding)).map(({ object }) => object);
    return [...demandsPart(demands), ...filesPart(byTask.get(task)?.files ?? [])];
  };
  const itemsOf = (name: NoteSection): Item[] => {
    if (name === 'files') return files.map((file) => ({ forms: [fileLine(file)] }));
    if (name === FILLER) return facts[FILLER].map((each) => new RestItem(each));
    return facts[name].map((each) => noteItem(each, name === 'work' ? moreOfTask(each.fact) : []));
  };
  const sections = recordOf(NOTE_SECTIONS, itemsOf);
  const totals: { [Name in NoteSection]?: number } = { [FILLER]: restTotal };
  for (const each of cut) {
    const section = sectionOf(each);
    totals[section] = 1 + (totals[section] ?? sections[section].length);
  }
  return { sections, facts, places, files, candidates, considered, totals };
}

/** An order of worth in which the first `PLACES` facts of the memory are where it has their sections, and all others last. */
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
  return name !== 'files' && (NOTE_SECTIONS as readonly string[]).includes(name);
}

/** A memory with learnings, within what the request allows both. */
export interface CappedMemory extends SessionMemory {
  readonly learnings: readonly Item[];
}

/** A memory and learnings, cut to so many tokens of four characters, what is worth most first; whole without a limit. */
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
  const known = recordOf(NOTE_SECTIONS, (name) => (name === FILLER ? [] : capped(memory.sections[name])));
  const some = {
    learnings: capped(learnings),
    sections: { ...known, [FILLER]: capped(memory.sections[FILLER]) },
  };
  const lengths = recordOf(NOTE_SECTIONS, (name) => memory.sections[name].length);
  return { ...memory, ...some, totals: { ...lengths, learnings: learnings.length, ...memory.totals } };
}

/** The facts that are shown, in the order of the notes. */
export function factsShown(memory: SessionMemory, shown: Shown<NoteSection>): RankedFact[] {
  const { facts } = memory;
  return NOTE_SECTIONS.flatMap((name) => {
    const some =
      name === FILLER ? restByKind(memory, shown[name]).flatMap(([, items]) => items) : shown[name];
    return some.flatMap(({ index }) => facts[name][index] ?? []);
  });
}

/** What is shown of the rest by its kind, in the order of the kinds; within one, what may fit best first. */
function restByKind(
  { facts }: Pick<SessionMemory, 'facts'>,
  shown: readonly ShownItem[],
): (readonly [RestKind, readonly ShownItem[]])[] {
  const kinds = recordOf(Object.keys(REST_KINDS) as RestKind[], (): ShownItem[] => []);
  for (const item of shown) {
    const fact = facts[FILLER][item.index];
    if (fact !== undefined) kinds[SECTION_OF[fact.group]].push(item);
  }
  return (Object.entries(kinds) as [RestKind, ShownItem[]][]).filter(([, items]) => items.length > 0);
}

export function filesShown({ files }: SessionMemory, shown: Shown<NoteSection>): LikelyFile[] {
  return shown.files.flatMap(({ index }) => files[index] ?? []);
}

/** The session of the notes and, in the prompt of a task, that task. */
export interface NotesAt {
  readonly session: string;
  /** By what name its commands are called. */
  readonly binary: string;
  readonly task?: string;
  /** Says what the notes are, where no other part of the prompt does. */
  readonly intro?: string;
}

/** A line of the notes: of a section, and of one of its items. */
interface NoteLine {
  readonly text: string;
  readonly section?: NoteSection;
  readonly index?: number;
}

/** The notes of a prompt line by line; none where there is nothing to show. */
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
    const command = `${binary} facts ${session}${listed === '' ? '' : ` ${listed}`}`;
    const total = totals[name] ?? items.length;
    const isWhole = !isShortened(items, some) && total === items.length;
    const rest = isWhole ? '' : ` (${some.length} of ${total}; all: \`${command}\`)`;
    const divided =
      name === FILLER
        ? restByKind(memory, some).flatMap(([kind, items]) => [
            { text: `${REST_KINDS[kind]}:`, section: name },
            ...linesOf(name, items),
          ])
        : linesOf(name, some);
    const whose = name === 'findings' && task !== undefined ? ' of other tasks' : '';
    return [{ text: `${title}${whose}${rest}:`, section: name }, ...divided];
  });
  if (lines.length === 0) return [];
  return [SESSION_CONTEXT_HEADER, ...(intro === undefined ? [] : [intro])]
    .map((text): NoteLine => ({ text }))
    .concat(lines);
}

/** The sections of the notes that nothing is shown of: the others say themselves what they leave out. */
export function notesLeftOut(
  { sections, totals }: CappedMemory,
  shown: Shown<NoteSection>,
  { session, binary }: NotesAt,
): Listed {
  const gone = NOTE_SECTIONS.filter((name) => name !== FILLER && shown[name].length === 0);
  const items = gone.flatMap((name) => sections[name]);
  const total = gone.reduce((sum, name) => sum + (totals[name] ?? sections[name].length), 0);
  return { name: 'the session context', items, total, shown: [], command: `${binary} facts ${session}` };
}
