import { beginnings } from './excerpt.js';
import type { Item } from './fill-prompt.js';

/** A compacted history grows by its lines: what it stands for and the original ask come first. */
export function compactedItem(text: string): Item {
  return {
    whole: text,
    get forms() {
      const lines = text.split('\n');
      const head = Math.min(3, lines.length);
      const first = lines.slice(0, head).join('\n');
      const rest = lines.slice(head).map((_, at) => lines.slice(0, head + at + 1).join('\n'));
      return [...beginnings(first), ...rest];
    },
  };
}
