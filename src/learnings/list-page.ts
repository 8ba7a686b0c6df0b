import { type Refusal, refuse } from '../contracts/decision.js';

/** A part of a list, and what the next one begins after, where there is more. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next?: string;
  /** Of the whole list. */
  readonly total: number;
}

export interface PageRequest {
  /** `next` of the page before. Without one it is the first. */
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/**
 * A page of those items that fit. It begins after the item that the cursor names, fitting or not: what comes or is
 * decided between two pages neither repeats nor leaves out others.
 */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  { cursor, limit }: PageRequest,
  fits: (item: Item) => boolean = () => true,
): Page<Item> | Refusal {
  const at = cursor === undefined ? -1 : items.findIndex(({ id }) => id === cursor);
  if (cursor !== undefined && at < 0) {
    return refuse(
      'not_found',
      `cursor: ${JSON.stringify(cursor)} is no longer in the list: start again with the first page`,
    );
  }
  const rest = items.slice(at + 1).filter(fits);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page,
    total: items.filter(fits).length,
    ...(last !== undefined && rest.length > limit && { next: last.id }),
  };
}
