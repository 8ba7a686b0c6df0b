import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../src/contracts/errors.js';
import type { Token } from '../../src/contracts/names.js';
import { eventsOf, newestOf, newSession, systemOfFile } from '../support/system.js';
import { type Append, workersOn } from '../support/tools-on.js';

const system = await systemOfFile({ only: [] });

const toolsOn = (between: Parameters<typeof workersOn>[1]) => workersOn(system, between).tools;
const lost = () => new ThroughlineError('unavailable', 'no PubAck within 1 ms');
const stored: Append = (session, event, options) => system.ports.log.append(session, event, options);

/** Stores events; of the first `count` the answer is lost, or what `first` does instead happens. */
function losing(count: number, first: Append = stored): Append {
  let left = count;
  return async (...appended) => {
    if (left === 0) return stored(...appended);
    left -= 1;
    await first(...appended);
    throw lost();
  };
}

/** Adds a task: the answer is that of the event that is stored. */
async function adds(session: Token, tools: ReturnType<typeof toolsOn>, id = 'TAS-1'): Promise<void> {
  const answer = await tools('task-add', { session, content: 'a' });
  const sequence = await newestOf(system, session);
  expect(answer).toMatchObject({ task: { id, content: 'a' }, sequence });
}

const typesOf = async (session: Token) => (await eventsOf(system, session)).map(({ event }) => event.type);

describe('an append whose answer is lost', () => {
  it('finds an append whose answer was lost, and answers as if nothing had happened', async () => {
    const session = newSession('lost');
    await adds(session, toolsOn({ append: losing(1) }));
    expect(await typesOf(session)).toEqual(['task.added']);
  });

  it('finds an append whose answer was lost behind what others appended meanwhile', async () => {
    const session = newSession('lost');
    const intruder = toolsOn({ append: stored });
    const crowded: Append = async (...appended) => {
      const answer = await stored(...appended);
      for (const content of ['b', 'c']) await intruder('task-add', { session, content });
      return answer;
    };
    await adds(session, toolsOn({ append: losing(1, crowded) }));
    expect((await typesOf(session)).length).toBe(3);
  });

  it('sees an append that arrives only after the session was loaded again', async () => {
    const session = newSession('late');
    let send: (() => Promise<unknown>) | undefined;
    let reads = 0;
    const tools = toolsOn({
      append(of, event, options) {
        if (reads > 1) return stored(of, event, options);
        send = () => stored(of, event, options);
        return Promise.reject(lost());
      },
      // The first read loads the session, the second loads it again; before the third one the event arrives.
      async read(of, range) {
        reads += 1;
        if (reads === 3) await send?.();
        return system.ports.log.read(of, range);
      },
    });
    await adds(session, tools);
    expect(await typesOf(session)).toEqual(['task.added']);
  });

  it('does not report an append as a duplicate of itself when others see it first', async () => {
    const session = newSession('late');
    let send: (() => Promise<unknown>) | undefined;
    let reads = 0;
    const { tools, reader } = workersOn(system, {
      append(of, event, options) {
        if (send !== undefined) return stored(of, event, options);
        send = () => stored(of, event, options);
        return Promise.reject(lost());
      },
      // The event arrives, and another request folds it, while the third read is on its way back without it.
      async read(of, range) {
        reads += 1;
        const read = await system.ports.log.read(of, range);
        if (reads !== 3) return read;
        await send?.();
        await reader.load(session);
        return read;
      },
    });
    await adds(session, tools);
    expect(await typesOf(session)).toEqual(['task.added']);
  });

  it('tells an append from an earlier one that was lost with its event', async () => {
    const session = newSession('lost');
    const intruder = toolsOn({ append: stored });
    let attempts = 0;
    const tools = toolsOn({
      async append(of, event, options) {
        attempts += 1;
        if (attempts === 1) await intruder('task-add', { session, content: 'first' });
        else await stored(of, event, options);
        throw lost();
      },
    });
    await adds(session, tools, 'TAS-2');
    expect(attempts).toBe(2);
  });

  it('sends an append again when the event was lost too', async () => {
    const session = newSession('lost');
    await adds(session, toolsOn({ append: losing(2, () => Promise.reject(lost())) }));
    expect(await typesOf(session)).toEqual(['task.added']);
  });

  it('gives up with unavailable when the answer is lost again and again, and the queue goes on', async () => {
    const session = newSession('lost');
    let down = true;
    const tools = toolsOn({
      append: (of, event, options) => (down ? Promise.reject(lost()) : stored(of, event, options)),
    });
    const refused = tools('task-add', { session, content: 'a' });
    const queued = refused.catch(() => {
      down = false;
    });
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    await queued;
    expect(await tools('task-add', { session, content: 'b' })).toMatchObject({ task: { id: 'TAS-1' } });
  });
});
