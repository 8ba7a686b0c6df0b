import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { DISPATCH_STREAM, PER_SESSION, REJECTED_STREAM, token } from '../../src/contracts/names.js';
import { silentLogger } from '../../src/engine/ports/clients.js';
import { Jobs } from '../../src/engine/runtime/jobs.js';
import { Shutdown } from '../../src/engine/runtime/shutdown.js';
import { connectThroughline } from '../../src/index.js';
import { beginForgetting, FORGET_JOB, forgetKind } from '../../src/services/lifecycle/forget-session.js';
import { serve } from '../../src/services/serve.js';
import { capturedLog } from '../support/captured-log.js';
import { layoutEnv, testedLayouts } from '../support/layouts.js';
import { type KeeperOptions, retentionKeeper, stopKeepersAfterEach } from '../support/retention.js';
import {
  allDealtWith,
  eventsOf,
  implemented,
  publishWire,
  type System,
  soon,
  startSystem,
} from '../support/system.js';
import { startGuardedNats } from '../support/users.js';

const LAYOUTS = testedLayouts(2);
const DAY = 86_400_000;
const FAST = { quietMs: 50, busyMs: 200, restMs: 60_000 };

/** What a test needs of a system. */
type Looked = Omit<System, 'stop' | typeof Symbol.asyncDispose>;

/** What a kill leaves: everything stored so far, and nothing in memory. */
class Killed extends Error {}

/** What a process takes for the time whose clock is ahead. */
function dateAhead(ms: number): typeof Date {
  return class extends Date {
    constructor(...given: [] | [number | string]) {
      super(given.length === 0 ? Real.now() + ms : given[0]);
    }

    static override now(): number {
      return Real.now() + ms;
    }
  } as typeof Date;
}
const Real = Date;

afterEach(() => {
  vi.unstubAllGlobals();
});

