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
  /** The lines after the objective that are not empty. */
  readonly lines: readonly Item[];
  /** Which of them are constraints. */
  readonly constraints: ReadonlySet<number>;
}

export function taskTextOf(taskPrompt: string): TaskText {
  const text = taskPrompt.trim();
  const objective = text.split(/\n\s*\n/, 1)[0] ?? '';
  const lines = text
    .slice(objective.length)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return {
    whole: taskPrompt,
    objective,
    lines: lines.map((line) => ({ whole: line, forms: beginnings(line) })),
    constraints: new Set(lines.flatMap((line, index) => (CONSTRAINT.test(line) ? [index] : []))),
  };
}

/**
 * The task prompt with the lines shown, as it was written where all are. Dots stand where lines are left out, and the end
 * says how many.
 */
export function writtenTask({ whole, objective, lines }: TaskText, shown: readonly ShownItem[]): string {
  const gone = lines.length - shown.length;
  const isCut = shown.some((line) => !line.whole);
  if (gone === 0 && !isCut) return whole;
  const kept: string[] = [objective];
  let next = 0;
  for (const { index, text } of shown) {
    if (index > next) kept.push(GAP);
    kept.push(text);
    next = index + 1;
  }
  if (next < lines.length) kept.push(GAP);
  const note = [
    ...(gone > 0 ? [`${counted(gone, 'further line')} of the task left out for space`] : []),
    ...(isCut ? ['a long line is cut'] : []),
  ];
  return [...kept, `(${note.join('; ')})`].join('\n');
}

const GAP = '...';
