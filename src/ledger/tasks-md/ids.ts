/** How a task id looks, at the start of a text that was narrowed. */
export interface FoundId {
  readonly id: string;
  /** A task id on its face (`T001`, `T-22.1`, `Task 3`), not just a number or a code that anything may bear. */
  readonly certain: boolean;
  /** Code units that it takes, with what delimits it. */
  readonly length: number;
}

// After an id: a delimiter or the end, and no range (`T001–T005` names five tasks and is none).
const DELIMITER = /^(?:\s*[:：]\s*|[.)、](?!\d)\s*|\s+[-–—]+\s+|\s*→\s*)/;
const NO_RANGE = '(?![-–—~][\\p{L}\\d])';

const NUMBERED = new RegExp(
  `^(?:(?:task|tsk|todo|任务|任務|タスク|作業)\\s*#?\\s*)(\\d+(?:\\.\\d+)*[a-z]?)(?![a-zA-Z\\d])${NO_RANGE}`,
  'iu',
);
const TASK = new RegExp(
  `^((?:T|TASK|TSK)[-_]?\\d+(?:[.-]\\d+)*[a-z]?)(?![a-zA-Z\\d.]*[a-zA-Z\\d])${NO_RANGE}`,
  'u',
);
const TICKET = new RegExp(`^([A-Z]{2,10}-\\d{2,}(?:\\.\\d+)*)(?![a-zA-Z\\d])${NO_RANGE}`, 'u');
const STANDARD = /^(?:UTF|SHA|ISO|RFC|GPT|CVE|AES|RSA|MD|HTTP|ES|TLS|MP|ECMA|UTC|COVID)-/;
const CODE = /^([A-Za-z][A-Za-z0-9_-]{0,23}?[-_]?\d+(?:[.-]\d+)*[a-z]?)(?![\p{L}\d])/u;
// `1.1b` is an id, `1.5s` a duration.
const DOTTED = new RegExp(`^(\\d+(?:\\.\\d+)+[a-c]?)(?![a-zA-Z\\d.]*[a-zA-Z\\d])(?![%/])${NO_RANGE}`, 'u');
const NUMBER = /^(\d{1,4}[a-z]?)(?=\s*[:：]|[.)、](?!\d)|\s+[-–—]\s)/;
const BRACKETED = /^[[(]((?:T-?|TASK-?)?\d+(?:\.\d+)*[a-z]?)[\])](?!\()/;

/**
 * The id at the start of `line`. `marked` says that it was set in bold or code, which delimits it as a colon does.
 */
export function findId(line: string, marked: boolean): FoundId | undefined {
  const text = line.slice(0, 80);
  const certain = NUMBERED.exec(text) ?? TASK.exec(text);
  if (certain !== null) return found(text, certain, true);
  const bracketed = BRACKETED.exec(text);
  if (bracketed !== null) return found(text, bracketed, false);
  const plain = DOTTED.exec(text) ?? NUMBER.exec(text) ?? TICKET.exec(text);
  if (plain !== null && !STANDARD.test(text)) return found(text, plain, false);
  const code = CODE.exec(text);
  if (code === null) return undefined;
  const rest = text.slice(code[0].length);
  const delimited = /^(?:\s*[:：]|[.)]\s)/.test(rest) || (marked && /^(?:\*\*|__|`)/.test(rest));
  return delimited ? found(text, code, false) : undefined;
}

/** `1.2` for `1.2.3`, `T-22` for `T-22.1`: the id that the number says it lies under. */
export function outerId(id: string): string | undefined {
  const dot = id.lastIndexOf('.');
  return dot > 0 ? id.slice(0, dot) : undefined;
}

function found(text: string, match: RegExpExecArray, certain: boolean): FoundId {
  const delimiter = DELIMITER.exec(text.slice(match[0].length));
  return { id: match[1] ?? '', certain, length: match[0].length + (delimiter?.[0].length ?? 0) };
}
