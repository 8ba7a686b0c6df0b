import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { type Token, token } from '../../../src/contracts/names.js';
import { createCommander } from '../../../src/engine/folding/commander.js';
import { createSessionReader, createSnapshotWriter } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { encodeSnapshot } from '../../../src/memory/session/session-snapshot.js';
import { createArchiver } from '../../../src/services/lifecycle/archive-session.js';
import { createSessionTools } from '../../../src/services/tools/serve-tools.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, recorded, reviewer } from '../../support/builders.js';
import { calling } from '../../support/calling.js';

const DEMO = token('demo', 'session');
const NOW = '2026-03-01T00:00:00.000Z';

/** Simulates a kill: stored data remains, memory is lost. */
class Killed extends Error {}

/** Returns stores that outlive processes, with one session of a few results. */
async function stored() {
  const [log, snapshots, lifecycle] = [
    new MemorySessionLog({ sequenceStep: 2, shared: true }),
    new MemorySnapshotStore(),
    new MemorySessionLifecycle(),
  ];
  for (let n = 1; n <= 6; n += 1) {
    const result = n % 3 === 0 ? reviewer({ task_id: `${n % 2}` }) : implementer({ task_id: `${n % 2}` });
    await log.append(DEMO, recorded(n, result));
    await log.append(token('other', 'session'), recorded(100 + n, implementer()));
  }
  return { log, snapshots, lifecycle };
}
type Stores = Awaited<ReturnType<typeof stored>>;

let ids = 0;

/**
 * Starts a process on these stores.
 *
 * @param killedAt index of the step of the kill, from 0: even numbers before it, odd ones right after it
 */
function startProcess({ log, snapshots, lifecycle }: Stores, killedAt = Number.POSITIVE_INFINITY, max = 1e6) {
  let step = 0;
  let isDead = false;
  const steps = <Args extends readonly unknown[], T>(work: (...args: Args) => Promise<T>) => {
    return async (...args: Args): Promise<T> => {
      const mayGoOn = () => {
        if (step === killedAt) isDead = true;
        step += 1;
        if (isDead) throw new Killed('killed');
      };
      mayGoOn();
      const result = await work(...args);
      mayGoOn();
      return result;
    };
  };
  const mortal = {
    read: log.read.bind(log),
    newest: log.newest.bind(log),
    watch: log.watch.bind(log),
    append: steps((...args: Parameters<typeof log.append>) => log.append(...args)),
    removeBefore: steps((...args: Parameters<typeof log.removeBefore>) => log.removeBefore(...args)),
  };
  const store = {
    load: (key: Token) => snapshots.load(key),
    loadAtOrBefore: (key: Token, sequence: number) => snapshots.loadAtOrBefore(key, sequence),
    save: steps(snapshots.save.bind(snapshots)),
  };
  const newId = () => {
    ids += 1;
    return `${ids}`;
  };
  const clock = () => NOW;
  const reader = createSessionReader({
    log: mortal,
    snapshots: store,
    logger: silentLogger,
    maxCached: 10,
  });
  const writer = createSnapshotWriter({ snapshots: store, clock, logger: silentLogger, every: 1000 });
  const command = createCommander({ log: mortal, reader, clock, newId, random: () => 0 });
  const archiver = createArchiver({
    log: mortal,
    reader,
    command,
    maxEventBytes: () => max,
    lifecycle: {
      archived: (session) => lifecycle.archived(session),
      forgotten: (session) => lifecycle.forgotten(session),
      change: steps(lifecycle.change.bind(lifecycle)),
    },
  });
  const tools = calling(
    createSessionTools({
      command,
      reader,
      writer,
      logger: silentLogger,
      archiver,
    }),
  );
  return {
    /** Asks, and does what the keeper does then. */
    async ask(name: 'session-archive' | 'session-reopen' | 'note-add', args: object = {}) {
      const reply = await tools(name, { session: 'demo', ...args });
      for (const session of lifecycle.archiving()) await archiver.compact(session);
      return reply;
    },
    steps: () => step,
  };
}

async function saidBy(stores: Stores): Promise<string> {
  const fresh = createSessionReader({
    log: stores.log,
    snapshots: new MemorySnapshotStore(),
    logger: silentLogger,
    maxCached: 1,
  });
  const { state } = (await fresh.load(DEMO)).folded;
  const { archived: _, ...charter } = state.charter;
  return encodeSnapshot({ ...state, charter, lastEventAt: '' }, '')
    .replace(/"(eventSequence|event)":\d+/g, '"$1":1')
    .replace(/"(after_sequence|last_event|last_command|checkpoint)":\d+,/g, '');
}

const typesIn = async ({ log }: Stores) =>
  (await log.read(DEMO, { after: 0 })).events.map(({ event }) => event.type);

