import type { CompileHints } from '../contracts/compile-request.js';
import type { FactTag } from '../contracts/fact-tags.js';
import type { CompiledFile } from '../contracts/replies/compile-reply.js';
import { isBare } from '../facts/fact-groups.js';
import { type RankedFact, rankFacts, type WeighedFact } from '../facts/fact-ranking.js';
import type { SessionFact } from '../facts/fact-types.js';
import { SESSION_CONTEXT_HEADER } from '../facts/format-facts.js';
import { type LikelyFile, recall } from '../search/likely-files.js';
import { tokens } from '../search/tokens.js';
import { factsOf, pastOf, type SessionState } from '../session/session-state.js';
import { counted } from '../shared/counted.js';
import { recordOf } from '../shared/record-of.js';
import { clipText, quoted } from '../shared/text.js';
import { excerpts } from './excerpt.js';
import { type Item, isShortened, type Sections, type Shown } from './fill-prompt.js';
import type { Listed } from './left-out.js';

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
] as const;
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

/** A test that passes does not stand among those that fail. */
function sectionOf({ group, fact }: RankedFact): NoteSection {
  return group === 'tests' && isBare(fact) ? 'facts' : SECTION_OF[group];
}

/** Characters of a line without its task: of the shortest form, from one form to the next, and of the whole. */
const LINE = { least: 100, step: 60 };
/** A fact with its fix is shown whole up to here; a result's demands and files come after it. */
const MAX_SAYING = 1000;
const SHOWN_FILES = 6;
const SHOWN_DEMANDS = 3;
/** Facts and files that are told with `explain`. */
export const CONSIDERED = 30;
/** The best of the likely files, whose facts are looked for. */
const LED_BY = 10;

/** What is asked of the memory of a session. */
export interface MemoryAsked {
  /** The task in words. */
  readonly text: string;
  /** Of its facts, only those are chosen that its ledger does not say. */
  readonly taskId: string;
  readonly tags?: readonly FactTag[] | undefined;
  readonly maxFacts: number;
  readonly maxFiles: number;
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
  readonly files: readonly LikelyFile[];
  /** The likely files and, with `explain`, the next best. */
  readonly candidates: readonly LikelyFile[];
  readonly considered: readonly WeighedFact[];
}

export function memoryOf(state: SessionState, asked: MemoryAsked): SessionMemory {
  const { text, maxFiles, hints } = asked;
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
  const { chosen, considered } = rankFacts(factsOf(state), {
    ...asked,
    ...{ files: likely.filter((path) => leads.has(path)), open: hints?.files, besideLedger: true },
    similar: new Map([...similar].reverse().map(({ task, similarity }) => [task, similarity])),
  });
  const facts = recordOf(NOTE_SECTIONS, (): RankedFact[] => []);
  for (const each of chosen) facts[sectionOf(each)].push(each);
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
  const itemsOf = (name: NoteSection): Item[] =>
    name === 'files'
      ? files.map((file) => ({ forms: [fileLine(file)] }))
      : facts[name].map((each) => noteItem(each, name === 'work' ? moreOfTask(each.fact) : []));
  return { sections: recordOf(NOTE_SECTIONS, itemsOf), facts, files, candidates, considered };
}

/** A memory with learnings, within what the request allows both. */
export interface CappedMemory extends SessionMemory {
  readonly learnings: readonly Item[];
  /** Of the sections that were cut: how many items there were. */
  readonly totals: { readonly [Name in NoteSection | 'learnings']?: number };
}

/** A memory and learnings, cut to so many tokens of four characters, what is worth most first; whole without a limit. */
export function cappedMemory(
  memory: SessionMemory,
  learnings: readonly Item[],
  maxTokens: number | undefined,
): CappedMemory {
  if (maxTokens === undefined) return { ...memory, learnings, totals: {} };
  let left = maxTokens;
  const capped = (items: readonly Item[]) =>
    items.flatMap(({ forms }) => {
      const kept = forms.filter((form) => Math.ceil(form.length / 4) <= left);
      left = kept.length < forms.length ? 0 : left - Math.ceil((forms.at(-1) ?? '').length / 4);
      return kept.length === 0 ? [] : [{ forms: kept }];
    });
  const sections = recordOf(NOTE_SECTIONS, (name) => capped(memory.sections[name]));
  const lengths = recordOf(NOTE_SECTIONS, (name) => memory.sections[name].length);
  const totals = { ...lengths, learnings: learnings.length };
  return { ...memory, sections, learnings: capped(learnings), totals };
}

/** The facts that are shown, in the order of the notes. */
export function factsShown({ facts }: SessionMemory, shown: Shown<NoteSection>): RankedFact[] {
  return NOTE_SECTIONS.flatMap((name) => shown[name].flatMap(({ index }) => facts[name][index] ?? []));
}

export function filesShown({ files }: SessionMemory, shown: Shown<NoteSection>): LikelyFile[] {
  return shown.files.flatMap(({ index }) => files[index] ?? []);
}

/** A line of the notes: of a section, and of one of its items. */
export interface NoteLine {
  readonly text: string;
  readonly section?: NoteSection;
  readonly index?: number;
}

