import type { PlanTaskStatus } from './parsed-tasks.js';
import { narrow } from './task-ids.js';

/**
 * The notations of a status: the character in a box, an emoji, a word. The choices follow public task files: nine of
 * ten legends that define `[~]` say "in progress", `[-]` is in progress in Kiro and its relatives, `[/]` in Obsidian. ⏳
 * precedes "Pending" as often as "In progress": a word beside it decides, and alone it is pending. ❌ means "not done"
 * in a table of statuses.
 */
export interface Mark {
  readonly status: PlanTaskStatus;
  readonly hold?: 'blocked' | 'cancelled';
}

/** A file's own meaning of box characters. */
export type Legend = ReadonlyMap<string, Mark>;

const PENDING: Mark = { status: 'pending' };
const STARTED: Mark = { status: 'in-progress' };
const COMPLETED: Mark = { status: 'completed' };
export const BLOCKED: Mark = { status: 'pending', hold: 'blocked' };
const CANCELLED: Mark = { status: 'pending', hold: 'cancelled' };

const BOXES = table([
  [PENDING, ['']],
  [STARTED, ['-', '~', '/', '–']],
  [COMPLETED, ['x', 'X', '×', '✓', '✔', '√', 'v', 'V']],
  [BLOCKED, ['!']],
]);

const EMOJI = table([
  [PENDING, [...'☐⬜◻🔲⚪⏳⌛📋❌✗✘', '🆕']],
  [STARTED, [...'🚧🔄🔨🟡🔵🏗🏃▶◐']],
  [COMPLETED, [...'✅☑✔✓🟢🎉']],
  [BLOCKED, [...'🚫⛔🛑🔴⏸']],
  [CANCELLED, [...'⏭🗑']],
]);

const WORDS = table([
  [
    PENDING,
    words(`pending, todo, to do, not started, not done, open, planned, ready, queued, backlog, new, incomplete, remaining,
      missing, failed, -, –, —, unstarted, 未开始, 未開始, 待办, 待辦, 待处理, 待完成, 未完成, 未着手, 未対応, 未完了, 未完, 대기, 예정,
      미완료, 미착수, 할 일`),
  ],
  [
    STARTED,
    words(`in progress, inprogress, wip, doing, started, ongoing, active, working, in review, review, partial, partially,
      partially complete, partially done, current, 进行中, 進行中, 作業中, 対応中, 着手, 实施中, 진행 중, 진행중`),
  ],
  [
    COMPLETED,
    words(`completed, complete, done, finished, closed, merged, implemented, resolved, 已完成, 完成, 完了済み, 完了, 対応済み,
      対応済, 済み, 済, 완료, 완료됨`),
  ],
  [
    BLOCKED,
    words(
      `blocked, on hold, paused, waiting, stuck, deferred, postponed, 已阻塞, 阻塞, 受阻, 保留, ブロック, 차단됨, 보류`,
    ),
  ],
  [
    CANCELLED,
    words(`cancelled, canceled, skipped, wontfix, won't do, wont do, dropped, superseded, deprecated, obsolete, cut, 已取消,
      取消, 中止, キャンセル, 不要, 취소, 취소됨`),
  ],
]);

const LONGEST_FIRST = [...WORDS.keys()].sort((left, right) => right.length - left.length);
const LEADING_EMOJI = new RegExp(`^(${[...EMOJI.keys()].join('|')})\\uFE0F?\\s*`, 'u');

/** Emoji that decorate a heading as often as they give its status. */
export const DECORATION: ReadonlySet<string> = new Set([...'⚪📋🔄🔨🟡🔵🏗🏃▶◐🟢🎉🔴⏭🗑◻', '🆕']);

export function markOfEmoji(emoji: string): Mark | undefined {
  return EMOJI.get(emoji.replace('\uFE0F', ''));
}

/** Returns the status of a box's content (`x`, a blank, ✅, `TODO`), undefined if unknown. */
export function boxMark(content: string, legend: Legend): Mark | undefined {
  const inside = content.trim().replace('\uFE0F', '');
  if (inside === '') return PENDING;
  return legend.get(inside) ?? BOXES.get(inside) ?? EMOJI.get(inside) ?? wholeWord(inside);
}