describe('session-archive', () => {
  it('session-archive leaves one event that holds everything and a record, and is answered again', async () => {
    const stores = await stored();
    const before = await saidBy(stores);
    const { ask } = startProcess(stores);
    const reply = await ask('session-archive', { reason: 'Shipped' });
    expect(reply).toMatchObject({ session: { archived: { at: NOW, reason: 'Shipped' } } });
    expect(await typesIn(stores)).toEqual(['session.checkpoint']);
    expect(await saidBy(stores)).toBe(before);
    expect(stores.lifecycle.archived(DEMO)).toEqual({ at: NOW, reason: 'Shipped' });
    const steps = startProcess(stores);
    expect(await steps.ask('session-archive')).toMatchObject({
      session: { archived: { reason: 'Shipped' } },
    });
    expect(await typesIn(stores)).toEqual(['session.checkpoint']);
    await expect(ask('note-add', { content: 'late' })).rejects.toMatchObject({ code: 'session_archived' });
  });

  it('session-archive of a session that does not exist is refused, and leaves nothing', async () => {
    const stores = await stored();
    const { ask } = startProcess({ ...stores, log: new MemorySessionLog() });
    await expect(ask('session-archive')).rejects.toMatchObject({ code: 'not_found' });
    await expect(ask('session-reopen')).rejects.toMatchObject({ code: 'not_found' });
    expect(stores.lifecycle.archived(DEMO)).toBeUndefined();
  });

  it('session-archive is refused where the state does not fit one message, with the limit, and changes nothing', async () => {
    const stores = await stored();
    const before = await typesIn(stores);
    const { ask } = startProcess(stores, Number.POSITIVE_INFINITY, 1500);
    await expect(ask('session-archive')).rejects.toThrow(
      expect.objectContaining({
        code: 'too_large',
        message: expect.stringMatching(/takes \d+ bytes packed, and a message holds 476: raise max_payload/),
      }),
    );
    expect(await typesIn(stores)).toEqual(before);
  });

  it('session-archive that is killed anywhere loses nothing, and is completed when it is asked for again', async () => {
    const whole = await stored();
    const counting = startProcess(whole);
    await counting.ask('session-archive');
    const said = await saidBy(whole);
    expect(counting.steps()).toBeGreaterThanOrEqual(8);
    for (let killedAt = 0; killedAt < counting.steps(); killedAt += 1) {
      const stores = await stored();
      const fault: unknown = await startProcess(stores, killedAt)
        .ask('session-archive')
        .catch((error: unknown) => error);
      expect(fault instanceof Killed || fault instanceof ThroughlineError, `killed at ${killedAt}`).toBe(
        true,
      );
      expect(await saidBy(stores), `killed at ${killedAt}`).toBe(said);
      await startProcess(stores).ask('session-archive');
      expect(await saidBy(stores), `again after ${killedAt}`).toBe(said);
      expect(await typesIn(stores), `again after ${killedAt}`).toEqual(['session.checkpoint']);
      expect(stores.lifecycle.archived(DEMO)).toBeDefined();
    }
  });

  it('session-archive that is killed while events go one by one leaves none of them when it is asked for again', async () => {
    const whole = await stored();
    const said = await (async () => {
      await startProcess(whole).ask('session-archive');
      return saidBy(whole);
    })();
    for (let removed = 0; removed < 9; removed += 1) {
      const stores = await stored();
      const removeBefore = stores.log.removeBefore.bind(stores.log);
      // A result arrived in between, so that one event follows `session.archived`.
      const append = stores.log.append.bind(stores.log);
      stores.log.append = async (session, event, options) => {
        const appended = await append(session, event, options);
        if (event.type === 'session.archived') await append(session, recorded(50, implementer()));
        return appended;
      };
      stores.log.removeBefore = async (session) => {
        const { events } = await stores.log.read(session, { after: 0 });
        await removeBefore(session, events[removed]?.sequence ?? 0);
        throw new Killed('killed');
      };
      await expect(startProcess(stores).ask('session-archive')).rejects.toThrow(Killed);
      stores.log.removeBefore = removeBefore;
      stores.log.append = append;
      await startProcess(stores).ask('session-archive');
      expect(await typesIn(stores), `killed after ${removed}`).toEqual(['session.checkpoint']);
      expect((await saidBy(stores)).length).toBeGreaterThanOrEqual(said.length);
    }
  });

  it('session-reopen that is killed anywhere is completed when it is asked for again, and the session goes on', async () => {
    for (let killedAt = 0; killedAt < 4; killedAt += 1) {
      const stores = await stored();
      await startProcess(stores).ask('session-archive');
      await startProcess(stores, killedAt)
        .ask('session-reopen')
        .catch(() => undefined);
      const { ask } = startProcess(stores);
      await ask('session-reopen');
      expect(stores.lifecycle.archived(DEMO)).toBeUndefined();
      expect(await typesIn(stores)).toEqual(['session.checkpoint', 'session.reopened']);
      await ask('note-add', { content: 'on it goes' });
      await ask('session-archive');
      expect(await typesIn(stores)).toEqual(['session.checkpoint']);
    }
  });

  it('a result that comes in while a session is archived is kept behind its checkpoint', async () => {
    const stores = await stored();
    await startProcess(stores, 6)
      .ask('session-archive')
      .catch(() => undefined);
    await stores.log.append(DEMO, recorded(50, implementer({ task_id: 'late' })));
    await startProcess(stores).ask('session-archive');
    const { events } = await stores.log.read(DEMO, { after: 0 });
    expect(events.map(({ event }) => event.type)).toEqual(['session.checkpoint']);
    expect(await saidBy(stores)).toContain('"late"');
  });
});
