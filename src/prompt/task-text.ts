import { beginnings } from './excerpt.js';
import type { Item, ShownItem } from './fill-prompt.js';

/**
 * A task prompt by its lines. What must not be lost: its objective, the first paragraph. What must not be lost where there
 * is room for it: its constraints, the lines that say what must or must not be.
 */
const CONSTRAINT =
  /\b(must|never|always|only|do not|don't|shall|required?|requirements?|restrictions?|constraints?|acceptance|success|at most|at least|limit|forbidden)\b|必须|不得|禁止|必ず|禁止/i;

export interface TaskText {
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
    objective,
    lines: rest.map((line) => ({ forms: beginnings(line) })),
    constraints: indexes((line) => CONSTRAINT.test(line)),
    blank: indexes((line) => line.trim() === ''),
  };
}

/** The task prompt with the lines shown, and how many others are left out. */
export function writtenTask({ objective, lines, blank }: TaskText, shown: readonly ShownItem[]): string {
  const said = lines.length - blank.size;
  const there = shown.filter(({ index }) => !blank.has(index)).length;
  const cut = shown.filter(({ whole }) => !whole).length;
  if (there === said && cut === 0)
    return [objective, ...lines.map(({ forms }) => forms.at(-1) ?? '')].join('\n');
  const kept = shown.filter(({ index }) => !blank.has(index)).map(({ text }) => text);
  const gone = said - there;
  const note = [
    ...(gone > 0 ? [`${gone} further line${gone === 1 ? '' : 's'} of the task left out for space`] : []),
    ...(cut > 0 ? ['a long line is cut'] : []),
  ];
  return [objective, ...kept, `(${note.join('; ')})`].join('\n');
}
