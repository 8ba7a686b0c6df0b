import { expect, it } from 'vitest';
import { PER_SESSION, streamOf, type Token } from '../../src/contracts/names.js';
import {
  allDealtWith,
  eventsOf,
  implemented,
  newSession,
  publishWork,
  sequencesOf,
  soon,
  startSystem,
} from '../support/system.js';

const FLOOD = 6000;

it('a single result does not wait for the flood of another session that was published before it', async () => {
  await using system = await startSystem({ only: [] });
  const [hot, single] = [newSession('hot'), newSession('single')];
  const body = Buffer.from(JSON.stringify(implemented('1')));
  for (let from = 0; from < FLOOD; from += 1000) {
    const some = Array.from({ length: 1000 }, () =>
      system.ports.source.publish(`dispatch.${hot}.implementer`, body),
    );
    await Promise.all(some);
  }
  await publishWork(system.client, single, '1');

  await using services = await startSystem({ nats: system.nats, only: ['extractor'] });
  const jsm = await services.ports.connection.jetstreamManager();
  await soon(async () => expect(await eventsOf(system, single)).toHaveLength(1));
  await allDealtWith(services.ports);
  const flood = await sequencesOf(system, hot);
  expect(flood).toHaveLength(FLOOD);
  // By the clock of the server: when this test gets to look does not matter.
  const storedAt = async (session: Token, seq: number | undefined) =>
    (await jsm.streams.getMessage(streamOf(PER_SESSION, session), { seq: seq ?? 0 })).time.getTime();
  const [alone] = await sequencesOf(system, single);
  expect(await storedAt(single, alone)).toBeLessThan(await storedAt(hot, flood[FLOOD / 2]));
});
