import { describe, expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import type { StoredEvent } from '../../../src/contracts/session-events.js';
import { checkpointOf } from '../../../src/memory/session/checkpoint.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { encodeSnapshot } from '../../../src/memory/session/session-snapshot.js';
import { emptyState } from '../../../src/memory/session/session-state.js';
import { stateToJson } from '../../../src/memory/session/session-state-json.js';
import { createSessionExport } from '../../../src/services/lifecycle/export-session.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, recorded, timeOf } from '../../support/builders.js';
import { capturedLog } from '../../support/captured-log.js';
import { noteAdded } from '../../support/generated-logs.js';

const DEMO = token('demo', 'session');

async function started(events = 300, maxReplyBytes = 20_000) {
  const log = new MemorySessionLog({ sequenceStep: 2, shared: true });
  // In a shard the first event of a session has any number.
  await log.append(token('other', 'session'), recorded(1, implementer()));
  for (let n = 1; n <= events; n += 1) await log.append(DEMO, recorded(n, implementer({ task_id: `${n}` })));
  const snapshots = new MemorySnapshotStore();
  const { logger, lines } = capturedLog();
  const read = { events: 0 };
  const ask = createSessionExport({
    log: {
      newest: (session) => log.newest(session),
      async read(session, range) {
        const found = await log.read(session, range);
        read.events += found.events.length;
        return found;
      },
    },
    ...{ snapshots, logger, maxReplyBytes: () => maxReplyBytes },
  });
  const page = (cursor?: string) => ask({ session: DEMO, ...(cursor !== undefined && { cursor }) });
  const all = async () => {
    const pages = [await page()];
    for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next)
      pages.push(await page(next));
    return pages.flatMap((each) => each.events) as unknown as StoredEvent[];
  };
  /** Stores a snapshot of the current state. */
  const keep = async (changed: (text: string) => string = (text) => text) => {
    const kept = folded((await log.read(DEMO, { after: 0 })).events);
    const text = changed(encodeSnapshot(kept, timeOf(1)));
    await snapshots.save(DEMO, { sequence: kept.sequence, text });
    return kept;
  };
  return { log, page, all, keep, read, lines };
}

/** Returns the visible state that events add up to. */
function seen(events: readonly StoredEvent[]) {
  const state = folded(events);
  const { counts } = state.dispatches.current();
  const { tasks, notes, last_event_at } = stateToJson(state);
  return { counts, tasks, notes, last_event_at };
}

function folded(events: readonly StoredEvent[]) {
  const state = emptyState(DEMO);
  for (const each of events) evolve(state, each);
  return state;
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

  it('session-export goes by the log where that is whole and a snapshot differs, and says so', async () => {
    const { log, keep, all, lines } = await started(90);
    await keep((text) => text.replace('"last_event_at":"2', '"last_event_at":"1'));

    expect(await all()).toEqual((await log.read(DEMO, { after: 0 })).events);

    expect(lines.join('')).toContain('the snapshot of a session differs from its log');
    expect(lines.join('')).toContain('"session":"demo"');
  });

  it('session-export of a log whose first events are gone brings what the snapshot knows', async () => {
    const { log, keep, page, all } = await started(120);
    const kept = await keep();
    // Decided from the checkpoint, and read with a later page.
    for (let n = 121; n <= 220; n += 1) await log.append(DEMO, recorded(n, implementer({ task_id: `${n}` })));
    await log.append(DEMO, noteAdded(1), { decidedOn: kept.sequence - 4 });
    const whole = seen((await log.read(DEMO, { after: 0 })).events);
    await log.removeBefore(DEMO, 160);

    expect((await page()).events[0]).toMatchObject({
      event: { type: 'session.checkpoint', data: { reason: 'truncated' } },
    });
    expect(seen(await all())).toEqual(whole);
  });

  it('session-export of a session that does not exist is refused', async () => {
    const { page } = await started(0);
    await expect(page()).rejects.toMatchObject({ code: 'not_found' });
  });

  it('session-export that is overtaken by an archiving ends, and leaves no gap', async () => {
    const { log, page } = await started();
    const { next, sequence } = await page();
    const data = checkpointOf(emptyState(DEMO), 'archived');
    const at = '2026-03-01T00:00:00.000Z';
    const event = { v: 1, type: 'session.checkpoint', at, data } as const;
    const appended = await log.append(DEMO, event, { expectedSequence: sequence });
    await log.removeBefore(DEMO, 'sequence' in appended ? appended.sequence : 0);
    await expect(page(next)).rejects.toMatchObject({ code: 'conflict' });
  });
});