describe.each(LAYOUTS)('rules of retention, $layout', (layout) => {
  stopKeepersAfterEach();
  /** For what does not depend on where events stand. */
  const inOne = (name: string, run: () => Promise<void>): void => {
    if (layout === PER_SESSION) it(name, run);
  };
  const start = (more: Parameters<typeof startSystem>[0] = {}) =>
    startSystem({ env: layoutEnv(layout), fixed: FAST, ...more });

  async function published(system: Looked, sessions: Readonly<Record<string, string>>): Promise<void> {
    for (const [session, project] of Object.entries(sessions)) {
      await system.client.tools.sessionOpen({ session, project });
      await publishWire(
        system.client,
        'implementer',
        session,
        implemented('1', { summary: `done in ${session}` }),
      );
    }
    await allDealtWith(system.ports);
    // What keepers know of sessions.
    await soon(async () => {
      const found: string[] = [];
      for await (const { entries } of system.ports.index.read(0))
        found.push(
          ...entries.filter(({ figures }) => figures.results > 0).map(({ figures }) => figures.session),
        );
      expect(found.sort()).toEqual(Object.keys(sessions).sort());
    });
  }

  async function enforced(
    system: Looked,
    ...rules: Parameters<System['client']['tools']['retentionSet']>[0][]
  ) {
    for (const rule of rules) await system.client.tools.retentionSet(rule);
  }

  async function keeper(system: Looked, options: KeeperOptions) {
    const { logger, lines } = capturedLog();
    const opened = await retentionKeeper(system, { logger, ...options });
    /** What the log says of sessions, in short. */
    const said = () =>
      lines.flatMap((line) => {
        const { msg, session } = JSON.parse(line);
        const [, what] = / was (\w+) by a rule/.exec(msg) ?? [];
        return what === undefined ? [] : `${what} ${session}`;
      });
    return { ...opened, said };
  }

  async function statesOf({ client }: Looked): Promise<Record<string, string>> {
    const { sessions } = await client.tools.sessionList({ archived: true });
    return Object.fromEntries(
      sessions.map((each) => [each.session, !each.brief && each.archived ? 'archived' : 'open']),
    );
  }

  it('sessions are archived and forgotten by the rule of their project, once it is set', async () => {
    await using system = await start();
    await published(system, { plain: 'default', kept: 'keeps' });
    const { tools } = system.client;
    const rule = { archiveAfter: '90d', forgetAfter: '365d' };
    expect(await tools.retentionSet({ ...rule, dryRun: true })).toMatchObject({ version: 1, rules: [rule] });
    const early = await keeper(system, { ahead: 100 * DAY });
    await early.keeper.tick();
    expect(await statesOf(system)).toEqual({ plain: 'open', kept: 'open' });
    expect((await tools.retentionShow({})).rules).toEqual([]);
    await tools.retentionSet(rule);
    const outlook = await tools.retentionSet({ project: 'keeps', forgetAfter: 'never' });
    expect(outlook).toMatchObject({ version: 2, archive: { total: 0 }, forget: { total: 0 } });
    expect(await tools.retentionShow({ ahead: '91d' })).toMatchObject({
      rules: [
        { archiveAfter: '90d', forgetAfter: '365d' },
        { project: 'keeps', forgetAfter: 'never' },
      ],
      archive: {
        total: 2,
        sessions: [{ session: 'plain', after: '90d' }, { session: 'kept' }],
      },
    });

    await early.keeper.tick();
    expect(await statesOf(system)).toEqual({ plain: 'archived', kept: 'archived' });
    expect(early.said().sort()).toEqual(['archived kept', 'archived plain']);
    expect(await tools.retentionShow({ ahead: '364d' })).toMatchObject({
      forget: { total: 0 },
      archive: { total: 0 },
    });

    // Archived only now by this clock, but it has not moved for longer than that.
    expect(await tools.retentionShow({ ahead: '366d' })).toMatchObject({ forget: { total: 1 } });
    const late = await keeper(system, { ahead: 366 * DAY });
    await late.keeper.tick();
    expect(late.said()).toEqual(['forgotten plain']);
    await soon(async () => expect(await statesOf(system)).toEqual({ kept: 'archived' }));
    expect(await eventsOf(system, 'plain')).toEqual([]);
    expect((await tools.retentionShow({})).lastRun).toMatchObject({ archived: 0, forgotten: 1, spared: 0 });
  });

  inOne(
    'a keeper whose own clock is ahead follows the rules, and takes over, by the time of the server',
    async () => {
      await using system = await start();
      await published(system, { idle: 'default', leaving: 'default' });
      await enforced(system, { archiveAfter: '1d', forgetAfter: '2d' });
      const { ports } = await keeper(system, {});
      const leaving = token('leaving', 'session');
      await beginForgetting(ports, leaving, {});
      const claim = { holder: 'another keeper', ttlMs: 60_000, at: ports.clock() };
      await ports.leases.claim('forget', claim);

      vi.stubGlobal('Date', dateAhead(3 * DAY));
      const early = await keeper(system, {});
      await early.keeper.tick();
      await new Jobs(forgetKind(early.ports), early.ports).resume();

      expect(early.said()).toEqual([]);
      expect(early.ports.lifecycle.forgotten(leaving)).toMatchObject({ status: 'forgetting' });
      expect(early.ports.lifecycle.forgotten(leaving)).not.toHaveProperty('by');
      const session = token('idle', 'session');
      const kept = early.ports.lifecycle;
      expect([kept.archived(session), kept.forgotten(session)]).toEqual([undefined, undefined]);
    },
  );

  it('a session that gets a result between the look and the act is left alone', async () => {
    await using system = await start();
    const { client, ports } = system;
    await published(system, { seen: 'default', raced: 'default', idle: 'default' });
    await enforced(system, { archiveAfter: '1d' });
    const again = async (session: string) => {
      await publishWire(client, 'implementer', session, implemented('2'));
      await allDealtWith(ports);
    };
    const archiving = await keeper(system, {
      // So all that comes after the look is younger than the rule.
      ahead: DAY,
      changed: ({ reader, archiver }) => ({
        reader: {
          load: async (session) => {
            if (session === 'seen') await again(session);
            return reader.load(session);
          },
        },
        archiver: {
          ...archiver,
          requireCheckpointFits: async (session) => {
            if (session === 'raced') await again(session);
          },
        },
      }),
    });
    await archiving.keeper.tick();
    expect(archiving.said()).toEqual(['archived idle']);
    expect(await statesOf(system)).toEqual({ seen: 'open', raced: 'open', idle: 'archived' });

    await enforced(system, { archiveAfter: 'never', forgetAfter: '1d' });
    const forgetting = await keeper(system, {
      ahead: DAY,
      changed: ({ pause }) => ({
        // It is recorded by then that these are to be forgotten, and results of them are held back.
        pause: async (ms) => {
          if (ms >= 2000) await publishWire(client, 'implementer', 'raced', implemented('3'));
          await pause(ms);
        },
      }),
    });
    await forgetting.keeper.tick();
    expect(forgetting.said().sort()).toEqual(['forgotten idle', 'forgotten seen']);
    await allDealtWith(ports);
    const events = await eventsOf(system, 'raced');
    const tasks = events.flatMap(({ event }) =>
      event.type === 'fact.recorded' ? event.data.dispatch.task : [],
    );
    expect(tasks.filter((task, at) => task !== tasks[at - 1])).toEqual(['1', '2', '3']);
    expect(await statesOf(system)).toEqual({ raced: 'open' });
  });

  inOne('two keepers do it once', async () => {
    await using system = await start();
    const sessions = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`s${at}`, 'default']));
    await published(system, sessions);
    await enforced(system, { archiveAfter: '90d' });
    const keepers = [await keeper(system, { ahead: 91 * DAY }), await keeper(system, { ahead: 91 * DAY })];
    await Promise.all(keepers.map((each) => each.keeper.tick()));
    const said = keepers.map((each) => each.said().length).sort((one, other) => one - other);
    expect(said).toEqual([0, 12]);
    expect((await system.client.tools.retentionShow({})).lastRun).toMatchObject({ archived: 12, spared: 0 });
  });

  it('a keeper that was killed in the middle is followed by another one, which finishes what was in hand', async () => {
    await using system = await start();
    await published(system, { halfway: 'default' });
    await enforced(system, { archiveAfter: '90d' });
    let isDead = false;
    const killed = await keeper(system, {
      ahead: 91 * DAY,
      changed: ({ store, leases, archiver }) => ({
        store: {
          rules: () => store.rules(),
          changeRules: (next) => store.changeRules(next),
          run: () => store.run(),
          saveRun: async (run) => {
            if (isDead) throw new Killed();
            return store.saveRun(run);
          },
        },
        // Nor is its lease released: it ends by itself.
        leases: {
          claim: (key, claim) => leases.claim(key, claim),
          release: () => Promise.reject(new Killed()),
        },
        archiver: {
          ...archiver,
          settle: async () => {
            isDead = true;
            throw new Killed();
          },
        },
      }),
    });
    await killed.keeper.tick();
    expect(isDead).toBe(true);
    const types = async () => (await eventsOf(system, 'halfway')).map(({ event }) => event.type);
    expect(await types()).toContain('session.archived');

    const soonAfter = await keeper(system, { ahead: 91 * DAY });
    await soonAfter.keeper.tick();
    expect((await system.client.tools.retentionShow({})).lastRun).not.toHaveProperty('endedAt');
    const next = await keeper(system, { ahead: 91 * DAY });
    await soon(async () => {
      await next.keeper.tick();
      expect((await system.client.tools.retentionShow({})).lastRun).toMatchObject({
        endedAt: expect.any(String),
      });
    });
    await soon(async () => {
      expect(await types()).toEqual(['session.checkpoint']);
      const record = next.ports.lifecycle.archived(token('halfway', 'session'));
      expect(record).toMatchObject({ idle_since: expect.any(String) });
      expect(record).not.toHaveProperty('pending');
    });
  });

  it('a session that was to be forgotten by a process that is gone is spared by the next one, if it has moved', async () => {
    await using system = await start({ only: ['extractor'] });
    const { client, ports } = system;
    const next = await keeper(system, {});
    const { lifecycle } = next.ports;
    const [moved, still] = [token('moved', 'session'), token('still', 'session')];
    for (const session of [moved, still]) await publishWire(client, 'implementer', session, implemented('1'));
    await allDealtWith(ports);
    const longAgo = new Date(Date.now() - 60_000).toISOString();
    const since = new Date().toISOString();
    for (const session of [moved, still]) {
      const { sequence } = await ports.eraser.lastMoved(session);
      if (session === moved) await publishWire(client, 'implementer', session, implemented('2'));
      await allDealtWith(ports);
      const unless_moved = { sequence, since };
      await lifecycle.forgetting(session, { at: longAgo, dispatches: 0, sequence: 0, unless_moved });
    }
    await new Jobs(forgetKind(next.ports), next.ports).finish(FORGET_JOB);
    expect(lifecycle.unfinished()).toEqual([]);
    expect(await eventsOf(system, still)).toEqual([]);
    expect(await eventsOf(system, moved)).toHaveLength(2);
    await publishWire(client, 'implementer', moved, implemented('3'));
    await allDealtWith(ports);
    expect(await eventsOf(system, moved)).toHaveLength(3);
  });

  it('results go by age once they were dealt with, bodies of rejected ones as well, and nothing needs a repair', async () => {
    await using system = await start({ only: ['tools', 'learnings', 'keeper'] });
    const { client, ports } = system;
    const jsm = await ports.connection.jetstreamManager({ checkAPI: false });
    const held = async (stream: string) => (await jsm.streams.info(stream)).state.messages;
    const publish = (session: string) => publishWire(client, 'implementer', session, implemented('1'));
    await client.tools.sessionOpen({ session: 'kept', project: 'keeps' });
    for (const session of ['one', 'two', 'kept']) await publish(session);
    await enforced(system, { dispatchesAfter: '30d', rejectedAfter: '14d' });
    const late = await keeper(system, { ahead: 31 * DAY });
    await late.keeper.tick();
    expect(await held(DISPATCH_STREAM)).toBe(3);
    expect((await client.tools.retentionShow({ ahead: '31d' })).dispatches).toMatchObject({
      total: 0,
      held: expect.stringContaining('throughline admin serve --only extractor'),
    });

    const extractor = await start({ nats: system.nats, only: ['extractor'] });
    const text = new TextEncoder().encode('{"task_id": "9", "nonsense": true}');
    await ports.source.publish('dispatch.two.implementer', text);
    await allDealtWith(ports);
    await extractor.stop();
    await publish('one');
    expect(await held(REJECTED_STREAM)).toBe(1);
    expect(await client.tools.retentionShow({ ahead: '31d' })).toMatchObject({
      dispatches: { total: 4, oldest: expect.any(String) },
      rejected: { total: 1 },
    });
    await enforced(system, { project: 'keeps', dispatchesAfter: 'never' });
    await soon(async () =>
      expect(await client.tools.retentionShow({ ahead: '31d' })).toMatchObject({ unknown: 0 }),
    );
    expect((await client.tools.retentionShow({ ahead: '31d' })).dispatches.total).toBe(3);
    const latest = await keeper(system, { ahead: 31 * DAY });
    await latest.keeper.tick();
    // The one of the project that keeps all, and the one that nobody has dealt with.
    expect(await held(DISPATCH_STREAM)).toBe(2);
    expect(await held(REJECTED_STREAM)).toBe(0);
    expect((await client.tools.retentionShow({})).lastRun).toMatchObject({ dispatches: 3, rejected: 1 });
    await using _ = await start({ nats: system.nats, only: ['extractor'] });
    await allDealtWith(ports);
    expect(await eventsOf(system, 'one')).toHaveLength(2);
  });

  inOne('rules are followed again when they were changed, and say what is wrong with them', async () => {
    await using system = await start();
    await published(system, { demo: 'default' });
    const { tools } = system.client;
    await tools.retentionSet({ archiveAfter: '90d' });
    const now = await keeper(system, {});
    await now.keeper.tick();
    expect((await tools.retentionShow({})).lastRun).toMatchObject({ archived: 0, forgotten: 0 });
    const later = await keeper(system, { ahead: 91 * DAY });
    await later.keeper.tick();
    expect(later.said()).toEqual(['archived demo']);
    expect(await tools.retentionSet({ remove: true })).toMatchObject({ rules: [] });
    await expect(tools.retentionSet({ remove: true })).rejects.toMatchObject({ code: 'not_found' });
    await expect(tools.retentionSet({})).rejects.toMatchObject({ code: 'schema_invalid' });
    await expect(tools.retentionSet({ archiveAfter: '90d', forgetAfter: '30d' })).rejects.toThrow(
      /forgetAfter: 30d/,
    );
    await expect(tools.retentionSet({ archiveAfter: '3 months' })).rejects.toThrow(/such as 90d, or never/);
  });

  it('an operator sets rules, and a worker that may do no more than its role follows them', async () => {
    await using guarded = await startGuardedNats(
      [
        { name: 'worker', role: 'worker' },
        { name: 'operator', role: 'operator' },
      ],
      layout,
    );
    const { nats, url } = guarded;
    const env = { ...layoutEnv(layout), ...guarded.env('worker') };
    const warned: object[] = [];
    const warn = (fields: object) => warned.push(fields);
    const shutdown = new Shutdown();
    const config = loadConfig(env, FAST);
    const logger = { ...silentLogger, warn, error: warn };
    try {
      const ports = await serve(url, { config, logger, shutdown }, [
        'extractor',
        'tools',
        'learnings',
        'keeper',
      ]);
      const client = await connectThroughline({ url, ...guarded.access('operator') });
      shutdown.add('the client', () => client.close());
      const system = { nats, url, config, ports, client };
      await published(system, { demo: 'default', kept: 'keeps' });
      await ports.source.publish('dispatch.demo.implementer', new TextEncoder().encode('no result'));
      await allDealtWith(ports);
      await enforced(
        system,
        { archiveAfter: '90d', forgetAfter: '365d', dispatchesAfter: '30d', rejectedAfter: '14d' },
        { project: 'keeps', forgetAfter: 'never', dispatchesAfter: '60d' },
      );
      for (const days of [91, 366]) {
        const late = await keeper(system, { ahead: days * DAY, logger });
        await late.keeper.tick();
      }
      expect(await client.tools.retentionShow({})).toMatchObject({ lastRun: { archived: 0, forgotten: 1 } });
      await soon(async () => expect(await statesOf(system)).toEqual({ kept: 'archived' }));
      expect(warned).not.toContainEqual(expect.objectContaining({ code: 'permission_denied' }));
    } finally {
      await shutdown.release(5000);
    }
  });
});
