import type { Item } from './fill-prompt.js';

/** A compacted history grows by its lines: what it stands for and the original ask come first. */
export function compactedItem(text: string): Item {
  const lines = text.split('\n');
  const head = Math.min(3, lines.length);
  return { forms: lines.slice(head - 1).map((_, at) => lines.slice(0, head + at).join('\n')) };
}
