import { type Draft, draftOfEntry, type Findings, type PlanEntry, problem } from './draft.js';
import { splitDependencies } from './fields.js';
import { readFrontMatter } from './headings.js';
import { readJsonTasks } from './json-tasks.js';
import type { ParsedTasks } from './parsed-tasks.js';
import { scan } from './scan.js';
import { settle } from './settle.js';
import { isLegendHeading, readLegend } from './status.js';

/**
 * Parses a plan in any format that agents write, and never fails: lines that it cannot read, or reads by a guess, are
 * reported. Detects the format from the text: Markdown with or without front matter, JSON, YAML or `task_001.txt`.
 * Pure.
 *
 * Three steps: repair the text, scan it for anything that may be or name a task, settle which are tasks.
 */
export function parseTasksMd(text: string): ParsedTasks {
  const { text: repaired, misdecoded } = repair(text);
  const lines = repaired.includes('\r') ? repaired.split(/\r\n|\r|\n/) : repaired.split('\n');
  const findings: Findings = { drafts: [], headings: [], mentions: [], planned: [], problems: [] };
  let from = lines.length;
  if (!readJsonTasks(repaired, findings) && !readTaskFiles(lines, findings)) {
    from = readFrontMatter(lines, findings);
    const shown = from === 0 ? lines : lines.map((line, at) => (at < from ? '' : line));
    scan(shown, readLegend(shown), findings);
  }
  if (misdecoded !== undefined) {
    findings.problems.push(problem('misdecoded_text', misdecoded.line, misdecoded.message));
  }
  const settled = settle(findings);
  const preamble = preambleOf(lines, from, settled.tasks);
  return { ...settled, ...(preamble !== '' && { preamble }) };
}

