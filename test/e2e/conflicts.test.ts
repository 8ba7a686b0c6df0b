import { describe, expect, it } from 'vitest';
import type { Token } from '../../src/contracts/names.js';
import { eventsOf, newSession, systemOfFile } from '../support/system.js';
import { type Append, workersOn } from '../support/tools-on.js';

const system = await systemOfFile({ only: [] });

const toolsOn = (between: Parameters<typeof workersOn>[1]) => workersOn(system, between).tools;
const stored: Append = (session, event, options) => system.ports.log.append(session, event, options);

const typesOf = async (session: Token) => (await eventsOf(system, session)).map(({ event }) => event.type);

describe('a conflict', () => {
  it('a command that meets a conflict is decided again on the new state', async () => {
    const session = newSession('conflict');
    const intruder = toolsOn({ append: stored });
    let rivals = 5;
    const tools = toolsOn({
      async append(of, event, options) {
        if (rivals > 0) {
          rivals -= 1;
          await intruder('task-add', { session, content: `rival ${rivals}` });
        }
        return stored(of, event, options);
      },
    });
    expect(await tools('task-add', { session, content: 'mine' })).toMatchObject({ task: { id: 'TAS-6' } });
  });

  it('a conflict may turn a command into a refusal', async () => {
    const session = newSession('conflict');
    const intruder = toolsOn({ append: stored });
    let rivals = 1;
    const tools = toolsOn({
      async append(of, event, options) {
        if (rivals > 0) {
          rivals -= 1;
          await intruder('task-add', { session, content: 'MINE' });
        }
        return stored(of, event, options);
      },
    });
    await expect(tools('task-add', { session, content: 'mine' })).rejects.toMatchObject({
      code: 'duplicate',
      details: { id: 'TAS-1' },
    });
    expect(await typesOf(session)).toEqual(['task.added']);
  });

  it('a command that meets conflicts without end gives up with a clear answer', async () => {
    const session = newSession('conflict');
    const tools = toolsOn({ append: () => Promise.resolve({ outcome: 'conflict' }) });
    await expect(tools('task-add', { session, content: 'x' })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('task-add lost'),
    });
  });
});

describe('the time of an event', () => {
  it('an event’s time is never before that of the event it follows, whatever the clock says', async () => {
    const session = newSession('clocks');
    const times = ['2026-01-02T00:00:00.000Z', '2025-12-31T00:00:00.000Z', '2026-01-03T00:00:00.000Z'];
    const left = [...times];
    const tools = toolsOn({
      append: (of, event, options) => system.ports.log.append(of, event, options),
      clock: () => left.shift() ?? '',
    });
    for (const content of ['a', 'b', 'c']) await tools('note-add', { session, content });
    const stamped = (await eventsOf(system, session)).map(({ event }) => event.at);
    expect(stamped).toEqual([times[0], times[0], times[2]]);
  });
});
