import type { Summary } from '../traces/trace-summary.js';
import { beginnings } from './excerpt.js';
import type { Item, ShownItem } from './fill-prompt.js';

/** A compacted history in a prompt, line by line, those that are worth most first. */
export interface CompactedItems {
  readonly items: readonly Item[];
  /** What it stands for, constraints and requests. */
  readonly demands: ReadonlySet<number>;
  /** Empty where nothing is shown. */
  written(shown: readonly ShownItem[]): string;
}

export function compactedItems(summary: Summary | null): CompactedItems {
  const { parts = [], demands = 0 } = summary ?? {};
  return {
    items: parts.map((text, index) => ({
      whole: text,
      // The tallies come together.
      get forms() {
        return index === 0 ? [text] : beginnings(text);
      },
    })),
    demands: new Set(Array.from({ length: demands }, (_, index) => index)),
    written: (shown) =>
      shown.length === 0
        ? ''
        : (summary?.write(new Map(shown.map(({ index, text }) => [index, text]))) ?? ''),
  };
}
