import type { PromptLine } from '../contracts/replies/compile-reply.js';
import { factId } from '../facts/fact-id.js';
import { formatRelevantLearnings, type LearningsInPrompt } from '../learnings/format-learnings.js';
import { learningsShown } from './described-learnings.js';
import type { ShownItem } from './fill-prompt.js';
import { type CappedMemory, type NoteSection, noteLines, type SessionMemory } from './session-notes.js';

/** What a line of a prompt comes from. */
export type LineOrigin = Omit<PromptLine, 'from' | 'to' | 'section'> & { readonly section?: string };

/** A stretch of a prompt that belongs together. */
export interface PromptPart {
  readonly section: string;
  /** As the prompt says it; empty for a part that is not there. */
  readonly text: string;
  /** What each of its lines comes from, in their order; only made when it is asked for. */
  readonly lines?: () => readonly LineOrigin[];
  /** What all of its lines come from. */
  readonly origin?: LineOrigin;
}

/** The parts that are there, as one text. */
export function joinedParts(parts: readonly PromptPart[]): string {
  return parts
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n\n');
}

/**
 * The part of a reply that says where each line comes from. The parts are looked for in their order; one that stands
 * elsewhere, as a template decides, is found there.
 */
export function describeLines(
  prompt: string,
  parts: readonly PromptPart[],
): { readonly lines: readonly PromptLine[] } {
  let cursor = 0;
  const lines = parts.flatMap(({ section, text: written, origin, lines: origins }): PromptLine[] => {
    const text = written.trimEnd();
    if (text === '') return [];
    const ahead = prompt.indexOf(text, cursor);
    const at = ahead === -1 ? prompt.indexOf(text) : ahead;
    if (at === -1) return [];
    if (ahead !== -1) cursor = ahead + text.length;
    const first = lineAt(prompt, at);
    const last = first + lineAt(text, text.length) - 1;
    if (origins === undefined) return [{ section, from: first, to: last, ...origin }];
    return origins().map((each, index) => ({ section, from: first + index, to: first + index, ...each }));
  });
  return { lines: lines.sort((one, other) => one.from - other.from) };
}

/** The number of the line that a place in a text lies in, 1 for the first. */
function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < place; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** The notes of a prompt with the fact or the file of each line. */
export function notesPart(
  memory: CappedMemory,
  shown: Parameters<typeof noteLines>[1],
  at: Parameters<typeof noteLines>[2],
): PromptPart {
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
  if (index === undefined) return { section };
  if (section === 'files') {
    const { path, tasks: [task] = [] } = files[index] ?? {};
    return { section, ...(path !== undefined && { file: path }), ...(task !== undefined && { task }) };
  }
  const fact = facts[section][index]?.fact;
  if (fact === undefined) return { section };
  const { sourceTaskId: task, sourceSequence: dispatch, eventSequence } = fact;
  return { section, fact: factId(fact), task, dispatch, eventSequence };
}

/** The learnings of a prompt that are shown: a title, then one line each. */
export function learningsPart(learnings: LearningsInPrompt, shown: readonly ShownItem[]): PromptPart {
  const some = learningsShown(learnings, shown);
  return {
    section: 'learnings',
    text: formatRelevantLearnings(some),
    lines: () => [{}, ...some.ranked.map(({ learning }) => ({ learning: learning.id }))],
  };
}
