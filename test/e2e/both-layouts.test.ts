import { describe, expect, it } from 'vitest';
import { PER_SESSION, type SessionLayout, token } from '../../src/contracts/names.js';
import { doctor } from '../support/doctor.js';
import { forgotten, storedText } from '../support/forgetting.js';
import { layoutEnv } from '../support/layouts.js';
import { filesHolding } from '../support/store-files.js';
import { allDealtWith, eventsOf, publishReview, publishWork, soon, startSystem } from '../support/system.js';

/** The life of a session in each layout. All other tests of the system run in one of them. */

const SHARDED: SessionLayout = { layout: 'sharded', shards: 1 };
const FAST = { quietMs: 50, busyMs: 200, restMs: 100 };

describe.each([PER_SESSION, SHARDED])('the life of a session, $layout', (layout) => {
  it(`a session goes from its first result to its removal beside a neighbour of its shard, ${layout.layout}`, async () => {
    await using system = await startSystem({ env: layoutEnv(layout), fixed: FAST });
    const { client, ports, nats } = system;
    const { tools } = client;
    const [session, neighbour] = ['ours', 'neighbour'].map((name) => token(name, 'session'));
    if (session === undefined || neighbour === undefined) throw new Error('no names');
    const watched: number[] = [];
    const stop = new AbortController();
    const watching = (async () => {
      for await (const { sequence } of client.watch({ session, after: 0, signal: stop.signal }))
        watched.push(sequence);
    })();

    // Results and commands become events of their session alone, and prompts read what was acknowledged.
    for (const name of [session, neighbour])
      for (const task of ['1', '2'])
        await publishWork(client, name, task, { summary: `CANARY ${name} ${task}` });
    await Promise.all(
      ['a', 'b', 'c'].map((content) => tools.taskAdd({ session, content: `CANARY ${content}` })),
    );
    const required_fixes = ['Close the file'];
    const { sequence: after } = await publishReview(client, session, '2', 'needs_changes', {
      required_fixes,
    });
    const ask = { session, taskId: '2', taskPrompt: 'go on' };
    const { prompt } = await client.compile({ ...ask, after });
    expect(prompt).toContain('Close the file');
    expect(prompt).not.toContain(neighbour);
    const { tasks } = await tools.taskList({ session });
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(3);
    expect((await tools.timelineList({ session, limit: 200 })).entries.length).toBeGreaterThan(3);
    const beside = await eventsOf(system, neighbour);
    await soon(() => expect(watched.length).toBeGreaterThan(3));
    stop.abort();
    await watching;

    // Lists know where each session stands, and its snapshot is that of its log.
    await soon(async () => {
      const { sessions } = await tools.sessionList();
      expect(sessions.map((each) => each.session).sort()).toEqual([neighbour, session]);
      const events = await eventsOf(system, session);
      expect((await ports.snapshots.load(session))?.sequence).toBe(events.at(-1)?.sequence);
    });

    await tools.sessionArchive({ session });
    await soon(async () =>
      expect((await eventsOf(system, session)).map(({ event }) => event.type)).toEqual([
        'session.checkpoint',
      ]),
    );
    await tools.sessionReopen({ session });
    expect((await client.compile(ask)).prompt).toContain('Close the file');
    expect(await eventsOf(system, neighbour)).toEqual(beside);

    await forgotten(system, session);
    expect(await storedText(system)).not.toContain(`CANARY ${session}`);
    expect(await filesHolding(nats.storeDir, `CANARY ${session}`)).toEqual([]);
    expect(await eventsOf(system, neighbour)).toEqual(beside);
    await publishWork(client, session, '1', { summary: 'fresh' });
    await allDealtWith(ports);
    expect(JSON.stringify(await tools.factFind({ session }))).not.toContain('CANARY');
    const { code, found } = await doctor(system.url);
    expect(code, JSON.stringify(found)).toBe(0);
  });
});