/** Reads a status emoji at the start of `text`; `length` includes the blanks after it. */
export function leadingMark(text: string): { mark: Mark; length: number } | undefined {
  const found = LEADING_EMOJI.exec(text);
  const mark = EMOJI.get(found?.[1] ?? '');
  return found === null || mark === undefined ? undefined : { mark, length: found[0].length };
}

/** Reads a status from a table cell or a `Status:` line. A word beside an emoji decides. */
export function readStatus(cell: string, legend: Legend): Mark | undefined {
  const plain = narrow(cell)
    .replace(/[*`\\]/g, '')
    .trim();
  const box = /^\[(.{0,24}?)\]$/u.exec(plain);
  if (box !== null) return boxMark(box[1] ?? '', legend);
  const emoji = leadingMark(plain);
  const rest = plain.slice(emoji?.length ?? 0).replace(/^\p{Extended_Pictographic}\uFE0F?\s*/u, '');
  return openingWord(rest) ?? emoji?.mark ?? markOfEmoji(Array.from(rest.replace('\uFE0F', '')).at(-1) ?? '');
}

export function wholeWord(phrase: string): Mark | undefined {
  return WORDS.get(normalize(phrase));
}

function openingWord(text: string): Mark | undefined {
  const phrase = normalize(text);
  const word = LONGEST_FIRST.find((candidate) => {
    if (!phrase.startsWith(candidate)) return false;
    return !/^[a-z]/.test(candidate) || !/^[\p{L}\p{N}]/u.test(phrase.slice(candidate.length));
  });
  return WORDS.get(word ?? '');
}

function normalize(phrase: string): string {
  const plain = phrase.trim().toLowerCase().replace(/’/g, "'");
  return plain.length < 2 ? plain : plain.replace(/[\s_-]+/g, ' ');
}

function table(rows: readonly (readonly [Mark, readonly string[]])[]): ReadonlyMap<string, Mark> {
  return new Map(rows.flatMap(([mark, keys]) => keys.map((key) => [key, mark] as const)));
}

function words(list: string): string[] {
  return list.trim().split(/,\s+/);
}

/**
 * A file may define its boxes: `[~]` in progress · `[-]` wontfix, in one line or under a heading "Legend". Its
 * definitions win; a blank and an `x` always have their usual meaning.
 */

const ENTRY = /\[(.)\]`?\*{0,2}\s*(?:(?:=|:|：|-+>?|–|—|→)\s*)?([\p{L}][\p{L}' ]*)/gu;
const HEADING = /^#{1,6}\s(.*)$/s;
const LEGEND_HEADING = /\b(legend|status key|status markers?|markers?)\b|图例|圖例|凡例|标记说明|状态说明/iu;

/** Boxes below it are explanations, not tasks. */
export function isLegendHeading(text: string): boolean {
  return LEGEND_HEADING.test(text);
}

export function readLegend(lines: readonly string[]): Legend {
  const legend = new Map<string, Mark>();
  let inLegend = false;
  for (const line of lines) {
    const heading = line.startsWith('#') ? HEADING.exec(line)?.[1] : undefined;
    if (heading !== undefined) inLegend = isLegendHeading(heading);
    if (!inLegend && line.indexOf('[') === line.lastIndexOf('[')) continue;
    const entries = [...line.matchAll(ENTRY)].flatMap(([, box = '', meaning = '']) => {
      const [first = '', second = ''] = meaning.split(' ');
      const mark = wholeWord(meaning) ?? wholeWord(`${first} ${second}`) ?? wholeWord(first);
      return mark === undefined ? [] : [{ box, mark }];
    });
    // One entry in a line of prose may be anything; two are a legend.
    if (!inLegend && entries.length < 2) continue;
    for (const { box, mark } of entries) if (!/[\sxX]/.test(box)) legend.set(box, mark);
  }
  return legend;
}
