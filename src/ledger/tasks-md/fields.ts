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

// What stands before the colon, without the bullet and blanks around it. The time must grow with the line and no
// faster, whatever it holds: no expression here may find two ways to read a run of blanks.
const BULLET = /^[-*+](?=\s)/;
const NAME = /^([*_`]{0,3})([\p{L}][\p{L}() ]{1,23}?)([*_`]{0,3})$/u;
const INLINE_NAME = /(?<=^|\s)_([\p{L}][\p{L} ]{1,23}):/gu;
const DEPENDS_IN_TEXT = /\((?:depends on|blocked by|依赖|依存)([^()]+)\)/iu;
const NOTHING = /^(?:none|n\/a|-|–|—|无|無|なし)$/i;

/** Reads a line as a field, or gives undefined. */
export function readField(line: string): Field | undefined {
  const flat = narrow(line);
  const colon = flat.indexOf(':');
  if (colon === -1) return undefined;
  const found = NAME.exec(flat.slice(0, colon).trim().replace(BULLET, '').trimStart());
  if (found === null) return undefined;
  const [, before = '', name = '', after = ''] = found;
  const key = NAMES.get(name.trim().toLowerCase());
  if (key === undefined) return undefined;
  const behind = flat.slice(colon + 1).trimStart();
  const beyond = /^[*_]{0,3}/.exec(behind)?.[0] ?? '';
  const rest = behind.slice(beyond.length).trimStart();
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
  let rest = '';
  let kept = 0;
  let from = 0;
  for (const { 0: opening, 1: name = '', index } of text.matchAll(INLINE_NAME)) {
    // Inside of the one before, or of what nothing closes.
    if (index < from) continue;
    const start = index + opening.length;
    const { at, closes: isClosed } = endOfSpan(text, start);
    from = at;
    const key = NAMES.get(name.trim().toLowerCase());
    if (!isClosed || key === undefined) continue;
    fields.push({ key, value: text.slice(start, at).trim(), state: 'closed' });
    // With the blank before it.
    rest += text.slice(kept, Math.max(kept, index - 1));
    kept = at + 1;
  }
  return { text: (rest + text.slice(kept)).trim(), fields };
}

/** The underscore that ends a span: one before a blank closes it, one before another underscore leaves it open. */
function endOfSpan(text: string, start: number): { at: number; closes: boolean } {
  for (let at = text.indexOf('_', start); at !== -1; at = text.indexOf('_', at + 1)) {
    const next = text.charAt(at + 1);
    if (next.trim() === '') return { at, closes: true };
    if (next === '_') return { at, closes: false };
  }
  return { at: text.length, closes: false };
}

/** Ids in a remark such as `(depends on T012, T013)`. */
export function dependsInText(text: string): string[] {
  const found = DEPENDS_IN_TEXT.exec(narrow(text));
  return found === null
    ? []
    : splitList(
        (found[1] ?? '')
          .trim()
          .replace(/^:/, '')
          .replace(/\sand\s/g, ','),
      );
}

/** `1.2, 3` → `1.2`, `3`. "none" and the like are not entries. */
export function splitList(value: string): string[] {
  return entries(value.replace(/[`*]/g, ''));
}

/** Paths: every code span or link target if there is one, else what the commas part, without remarks. */
export function splitFiles(value: string): string[] {
  const quoted = [...value.matchAll(/`([^`]+)`|\]\(([^()\s]+)\)/g)].map(
    ([, code, link]) => code ?? link ?? '',
  );
  return quoted.length > 0 ? quoted : entries(value.replace(/\s\([^()]*\)/g, ''));
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