/** The notes of a prompt line by line; none where there is nothing to show. */
export function noteLines(
  { sections, totals }: CappedMemory,
  shown: Shown<NoteSection>,
  { session, binary }: { readonly session: string; readonly binary: string },
): NoteLine[] {
  const lines = NOTE_SECTIONS.flatMap((name): NoteLine[] => {
    const { title, listed } = NOTES[name];
    const [items, some] = [sections[name], shown[name]];
    if (some.length === 0) return [];
    const command = `${binary} facts ${session}${listed === '' ? '' : ` ${listed}`}`;
    const total = totals[name] ?? items.length;
    const isWhole = !isShortened(items, some) && total === items.length;
    const rest = isWhole ? '' : ` (${some.length} of ${total}; all: \`${command}\`)`;
    return [
      { text: `${title}${rest}:`, section: name },
      ...some.map(({ text, index }) => ({ text, section: name, index })),
    ];
  });
  return lines.length === 0 ? [] : [{ text: SESSION_CONTEXT_HEADER }, ...lines];
}

/** The sections of the notes that nothing is shown of: the others say themselves what they leave out. */
export function notesLeftOut(
  { sections, totals }: CappedMemory,
  shown: Shown<NoteSection>,
  { session, binary }: { readonly session: string; readonly binary: string },
): Listed {
  const gone = NOTE_SECTIONS.filter((name) => shown[name].length === 0);
  const items = gone.flatMap((name) => sections[name]);
  const total = gone.reduce((sum, name) => sum + (totals[name] ?? sections[name].length), 0);
  return { name: 'the session context', items, total, shown: [], command: `${binary} facts ${session}` };
}

/** The part of a reply that lists the files shown. */
export function describeFiles(files: readonly LikelyFile[]): { readonly files: readonly CompiledFile[] } {
  return {
    files: files.map(({ reasons: _, ...file }) => ({ ...file, score: Math.round(file.score * 1000) / 1000 })),
  };
}

function noteItem(ranked: RankedFact, more: readonly string[]): Item {
  const { fact, matched } = ranked;
  const saying = quoted(sayingOf(ranked));
  const first = clipText(saying, MAX_SAYING);
  const longer = more.map((_, at) => quoted([first, ...more.slice(0, at + 1)].join(' ')));
  const line = (text: string) => `- ${text}${origin(fact.sourceTaskId)}`;
  return {
    whole: line(longer.at(-1) ?? first),
    get forms() {
      const asked = new Set(matched);
      const matters = (word: string) => tokens(`/${word}`).some((token) => asked.has(token));
      return [...excerpts(saying, matters, { ...LINE, most: MAX_SAYING }), ...longer].map(line);
    },
  };
}

/** What a fact says beside its task. */
function sayingOf({ fact, group }: RankedFact): string {
  const { subject, relation, object, severity, fix, sourceTaskId } = fact;
  const ownTask = subject === `task:${sourceTaskId}`;
  const about = ownTask ? [] : [subject];
  switch (group) {
    case 'findings': {
      const head = [severity ?? (relation === 'must_fix' ? 'required fix' : 'issue'), ...about].join(', ');
      return `${head}: ${object}${fix === undefined ? '' : `${ended(object)} Suggested fix: ${fix}`}`;
    }
    case 'tests':
      return `${subject.replace(/^test:/, '')}: ${object.replace(`failed in task:${sourceTaskId}: `, '')}`;
    case 'work':
      return relation === 'review_summary' || relation === 'reviewed_as' ? `Review: ${object}` : object;
    case 'conventions':
    case 'decisions':
    case 'requirements':
      return ownTask ? object : `${subject} ${relation} ${object}`;
    case 'files':
      return `${subject} was changed`;
    case 'facts':
      return `${ownTask ? 'the task' : subject} ${relation} ${object}`;
  }
}

/** What the review of a task said, beside the open findings. */
function demandsPart(demands: readonly string[]): string[] {
  const said = [...new Set(demands)];
  return said.length === 0 ? [] : [`| Its review said: ${listed(said, SHOWN_DEMANDS, '; ')}`];
}

function filesPart(files: readonly string[]): string[] {
  return files.length === 0 ? [] : [`| Files: ${listed(files, SHOWN_FILES, ', ')}`];
}

/** The first few of a list, and how many more there are. */
function listed(all: readonly string[], most: number, separator: string): string {
  const rest = all.length > most ? ` and ${all.length - most} more` : '';
  return `${all.slice(0, most).join(separator)}${rest}`;
}

function ended(text: string): string {
  return /[.!?]$/.test(text) ? '' : '.';
}

/** The path, how many results touched it, and the task nearest to what is asked. */
function fileLine({ path, uses, tasks: [task = ''] }: LikelyFile): string {
  return `- ${quoted(path)}, ${counted(uses, 'result')}${origin(task)}`;
}

function origin(task: string): string {
  // A bracket in a task id would end the origin early.
  return ` [task:${quoted(task).replace(/[[\]]/g, '')}]`;
}
