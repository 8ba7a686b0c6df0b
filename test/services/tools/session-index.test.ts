import { describe, expect, it } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { type Token, token } from '../../../src/contracts/names.js';
import type { SessionEvent } from '../../../src/contracts/session-events.js';
import { createSessionReader } from '../../../src/folding/session-folding.js';
import { silentLogger } from '../../../src/ports/logger.js';
import { SessionIndex } from '../../../src/services/tools/session-index.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { recorded, reviewer } from '../../support/builders.js';

function opened(name: string, at: string): [Token, SessionEvent] {
  const data = { goal: `goal of ${name}`, project: 'shop' };
  return [token(name, 'session'), { v: EVENT_VERSION, type: 'session.opened', at, data }];
}

async function indexOf(...events: readonly [Token, SessionEvent][]) {
  const log = new MemorySessionLog();
  for (const [session, event] of events) await log.append(session, event);
  const snapshots = new MemorySnapshotStore();
  const reader = createSessionReader({ log, snapshots, logger: silentLogger, maxSessions: 9 });
  const loaded: Token[] = [];
  const counting = {
    load: (session: Token) => {
      loaded.push(session);
      return reader.load(session);
    },
  };
  const index = new SessionIndex({ log, reader: counting, logger: silentLogger });
  const list = (request: object = {}) =>
    index.list(request) as Promise<{ sessions: { session: string }[]; total: number; next?: string }>;
  return { log, list, loaded };
}

const names = ({ sessions }: { readonly sessions: readonly { session: string }[] }) =>
  sessions.map(({ session }) => session);
const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`;

describe('the list of sessions', () => {
  it('only sessions that have moved since the last list are read', async () => {
    const { log, list, loaded } = await indexOf(opened('a', at(1)), opened('b', at(2)), opened('c', at(3)));
    expect(names(await list())).toEqual(['c', 'b', 'a']);
    expect(loaded).toHaveLength(3);
    await list();
    expect(loaded).toHaveLength(3);
    await log.append(...opened('a', at(4)));
    expect(names(await list())).toEqual(['a', 'c', 'b']);
    expect(loaded.slice(3)).toEqual(['a']);
  });

  it('what is stalled comes first, then what waits for a person, then the newest', async () => {
    const halted = recorded(1, reviewer({ assessment: 'blocked' }));
    const sentBack = (round: number) => recorded(round, reviewer({ required_fixes: ['Name the field'] }));
    const { list } = await indexOf(
      [token('stalled', 'session'), sentBack(1)],
      [token('stalled', 'session'), sentBack(2)],
      [token('waits', 'session'), halted],
      opened('new', '2026-06-01T00:00:00.000Z'),
    );
    const { sessions } = await list();
    expect(sessions).toMatchObject([
      { session: 'stalled', stalled: [{ task: '1', where: 'results' }] },
      { session: 'waits', stalled: [], waiting: [expect.stringContaining('a person must decide')] },
      { session: 'new', stalled: [], waiting: [] },
    ]);
    expect(names(await list({ stalled: true }))).toEqual(['stalled']);
  });

  it('the pages of the list join to the whole', async () => {
    const { list } = await indexOf(
      ...['a', 'b', 'c', 'd', 'e'].map((name, index) => opened(name, at(index % 3))),
    );
    const whole = names(await list());
    const first = await list({ limit: 2 });
    const second = await list({ limit: 2, cursor: first.next });
    const third = await list({ limit: 2, cursor: second.next });
    expect([first, second, third].flatMap(names)).toEqual(whole);
    expect([first.total, third.next]).toEqual([5, undefined]);
  });

  it('sessions are found by words of their name, project and goal', async () => {
    const { list } = await indexOf(opened('parser', at(1)), opened('lexer', at(2)));
    expect(names(await list({ text: 'GOAL parser' }))).toEqual(['parser']);
    expect((await list({ project: 'shop' })).total).toBe(2);
    expect((await list({ status: 'completed' })).total).toBe(0);
  });

  it('a brief list reads no session, and one that cannot be read comes by name', async () => {
    const { list, loaded } = await indexOf(opened('a', at(1)));
    expect(await list({ brief: true })).toMatchObject({ sessions: [{ session: 'a', brief: true }] });
    expect(loaded).toEqual([]);
    const log = new MemorySessionLog();
    await log.append(...opened('b', at(1)));
    const load = () => Promise.reject(new Error('broken'));
    const index = new SessionIndex({ log, reader: { load }, logger: silentLogger });
    expect(await index.list({})).toMatchObject({ sessions: [{ session: 'b', brief: true }], total: 1 });
  });
});
