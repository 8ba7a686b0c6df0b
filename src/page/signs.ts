import type { VNode } from 'preact';
import { visible } from '../shared/terminal-text.js';

/** Ignores most texts cheaply. */
const PLAIN = /^[\t\n -~]*$/;

/**
 * Prepares the texts of every element before it is shown: text is read in its own direction, and signs that are invisible or
 * change the direction are shown as the command line shows them, so that nobody decides on another text than the stored one.
 */
export function showSigns({ type, props }: VNode): void {
  if (typeof type !== 'string') return;
  const attributes = props as Record<string, unknown>;
  for (const name of ['children', 'title', 'aria-label']) {
    const value = attributes[name];
    if (typeof value === 'string') {
      if (PLAIN.test(value)) continue;
      attributes[name] = visible(value);
    } else if (name === 'children' && Array.isArray(value) && value.some(isMarked)) {
      attributes.children = value.map((part) => (isMarked(part) ? visible(part) : part));
    } else continue;
    attributes.dir ??= 'auto';
  }
}

function isMarked(part: unknown): part is string {
  return typeof part === 'string' && !PLAIN.test(part);
}
