import { expect, it } from 'vitest';
import { sessionSubjects } from '../../src/contracts/names.js';
import { streamOf } from '../../src/contracts/session-layout.js';
import {
  allDealtWith,
  eventsOf,
  implemented,
  newSession,
  soon,
  startSystem,
  TEST_LAYOUT,
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
  await system.client.publishImplementer(single, implemented('1'));

  await using services = await startSystem({ nats: system.nats, only: ['extractor'] });
  const jsm = await services.ports.connection.jetstreamManager();
  await soon(async () => expect(await eventsOf(system, single)).toHaveLength(1));
  const stored = async () => {
    const asked = { subjects_filter: sessionSubjects(hot) };
    const { state } = await jsm.streams.info(streamOf(TEST_LAYOUT, hot), asked);
    return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
  };
  expect(await stored()).toBeLessThan(FLOOD / 2);
  await allDealtWith(services.ports);
  expect(await stored()).toBe(FLOOD);
});
