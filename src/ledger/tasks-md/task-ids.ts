/** An id at the start of a narrowed text. */
interface FoundId {
  readonly id: string;
  /** True for a form that only tasks have (`T001`, `T-22.1`, `Task 3`), unlike a number or code. */
  readonly certain: boolean;
  /** `Phase 3`, `Milestone 2`: a task or only a chapter. */
  readonly phase: boolean;
  /** Length in code units, including the delimiter. */
  readonly length: number;
}

// After an id: a delimiter or the end, and no range (`T001–T005` names five tasks).
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
// `MPC-37/38` and `MPC-39-42` name several issues, so they are text.
const TICKET = new RegExp(`^([A-Z]{2,10}-\\d{2,}(?:\\.\\d+)*)(?![a-zA-Z\\d/])${NO_RANGE}`, 'u');
const SEVERAL = /^[A-Z]{2,10}-[1-9]\d*[-–—/]\d/;
const PHASE = new RegExp(
  `^(phase|milestone|stage|sprint|epic|story|step|week|阶段|階段|フェーズ|ステップ|단계)\\s*#?(\\d+(?:\\.\\d+)*[a-z]?)(?![\\p{L}\\d/])${NO_RANGE}`,
  'iu',
);
/** A plan of a phase: `01-02: …`, `01-02-PLAN.md`. */
const PLAN = /^(\d{2}(?:\.\d+)?-\d{2})(?:-PLAN(?:\.md)?(?![\p{L}\d])|(?=[*_`]*\s*[:：]|\s+(?:[-–—]|--)\s))/u;
const STANDARD = /^(?:UTF|SHA|ISO|RFC|GPT|CVE|AES|RSA|MD|HTTP|ES|TLS|MP|ECMA|UTC|COVID)-/;
const CODE = /^([A-Za-z][A-Za-z0-9_-]{0,23}?[-_]?\d+(?:[.-]\d+)*[a-z]?)(?![\p{L}\d])/u;
// `1.1b` is an id, `1.5s` a duration.
const DOTTED = new RegExp(`^(\\d+(?:\\.\\d+)+[a-c]?)(?![a-zA-Z\\d.]*[a-zA-Z\\d])(?![%/])${NO_RANGE}`, 'u');
const NUMBER = /^(\d{1,4}[a-z]?)(?=\s*[:：]|[.)、](?!\d)|\s+[-–—]\s)/;
const BRACKETED = /^[[(]((?:T-?|TASK-?)?\d+(?:\.\d+)*[a-z]?)[\])](?!\()/;

/** Finds the id at the start of `line`. `marked` means bold or code, which delimits an id as a colon does. */
export function findId(line: string, marked: boolean): FoundId | undefined {
  const text = line.slice(0, 80);
  // Every id has a digit.
  if (!/\d/.test(text)) return undefined;
  if (/^\d/.test(text)) return numberAt(text);
  const certain = NUMBERED.exec(text) ?? TASK.exec(text);
  if (certain !== null) return found(text, certain, true);
  const phase = PHASE.exec(text);
  if (phase !== null) return { ...found(text, phase, false), id: phaseId(phase), phase: true };
  const plain = BRACKETED.exec(text) ?? (STANDARD.test(text) ? null : TICKET.exec(text));
  if (plain !== null) return found(text, plain, false);
  const code = CODE.exec(text);
  if (code === null || SEVERAL.test(text)) return undefined;
  const rest = text.slice(code[0].length);
  const delimited = /^(?:\s*[:：]|[.)]\s)/.test(rest) || (marked && /^(?:\*\*|__|`)/.test(rest));
  return delimited ? found(text, code, false) : undefined;
}

/** `01-02: …`, `1.2`, `3.`. */
function numberAt(text: string): FoundId | undefined {
  const plan = PLAN.exec(text);
  if (plan !== null) return found(text, plan, true);
  const plain = DOTTED.exec(text) ?? NUMBER.exec(text);
  return plain === null ? undefined : found(text, plain, false);
}

const TASK_WORD =
  /^(?:tasks?|todo|issues?|plans?|stories|任务|任務|タスク|作業|작업|태스크)(?![a-z])\s*#?\s*/iu;
const ONE_ID = /^#?((?:[A-Z]{1,10}[-_]?)?\d+(?:[.-]\d+)*[a-z]?)(?![\p{Script=Latin}\d/])/u;
const TO = /^\s*(?:-|–|—|~|to|through|至|から|〜)\s*/;

/** Returns the ids in a part of a dependency line: `1.1`, `任务 1.1`, `タスク1完了`, `Phase 9 (done)`. A range names none. */
export function namedIds(part: string): string[] {
  const phase = PHASE.exec(part);
  if (phase !== null) return [phaseId(phase)];
  const word = TASK_WORD.exec(part)?.[0] ?? '';
  const rest = part.slice(word.length);
  const first = ONE_ID.exec(rest);
  if (first === null) return [];
  const [shown, id = ''] = first;
  const after = rest.slice(shown.length);
  const to = TO.exec(after);
  if (to !== null && ONE_ID.test(after.slice(to[0].length))) return [];
  // Latin text after it makes it a sentence.
  return word !== '' || /^\s*(?:$|[^\p{Script=Latin}\d])/u.test(after) ? [id] : [];
}

/** `1.2` for `1.2.3`, `T-22` for `T-22.1`. */
export function outerId(id: string): string | undefined {
  const dot = id.lastIndexOf('.');
  return dot > 0 ? id.slice(0, dot) : undefined;
}

function phaseId([, word = '', number = '']: RegExpExecArray): string {
  const name = /^[a-z]/i.test(word) ? word.charAt(0).toUpperCase() + word.slice(1).toLowerCase() : word;
  return `${name} ${number}`;
}

function found(text: string, match: RegExpExecArray, certain: boolean): FoundId {
  const delimiter = DELIMITER.exec(text.slice(match[0].length));
  const length = match[0].length + (delimiter?.[0].length ?? 0);
  return { id: match[1] ?? '', certain, phase: false, length };
}

const WIDE = /[\u3000\uFF01-\uFF5E【】]/;
const ALL_WIDE = new RegExp(WIDE, 'g');
const BRACKETS = new Map(Object.entries({ '\u3000': ' ', '【': '[', '】': ']' }));

/** Replaces full-width characters with ASCII, one for one, so that indexes stay valid. */
export function narrow(text: string): string {
  if (!WIDE.test(text)) return text;
  return text.replace(
    ALL_WIDE,
    (wide) => BRACKETS.get(wide) ?? String.fromCharCode(wide.charCodeAt(0) - 0xfee0),
  );
}