const HEADING = /^ {0,3}(#{1,6})\s(.*)/;
/** Sections that say how the file is written, or how far it is. */
const ABOUT_FILE = /\b(?:formats?|progress|tracking|table of contents|contents|notation)\b/i;
const NO_TEXT = /^(?:\||$|(?:-{3,}|\*{3,}|_{3,})$)/;

/** Returns the text from `from` to the first task after it, and the overview of a front matter. */
function preambleOf(lines: readonly string[], from: number, tasks: ParsedTasks['tasks']): string {
  const end = Math.min(...tasks.flatMap(({ line }) => (line > from ? line - 1 : [])), lines.length);
  const overview = lines
    .slice(0, from)
    .filter((line) => line.startsWith('overview:'))
    .map((line) =>
      line
        .slice('overview:'.length)
        .trim()
        .replace(/^["']|["']$/g, ''),
    );
  const text: string[] = [];
  let skipped = 0;
  let headings: { readonly level: number; readonly line: string }[] = [];
  let fence = false;
  for (const line of lines.slice(from, end)) {
    if (FENCE.test(line)) fence = !fence;
    const [, marks = '', title = ''] = (fence ? null : HEADING.exec(line)) ?? [];
    const level = marks.length;
    if (level > 0) {
      if (skipped === 0 || level <= skipped)
        skipped = ABOUT_FILE.test(title) || isLegendHeading(title) ? level : 0;
      headings = [...headings.filter((each) => each.level < level), { level, line }];
    } else if (skipped === 0 && !NO_TEXT.test(line.trim())) {
      // Headings without text say nothing.
      text.push(...headings.map((each) => each.line), line.trimEnd());
      headings = [];
    }
  }
  return [...overview, ...text].join('\n');
}

/**
 * The text after undoing damage by editors and shells: the byte order mark, and UTF-8 decoded as Windows-1252, Latin-1
 * or MacRoman (`â€”` or `‚Äî` for a dash). Line numbers stay.
 */

export interface Repaired {
  readonly text: string;
  /** The first mis-decoded line, 0-based, and the repair. */
  readonly misdecoded?: { readonly line: number; readonly message: string };
}

interface Legacy {
  readonly name: string;
  readonly bytes: ReadonlyMap<string, number>;
  /** A lead byte and its continuation bytes, as characters. */
  readonly sequence: RegExp;
}

const BOM = /^(?:\uFEFF|ï»¿|Ôªø)/;
const NON_ASCII = /[^\p{ASCII}]/gu;

// The characters of the bytes 80 to FF. TextDecoder in Node 20 reads windows-1252 as Latin-1.
const UPPER_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const LATIN_1 = String.fromCharCode(...Array.from({ length: 96 }, (_, at) => 0xa0 + at));
const MAC_ROMAN =
  'ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u00a0ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ';

const LEGACY: readonly Legacy[] = [
  legacy('Windows-1252', UPPER_1252 + LATIN_1),
  legacy('MacRoman', MAC_ROMAN),
];

/** Removes the byte order mark, and repairs mis-decoded text if the whole file supports it. */
export function repair(source: string): Repaired {
  const text = source.replace(BOM, '');
  // Plain ASCII has one byte per character.
  if (Buffer.byteLength(text) === text.length) return { text };
  const foreign = text.match(NON_ASCII)?.length ?? 0;
  for (const encoding of LEGACY) {
    const repaired = decodeAgain(text, foreign, encoding);
    if (repaired !== undefined) return repaired;
  }
  const lost = text.indexOf('\uFFFD');
  if (lost === -1) return { text };
  return {
    text,
    misdecoded: { line: lineAt(text, lost), message: 'holds characters that were lost when it was decoded' },
  };
}

/**
 * Requires two sequences and nine of ten foreign characters: `café…»` may spell a sequence by chance, but a text in
 * which nearly everything does is mis-decoded.
 */
function decodeAgain(text: string, foreign: number, { name, bytes, sequence }: Legacy): Repaired | undefined {
  let first = -1;
  let count = 0;
  let covered = 0;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const fixed = text.replace(sequence, (found, at: number) => {
    const right = decode(found, bytes, decoder);
    if (right === undefined) return found;
    if (first === -1) first = at;
    count += 1;
    covered += Array.from(found).length;
    return right;
  });
  if (count < 2 || covered < foreign * 0.9) return undefined;
  const message = `UTF-8 that was read as ${name}; ${count} characters were corrected`;
  return { text: fixed, misdecoded: { line: lineAt(text, first), message } };
}

function decode(
  found: string,
  bytes: ReadonlyMap<string, number>,
  decoder: InstanceType<typeof TextDecoder>,
): string | undefined {
  try {
    return decoder.decode(Uint8Array.from(Array.from(found), (character) => bytes.get(character) ?? 0));
  } catch {
    return undefined;
  }
}

function legacy(name: string, characters: string): Legacy {
  const bytes = new Map(Array.from(characters, (character, at) => [character, 0x80 + at] as const));
  // Some tools keep the bytes 80 to 9F as control characters.
  for (let byte = 0x80; byte < 0xa0; byte += 1) {
    const control = String.fromCharCode(byte);
    if (!bytes.has(control)) bytes.set(control, byte);
  }
  const range = (from: number, to: number): string =>
    [...bytes]
      .filter(([, byte]) => byte >= from && byte <= to)
      .map(([character]) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
      .join('');
  const next = `[${range(0x80, 0xbf)}]`;
  const [two, three, four] = [range(0xc2, 0xdf), range(0xe0, 0xef), range(0xf0, 0xf4)];
  return {
    name,
    bytes,
    sequence: new RegExp(`[${four}]${next}{3}|[${three}]${next}{2}|[${two}]${next}`, 'gu'),
  };
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split(/\r\n|\r|\n/).length - 1;
}

/** claude-task-master's text files: `task_001.txt`, one task with its sub-tasks. */

const TASK_ID = /^# Task ID:\s*(\S+)/;
const FIELD = /^# (Title|Status|Dependencies|Priority|Description|Details|Test Strategy|Subtasks):/i;
const SUBTASK = /^## (\d+)\.\s/;
const SUB_FIELD = /^### (Dependencies|Description|Details):/i;
const FENCE = /^\s*(?:```|~~~)/;

interface Open {
  readonly id: string;
  readonly line: number;
  readonly isSubtask: boolean;
  title: string;
  status?: string;
  statusLine?: number;
  dependsOn: string[];
  readonly description: string[];
  readonly details: string[];
  readonly test: string[];
}

/** Returns false unless the text begins with `# Task ID:`. */
function readTaskFiles(lines: readonly string[], findings: Findings): boolean {
  if (!TASK_ID.test(lines.find((line) => line.trim() !== '') ?? '')) return false;
  let owner: Draft | undefined;
  let task: Open | undefined;
  let into: string[] | undefined;
  let isFenced = false;
  const close = (): void => {
    if (task === undefined) return;
    const draft = draftOfEntry(entryOf(task, task.isSubtask ? owner : undefined), findings.problems);
    if (!task.isSubtask) owner = draft;
    findings.drafts.push(draft);
  };
  lines.forEach((line, at) => {
    if (FENCE.test(line)) isFenced = !isFenced;
    const id = isFenced ? undefined : TASK_ID.exec(line)?.[1];
    const sub = isFenced || id !== undefined ? null : SUBTASK.exec(line);
    if (id !== undefined || (sub !== null && task !== undefined)) {
      close();
      const isSubtask = sub !== null && id === undefined;
      const parent = owner?.head.id ?? '';
      task = {
        id: id ?? `${parent}.${sub?.[1]}`,
        line: at,
        isSubtask,
        ...titleOfSubtask(sub === null ? '' : line.slice(sub[0].length), at),
        dependsOn: [],
        description: [],
        details: [],
        test: [],
      };
      into = undefined;
      return;
    }
    const field = isFenced ? null : (FIELD.exec(line) ?? SUB_FIELD.exec(line));
    if (field === null || task === undefined) {
      into?.push(line);
      return;
    }
    const [opening, name = ''] = field;
    const value = line.slice(opening.length).trim();
    into = undefined;
    switch (name.toLowerCase()) {
      case 'title':
        task.title = value;
        break;
      case 'status':
        task.status = value;
        task.statusLine = at;
        break;
      case 'dependencies': {
        const parent = task.isSubtask ? (owner?.head.id ?? '') : '';
        task.dependsOn = splitDependencies(value.replace(/\([^()]*\)|✅|⏱|\uFE0F/gu, '')).map((each) =>
          parent !== '' && /^\d+$/.test(each) ? `${parent}.${each}` : each,
        );
        break;
      }
      case 'description':
        into = task.description;
        break;
      case 'details':
        into = task.details;
        break;
      case 'test strategy':
        into = task.test;
        break;
    }
    if (into !== undefined && value !== '') into.push(value);
  });
  close();
  return true;
}

/** For example `Parse the input [done]`. */
function titleOfSubtask(text: string, line: number): { title: string; status?: string; statusLine?: number } {
  const title = text.trim();
  const bracket = title.endsWith(']') ? title.lastIndexOf('[') : -1;
  if (bracket === -1) return { title };
  return { title: title.slice(0, bracket).trim(), status: title.slice(bracket + 1, -1), statusLine: line };
}

function entryOf(task: Open, owner: Draft | undefined): PlanEntry {
  const [description, details, test] = [task.description, task.details, task.test].map((lines) =>
    lines.join('\n').trim(),
  );
  return {
    id: task.id,
    text: task.title,
    status: task.status,
    ...(task.statusLine !== undefined && { statusLine: task.statusLine }),
    dependsOn: task.dependsOn,
    prompt: [description, details, test && `Test strategy: ${test}`].filter(Boolean).join('\n\n'),
    line: task.line,
    owner,
  };
}

const BOX = /\[[^[\]]{0,12}\]/;
const LINES = /\r\n|\r|\n/g;

/** The plan with one box ticked, or the reason why not. */
type Ticked = { readonly text: string } | { readonly fault: string };

/**
 * Ticks the box of a task and changes nothing else. The result is parsed again: if anything but this task's status
 * changed, the plan is left alone.
 */
export function tickedPlan(text: string, id: string): Ticked {
  const before = parseTasksMd(text).tasks;
  const task = before.find((each) => each.id === id);
  if (task === undefined) return { fault: 'the plan has no such task' };
  if (task.status === 'completed') return { text };
  const from = startOfLine(text, task.line);
  const box = BOX.exec(text.slice(from, endOfLine(text, from)));
  if (box === null || task.statusFrom !== 'box') return { fault: 'its line has no check box' };
  const at = from + box.index;
  const ticked = `${text.slice(0, at)}[x]${text.slice(at + box[0].length)}`;
  const after = parseTasksMd(ticked).tasks;
  const isTicked = after.every((now, index) => {
    const was = before[index];
    if (was?.id !== now.id) return false;
    return now.id === id
      ? now.status === 'completed'
      : now.status === was.status || now.statusFrom === 'children';
  });
  if (!isTicked || after.length !== before.length)
    return { fault: 'its check box means something else here' };
  return { text: ticked };
}

function startOfLine(text: string, line: number): number {
  let at = 0;
  LINES.lastIndex = 0;
  for (let now = 1; now < line && LINES.exec(text) !== null; now += 1) at = LINES.lastIndex;
  return at;
}

function endOfLine(text: string, from: number): number {
  const rest = text.slice(from).search(/[\r\n]/);
  return rest < 0 ? text.length : from + rest;
}
