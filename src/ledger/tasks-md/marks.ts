import { addTo } from '../../shared/collections.js';
import { narrow } from './ids.js';
import type { PlanTaskStatus } from './parsed-tasks.js';

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
    words(`
      pending, todo, to do, not started, not done, open, planned, ready, queued, backlog, new,
      incomplete, remaining, missing, failed, -, –, —, unstarted, 未开始, 未開始, 待办, 待辦, 待处理, 待完成, 未完成, 未着手,
      未対応, 未完了, 未完, 대기, 예정, 미완료, 미착수, 할 일, offen, geplant, à faire, pendiente, pendente, не начато,
      в очереди, запланировано, te doen, da fare, do zrobienia`),
  ],
  [
    STARTED,
    words(`
      in progress, inprogress, wip, doing, started, ongoing, active, working, in review, review,
      partial, partially, partially complete, partially done, current, 进行中, 進行中, 作業中, 対応中, 着手, 实施中,
      진행 중, 진행중, in arbeit, begonnen, en cours, en progreso, en curso, em andamento, в работе,
      в процессе, in corso, bezig, w toku`),
  ],
  [
    COMPLETED,
    words(`
      completed, complete, done, finished, closed, merged, implemented, resolved, 已完成, 完成, 完了済み, 完了,
      対応済み, 対応済, 済み, 済, 완료, 완료됨, erledigt, fertig, abgeschlossen, terminé, fait, completado, hecho,
      concluído, feito, готово, выполнено, завершено, completato, fatto, klaar, gotowe`),
  ],
  [
    BLOCKED,
    words(`
      blocked, on hold, paused, waiting, stuck, 已阻塞, 阻塞, 受阻, 保留, ブロック, deferred, postponed, 차단됨, 보류,
      blockiert, bloqué, bloqueado, заблокировано, bloccato, geblokkeerd`),
  ],
  [
    CANCELLED,
    words(`
      취소, 취소됨, abgebrochen, annulé, cancelado, отменено, annullato, geannuleerd, cancelled, canceled,
      skipped, wontfix, won't do, wont do, dropped, superseded, deprecated, obsolete, cut, 已取消, 取消, 中止,
      キャンセル, 不要`),
  ],
]);

/** By first character, the longest first. */
const WORDS_FROM = new Map<string, string[]>();
for (const word of [...WORDS.keys()].sort((left, right) => right.length - left.length)) {
  addTo(WORDS_FROM, word.charAt(0), word);
}
/** No emoji has a smaller code. */
const FIRST_EMOJI = 0x2000;
const LEADING_EMOJI = new RegExp(`^(${[...EMOJI.keys()].join('|')})\\uFE0F?\\s*`, 'u');
const TRAILING_EMOJI = new RegExp(`(${[...EMOJI.keys()].join('|')})\\uFE0F?$`, 'u');

/** Emoji that are a status in a list or a table, but may be decoration in a heading without a number. */
export const BARE_EMOJI: ReadonlySet<string> = new Set([...'⚪📋🔄🔨🟡🔵🏗🏃▶◐🟢🎉🔴⏭🗑◻', '🆕']);

/** Emoji that only decorate headings. */
export const DECORATION: ReadonlySet<string> = new Set([...'📋🎉🏗🏃⚪◻', '🆕']);

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
  if (text.charCodeAt(0) < FIRST_EMOJI) return undefined;
  const found = LEADING_EMOJI.exec(text);
  const mark = EMOJI.get(found?.[1] ?? '');
  return found === null || mark === undefined ? undefined : { mark, length: found[0].length };
}

function trailingMark(text: string): { mark: Mark; length: number } | undefined {
  const found = TRAILING_EMOJI.exec(text.slice(-4));
  const mark = EMOJI.get(found?.[1] ?? '');
  return found === null || mark === undefined ? undefined : { mark, length: found[0].length };
}

/** Reads a status from a table cell or a `Status:` line. A word beside an emoji decides. */
export function readStatus(cell: string, legend: Legend): Mark | undefined {
  const known = WORDS.get(cell);
  if (known !== undefined) return known;
  const plain = narrow(cell)
    .replace(/[*`\\]/g, '')
    .trim();
  const box = /^\[(.{0,24}?)\]$/u.exec(plain);
  if (box !== null) return boxMark(box[1] ?? '', legend);
  const emoji = leadingMark(plain);
  const rest = plain.slice(emoji?.length ?? 0).replace(/^\p{Extended_Pictographic}\uFE0F?\s*/u, '');
  return openingWord(rest) ?? emoji?.mark ?? trailingMark(rest)?.mark;
}

/** Reads a phrase that is exactly a status word, as in a legend. */
export function wholeWord(phrase: string): Mark | undefined {
  return WORDS.get(normalize(phrase));
}

/** Reads a phrase that begins with a status word. */
export function openingWord(text: string): Mark | undefined {
  const phrase = normalize(text);
  const percent = /^(\d{1,3})\s*%/.exec(phrase);
  if (percent !== null) {
    const done = Number(percent[1]);
    return done === 0 ? PENDING : done >= 100 ? COMPLETED : STARTED;
  }
  const word = WORDS_FROM.get(phrase.charAt(0))?.find((each) => {
    if (!phrase.startsWith(each)) return false;
    return !/^[a-z]/.test(each) || !/^[\p{L}\p{N}]/u.test(phrase.slice(each.length));
  });
  return word === undefined ? undefined : WORDS.get(word);
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
