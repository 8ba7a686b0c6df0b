/**
 * The task that a text names first: `TAS-12` of a board, or the id after the word task, as in `task 2.1`, `Task ID: T014`
 * or `task_id: "api-3"`. An id holds a digit. Undefined for a text that names none.
 */
export function namedTask(text: string): string | undefined {
  const match = NAMED.exec(text);
  const id = match?.groups?.board?.toUpperCase() ?? match?.groups?.id;
  return id?.replace(/[.-]+$/, '');
}

const NAMED =
  /\b(?<board>TAS-\d{1,9})\b|\btask(?:[ _-]?(?:id|number|no\.?))?(?![a-z])[\s"'`:#=]{0,8}(?<id>(?=[A-Za-z._-]{0,40}\d)[A-Za-z0-9][A-Za-z0-9._-]{0,63})/i;
