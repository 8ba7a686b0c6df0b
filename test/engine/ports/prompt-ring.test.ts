import { describe, expect, it } from 'vitest';
import { PROMPTS_STREAM, PROMPTS_SUBJECTS, type Token } from '../../../src/contracts/names.js';
import type { KeptPrompt } from '../../../src/contracts/prompt-requests.js';
import { RING_SIZE } from '../../../src/nats/jetstream/topology.js';
import { timeOf } from '../../support/builders.js';
import { newSession, openPorts, twoOnNats } from './opened.js';

function kept(session: Token, number: number): KeptPrompt {
  return {
    id: `p${number}`,
    at: timeOf(number),
    session,
    kind: 'dispatch',
    task: '1',
    role: 'reviewer',
    sequence: number,
    tokens: 10,
    hash: 'a'.repeat(64),
    prefixHash: 'b',
    room: 100,
    dropped: 1,
    durationMs: 1.5,
    factsShown: 1,
    factsTotal: 2,
    facts: [{ id: 'f1', score: 0.5 }],
    left: [{ id: 'f2', score: 0.1, why: 'rank' }],
    learnings: ['l1'],
    learningsSequence: 3,
    request: { session, taskId: '1', taskPrompt: 'go on', asOf: number },
  };
}

describe('the ring of prompts', async () => {
  const opened = await twoOnNats();

  it('the ring gives back what was kept of each session, the newest first', async () => {
    const [one, other] = [newSession(), newSession()];
    for (const number of [1, 2, 3]) await opened.nats.prompts.keep(kept(one, number));
    await opened.nats.prompts.keep(kept(other, 9));
    expect(await opened.other.prompts.all(one)).toEqual([3, 2, 1].map((number) => kept(one, number)));
    expect(await opened.other.prompts.all(other)).toEqual([kept(other, 9)]);
    expect(await opened.other.prompts.all(newSession())).toEqual([]);
  });

  it('the ring keeps so many prompts of a session, and forgets the oldest', async () => {
    const session = newSession();
    const many = Array.from({ length: RING_SIZE + 5 }, (_, index) => kept(session, index + 1));
    for (const each of many) await opened.nats.prompts.keep(each);
    const ids = (await opened.other.prompts.all(session)).map(({ id }) => id);
    expect(ids).toHaveLength(RING_SIZE);
    expect([ids[0], ids.at(-1)]).toEqual([`p${RING_SIZE + 5}`, 'p6']);
  });

  it('the ring on NATS skips what is not a prompt, and is made again where its stream was deleted', async () => {
    const session = newSession();
    const { connection, prompts } = opened.nats;
    await prompts.keep(kept(session, 1));
    await connection.jetstream().publish(`compiled.${session}`, '{"id":1}');
    await connection.jetstream().publish(`compiled.${session}`, 'text');
    expect(await prompts.all(session)).toEqual([kept(session, 1)]);
    await (await connection.jetstreamManager()).streams.delete(PROMPTS_STREAM);
    expect(await prompts.all(session)).toEqual([]);
    await prompts.keep(kept(session, 2));
    expect(await opened.other.prompts.all(session)).toEqual([kept(session, 2)]);
  });

  it('a stream of prompts that cannot be made is said with the code of its cause', async () => {
    const three = await openPorts(opened.nats.server.url, { replicas: 3, makes: false });
    await (await three.connection.jetstreamManager()).streams.delete(PROMPTS_STREAM);
    await expect(three.prompts.keep(kept(newSession(), 1))).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('THROUGHLINE_REPLICAS=1'),
    });
    await three.close();
    await opened.nats.prompts.keep(kept(newSession(), 1));
  });

  it('a missing stream of prompts is noticed and made although someone listens to its subjects', async () => {
    // To a publisher, a listener looks like a slow stream.
    const { connection } = opened.other;
    connection.subscribe(PROMPTS_SUBJECTS, { callback: () => undefined });
    await connection.flush();
    await (await connection.jetstreamManager()).streams.delete(PROMPTS_STREAM);
    const impatient = await openPorts(opened.nats.server.url, { requestTimeoutMs: 5_000, makes: false });
    const sessions = [newSession(), newSession()];
    await Promise.all(sessions.map((session) => impatient.prompts.keep(kept(session, 1))));
    for (const session of sessions)
      expect(await opened.other.prompts.all(session)).toEqual([kept(session, 1)]);
    await impatient.close();
  });
});
