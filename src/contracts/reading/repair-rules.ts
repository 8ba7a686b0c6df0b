import { isObject } from '../../shared/text.js';
import { RELATIONS } from '../relations.js';
import type { RepairKind } from './repairs.js';
import type { Json } from './shape.js';
import { DEFAULT_SEVERITY, list, meantBy, plainName, SEVERITY_WORDS } from './synonyms.js';

/**
 * The rules for a value of the wrong type: each returns the repaired value, or `undefined`. The first match wins. Pure,
 * and none throws.
 */
export interface RepairRule<Value> {
  readonly name: string;
  readonly kind: RepairKind;
  /** For the reference. */
  readonly about: string;
  readonly apply: (value: unknown, field: string) => Value | undefined;
}

const PATHS: ReadonlySet<string> = new Set(['files_modified', 'files_changed', 'file']);
const PATH_NAMES = ['file', 'path', 'filepath', 'filename', 'name', 'location'];
const SAID_NAMES = list(`
  message, description, text, summary, title, action, task, issue, problem, reason, error, requirement, change,
  detail, details, name, blocker, test`);
const FIX_NAMES = ['fix', 'suggestion', 'suggestedfix', 'recommendation', 'solution'];

export const TEXT_RULES: readonly RepairRule<string>[] = [
  {
    name: 'number',
    kind: 'text',
    about: 'a number, true or false becomes its text',
    apply: (value) => (typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined),
  },
  {
    name: 'list of texts',
    kind: 'text',
    about: 'a list of texts, or of objects that hold one, becomes one text',
    apply: (value, field) => {
      if (!Array.isArray(value) || value.length === 0) return undefined;
      const texts = value.map((item) => (isObject(item) ? textOfObject(item, field) : item));
      if (!texts.every(isShown) || (texts.length > 1 && ONE_ONLY.has(field))) return undefined;
      return texts.map(String).join('; ');
    },
  },
  {
    name: 'object',
    kind: 'text',
    about: 'an object becomes the path that it names, or its `file: message (fix: …)`',
    apply: (value, field) => (isObject(value) ? textOfObject(value, field) : undefined),
  },
];

/** Fields with a single value: several texts are ambiguous. */
const ONE_ONLY: ReadonlySet<string> = new Set(['task_id', 'intent_id', 'result_id', 'file']);

function textOfObject(value: Json, field: string): string | undefined {
  const path = textUnder(value, PATH_NAMES);
  if (PATHS.has(field)) return path;
  if (field === 'task_id') return textUnder(value, ['id', 'taskid', 'key', 'number']);
  const said = textUnder(value, SAID_NAMES);
  const fix = textUnder(value, FIX_NAMES);
  const text = said ?? fix;
  if (text === undefined) return path;
  const where = path === undefined || path === text ? '' : `${path}: `;
  return `${where}${text}${said === undefined || fix === undefined ? '' : ` (fix: ${fix})`}`;
}

function textUnder(value: Json, names: readonly string[]): string | undefined {
  const keys = Object.keys(value);
  for (const name of names) {
    const key = keys.find((each) => plainName(each) === name);
    const text = key === undefined ? undefined : value[key];
    if (isShown(text) && text !== '') return String(text);
  }
  return undefined;
}

const YES =
  /^(?:true|yes|y|1|pass|passed|passes|passing|ok|okay|success|successful|succeeded|green|✅|✓|✔)$/iu;
const NO = /^(?:false|no|n|0|fail|failed|fails|failing|error|errored|failure|red|❌|✗|✘)$/iu;

export const BOOLEAN_RULES: readonly RepairRule<boolean>[] = [
  {
    name: 'word',
    kind: 'boolean',
    about: '`yes`, `passed`, `ok`, `no`, `failed` and the like become true or false',
    apply: (value) => (typeof value === 'string' ? truthOf(value) : undefined),
  },
];

