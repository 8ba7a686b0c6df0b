import { type Legend, type Mark, wholeWord } from './marks.js';

/**
 * A file may say what its boxes mean: `[~]` in progress · `[-]` wontfix, in one line or under a heading "Legend".
 * What it says goes before our reading; a blank and an `x` always mean what they mean everywhere.
 */

const ENTRY = /\[(.)\]`?\*{0,2}\s*(?:(?:=|:|：|-+>?|–|—|→)\s*)?([\p{L}][\p{L}' ]*)/gu;
const HEADING = /^#{1,6}\s(.*)$/s;
const LEGEND_HEADING = /\b(legend|status key|status markers?|markers?)\b|图例|圖例|凡例|标记说明|状态说明/iu;

/** Whether a heading opens a legend: its boxes are then explanations, not tasks. */
export function isLegendHeading(text: string): boolean {
  return LEGEND_HEADING.test(text);
}

/** Reads every legend of the file. */
export function readLegend(lines: readonly string[]): Legend {
  const legend = new Map<string, Mark>();
  let inLegend = false;
  for (const line of lines) {
    const heading = line.startsWith('#') ? HEADING.exec(line)?.[1] : undefined;
    if (heading !== undefined) inLegend = isLegendHeading(heading);
    if (!inLegend) {
      const first = line.indexOf('[');
      if (first === -1 || line.indexOf('[', first + 1) === -1) continue;
    }
    const entries = [...line.matchAll(ENTRY)].flatMap(([, box = '', words = '']) => {
      const mark =
        wholeWord(words) ??
        wholeWord(words.split(' ').slice(0, 2).join(' ')) ??
        wholeWord(words.split(' ')[0] ?? '');
      return mark === undefined ? [] : [{ box, mark }];
    });
    // One entry in a line of prose may be anything; two are a legend.
    if (entries.length < (inLegend ? 1 : 2)) continue;
    for (const { box, mark } of entries) if (!/[\sxX]/.test(box)) legend.set(box, mark);
  }
  return legend;
}
