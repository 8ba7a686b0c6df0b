import { describe, expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import type { StoredEvent } from '../../../src/contracts/session-events.js';
import { checkpointOf } from '../../../src/memory/session/checkpoint.js';
import { emptyState } from '../../../src/memory/session/session-state.js';
import { createSessionExport } from '../../../src/services/lifecycle/session-transfer.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, recorded } from '../../support/builders.js';

const DEMO = token('demo', 'session');

async function started(events = 300, maxReplyBytes = 20_000) {
  const log = new MemorySessionLog({ sequenceStep: 2, shared: true });
  // In a shard the first event of a session has any number.
  await log.append(token('other', 'session'), recorded(1, implementer()));
  for (let n = 1; n <= events; n += 1) await log.append(DEMO, recorded(n, implementer({ task_id: `${n}` })));
  const snapshots = new MemorySnapshotStore();
  const ask = createSessionExport({ log, snapshots, maxReplyBytes: () => maxReplyBytes });
  const page = (cursor?: string) => ask({ session: DEMO, ...(cursor !== undefined && { cursor }) });
  return { log, page, snapshots };
}

describe('session-export', () => {
  it('session-export gives each event once, whole and in order, in pages that fit a reply', async () => {
    const { log, page } = await started();
    const pages = [await page()];
    for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next) {
      // Later events belong to the next export.
      if (pages.length === 1) await log.append(DEMO, recorded(1000, implementer()));
      pages.push(await page(next));
    }
    const { events } = await log.read(DEMO, { after: 0, limit: 300 });
    expect(pages.flatMap((each) => each.events) as unknown as StoredEvent[]).toEqual(events);
    expect(pages.length).toBeGreaterThan(3);
    for (const each of pages) expect(JSON.stringify(each).length).toBeLessThanOrEqual(20_000);
  });

  it('session-export gives an event that is larger than a page by itself', async () => {
    const { page } = await started(3, 1100);
    const first = await page();
    expect(first.events).toHaveLength(1);
    expect((await page(first.next)).events).toHaveLength(1);
  });

  it('session-export of a log that is gone, or whose first events are, is refused', async () => {
    const { log, page, snapshots } = await started(120);
    await page();
    await snapshots.save(DEMO, { sequence: 100, text: 'a state' });
    await log.removeBefore(DEMO, 160);

    await expect(page()).rejects.toThrow('is gone, or its first events are: restore a backup');
  });

  it('session-export that is overtaken by an archiving ends, and leaves no gap', async () => {
    const { log, page } = await started();
    const { next } = await page();
    const data = checkpointOf(emptyState(DEMO), 'archived');
    const at = '2026-03-01T00:00:00.000Z';
    const event = { v: 1, type: 'session.checkpoint', at, data } as const;
    const appended = await log.append(DEMO, event);
    await log.removeBefore(DEMO, 'sequence' in appended ? appended.sequence : 0);
    await expect(page(next)).rejects.toMatchObject({ code: 'conflict' });
  });
});
