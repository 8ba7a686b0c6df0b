import { describe, expect, it } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { type Token, token } from '../../../src/contracts/names.js';
import type { SessionEvent } from '../../../src/contracts/session-events.js';
import { createSessionReader } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { SessionFeed, SessionTable } from '../../../src/services/common/session-table.js';
import { SessionList } from '../../../src/services/tools/session-list.js';
import { MemorySessionIndex } from '../../doubles/memory-session-index.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, recorded, reviewer } from '../../support/builders.js';
import { calling } from '../../support/calling.js';
import { recordArchived, recordForgotten } from '../../support/lifecycle-records.js';
import * as fc from '../../support/properties.js';

function opened(name: string, at: string): [Token, SessionEvent] {
  const data = { title: `The ${name}s`, goal: `goal of ${name}`, project: 'shop' };
  return [token(name, 'session'), { v: EVENT_VERSION, type: 'session.opened', at, data }];
}

async function listOf(...events: readonly [Token, SessionEvent][]) {
  const log = new MemorySessionLog();
  for (const [session, event] of events) await log.append(session, event);
  const snapshots = new MemorySnapshotStore();
  const reader = createSessionReader({ log, snapshots, logger: silentLogger, maxCached: 9 });
  const loaded: Token[] = [];
  const counting = {
    load: (session: Token) => {
      loaded.push(session);
      return reader.load(session);
    },
  };
  const clock = { now: Date.parse('2026-06-02T00:00:00.000Z') };
  const now = () => clock.now;
  const table = new SessionTable(now);
  const index = new MemorySessionIndex();
  const feed = new SessionFeed({
    table,
    log,
    index,
    logger: silentLogger,
    now,
    onReconnect: () => () => {},
  });
  feed.start();
  await feed.ready;
  await feed.stop();
  log.follow((session) => table.moved(session));
  const lifecycle = new MemorySessionLifecycle();
  const options = { table, caughtUp: () => feed.ready, lifecycle, logger: silentLogger, now };
  const sessionList = new SessionList({ ...options, reader: counting });
  const list = (request: object = {}) =>
    calling({ 'tool.session-list': (asked) => sessionList.list(asked) })('session-list', request) as Promise<{
      sessions: { session: string }[];
      total: number;
      next?: string;
    }>;
  return { log, list, loaded, clock, table, lifecycle, options };
}

const names = ({ sessions }: { readonly sessions: readonly { session: string }[] }) =>
  sessions.map(({ session }) => session);
