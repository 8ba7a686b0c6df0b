import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { createSessionReader } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/clients.js';
import { createSessionImport } from '../../../src/services/lifecycle/import-session.js';
import { hashOf } from '../../../src/shared/hash.js';
import { MemoryLeaseStore } from '../../doubles/memory-lease-store.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, recorded } from '../../support/builders.js';
import { renumbered } from '../../support/canonical.js';

const session = token('demo', 'session');
const OF = { session, file: 'f', dispatches: 1 };
const NEWEST = 5_000_000;

async function services() {
  const [log, snapshots, lifecycle] = [
    new MemorySessionLog({ sequenceStep: 2, shared: true }),
    new MemorySnapshotStore(),
    new MemorySessionLifecycle(),
  ];
  const leases = new MemoryLeaseStore();
  const other = token('other', 'session');
  for (const n of [1, 1]) await log.append(other, recorded(n, implementer()));
  const events = renumbered((await log.read(other, { after: 0 })).events);
  const service = (pause: (ms: number) => Promise<void> = async () => {}) =>
    createSessionImport({
      ...{ log, lifecycle, leases, pause, newId: randomUUID },
      reader: createSessionReader({ log, snapshots, logger: silentLogger, maxCached: 10 }),
      archiver: { settle: async () => undefined },
      raiseDispatches: async (to, mostMs) => (mostMs === 0 ? NEWEST : Math.max(to, NEWEST)),
      clock: () => '2026-01-01T00:00:00.000Z',
    });
  return { log, lifecycle, leases, events, service };
}

it('of two services that begin with the same file at once, the slower one goes on with what the other one has begun', async () => {
  const { log, lifecycle, events, service } = await services();
  const [one, slower] = [service(), service()];

  expect(await Promise.all([one(OF), slower(OF)])).toMatchObject([
    { state: 'importing' },
    { state: 'importing' },
  ]);

  expect(lifecycle.archived(session)?.importing).toMatchObject({ file: 'f', ready: true });
  const pages = [one({ ...OF, events: events.slice(0, 1) }), slower({ ...OF, events })];
  await Promise.all(pages);
  expect(await one({ ...OF, done: true })).toMatchObject({ state: 'done' });
  expect((await log.read(session, { after: 0 })).events).toHaveLength(2);
});

it('a request that waits too long for one before it is told to try again', async () => {
  const { leases, service } = await services();
  const claim = { holder: 'another', ttlMs: 60_000, at: '2026-01-01T00:00:00.000Z' };
  await leases.claim(`import.${hashOf(session)}`, claim);
  await expect(service()(OF)).rejects.toMatchObject({ code: 'unavailable' });
});

it('a service that has not heard yet that another one is ready for the same file reads the record before it refuses a page', async () => {
  const { lifecycle, events, service } = await services();
  await service()(OF);
  const before = lifecycle.archived(session);
  const { archived, change } = lifecycle;
  const late = before?.importing && { ...before, importing: { ...before.importing, ready: false } };
  await service()({ ...OF, events: events.slice(0, 1) });
  lifecycle.archived = () => late;
  lifecycle.change = (...asked) => {
    lifecycle.archived = archived;
    return change.apply(lifecycle, asked);
  };
  expect(await service()({ ...OF, events })).toMatchObject({ state: 'importing', events: 2 });
});

it('a file whose dispatches have far higher numbers is refused by field, value and what to do, and its name stays free', async () => {
  const { lifecycle, service } = await services();
  const asked = (dispatches: number) => service()({ ...OF, dispatches });

  await expect(asked(99_999_999)).rejects.toMatchObject({
    code: 'schema_invalid',
    message: expect.stringMatching(
      /^dispatches: is 99999999, but the newest result here has number 5000000, .*at most 10000000: .*throughline admin backup/,
    ),
    details: { fields: ['dispatches'] },
  });
  expect(lifecycle.archived(session)).toBeUndefined();

  expect(await asked(14_000_000)).toMatchObject({ state: 'importing' });
});

it('events out of a row, or of a higher dispatch than was said, are refused by field, value and what to do', async () => {
  const { events, service } = await services();
  const ask = service();
  await ask({ ...OF, dispatches: 0 });

  await expect(ask({ ...OF, dispatches: 0, events })).rejects.toMatchObject({
    message: 'events.0.event: names dispatch 1: give the highest one of the file as dispatches, not 0',
    details: { fields: ['events.0.event'] },
  });
  await ask({ ...OF, session: 'two' });
  await expect(ask({ ...OF, session: 'two', events: events.toReversed() })).rejects.toMatchObject({
    message: 'events.1.sequence: is 1, and must be 3: send the events in a row',
    details: { fields: ['events.1.sequence'] },
  });
});

it('a session that begins while its name is taken for a file stays, and is not a import any longer', async () => {
  const { log, lifecycle, service } = await services();
  const taking = service(async () => {
    if ((await log.newest(session)) === 0) await log.append(session, recorded(1, implementer()));
  });

  await expect(taking(OF)).rejects.toMatchObject({ code: 'session_exists' });

  expect(lifecycle.archived(session)).toBeUndefined();
  expect((await log.read(session, { after: 0 })).events).toHaveLength(1);
});

it('an import that was forgotten before its end is not said to be done', async () => {
  const { log, lifecycle, events, service } = await services();
  const ask = service();
  await ask(OF);
  await ask({ ...OF, events });
  const newest = log.newest.bind(log);
  log.newest = async (name) => {
    if (name === session)
      await lifecycle.forgetting(session, { at: '2026-01-02T00:00:00.000Z', dispatches: 0, sequence: 0 });
    return newest(name);
  };
  await expect(ask({ ...OF, done: true })).rejects.toMatchObject({ code: 'session_importing' });
});
