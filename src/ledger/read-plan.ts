import type { TasksDocument } from '../contracts/plan-requests.js';
import { hashOf } from '../shared/hash.js';
import { bytesOf, documentOf, MAX_DOCUMENT_BYTES } from './plan-document.js';
import { DIALECTS, parseTasksMd } from './tasks-md/parse-tasks-md.js';
import { type ParsedTasks, unnamedOf } from './tasks-md/parsed-tasks.js';

/** Maximum number of lines: parsing blocks other requests. */
const MAX_PLAN_LINES = 5000;

type PlanFault =
  | 'progress_ledger_missing_tasks'
  | 'progress_ledger_parse_failed'
  | 'plan_too_long'
  | 'too_large';

export type ReadDocument =
  | {
      readonly ok: true;
      readonly document: TasksDocument;
      /** Ids that the author has not written. */
      readonly unnamed: ReadonlySet<string>;
      readonly problems: ParsedTasks['problems'];
    }
  | { readonly ok: false; readonly code: PlanFault; readonly message: string; readonly fix?: string };

/** The documents that stand beside a plan: the text of its requirements, and the path of its design. */
export interface PlanFiles {
  readonly requirements?: string | undefined;
  readonly design?: string;
}

/** Parses a tasks document. The error for one without tasks quotes the first line that could not be read. */
export function readDocument(
  text: string,
  name: string,
  mtimeMs: number,
  { requirements, design }: PlanFiles = {},
): ReadDocument {
  const lines = text.split(/\r\n|\r|\n/).length;
  if (lines > MAX_PLAN_LINES) {
    const message = `${name} has ${lines} lines, the limit is ${MAX_PLAN_LINES}: take out what is done, or split it into several plans`;
    return { ok: false, code: 'plan_too_long', message };
  }
  const parsed = parseTasksMd(text);
  if (parsed.tasks.length === 0) {
    const hint = parsed.problems.find(({ code }) => code !== 'no_tasks') ?? parsed.problems[0];
    const where = hint === undefined ? '' : ` (line ${hint.line}: ${hint.message})`;
    return {
      ok: false,
      code: 'progress_ledger_parse_failed',
      message: `${name} holds no task that can be read${where}`,
      fix: `plans that are read: ${DIALECTS.map(([name, example]) => `${name}: ${example}`).join('; ')}`,
    };
  }
  const named = new Set(parsed.tasks.flatMap((task) => task.requirements));
  const texts = requirementTexts(requirements ?? '', named);
  const document = documentOf(parsed, { mtimeMs, hash: hashOf(text) }, texts, design);
  const bytes = bytesOf(document);
  if (bytes > MAX_DOCUMENT_BYTES) {
    const message = `${name} has ${parsed.tasks.length} tasks, which take ${bytes} bytes even without their prompts; the limit is ${MAX_DOCUMENT_BYTES}: leave out what is done, or split it`;
    return { ok: false, code: 'too_large', message };
  }
  return { ok: true, document, unnamed: unnamedOf(parsed.tasks), problems: parsed.problems };
}

/**
 * Reads the texts of requirements from a requirements document: Kiro's and spec-workflow's criteria (`1.2` is the second
 * numbered line below `### Requirement 1`), and items named by an id (`- **FR-001**: …`).
 */
export function requirementTexts(document: string, wanted: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (id: string, text: string): void => {
    if (wanted.has(id) && !found.has(id) && text !== '') found.set(id, text);
  };
  let current = '';
  let level = 0;
  for (const line of document.split(/\r?\n/)) {
    const [marks = ''] = /^#{1,6}(?=\s)/.exec(line) ?? [];
    const text = line.slice(marks.length).trim();
    const named = opening(NAMED, text);
    if (marks !== '') {
      const requirement = named ?? opening(REQUIREMENT, text);
      if (requirement === undefined && marks.length > level) continue;
      current = requirement?.id ?? '';
      level = marks.length;
      add(current, requirement?.rest ?? '');
    } else if (named !== undefined) add(named.id, named.rest);
    else if (current !== '') {
      const { id = '', rest = '' } = opening(NUMBERED, text) ?? {};
      if (id !== '') add(id.startsWith(`${current}.`) ? id : `${current}.${id}`, rest);
      const before = found.get(current);
      if (before !== undefined && STORY.test(text))
        found.set(current, `${before}. ${text.replace(STORY, '')}`);
    }
  }
  return found;
}

/** Reads the id that opens a text; the rest is without the punctuation after it. */
function opening(expression: RegExp, text: string) {
  const found = expression.exec(text);
  const id = found?.[1];
  if (found === null || id === undefined) return undefined;
  return { id, rest: text.slice(found[0].length).replace(PUNCTUATION, '') };
}

const REQUIREMENT = /^(?:requirement\s|需求|要件)?(\d{1,4}(?:\.\d{1,4}){0,4})(?!\d)/i;
const NUMBERED = /^(?:[-*]\s)?(\d{1,4}(?:\.\d{1,4}){0,4})[.):：]?(?=\s)/;
const NAMED = /^(?:[-*]\s)?\*{0,2}([A-Z]{1,8}-?\d{1,6}(?:[.-]\d{1,6}){0,4})\*{0,2}\s?[:：.–—-]/;
const PUNCTUATION = /^[\s.:：)*–—-]+/;
const STORY = /^\*{0,2}user story\*{0,2}[:：]\*{0,2}\s?/i;