const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`;

describe('the list of sessions', () => {
  it('only sessions that have moved since the last list are read', async () => {
    const { log, list, loaded, clock } = await listOf(
      opened('a', at(1)),
      opened('b', at(2)),
      opened('c', at(3)),
    );
    expect(names(await list())).toEqual(['c', 'b', 'a']);
    expect(loaded).toHaveLength(3);
    await list();
    expect(loaded).toHaveLength(3);
    clock.now += 60_000;
    await log.append(...opened('a', at(4)));
    expect(names(await list())).toEqual(['a', 'c', 'b']);
    expect(loaded.slice(3)).toEqual(['a']);
    // A recent announcement may not be readable yet: it is read until it must have been.
    clock.now += 3000;
    await list();
    await list();
    expect(loaded.slice(3)).toEqual(['a', 'a']);
  });

  it('what waits for a person comes first, then what is stalled, then the newest', async () => {
    const halted = recorded(1, reviewer({ assessment: 'blocked' }));
    const sentBack = (round: number) => recorded(round, reviewer({ required_fixes: ['Name the field'] }));
    const { list } = await listOf(
      [token('stalled', 'session'), sentBack(1)],
      [token('stalled', 'session'), sentBack(2)],
      [token('waits', 'session'), halted],
      opened('new', '2026-06-01T00:00:00.000Z'),
    );
    const { sessions } = await list();
    expect(sessions).toMatchObject([
      { session: 'waits', stalled: [], waiting: [expect.stringContaining('a person must decide')] },
      { session: 'stalled', stalled: [{ task: '1', where: 'results' }] },
      { session: 'new', stalled: [], waiting: [] },
    ]);
    expect(names(await list({ stalled: true }))).toEqual(['stalled']);
  });

  it('sessions are found by words of their name, title, project and goal', async () => {
    const { list } = await listOf(opened('parser', at(1)), opened('lexer', at(2)));
    expect(names(await list({ text: 'GOAL parser' }))).toEqual(['parser']);
    expect(names(await list({ text: 'the parsers' }))).toEqual(['parser']);
    expect((await list({ project: 'shop' })).total).toBe(2);
    expect((await list({ status: 'completed' })).total).toBe(0);
  });

  it('sessions are found by words of what they wait for', async () => {
    const asks = recorded(1, implementer({ status: 'blocked', questions: [{ text: 'Which Port?' }] }));
    const { list } = await listOf(opened('parser', at(1)), [token('lexer', 'session'), asks]);
    expect(names(await list({ text: 'which port' }))).toEqual(['lexer']);
    expect(names(await list({ text: 'waiting' }))).toEqual([]);
  });

  it('sessions are found by words of their open tasks and changed files, and the list says which', async () => {
    const changes = recorded(1, implementer({ files_modified: ['src/Parser.ts', 'docs/parser.md'] }));
    const added = (name: string, task: string, content: string): [Token, SessionEvent] => {
      const data = { task, content, status: 'remaining' as const, priority: 2, depends_on: [], iteration: 0 };
      return [token(name, 'session'), { v: EVENT_VERSION, type: 'task.added', at: at(1), data }];
    };
    const { list } = await listOf(
      [token('one', 'session'), changes],
      added('two', 'TAS-1', 'Write the\nparser'),
      added('two', 'TAS-2', 'Print "the files"'),
    );
    expect((await list({ text: 'PARSER.ts' })).sessions).toMatchObject([
      { session: 'one', found: { tasks: [], files: ['src/Parser.ts'] } },
    ]);
    expect((await list({ text: 'write parser' })).sessions).toMatchObject([
      { session: 'two', found: { tasks: [{ id: 'TAS-1', text: 'Write the parser' }], files: [] } },
    ]);
    expect(names(await list({ text: '"the files"' }))).toEqual(['two']);
    const [both] = (await list({ text: 'parser files' })).sessions;
    expect(both).toMatchObject({ session: 'two' });
    expect(both).not.toHaveProperty('found');
    expect(JSON.stringify(await list())).not.toContain('arser');
  });

  it('a session that names no project is found by the default one, and a project by each spelling of its name', async () => {
    const { list } = await listOf(
      opened('parser', at(1)),
      [token('plain', 'session'), recorded(1, reviewer())],
      [
        token('spaced', 'session'),
        { ...opened('spaced', at(2))[1], data: { project: 'my app' } } as SessionEvent,
      ],
    );
    expect(names(await list({ project: 'default' }))).toEqual(['plain']);
    expect(names(await list({ project: 'my-app' }))).toEqual(['spaced']);
  });

  it('a brief list reads no session, and one that cannot be read comes by name', async () => {
    const { list, loaded, options } = await listOf(opened('a', at(1)));
    expect(await list({ brief: true })).toMatchObject({ sessions: [{ session: 'a', brief: true }] });
    expect(loaded).toEqual([]);
    const load = () => Promise.reject(new Error('broken'));
    const broken = new SessionList({ ...options, reader: { load } });
    expect(
      await calling({ 'tool.session-list': (asked) => broken.list(asked) })('session-list', {}),
    ).toMatchObject({ sessions: [{ session: 'a', brief: true }], total: 1 });
  });

  it('while sessions move, the pages of the list hold each of them', async () => {
    const all = Array.from({ length: 23 }, (_, index) => `s${String(index).padStart(2, '0')}`);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.constantFrom(...all), { maxLength: 6 }), { maxLength: 9 }),
        async (moves) => {
          const { log, list, clock } = await listOf(...all.map((name, index) => opened(name, at(index % 5))));
          const whole = names(await list());
          const seen = new Set<string>();
          let cursor: string | undefined;
          for (let page = 0; page === 0 || cursor !== undefined; page += 1) {
            expect(page).toBeLessThan(30);
            const shown = await list({ limit: 4, ...(cursor !== undefined && { cursor }) });
            for (const name of names(shown)) seen.add(name);
            cursor = shown.next;
            for (const name of moves[page] ?? []) {
              clock.now += 1;
              await log.append(...opened(name, at(5)));
            }
            await Promise.resolve();
          }
          expect([...seen].sort()).toEqual(all);
          if (moves.every((moved) => moved.length === 0)) expect([...seen]).toEqual(whole);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('a session is active while it is open and moved within a day, and old by when it moved last', async () => {
    const { list } = await listOf(opened('old', at(1)), opened('new', '2026-06-01T12:00:00.000Z'));
    expect(names(await list({ active: true }))).toEqual(['new']);
    expect(names(await list({ olderThan: '30d' }))).toEqual(['old']);
    expect(names(await list({ olderThan: '11h' }))).toEqual(['new', 'old']);
    expect(names(await list({ since: '2026-06-01' }))).toEqual(['new']);
    expect(names(await list({ since: '2026-06-01T12:00:01Z' }))).toEqual([]);
    await expect(list({ olderThan: '30 days' })).rejects.toMatchObject({ code: 'schema_invalid' });
  });

  it('an archived session is listed only where that is asked for, and one that is being forgotten not at all', async () => {
    const { list, lifecycle } = await listOf(opened('a', at(1)), opened('b', at(2)), opened('c', at(3)));
    await recordArchived(lifecycle, token('a', 'session'), { at: at(4), reason: 'done' });
    await recordForgotten(lifecycle, token('b', 'session'), { at: at(4) });
    expect(await list()).toMatchObject({ sessions: [{ session: 'c' }], total: 1 });
    expect(names(await list({ archived: true }))).toEqual(['c', 'a']);
    expect(names(await list({ archived: true, active: true }))).toEqual([]);
    expect(await list({ status: 'archived' })).toMatchObject({
      sessions: [{ session: 'a', archived: { at: at(4), reason: 'done' } }],
    });
  });
});
