import { z } from 'zod';

/** A bounded list that remembers whether anything was forgotten: newest last. */
export interface KeptList<T> {
  readonly items: readonly T[];
  /** There were more than these. */
  readonly more?: true;
}

export const NOTHING_KEPT: KeptList<never> = { items: [] };

/** The list of a snapshot. */
export function keptListOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), more: z.literal(true).exactOptional() });
}

/** The list with these at its end, each once by its key; beyond `max` the oldest are forgotten. */
export function keep<T>(
  list: KeptList<T>,
  added: readonly T[],
  max: number,
  keyOf: (item: T) => unknown = (item) => item,
): KeptList<T> {
  if (added.length === 0) return list;
  const all = new Map(list.items.map((item) => [keyOf(item), item]));
  for (const item of added) {
    all.delete(keyOf(item));
    all.set(keyOf(item), item);
  }
  const items = [...all.values()];
  return { items: items.slice(-max), ...((list.more || items.length > max) && { more: true }) };
}

export function without<T>(list: KeptList<T>, isGone: (item: T) => boolean): KeptList<T> {
  return list.items.some(isGone) ? { ...list, items: list.items.filter((item) => !isGone(item)) } : list;
}

/** "12", or "60 or more" where some were forgotten. */
export function sizeSaid({ items, more }: KeptList<unknown>): string {
  return more ? `${items.length} or more` : String(items.length);
}
