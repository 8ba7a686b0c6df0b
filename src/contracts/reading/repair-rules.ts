import { isObject, jsonOf } from '../../shared/text.js';
import { list, plainName } from './synonyms.js';

/** Rules for a value of the wrong type, by the wanted type: each returns the repaired value, if any. Pure; none throws. */

export type Json = Readonly<Record<string, unknown>>;

const PATHS: ReadonlySet<string> = new Set(['files_modified', 'file']);
/** Fields with a single value: several texts are ambiguous. */
const ONE_ONLY: ReadonlySet<string> = new Set(['task_id', 'intent_id', 'result_id', 'file']);
const PATH_NAMES = list('file, path, filepath, filename');
const TEXT_NAMES = list(
  'message, description, text, summary, title, action, fix, suggestion, reason, detail',
);

/** Repairs numbers, flags, lists of texts, and objects that hold a path, an id or a text. */
export function asText(value: unknown, field: string): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) {
    const isOne = value.length === 1 || (value.length > 1 && !ONE_ONLY.has(field));
    return isOne && value.every(isText) ? value.join('; ') : undefined;
  }
  if (!isObject(value)) return undefined;
  if (field === 'task_id') return textUnder(value, ['id']);
  const path = textUnder(value, PATH_NAMES);
  const text = PATHS.has(field) ? undefined : textUnder(value, TEXT_NAMES);
  return text === undefined || path === undefined ? (text ?? path) : `${path}: ${text}`;
}

function textUnder(value: Json, names: readonly string[]): string | undefined {
  const keys = Object.keys(value);
  for (const name of names) {
    const key = keys.find((candidate) => plainName(candidate) === name);
    const text = key === undefined ? undefined : value[key];
    if (isText(text) || typeof text === 'number') return String(text);
  }
  return undefined;
}

const YES = /^(?:true|yes|pass|passed|passing|ok|success|successful|✅|✓|✔)$/iu;
const NO = /^(?:false|no|fail|failed|failing|error|failure|❌|✗|✘)$/iu;

/** Reads words such as `passed`, besides true and false. */
export function asBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = typeof value !== 'string' || value.length > 20 ? '' : value.replace(/\ufe0f|[\s.!]/g, '');
  const isYes = YES.test(word);
  return isYes || NO.test(word) ? isYes : undefined;
}

const NOTHING = /^(?:none|n\/?a|nil|null|nothing|no|-|–|—)?\.?$/i;

/** Makes a list of a lone value; "none" is an empty one. */
export function asList(value: unknown, field: string): readonly unknown[] | undefined {
  if (typeof value === 'string') {
    if (isNothing(value)) return [];
    return listIn(value) ?? (PATHS.has(field) ? value.split(/[,\n]/).map((path) => path.trim()) : [value]);
  }
  if (!isObject(value)) return undefined;
  return (field === 'artifacts' ? artifactsIn(value) : undefined) ?? [value];
}

export function isNothing(text: string): boolean {
  return text.length <= 20 && NOTHING.test(text.trim());
}

function listIn(text: string): readonly unknown[] | undefined {
  return text.trim().startsWith('[') ? (jsonOf(text) as readonly unknown[] | undefined) : undefined;
}

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

/** The field that holds the words of an item. */
const TEXT_AT: Readonly<Record<string, string>> = { issues: 'message', questions: 'text', artifacts: 'name' };

/** Puts a lone text into the field of its object that holds words. */
export function asObject(value: unknown, field: string): Json | undefined {
  const name = TEXT_AT[field];
  return name !== undefined && isText(value) ? { [name]: value } : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
