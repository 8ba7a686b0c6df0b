// Loading a session: from its snapshot, and by replaying all of its 10,000 events, in turn; and writing a snapshot.
import { token } from '../../dist/contracts/names.js';
import { systemClock } from '../../dist/ports/clock.js';
import { silentLogger } from '../../dist/ports/logger.js';
import { evolve } from '../../dist/session/evolve.js';
import { DEFAULT_LIMITS, emptyState } from '../../dist/session/state.js';
import { createSessionReader, createSnapshotWriter } from '../../dist/workers/session-reader.js';
import { factEvent, taskEvent } from './events.mjs';
import { quantile, row, timed, verdict, withServer } from './lib.mjs';

const EVENTS = 10_000;
const TAIL = 100;
const ROUNDS = 15;
const WRITES = 300;

await withServer(async ({ nats, version }) => {
  console.log(`load and snapshot, nats-server ${version}, node ${process.versions.node}`);
  const session = token('bench', 'session');
  const limits = DEFAULT_LIMITS;
  const noSnapshots = {
    load: async () => undefined,
    loadAtOrBefore: async () => undefined,
    save: async () => 'saved',
  };
  const readerOn = (snapshots) =>
    createSessionReader({ log: nats.log, snapshots, limits, logger: silentLogger, maxSessions: 1 });

  for (let from = 1; from <= EVENTS; from += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, i) => nats.log.append(session, factEvent(from + i))));
  }
  const writer = createSnapshotWriter({
    snapshots: nats.snapshots,
    clock: systemClock,
    logger: silentLogger,
    every: 100,
  });
  await writer.write((await readerOn(noSnapshots).load(session)).folded);
  await Promise.all(
    Array.from({ length: TAIL }, (_, i) => nats.log.append(session, factEvent(EVENTS + 1 + i))),
  );

  const full = [];
  const quick = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    full.push(...(await timed(1, () => readerOn(noSnapshots).load(session))));
    quick.push(...(await timed(1, () => readerOn(nats.snapshots).load(session))));
  }
  full.sort((a, b) => a - b);
  quick.sort((a, b) => a - b);
  row(`full replay of ${EVENTS + TAIL} events`, full);
  row(`snapshot and ${TAIL} newer events`, quick);
  const ratio = quantile(full, 0.5) / quantile(quick, 0.5);
  verdict('a load with snapshot is at least 20 times faster', ratio >= 20, `${ratio.toFixed(1)} times`);

  const state = emptyState(session, limits);
  for (let n = 1; n <= 600; n += 1) evolve(state, { sequence: n, event: factEvent(n) });
  for (let n = 1; n <= 500; n += 1) evolve(state, { sequence: 600 + n, event: taskEvent(n) });
  const writes = await timed(WRITES, () => {
    state.sequence += 1;
    return writer.write({
      key: token('writes', 'session'),
      state,
      snapshotSequence: 0,
      sinceSnapshot: 0,
    });
  });
  row('snapshot write, 500 facts and 500 tasks', writes);
  const p99 = quantile(writes, 0.99);
  verdict('p99 of a snapshot write under 10 ms', p99 < 10, `${p99.toFixed(2)} ms`);
});
