import { DiscardPolicy, type JetStreamManager } from 'nats';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PER_SESSION, sessionStream, type Token } from '../../src/contracts/names.js';
import { examine } from '../../src/nats/doctor/examine.js';
import { allRejected } from '../support/all-rejected.js';
import { EXPECTED, of } from '../support/doctor.js';
import { startFaultyServer } from '../support/faults/server.js';
import { layoutEnv } from '../support/layouts.js';
import { loggedWarnings } from '../support/logged.js';
import {
  allDealtWith,
  freshState,
  newSession,
  publishWork,
  type System,
  soon,
  startSystem,
} from '../support/system.js';

/** More than all extractors together held when one session could take all of it. */
const MANY = 600;
/** In shards, what is wrong with a stream is wrong with all its sessions. */
const STREAM_EACH = layoutEnv(PER_SESSION);

interface Cause {
  /** Has the session's log take nothing. */
  readonly begin: (jsm: JetStreamManager, session: Token) => Promise<unknown>;
  readonly end: (jsm: JetStreamManager, session: Token) => Promise<unknown>;
  readonly told: { readonly code: string; readonly reason: RegExp };
}

const CAUSES: Readonly<Record<string, Cause>> = {
  'is full, and refuses what is new': {
    begin: (jsm, session) =>
      jsm.streams.add({
        name: sessionStream(session),
        subjects: [`session.${session}.>`],
        allow_direct: true,
        max_bytes: 1,
        discard: DiscardPolicy.New,
      }),
    end: (jsm, session) => jsm.streams.update(sessionStream(session), { max_bytes: -1 }),
    told: { code: 'store_full', reason: /maximum bytes exceeded; raise .*max_bytes/ },
  },
  'cannot be made, since another stream takes its subjects': {
    begin: (jsm, session) => jsm.streams.add({ name: 'THEIRS', subjects: [`session.${session}.x`] }),
    end: (jsm) => jsm.streams.delete('THEIRS'),
    told: { code: 'config_invalid', reason: /is taken by stream THEIRS of another application: give one/ },
  },
};

const health = z.object({
  setAside: z.object({
    sessions: z.number(),
    dispatches: z.number(),
    worst: z.array(
      z.object({ session: z.string(), code: z.string(), reason: z.string(), since: z.iso.datetime() }),
    ),
  }),
});

async function setAsideIn({ ports }: System) {
  const reply = await ports.connection.request('health.extractor', '{}', { timeout: 5000 });
  return health.parse(reply.json()).setAside;
}

describe('a session whose stream', () => {
  it.each(Object.entries(CAUSES))(
    'a session whose stream %s, keeps no other from being served, is reported, and goes on once that has ended',
    async (_, { begin, end, told }) => {
      await using server = await startFaultyServer();
      const { logger, warnings } = loggedWarnings();
      await using system = await startSystem({ nats: server, logger, env: STREAM_EACH });
      const jsm = await system.ports.connection.jetstreamManager();
      const [stuck, other] = [newSession('stuck'), newSession('other')];
      // Its stream is there already.
      await publishWork(system.client, other, '1');
      await allDealtWith(system.ports);
      await begin(jsm, stuck);
      const published = Array.from({ length: MANY }, (_, index) =>
        publishWork(system.client, stuck, `t${index}`),
      );
      await Promise.all(published);

      const { sequence: after } = await publishWork(system.client, other, '2');
      await system.client.compile({ session: other, taskId: '3', taskPrompt: 'x', after });

      const aside = await soon(async () => {
        const seen = await setAsideIn(system);
        expect(seen).toMatchObject({ sessions: 1, worst: [{ session: stuck, code: told.code }] });
        expect(seen.dispatches).toBeGreaterThan(MANY / 2);
        return seen;
      });
      expect(aside.worst[0]?.reason).toMatch(told.reason);
      const found = await examine(system.ports.connection, EXPECTED);
      expect(of(found, 'service extractor')).toContainEqual(
        expect.objectContaining({
          level: 'fail',
          message: expect.stringContaining(`set aside the results of session ${stuck} since`),
          fix: expect.stringMatching(/^remove the cause/),
        }),
      );
      const said = warnings.filter(({ message }) => message.startsWith("the session's log rejects writes"));
      expect(said).toMatchObject([{ fields: { session: stuck, code: told.code } }]);

      await end(jsm, stuck);
      await allDealtWith(system.ports);
      const { counts } = (await freshState(system, stuck)).dispatches.current();
      expect(counts).toEqual({ implementer: MANY, reviewer: 0, observer: 0, rejected: 0 });
      expect(await setAsideIn(system)).toEqual({ sessions: 0, dispatches: 0, worst: [] });
    },
    90_000,
  );

  it('a session whose stream refuses everything for good has its dispatches rejected in the end, each kept whole', async () => {
    await using system = await startSystem({ fixed: { maxDeliveries: 4 }, env: STREAM_EACH });
    const jsm = await system.ports.connection.jetstreamManager();
    const stuck = newSession('stuck');
    await CAUSES['is full, and refuses what is new']?.begin(jsm, stuck);
    const published = Array.from({ length: 50 }, (_, index) =>
      index % 10 === 0
        ? system.client.publishText(stuck, 'implementer', `no result ${index}`)
        : publishWork(system.client, stuck, `t${index}`),
    );
    const sequences = (await Promise.all(published)).map(({ sequence }) => sequence);
    await allDealtWith(system.ports);
    const kept = await allRejected(system.ports.rejected);
    expect(kept.map(({ sequence }) => sequence).sort((a, b) => a - b)).toEqual(
      sequences.sort((a, b) => a - b),
    );
    expect(new Set(kept.map(({ code }) => code))).toEqual(
      new Set(['deliveries_exhausted', 'marker_missing']),
    );
    for (const { reason } of kept)
      expect(reason).toMatch(/not noted on its session: .*maximum bytes exceeded/);
    const whole = await system.ports.rejected.get(
      kept.find(({ code }) => code === 'marker_missing')?.id ?? 0,
    );
    expect(Buffer.from(whole?.body ?? []).toString()).toMatch(/^no result \d+$/);
  });
});
