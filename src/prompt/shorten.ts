/**
 * Shortens a task prompt, keeping what must not be lost: its objective, the first paragraph, and its constraints, the
 * lines that say what must or must not be. Lines are kept whole or left out, and a note says how many are gone.
 */
const CONSTRAINT =
  /\b(must|never|always|only|do not|don't|shall|required?|requirements?|restrictions?|constraints?|acceptance|success|at most|at least|limit|forbidden)\b|必须|不得|禁止|必ず|禁止/i;

/** The objective of a task prompt: its first paragraph. */
export function objectiveOf(taskPrompt: string): string {
  return taskPrompt.trim().split(/\n\s*\n/, 1)[0] ?? '';
}

/** The objective and the constraint lines, in their order. */
export function essentialsOf(taskPrompt: string): string {
  const text = taskPrompt.trim();
  const objective = objectiveOf(text);
  const rest = text.slice(objective.length).split('\n');
  const kept = rest.filter((line) => CONSTRAINT.test(line));
  const gone = rest.filter((line) => line.trim() !== '').length - kept.length;
  const note = gone > 0 ? [`(${gone} further lines of the task are left out for space)`] : [];
  return [objective, ...kept, ...note].join('\n');
}
