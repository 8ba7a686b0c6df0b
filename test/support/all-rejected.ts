import type {
  RejectedEntry,
  RejectedSelection,
  RejectedStore,
} from '../../src/engine/ports/dispatch-source.js';

const PAGE = 200;

/** All rejections of a store, or those of a session or role: the oldest first. */
export async function allRejected(
  store: Pick<RejectedStore, 'page'>,
  of: RejectedSelection = {},
): Promise<RejectedEntry[]> {
  const found: RejectedEntry[] = [];
  for (let before: number | undefined; ; ) {
    const page = await store.page({ ...of, limit: PAGE, ...(before !== undefined && { before }) });
    found.push(...page.entries);
    if (page.next === undefined) return found.reverse();
    before = page.next;
  }
}
