import { isObject } from '../../shared/text.js';
import type { RepairKind } from './repairs.js';
import type { Json } from './shape.js';
import { list, meantBy, plainName, SEVERITY_WORDS } from './synonyms.js';

/**
 * The rules for a value of the wrong type: each returns the repaired value, or `undefined`. The first match wins. Pure,
 * and none throws.
 */
export interface RepairRule<Value> {
  readonly kind: RepairKind;
  /** For the reference. */
  readonly about: string;
  readonly apply: (value: unknown, field: string) => Value | undefined;
}

const PATHS: ReadonlySet<string> = new Set(['files_modified', 'files_changed', 'file']);
/** Fields with a single value: several texts are ambiguous. */
const ONE_ONLY: ReadonlySet<string> = new Set(['task_id', 'intent_id', 'result_id', 'file']);
const PATH_NAMES = list('file, path, filepath, filename');
const SAID_NAMES = list(
  'message, description, text, summary, title, action, fix, suggestion, reason, detail',
);

export const TEXT_RULES: readonly RepairRule<string>[] = [
  {
    kind: 'text',
    about: 'a number, true or false becomes its text',
    apply: (value) => (typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined),
  },
  {
    kind: 'text',
    about: 'a list of texts becomes one text; of ids or files, only a list of one',
    apply: (value, field) => {
      if (!Array.isArray(value) || value.length === 0 || !value.every(isText)) return undefined;
      return value.length === 1 || !ONE_ONLY.has(field) ? value.join('; ') : undefined;
    },
  },
  {
    kind: 'text',
    about: 'an object becomes the path, the id or the text that it holds, such as its `message`',
    apply: (value, field) => {
      if (!isObject(value)) return undefined;
      if (field === 'task_id') return textUnder(value, ['id']);
      const path = textUnder(value, PATH_NAMES);
      const text = PATHS.has(field) ? undefined : textUnder(value, SAID_NAMES);
      return text === undefined || path === undefined ? (text ?? path) : `${path}: ${text}`;
    },
  },
];

function textUnder(value: Json, names: readonly string[]): string | undefined {
  const keys = Object.keys(value);
  for (const name of names) {
    const key = keys.find((each) => plainName(each) === name);
    const text = key === undefined ? undefined : value[key];
    if (isText(text) || typeof text === 'number') return String(text);
  }
  return undefined;
}

const YES = /^(?:true|yes|pass|passed|passing|ok|success|successful|✅|✓|✔)$/iu;
const NO = /^(?:false|no|fail|failed|failing|error|failure|❌|✗|✘)$/iu;

export const BOOLEAN_RULES: readonly RepairRule<boolean>[] = [
  {
    kind: 'boolean',
    about: '`yes`, `passed`, `ok`, `no`, `failed` and the like become true or false',
    apply: (value) => {
      const word = typeof value !== 'string' || value.length > 20 ? '' : value.replace(/\ufe0f|[\s.!]/g, '');
      return YES.test(word) ? true : NO.test(word) ? false : undefined;
    },
  },
];

const NOTHING = /^(?:none|n\/?a|nil|null|nothing|no|-|–|—)?\.?$/i;

export const LIST_RULES: readonly RepairRule<readonly unknown[]>[] = [
  {
    kind: 'absent',
    about: '`"none"`, `"n/a"` and the like for a list count as left out',
    apply: (value) => (typeof value === 'string' && isNothing(value) ? [] : undefined),
  },
  {
    kind: 'list',
    about: 'a text that holds a JSON list becomes that',
    apply: (value) => {
      if (typeof value !== 'string' || !value.trim().startsWith('[')) return undefined;
      try {
        return JSON.parse(value);
      } catch {
        return undefined;
      }
    },
  },
  {
    kind: 'list',
    about:
      'artifacts as an object of lists, as spec-workflow writes them, become one list; each keeps its kind',
    apply: (value, field) => (field === 'artifacts' && isObject(value) ? artifactsIn(value) : undefined),
  },
  {
    kind: 'list',
    about: 'a lone text or object becomes a list of one; a text of paths is split at commas and lines',
    apply: (value, field) => {
      if (typeof value === 'string' && PATHS.has(field))
        return value.split(/[,\n]/).map((path) => path.trim());
      return typeof value === 'string' || isObject(value) ? [value] : undefined;
    },
  },
];

/** The groups of artifacts in the singular; an endpoint has a method and a path. */
const ARTIFACTS: Readonly<Record<string, string>> = {
  apiendpoints: 'endpoint',
  endpoints: 'endpoint',
  functions: 'function',
  components: 'component',
  classes: 'class',
  integrations: 'integration',
};

function artifactsIn(value: Json): readonly unknown[] | undefined {
  const groups = Object.entries(value);
  if (!groups.every(([, items]) => Array.isArray(items))) return undefined;
  return groups.flatMap(([name, items]) => (items as unknown[]).map((item) => artifactOf(item, name)));
}

function artifactOf(item: unknown, group: string): unknown {
  const kind = ARTIFACTS[plainName(group)] ?? group;
  if (typeof item === 'string') return { kind, name: item };
  if (!isObject(item)) return item;
  const { method, path, type: _, ...rest } = item;
  if (kind !== 'endpoint' || !isText(path)) return { ...item, kind };
  return { name: isText(method) ? `${method} ${path}` : path, ...rest, kind };
}

export function isNothing(text: string): boolean {
  return text.length <= 20 && NOTHING.test(text.trim());
}

/** The field that holds the words of an item. */
const SAID_BY: Readonly<Record<string, string>> = { issues: 'message', questions: 'text', artifacts: 'name' };

export const OBJECT_RULES: readonly RepairRule<Json>[] = [
  {
    kind: 'object',
    about: 'an issue, a question or an artifact that is a text becomes its message, text or name',
    apply: (value, field) => {
      const name = SAID_BY[field];
      return name !== undefined && isText(value) ? { [name]: value } : undefined;
    },
  },
];

export function severityOf(text: string) {
  return meantBy(text, ['critical', 'important', 'minor'] as const, SEVERITY_WORDS);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
