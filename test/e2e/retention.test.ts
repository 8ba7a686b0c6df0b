import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { token } from '../../src/contracts/names.js';
import { type Logger, silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import type { SessionLifecycle } from '../../src/engine/ports/session-lifecycle.js';
import { Shutdown } from '../../src/engine/runtime/shutdown.js';
import { connectThroughline } from '../../src/index.js';
import { openNats } from '../../src/nats/open-nats.js';
import { knownSessions, openProjects, openSessions } from '../../src/services/common/process-parts.js';
import { natsOptions } from '../../src/services/common/service-context.js';
import { LifecycleKeeper } from '../../src/services/keeper/serve-keeper.js';
import { lifecyclePorts } from '../../src/services/lifecycle/archive-session.js';
import { serve } from '../../src/services/serve.js';
import { capturedLog } from '../support/captured-log.js';
import { afterTest } from '../support/of-file.js';
import { allDealtWith, eventsOf, publishWork, type System, soon, startSystem } from '../support/system.js';
import { startGuardedNats } from '../support/users.js';

const DAY = 86_400_000;
const FAST = { quietMs: 50, busyMs: 200, restMs: 60_000 };

/** What a test needs of a system. */
type Looked = Omit<System, 'stop' | typeof Symbol.asyncDispose>;

const Real = Date;

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

afterEach(() => {
  vi.unstubAllGlobals();
});

/**
 * The part of a keeper that archives, forgets and follows the rules, as another process would have it: its clock is so many
 * milliseconds ahead of the server's as ages are counted.
 */
async function retentionKeeper(
  { url, config }: Pick<System, 'url' | 'config'>,
  ahead: number,
  logger: Logger,
) {
  const shutdown = new Shutdown();
  afterTest(() => shutdown.release(5000));
  let records: SessionLifecycle | undefined;
  const open = async () => {
    const nats = await openNats({
      ...natsOptions(url, 'throughline test keeper', config, silentLogger),
      lifecycle: {
        forgotten: (session) => records?.forgotten(session),
        refreshed: () => records?.refreshed(),
      },
    });
    shutdown.add('a connection', () => nats.close());
    return nats;
  };
  const [nats, own] = [await open(), await open()];
  const lifecycle = await nats.openLifecycle();
  records = lifecycle;
  shutdown.add('the records', async () => lifecycle.close());
  const { now, clock, close } = await nats.openClock();
  shutdown.add('the clock', async () => close());
  const sessions = openSessions(nats, config, silentLogger, clock, lifecycle);
  shutdown.add('the snapshot writer', () => sessions.writer.stop());
  const known = knownSessions(nats, own, { logger: silentLogger, shutdown, lifecycle }, now);
  known.feed.start();
  const projects = openProjects(nats, { config, shutdown, logger: silentLogger }, clock);
  const ports = lifecyclePorts({ nats, sessions, projects, lifecycle, logger }, known);
  return { keeper: new LifecycleKeeper({ ...ports, now: () => ports.now() + ahead }), ports };
}

describe('rules of retention', () => {
  const start = (more: Parameters<typeof startSystem>[0] = {}) => startSystem({ fixed: FAST, ...more });

  async function published(system: Looked, sessions: Readonly<Record<string, string>>): Promise<void> {
    for (const [session, project] of Object.entries(sessions)) {
      await system.client.tools.sessionOpen({ session, project });
      await publishWork(system.client, session, '1', { summary: `done in ${session}` });
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

  async function keeper(system: Looked, ahead: number, own?: Logger) {
    const { logger, lines } = capturedLog();
    const opened = await retentionKeeper(system, ahead, own ?? logger);
    /** What the log says of sessions, in short. */
    const said = () =>
      lines.flatMap((line) => {
        const { msg, session } = JSON.parse(line);
        const [, what] = /by a rule of retention: (archive|forget)/.exec(msg) ?? [];
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
    await published(system, { plain: 'default', kept: 'keeps', old: 'archives' });
    const { tools } = system.client;
    const rule = { action: 'forget', after: '90d' } as const;
    expect(await tools.retentionSet({ ...rule, dryRun: true })).toMatchObject({ rules: [rule] });
    const early = await keeper(system, 100 * DAY);
    await early.keeper.tick();
    expect((await tools.retentionShow({})).rules).toEqual([]);
    expect(await statesOf(system)).toEqual({ plain: 'open', kept: 'open', old: 'open' });

    await tools.retentionSet(rule);
    await tools.retentionSet({ project: 'keeps', action: 'keep' });
    const shown = await tools.retentionSet({ project: 'archives', action: 'archive', after: '90d' });
    expect(shown).toMatchObject({ archive: 0, forget: 0 });
    const first = await keeper(system, 91 * DAY);
    await first.keeper.tick();
    expect(first.said().sort()).toEqual(['archive old', 'archive plain']);
    await soon(async () =>
      expect(await statesOf(system)).toEqual({ plain: 'archived', kept: 'open', old: 'archived' }),
    );

    const second = await keeper(system, 182 * DAY);
    await second.keeper.tick();
    expect(second.said()).toEqual(['forget plain']);
    await soon(async () => expect(await statesOf(system)).toEqual({ kept: 'open', old: 'archived' }));
    await soon(async () => expect(second.ports.lifecycle.unfinished()).toEqual([]));
    expect(await eventsOf(system, 'plain')).toEqual([]);
  });

  it('a keeper whose own clock is ahead follows the rules by the time of the server', async () => {
    await using system = await start();
    await published(system, { idle: 'default' });
    await system.client.tools.retentionSet({ action: 'archive', after: '1d' });
    vi.stubGlobal('Date', dateAhead(3 * DAY));
    const early = await keeper(system, 0);
    await early.keeper.tick();
    expect(early.said()).toEqual([]);
    expect(early.ports.lifecycle.archived(token('idle', 'session'))).toBeUndefined();
  });

  it('an operator sets rules, and services that may do no more than their role follow them', async () => {
    await using guarded = await startGuardedNats([
      { name: 'services', role: 'services' },
      { name: 'operator', role: 'operator' },
    ]);
    const { nats, url } = guarded;
    const env = guarded.env('services');
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
      await client.tools.retentionSet({ action: 'forget', after: '90d' });
      await client.tools.retentionSet({ project: 'keeps', action: 'archive', after: '90d' });
      for (const ahead of [91 * DAY, 182 * DAY]) {
        const late = await keeper(system, ahead, logger);
        await late.keeper.tick();
      }
      await soon(async () => expect(await statesOf(system)).toEqual({ kept: 'archived' }));
      expect(warned).not.toContainEqual(expect.objectContaining({ code: 'permission_denied' }));
    } finally {
      await shutdown.release(5000);
    }
  });
});
