import { counted } from '../shared/counted.js';
import { beginnings } from './excerpt.js';
import type { Item, ShownItem } from './fill-prompt.js';

/**
 * A task prompt by its lines. What must not be lost: its objective, the first paragraph. What must not be lost where there
 * is room for it: its constraints, the lines that say what must or must not be.
 */
const CONSTRAINT =
  /\b(must|never|always|only|do not|don't|shall|required?|requirements?|restrictions?|constraints?|acceptance|success|at most|at least|limit|forbidden)\b|必须|不得|禁止|必ず|禁止/i;

export interface TaskText {
  /** As it was written. */
  readonly whole: string;
  readonly objective: string;
  /** The lines after the objective. */
  readonly lines: readonly Item[];
  /** Which of them are constraints. */
  readonly constraints: ReadonlySet<number>;
  /** Which of them are empty: shown with the line before them. */
  readonly blank: ReadonlySet<number>;
}

export function taskTextOf(taskPrompt: string): TaskText {
  const text = taskPrompt.trim();
  const objective = text.split(/\n\s*\n/, 1)[0] ?? '';
  const rest = text === objective ? [] : text.slice(objective.length + 1).split('\n');
  const indexes = (fits: (line: string) => boolean) =>
    new Set(rest.flatMap((line, index) => (fits(line) ? [index] : [])));
  return {
    whole: taskPrompt,
    objective,
    lines: rest.map((line) => ({ forms: beginnings(line) })),
    constraints: indexes((line) => CONSTRAINT.test(line)),
    blank: indexes((line) => line.trim() === ''),
  };
}

/** The task prompt with the lines shown, and how many others are left out; as it was written where all are. */
export function writtenTask(
  { whole, objective, lines, blank }: TaskText,
  shown: readonly ShownItem[],
): string {
  const said = shown.filter(({ index }) => !blank.has(index));
  const gone = lines.length - blank.size - said.length;
  const isCut = said.some((line) => !line.whole);
  if (gone === 0 && !isCut) return whole;
  const note = [
    ...(gone > 0 ? [`${counted(gone, 'further line')} of the task left out for space`] : []),
    ...(isCut ? ['a long line is cut'] : []),
  ];
  return [objective, ...said.map(({ text }) => text), `(${note.join('; ')})`].join('\n');
}