function truthOf(text: string): boolean | undefined {
  const word = text.length > 100 ? '' : text.replace(/\ufe0f|[\s.!*_`]/g, '');
  if (YES.test(word)) return true;
  return NO.test(word) ? false : undefined;
}

const NOTHING = /^(?:none|n\/?a|nil|null|nothing|no|-|–|—|\(none\)|empty|undefined)?$/i;
const BULLET = /^\s*(?:[-*•‣·]|\d{1,3}[.)]|\[[ xX]?\])\s+/u;

export const LIST_RULES: readonly RepairRule<readonly unknown[]>[] = [
  {
    name: 'nothing',
    kind: 'absent',
    about: '`"none"`, `"n/a"` and the like for a list count as left out',
    apply: (value) => (typeof value === 'string' && isNothing(value) ? [] : undefined),
  },
  {
    name: 'list in a text',
    kind: 'list',
    about: 'a text that holds a JSON list or object becomes that',
    apply: (value) => (typeof value === 'string' ? listInText(value) : undefined),
  },
  {
    name: 'lines',
    kind: 'list',
    about:
      'a text of several lines becomes a list of them, without their bullets; paths may stand between commas',
    apply: (value, field) => (typeof value === 'string' ? partsOf(value, field) : undefined),
  },
  {
    name: 'groups',
    kind: 'list',
    about:
      'an object of lists becomes one list; by severity, or by kind of artifact, each item keeps its own',
    apply: (value, field) => (isObject(value) ? groupsIn(value, field) : undefined),
  },
  {
    name: 'keys',
    kind: 'list',
    about: 'an object whose keys are paths or commands becomes a list of them',
    apply: (value, field) => (isObject(value) ? keyedItems(value, field) : undefined),
  },
  {
    name: 'lone value',
    kind: 'list',
    about: 'a lone value becomes a list of one; true, false and a count of failures say nothing',
    apply: (value, field) =>
      typeof value === 'boolean' || (typeof value === 'number' && field === 'failures') ? undefined : [value],
  },
];

export function isNothing(text: string): boolean {
  return text.length <= 20 && NOTHING.test(text.trim().replace(/\.$/, ''));
}

function listInText(text: string): readonly unknown[] | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith('[') && !trimmed.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(trimmed);
    return Array.isArray(value) ? value : [value];
  } catch {
    return undefined;
  }
}

function partsOf(text: string, field: string): readonly string[] | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const bulleted = lines.every((line) => BULLET.test(line));
  if (lines.length > 1 && (bulleted || PATHS.has(field))) return lines.map(withoutBullet);
  if (lines.length !== 1 || !PATHS.has(field)) return undefined;
  const paths = text.split(',').map((path) => path.trim());
  return paths.length > 1 && paths.every((path) => path !== '' && !path.includes(' ')) ? paths : undefined;
}

function withoutBullet(line: string): string {
  return line.replace(BULLET, '').trim();
}

function groupsIn(value: Json, field: string): readonly unknown[] | undefined {
  const groups = Object.entries(value);
  if (groups.length === 0) return [];
  if (!groups.every(([, items]) => Array.isArray(items))) return undefined;
  if (field === 'artifacts')
    return groups.flatMap(([name, items]) => (items as unknown[]).map((item) => artifactOf(item, name)));
  const bySeverity = field === 'issues' && groups.every(([name]) => severityOf(name) !== undefined);
  return groups.flatMap(([name, items]) =>
    (items as unknown[]).map((item) => (bySeverity ? withSeverity(item, name) : item)),
  );
}

/** The groups of spec-workflow, in the singular; an endpoint there has a method and a path. */
const ARTIFACTS: Readonly<Record<string, string>> = {
  apiendpoints: 'endpoint',
  endpoints: 'endpoint',
  functions: 'function',
  components: 'component',
  classes: 'class',
  integrations: 'integration',
};

function artifactOf(item: unknown, group: string): unknown {
  const kind = ARTIFACTS[plainName(group)] ?? group;
  if (typeof item === 'string') return { kind, name: item };
  if (!isObject(item)) return item;
  const { method, path, type: _, ...rest } = item;
  const isEndpoint = kind === 'endpoint' && isText(path);
  if (!isEndpoint) return { ...item, kind };
  return { name: isText(method) ? `${method} ${path}` : path, ...rest, kind };
}

function withSeverity(item: unknown, severity: string): unknown {
  if (typeof item === 'string') return { severity, message: item };
  return isObject(item) ? { severity, ...item } : item;
}

function keyedItems(value: Json, field: string): readonly unknown[] | undefined {
  const entries = Object.entries(value);
  if (PATHS.has(field))
    return textUnder(value, PATH_NAMES) === undefined ? entries.map(([path]) => path) : undefined;
  if (field !== 'tests') return undefined;
  const runs = entries.map(([command, result]) => ({ command, passed: truth(result) }));
  // An object with these keys is one test run, or a count of several.
  if (entries.some(([name]) => RUN_NAMES.includes(plainName(name)))) return undefined;
  return runs.every(({ passed }) => passed !== undefined) ? runs : undefined;
}

const RUN_NAMES = list('command, cmd, name, passed, failed, total, status, result');

function truth(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : typeof value === 'string' ? truthOf(value) : undefined;
}

export const OBJECT_RULES: readonly RepairRule<Json>[] = [
  {
    name: 'issue in words',
    kind: 'object',
    about: 'an issue that is a text becomes its message; it is important unless it begins with a severity',
    apply: (value, field) => (field === 'issues' && isText(value) ? issueOf(value) : undefined),
  },
  {
    name: 'test in words',
    kind: 'object',
    about: 'a test that is a text such as `npm test: passed` becomes its command and outcome',
    apply: (value, field) => (field === 'tests' && isText(value) ? testOf(value) : undefined),
  },
  {
    name: 'question in words',
    kind: 'object',
    about: 'a question that is a text becomes its text',
    apply: (value, field) => (field === 'questions' && isText(value) ? { text: value } : undefined),
  },
  {
    name: 'artifact in words',
    kind: 'object',
    about: 'an artifact that is a text becomes its name',
    apply: (value, field) => (field === 'artifacts' && isText(value) ? { name: value } : undefined),
  },
  {
    name: 'fact in parts',
    kind: 'object',
    about: 'a fact that is a list of three texts becomes subject, relation and object',
    apply: (value, field) => {
      if (field !== 'facts' || !Array.isArray(value) || value.length !== 3 || !value.every(isShown))
        return undefined;
      const [subject, relation, object] = value.map(String);
      return { subject, relation, object };
    },
  },
  {
    name: 'fact in words',
    kind: 'object',
    about: 'a fact that is a text is noted of its task',
    apply: (value, field) =>
      field === 'facts' && isText(value)
        ? { subject: THIS_TASK, relation: RELATIONS.noted, object: value }
        : undefined,
  },
];

/** The subject of a fact about the result's own task. */
export const THIS_TASK = 'task:';

const LEADING_SEVERITY = /^\W{0,4}([a-z]{2,12}|[ps][0-4])\W{0,3}[:\])–-]\W{0,3}(?=\S)/iu;

function issueOf(text: string): Json {
  const begins = LEADING_SEVERITY.exec(text.slice(0, 100));
  const severity = begins?.[1] === undefined ? undefined : severityOf(begins[1]);
  if (begins === null || severity === undefined) return { severity: DEFAULT_SEVERITY, message: text };
  return { severity, message: text.slice(begins[0].length) };
}

const FAILED = /\b(?:fail(?:s|ed|ing|ures?)?|errors?|errored|broken)\b|[❌✗✘]/iu;
const PASSED = /\b(?:pass(?:es|ed|ing)?|ok|success(?:ful(?:ly)?)?|succeed(?:s|ed)?|green)\b|[✅✓✔]/iu;
const NO_FAILURES = /\b(?:0|no|zero|without)\s(?:tests?\s)?(?:fail(?:ed|ures?|ing)|errors?)\b/giu;
const RESULT_PART = /:\s|\s[-–—]\s|→|=>|\(/u;
/** A text about a test run says so at its beginning. */
const MAX_TEST = 500;

function testOf(text: string): Json | undefined {
  const read = text.slice(0, MAX_TEST);
  const said = read.replace(NO_FAILURES, '');
  const passed = !FAILED.test(said) && (PASSED.test(said) || said !== read);
  if (!passed && !FAILED.test(said)) return undefined;
  const at = read.search(RESULT_PART);
  const command = (at > 0 ? read.slice(0, at) : read).replace(/^[❌✗✘✅✓✔\s]+/u, '').trim();
  if (command === '') return undefined;
  return passed ? { command, passed } : { command, passed, failures: [text] };
}

export const MISSING_RULES: readonly (RepairRule<unknown> & { readonly field: string })[] = [
  {
    name: 'no severity',
    field: 'severity',
    kind: 'severity',
    about: 'an issue without a severity is important',
    apply: () => DEFAULT_SEVERITY,
  },
  {
    name: 'no message',
    field: 'message',
    kind: 'derived',
    about: 'an issue without a message says its suggested fix',
    apply: (item) => (isObject(item) ? textUnder(item, FIX_NAMES) : undefined),
  },
  {
    name: 'no outcome',
    field: 'passed',
    kind: 'derived',
    about: 'a test without an outcome has the one that follows from its failures, counts or exit code',
    apply: (item) => (isObject(item) ? outcomeOfCounts(item) : undefined),
  },
  {
    name: 'no command',
    field: 'command',
    kind: 'derived',
    about: 'counts of tests without a command are those of `tests`',
    apply: (item) =>
      isObject(item) && countUnder(item, ['passed', 'failed', 'total']) !== undefined ? 'tests' : undefined,
  },
];

function outcomeOfCounts(item: Json): boolean | undefined {
  const exit = countUnder(item, ['exitcode', 'exit', 'exitstatus', 'code']);
  if (exit !== undefined) return exit === 0;
  const failed = countUnder(item, ['failed', 'failures', 'failing', 'errors']);
  if (failed !== undefined) return failed === 0;
  const failures: unknown = item.failures ?? item.errors ?? item.failed;
  if (failures === true || (Array.isArray(failures) && failures.length > 0)) return false;
  const passed = countUnder(item, ['passed', 'passing']);
  if (passed !== undefined) return passed > 0;
  return failures === false ? true : undefined;
}

function countUnder(item: Json, names: readonly string[]): number | undefined {
  for (const [key, value] of Object.entries(item))
    if (typeof value === 'number' && names.includes(plainName(key))) return value;
  return undefined;
}

export function severityOf(text: string) {
  return meantBy(text, ['critical', 'important', 'minor'] as const, SEVERITY_WORDS);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isShown(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
