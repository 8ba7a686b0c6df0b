import { namedIds, narrow } from './task-ids.js';

type FieldKey = 'prompt' | 'requirements' | 'dependsOn' | 'blocked' | 'status';

/** A line such as `_Requirements: 1.2, 3_`, `- **Depends on:** 1.1` or `Prompt: |`. */
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
    'requirements, requirement, reqs, frs, fr, validates, acceptance criteria, ac, acs, 需求, 要求, 要件, 요구사항',
  ),
  ...names(
    'dependsOn',
    `dependencies, dependency, depends on, depends, blocked by, deps, prerequisites, prerequisite, requires, after,
    waits for, 依赖, 依賴, 依赖任务, 依赖项, 依赖于, 前置任务, 前置, 前置条件, 依存, 依存関係, 依存タスク, 前提, 前提タスク, 前提条件,
    의존성, 의존, 선행 작업`,
  ),
  ...names('blocked', 'blocked, blocker, blocked reason'),
  ...names('status', 'status, state, 状态, 狀態, ステータス, 状態, 進捗, 상태'),
]);

// The name before the colon, without bullet and blanks. Must run in linear time on any line: no expression may match a
// run of blanks in two ways.
const BULLET = /^[-*+](?=\s)/;
const NAME = /^([*_`]{0,3})([\p{L}][\p{L}\d.() ]{1,30}?)([*_`]{0,3})$/u;
/** In code units. */
const MAX_NAME = 68;
const CLOSES = /(?:^|[^_\\])_$/;
const DEPENDS_IN_TEXT = /\((?:depends on|blocked by|依赖|依存)([^()]+)\)/iu;
/** Ambiguous names: dependencies only if a number follows. */
const UNSURE = /^(?:prerequisites?|requires|after|waits for|前提|前提条件|前置条件)$/;
const NOTHING = /^(?:none|nothing|n\/a|nil|no|-|–|—|无|無|没有|なし|特になし|없음)$/i;

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
  const afterColon = flat.slice(colon + 1).trimStart();
  const beyond = /^[*_]{0,3}/.exec(afterColon)?.[0] ?? '';
  const rest = afterColon.slice(beyond.length).trimStart();
  const value = line.slice(line.length - rest.length).trimEnd();
  if (known === undefined || (UNSURE.test(written) && !/\d/.test(value))) return undefined;
  const isSpan = opening === '_' && !after.includes('_') && !beyond.includes('_');
  // In `_Status:_ a` and `**Status:** a` only the name is marked; in `_Status: a_` the value is too.
  if (!isSpan) return { key: known, value, state: 'plain' };
  return closes(value)
    ? { key: known, value: value.slice(0, -1).trimEnd(), state: 'closed' }
    : { key: known, value, state: 'open' };
}

/** True for a line that ends with the closing underscore of a field. */
export function closes(line: string): boolean {
  return CLOSES.test(line.trimEnd());
}

/** Reads remarks such as `(depends on T012, T013)`. */
export function dependsInText(text: string): string[] {
  const found = /[(（]/.test(text) ? DEPENDS_IN_TEXT.exec(narrow(text)) : null;
  return found === null ? [] : splitDependencies((found[1] ?? '').trim().replace(/^:/, ''));
}

const AND = /\s(?:and|および|및)\s|[&+と和及与]/u;

/** Returns the ids that a dependency names; an entry without any stays as written. */
export function splitDependencies(value: string): string[] {
  const parts = splitList(value).flatMap((entry) => entry.replace(/\s+/g, ' ').split(AND));
  return parts.flatMap((part) => {
    const ids = namedIds(part.trim());
    return ids.length > 0 ? ids : part.trim() || [];
  });
}

/** Splits `1.2, 3 (in part)` into ids; "none" and the like are dropped. */
export function splitList(value: string): string[] {
  return value
    .replace(/[(（][^()（）]*[)）]|[`*]/g, '')
    .split(/[,，、;；]/)
    .map((part) => part.trim().replace(/[.。]$/, ''))
    .filter((part) => part !== '' && !NOTHING.test(part));
}

function names(key: FieldKey, all: string): [string, FieldKey][] {
  return all.split(/,\s+/).map((name) => [name, key]);
}
