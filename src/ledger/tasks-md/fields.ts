import { namedIds, narrow } from './ids.js';

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
  ...names('prompt', [
    'prompt',
    '提示',
    '提示词',
    '提示詞',
    'プロンプト',
    '프롬프트',
    'ai prompt',
    'agent prompt',
  ]),
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
  ...names('requirements', ['acceptance criteria', 'ac', 'acs', '요구사항', 'anforderungen', 'anforderung']),
  ...names('requirements', ['exigences', 'requisitos', 'requisiti', 'требования', 'вимоги', 'vereisten']),
  ...names('dependsOn', ['dependencies', 'dependency', 'depends on', 'depends', 'blocked by', 'deps']),
  ...names('dependsOn', [
    '依赖',
    '依賴',
    '依赖任务',
    '依赖项',
    '依赖于',
    '前置任务',
    '前置',
    '前置条件',
    '依存',
  ]),
  ...names('dependsOn', [
    '依存関係',
    '依存タスク',
    '前提',
    '前提タスク',
    '前提条件',
    '의존성',
    '의존',
    '선행 작업',
  ]),
  ...names('dependsOn', ['abhängigkeiten', 'abhängigkeit', 'abhängig von', 'hängt ab von', 'voraussetzung']),
  ...names('dependsOn', [
    'dépendances',
    'dépendance',
    'dépend de',
    'prérequis',
    'dependencias',
    'depende de',
  ]),
  ...names('dependsOn', [
    'dependências',
    'dipende da',
    'dipendenze',
    'зависит от',
    'зависимости',
    'зависимость',
  ]),
  ...names('dependsOn', [
    'залежить від',
    'залежності',
    'afhankelijk van',
    'zależy od',
    'zależności',
    'bağımlılıklar',
  ]),
  ...names('dependsOn', ['prerequisites', 'prerequisite', 'requires', 'after', 'waits for', 'phụ thuộc']),
  ...names('status', [
    'status',
    'state',
    '状态',
    '狀態',
    'ステータス',
    '状態',
    '進捗',
    '상태',
    'estado',
    'statut',
    'stato',
    'статус',
  ]),
]);

// What stands before the colon, without the bullet and blanks around it. The time must grow with the line and no
// faster, whatever it holds: no expression here may find two ways to read a run of blanks.
const BULLET = /^[-*+](?=\s)/;
const NAME = /^([*_`]{0,3})([\p{L}][\p{L}\d.() ]{1,30}?)([*_`]{0,3})$/u;
/** Code units that it takes, at most. */
const MAX_NAME = 68;
const INLINE_NAME = /(?<=^|\s)_([\p{L}][\p{L} ]{1,23}):/gu;
const CLOSES = /(?:^|[^_\\])_$/;
const DEPENDS_IN_TEXT = /\((?:depends on|blocked by|依赖|依存)([^()]+)\)/iu;
const MAY_DEPEND = /[(（→>＞—–]/;
const DEPENDS_BEHIND = /[→>—–]\s?(?:depends on|blocked by)\s([^()→]+)/iu;
/** Names of other things too: they say on what a task depends where a number follows. */
const UNSURE: ReadonlySet<string> = new Set([
  ...['prerequisites', 'prerequisite', 'requires', 'after', 'waits for', '前提', '前提条件', '前置条件'],
  ...['prérequis', 'voraussetzung'],
]);
const NOTHING =
  /^(?:none|nothing|n\/a|nil|-|–|—|无|無|没有|なし|特になし|없음|keine?|aucune?|ninguna?|nenhuma?|nessuna?|нет|немає|geen|brak)$/i;

/** Reads a line as a field, or gives undefined. */
export function readField(line: string): Field | undefined {
  const flat = narrow(line);
  const colon = flat.indexOf(':');
  if (colon === -1) return undefined;
  const before = flat.slice(0, colon).trim().replace(BULLET, '').trimStart();
  const found = before.length > MAX_NAME ? null : NAME.exec(before);
  if (found === null) return undefined;
  const [, opening = '', name = '', after = ''] = found;
  const written = name.trim().toLowerCase();
  const known =
    NAMES.get(written) ?? (opening !== '' && /[\w)] status$/.test(written) ? 'status' : undefined);
  const behind = flat.slice(colon + 1).trimStart();
  const beyond = /^[*_]{0,3}/.exec(behind)?.[0] ?? '';
  const rest = behind.slice(beyond.length).trimStart();
  const value = line.slice(line.length - rest.length).trimEnd();
  const key = known ?? (opening === '_' && onlyIds(value) ? 'requirements' : undefined);
  if (key === undefined || (UNSURE.has(written) && !/\d/.test(value))) return undefined;
  const isSpan = opening === '_' && !after.includes('_') && !beyond.includes('_');
  // `_File:_ a` and `**File:** a` set the name apart; in `_File: a_` the underscores hold the value too.
  if (!isSpan) return { key, value, state: 'plain' };
  return closes(value)
    ? { key, value: value.slice(0, -1).trimEnd(), state: 'closed' }
    : { key, value, state: 'open' };
}

/** Kiro's line of requirements in a language that we do not know: `_Krav: 1.1, 2.3_`. */
function onlyIds(value: string): boolean {
  return /^\d+\.[\d., ]*_$/.test(value);
}

/** A line that is the name of a prompt and no more: `**Prompt**`. */
export function namesPrompt(line: string): boolean {
  if (!/^[\s>]*(?:[-*+]\s+)?(?:\*\*|__)/.test(line)) return false;
  const name = line.replace(/[*_:：]/g, '').replace(/^[\s>]*(?:[-+]\s+)?/, '');
  return NAMES.get(name.trim().toLowerCase()) === 'prompt';
}

/** Whether a line ends an open `_…` span. */
export function closes(line: string): boolean {
  const text = line.trimEnd();
  return text.endsWith('_') && CLOSES.test(text);
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
  if (!MAY_DEPEND.test(text)) return [];
  const flat = narrow(text);
  const found = DEPENDS_IN_TEXT.exec(flat) ?? DEPENDS_BEHIND.exec(flat);
  return found === null
    ? []
    : splitList(
        (found[1] ?? '')
          .trim()
          .replace(/^:/, '')
          .replace(/\sand\s/g, ','),
      ).flatMap(idsOf);
}

const AND = /\s(?:and|und|et|y|e|og|en|i|и|та|および|및)\s|[&+と和及与]/u;

/** The tasks that a dependency names, each by its id; what names none stays as it is written. */
export function splitDependencies(value: string): string[] {
  return splitList(value)
    .flatMap((entry) => entry.replace(/\s+/g, ' ').split(AND))
    .flatMap(idsOf);
}

function idsOf(entry: string): string[] {
  const part = entry.trim();
  const ids = namedIds(part);
  return ids.length > 0 || part === '' ? ids : [part];
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
