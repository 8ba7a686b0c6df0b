import { describe, expect, it } from 'vitest';
import { dispatchSubject } from '../../../src/contracts/names.js';
import { AckedPublisher } from '../../../src/nats/jetstream/acked-publisher.js';
import { readStream } from '../../../src/nats/jetstream/direct-get.js';
import { type RepairPorts, repairStreams } from '../../../src/nats/jetstream/repair-streams.js';
import { rejected } from '../../support/builders.js';
import { newSession, startSystem } from '../../support/system.js';

type Publisher = RepairPorts['publisher'];

const TIMEOUT_MS = 5000;
/** The session has this dispatch; the restored stream is behind it. */
const SEEN = 50;
const RESULTS = Array.from({ length: 10 }, (_, index) => `{"result":${index}}`);

/** Repairs a stream with ten results under reused numbers; returns all later messages for the session. */
async function repaired(
  before: (publisher: Publisher, elsewhere: string) => Promise<unknown>,
  repairing: (publisher: Publisher) => Publisher = (publisher) => publisher,
): Promise<string[]> {
  await using system = await startSystem({ only: [] });
  const { connection, log } = system.ports;
  const jsm = await connection.jetstreamManager();
  const publisher = new AckedPublisher(connection, TIMEOUT_MS);
  const session = newSession('repaired');
  const subject = dispatchSubject(session, 'implementer');
  await log.append(session, rejected(SEEN), { messageId: 'seen' });
  for (const text of RESULTS) await publisher.publish(subject, text);
  await before(publisher, dispatchSubject(newSession('other'), 'implementer'));
  await repairStreams({ connection, jsm, publisher: repairing(publisher), timeoutMs: TIMEOUT_MS });
  publisher.close();
  const kept = await readStream(connection, 'DISPATCH', subject, { from: 1 }, TIMEOUT_MS);
  expect(kept.filter(({ sequence }) => sequence <= SEEN)).toEqual([]);
  return kept.map(({ data }) => Buffer.from(data).toString());
}

describe('a repair of the dispatches', () => {
  it('a repair of the dispatches loses no result where someone has published under ids of the form repaired:<sequence>', async () => {
    const guessed = async (publisher: Publisher, elsewhere: string) => {
      for (let sequence = 1; sequence <= RESULTS.length; sequence += 1) {
        await publisher.publish(elsewhere, '{}', { messageId: `repaired:${sequence}` });
      }
    };
    expect(await repaired(guessed)).toEqual(RESULTS);
  });

  it('a repair of the dispatches deletes no result for which a copy of something else is acknowledged', async () => {
    let other = 0;
    const known = async (publisher: Publisher, elsewhere: string) => {
      const published = await publisher.publish(elsewhere, '{}');
      if (published.outcome === 'stored') other = published.sequence;
    };
    const taken = new Set<string>();
    const repairing = (publisher: Publisher): Publisher => ({
      publish: (subject, data, options) => {
        const first = data.length > 2 && !taken.has(data.toString());
        if (!first) return publisher.publish(subject, data, options);
        taken.add(data.toString());
        return Promise.resolve({ outcome: 'stored', sequence: other, duplicate: true });
      },
    });
    expect(await repaired(known, repairing)).toEqual(RESULTS);
    expect(taken.size).toBe(RESULTS.length);
  });

  it('a repair of the dispatches keeps the id that a result was published under', async () => {
    const named = async (publisher: Publisher, elsewhere: string) => {
      await publisher.publish(elsewhere, '{}', { messageId: 'mine' });
    };
    const ids: unknown[] = [];
    const repairing = (publisher: Publisher): Publisher => ({
      publish: (subject, data, options) => {
        if (data.length > 0) ids.push(options?.headers?.['Throughline-Message-Id']);
        return publisher.publish(subject, data, options);
      },
    });
    await repaired(named, repairing);
    expect(ids).toEqual([...RESULTS.map(() => undefined), 'mine']);
  });

  it('a repair of the dispatches that was cut off before it deleted a result stores no second copy of it', async () => {
    let cut = true;
    const repairing = (publisher: Publisher): Publisher => ({
      publish: async (subject, data, options) => {
        const published = await publisher.publish(subject, data, options);
        if (!cut || data.length === 0) return published;
        cut = false;
        return publisher.publish(subject, data, options);
      },
    });
    expect(await repaired(async () => {}, repairing)).toEqual(RESULTS);
  });
});

describe('a repair of shards', () => {
  it('a repair of shards moves a stream beyond the snapshots of its sessions, and a session whose snapshot it had lost goes on', async () => {
    const env = { THROUGHLINE_LAYOUT: 'sharded:1' };
    await using system = await startSystem({ only: [], env });
    const { log, snapshots } = system.ports;
    const [behind, neighbour] = [newSession('behind'), newSession('neighbour')];
    await log.append(neighbour, rejected(1));
    const snapshot = 700;
    await snapshots.save(behind, { sequence: snapshot, text: `{"after_sequence":${snapshot},"state":{}}` });
    await expect(log.append(behind, rejected(2))).rejects.toMatchObject({ code: 'config_invalid' });
    const { repaired: lines } = await system.ports.repair();
    expect(lines).toContainEqual(
      expect.stringMatching(/^SESSIONS_00: numbers moved up from 1 to beyond 700/),
    );
    const appended = await log.append(behind, rejected(2), { expectedSequence: 0 });
    expect(appended).toMatchObject({ outcome: 'appended' });
    expect((await log.read(behind, { after: snapshot })).events).toHaveLength(1);
    expect((await log.read(neighbour, { after: 0 })).events).toHaveLength(1);
    expect(await log.sessions()).toEqual([behind, neighbour].sort());
    expect(await system.ports.repair()).toEqual({ repaired: [], leftOut: [] });
  });
});
