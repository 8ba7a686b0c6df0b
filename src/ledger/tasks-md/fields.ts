import { namedIds, narrow } from './ids.js';

/** The fields of a task's body. */
/** `told` is shown to agents as written. */
export type FieldKey = 'prompt' | 'requirements' | 'told' | 'dependsOn' | 'blocked' | 'status';

/** A line such as `_Requirements: 1.2, 3_`, `- **File:** src/a.ts` or `Prompt: |`. */
export interface Field {
  readonly key: FieldKey;
  /** Without a closing underscore. */
  readonly value: string;
  /** `open`: begins with an underscore that the line does not close. */
  readonly state: 'plain' | 'closed' | 'open';
}

const NAMES: ReadonlyMap<string, FieldKey> = new Map<string, FieldKey>([
  ...names('prompt', 'prompt, 提示, 提示词, 提示詞, プロンプト, 프롬프트, ai prompt, agent prompt'),
  ...names(
    'requirements',
    `requirements, requirement, reqs, frs, fr, validates, 需求, 要求, 要件, acceptance criteria, ac, acs, 요구사항,
    anforderungen, anforderung, exigences, requisitos, requisiti, требования, вимоги, vereisten`,
  ),
  ...names('told', 'file, files, file(s), 文件, 檔案, ファイル, leverage, leverages'),
  ...names(
    'dependsOn',
    `dependencies, dependency, depends on, depends, blocked by, deps, 依赖, 依賴, 依赖任务, 依赖项, 依赖于, 前置任务, 前置, 前置条件,
    依存, 依存関係, 依存タスク, 前提, 前提タスク, 前提条件, 의존성, 의존, 선행 작업, abhängigkeiten, abhängigkeit, abhängig von,
    hängt ab von, voraussetzung, dépendances, dépendance, dépend de, prérequis, dependencias, depende de,
    dependências, dipende da, dipendenze, зависит от, зависимости, зависимость, залежить від, залежності,
    afhankelijk van, zależy od, zależności, bağımlılıklar, prerequisites, prerequisite, requires, after,
    waits for, phụ thuộc`,
  ),
  ...names('blocked', 'blocked, blocker, blocked reason'),
  ...names(
    'status',
    'status, state, 状态, 狀態, ステータス, 状態, 進捗, 상태, estado, statut, stato, статус',
  ),
]);

// The name before the colon, without bullet and blanks. Must run in linear time on any line: no expression may match a
// run of blanks in two ways.
const BULLET = /^[-*+](?=\s)/;
const NAME = /^([*_`]{0,3})([\p{L}][\p{L}\d.() ]{1,30}?)([*_`]{0,3})$/u;
/** In code units. */
const MAX_NAME = 68;
const CLOSES = /(?:^|[^_\\])_$/;
const DEPENDS_IN_TEXT = /\((?:depends on|blocked by|依赖|依存)([^()]+)\)/iu;
const MAY_DEPEND = /[(（→>＞—–]/;
const DEPENDS_BEHIND = /[→>—–]\s?(?:depends on|blocked by)\s([^()→]+)/iu;
/** Ambiguous names: dependencies only if a number follows. */
const UNSURE: ReadonlySet<string> = new Set([
  ...['prerequisites', 'prerequisite', 'requires', 'after', 'waits for', '前提', '前提条件', '前置条件'],
  ...['prérequis', 'voraussetzung'],
]);
const NOTHING =
  /^(?:none|nothing|n\/a|nil|-|–|—|无|無|没有|なし|特になし|없음|keine?|aucune?|ninguna?|nenhuma?|nessuna?|нет|немає|geen|brak)$/i;

/** Returns undefined for a line that is not a field. */
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
  // In `_File:_ a` and `**File:** a` only the name is marked; in `_File: a_` the value is too.
  if (!isSpan) return { key, value, state: 'plain' };
  return closes(value)
    ? { key, value: value.slice(0, -1).trimEnd(), state: 'closed' }
    : { key, value, state: 'open' };
}

/** Kiro's requirements in an unknown language: `_Krav: 1.1, 2.3_`. */
function onlyIds(value: string): boolean {
  return /^\d+\.[\d., ]*_$/.test(value);
}

/** True for a line that only names a prompt: `**Prompt**`. */
export function namesPrompt(line: string): boolean {
  if (!/^[\s>]*(?:[-*+]\s+)?(?:\*\*|__)/.test(line)) return false;
  const name = line.replace(/[*_:：]/g, '').replace(/^[\s>]*(?:[-+]\s+)?/, '');
  return NAMES.get(name.trim().toLowerCase()) === 'prompt';
}

export function closes(line: string): boolean {
  const text = line.trimEnd();
  return text.endsWith('_') && CLOSES.test(text);
}

/** Reads remarks such as `(depends on T012, T013)`. */
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

/** Returns the ids that a dependency names; an entry without any stays as written. */
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

/** Splits `1.2, 3`; "none" and the like are dropped. */
export function splitList(value: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const character of value.replace(/[`*]/g, '')) {
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

export function isNothing(value: string): boolean {
  return value === '' || /^no$/i.test(value) || NOTHING.test(value);
}

function names(key: FieldKey, all: string): [string, FieldKey][] {
  return all.split(/,\s+/).map((name) => [name, key]);
}
