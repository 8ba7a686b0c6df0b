import { narrow } from './narrow.js';

/** The named lines of a task's body that mean something to us. */
export type FieldKey = 'prompt' | 'requirements' | 'files' | 'leverage' | 'dependsOn' | 'status';

/** A line such as `_Requirements: 1.2, 3_`, `- **File:** src/a.ts` or `Prompt: |`. */
export interface Field {
  readonly key: FieldKey;
  /** Without a closing underscore. */
  readonly value: string;
  /** `open` when it began with an underscore and the line does not end with one. */
  readonly state: 'plain' | 'closed' | 'open';
}

const NAMES: ReadonlyMap<string, FieldKey> = new Map<string, FieldKey>([
  ...names('prompt', ['prompt', '提示', '提示词', '提示詞', 'プロンプト']),
  ...names('requirements', [
    'requirements',
    'requirement',
    'reqs',
    'frs',
    'fr',
    'validates',
    '需求',
    '要求',
    '要件',
  ]),
  ...names('files', ['file', 'files', 'file(s)', '文件', '檔案', 'ファイル']),
  ...names('leverage', ['leverage', 'leverages']),
  ...names('dependsOn', ['dependencies', 'dependency', 'depends on', 'depends', 'blocked by', 'deps']),
  ...names('dependsOn', ['依赖', '依賴', '依存', '依存関係']),
  ...names('status', ['status', 'state', '状态', '狀態', 'ステータス', '状態', '進捗']),
]);

const LINE =
  /^\s*(?:[-*+]\s+)?([*_`]{0,3})([\p{L}][\p{L}() ]{1,23}?)([*_`]{0,3})\s*:\s*([*_]{0,3})\s*(.*)$/su;
const INLINE = /(?:^|\s)_([\p{L}][\p{L} ]{1,23}):\s*([^_]*(?:_[^_\s][^_]*)*?)_(?=\s|$)/gu;
const DEPENDS_IN_TEXT = /\((?:depends on|blocked by|依赖|依存)\s*:?\s*([^()]+)\)/iu;
const NOTHING = /^(?:none|n\/a|-|–|—|无|無|なし)$/i;

/** Reads a line as a field, or gives undefined. */
export function readField(line: string): Field | undefined {
  const flat = narrow(line);
  if (!flat.includes(':')) return undefined;
  const found = LINE.exec(flat);
  if (found === null) return undefined;
  const [, before = '', name = '', after = '', beyond = '', rest = ''] = found;
  const key = NAMES.get(name.trim().toLowerCase());
  if (key === undefined) return undefined;
  const value = line.slice(line.length - rest.length).trimEnd();
  const isSpan = before === '_' && !after.includes('_') && !beyond.includes('_');
  // `_File:_ a` and `**File:** a` set the name apart; in `_File: a_` the underscores hold the value too.
  if (!isSpan) return { key, value, state: 'plain' };
  return closes(value)
    ? { key, value: value.slice(0, -1).trimEnd(), state: 'closed' }
    : { key, value, state: 'open' };
}

/** Whether a line ends an open `_…` span. */
export function closes(line: string): boolean {
  return /(?:^|[^_\\])_$/.test(line.trimEnd());
}

/** Takes `_Requirements: 1, 2_` and its like out of a task's own line. */
export function takeInlineFields(text: string): { text: string; fields: Field[] } {
  if (!text.includes('_')) return { text, fields: [] };
  const fields: Field[] = [];
  const rest = text.replace(INLINE, (found, name: string, value: string) => {
    const key = NAMES.get(name.trim().toLowerCase());
    if (key === undefined) return found;
    fields.push({ key, value: value.trim(), state: 'closed' });
    return '';
  });
  return { text: rest.trim(), fields };
}

/** Ids in a remark such as `(depends on T012, T013)`. */
export function dependsInText(text: string): string[] {
  const found = DEPENDS_IN_TEXT.exec(narrow(text));
  return found === null ? [] : splitList((found[1] ?? '').replace(/\s+and\s+/g, ','));
}

/** `1.2, 3` → `1.2`, `3`. "none" and its like are no entry. */
export function splitList(value: string): string[] {
  return entries(value.replace(/[`*]/g, ''));
}

/** Paths: every code span or link target if there is one, else what the commas part, without remarks. */
export function splitFiles(value: string): string[] {
  const quoted = [...value.matchAll(/`([^`]+)`|\]\(([^()\s]+)\)/g)].map(
    ([, code, link]) => code ?? link ?? '',
  );
  return quoted.length > 0 ? quoted : entries(value.replace(/\s+\([^()]*\)/g, ''));
}

function entries(value: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  // A comma inside brackets belongs to a remark: `types.ts (A, B), schema.ts`.
  for (const character of value) {
    if ('(（'.includes(character)) depth += 1;
    if (')）'.includes(character)) depth = Math.max(0, depth - 1);
    if (depth === 0 && ',，、;；'.includes(character)) {
      parts.push(part);
      part = '';
    } else part += character;
  }
  parts.push(part);
  return parts
    .map((each) => each.trim().replace(/[.。]$/, ''))
    .filter((each) => each !== '' && !NOTHING.test(each));
}

function names(key: FieldKey, all: readonly string[]): [string, FieldKey][] {
  return all.map((name) => [name, key]);
}
