import type { TasksDocument } from '../contracts/run-request.js';
import { hashOf } from '../shared/hash.js';
import { bytesOf, documentOf, MAX_DOCUMENT_BYTES } from './plan-document.js';
import { requirementTexts } from './requirement-texts.js';
import { dialectExamples, parseTasksMd } from './tasks-md/parse-tasks-md.js';
import { type ParsedTasks, unnamedOf } from './tasks-md/parsed-tasks.js';

/** Maximum number of lines: parsing blocks other requests. */
const MAX_PLAN_LINES = 5000;

export type ReadDocument =
  | {
      readonly ok: true;
      readonly document: TasksDocument;
      /** Ids that the author has not written. */
      readonly unnamed: ReadonlySet<string>;
      readonly problems: ParsedTasks['problems'];
    }
  | {
      readonly ok: false;
      readonly code:
        | 'progress_ledger_missing_tasks'
        | 'progress_ledger_parse_failed'
        | 'plan_too_long'
        | 'too_large';
      readonly message: string;
      readonly fix?: string;
    };

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
      fix: `plans that are read: ${dialectExamples()}`,
    };
  }
  const named = new Set(parsed.tasks.flatMap((task) => task.requirements));
  const document = documentOf(
    parsed,
    { mtimeMs, hash: hashOf(text) },
    {
      ...(requirements !== undefined && { requirementTexts: requirementTexts(requirements, named) }),
      ...(design !== undefined && { design }),
    },
  );
  const bytes = bytesOf(document);
  if (bytes > MAX_DOCUMENT_BYTES) {
    const message = `${name} has ${parsed.tasks.length} tasks, which take ${bytes} bytes even without their prompts; the limit is ${MAX_DOCUMENT_BYTES}: leave out what is done, or split it`;
    return { ok: false, code: 'too_large', message };
  }
  return { ok: true, document, unnamed: unnamedOf(parsed.tasks), problems: parsed.problems };
}
