import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Token, token } from '../../src/contracts/names.js';
import { PER_SESSION } from '../../src/contracts/session-layout.js';
import { canonicalState } from '../../src/session/copied-events.js';
import { cli } from '../support/cli.js';
import { forgotten, furnished, renamed, storedText } from '../support/forgetting.js';
import { layoutEnv, testedLayouts } from '../support/layouts.js';
import { allDealtWith, implemented, reviewed, type System, soon, startSystem } from '../support/system.js';

/** Sessions that get another name. */

const LAYOUTS = testedLayouts(2);

describe.each(LAYOUTS)('session rename, $layout', (layout) => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem({ env: { ...layoutEnv(layout), THROUGHLINE_SNAPSHOT_EVERY: '3' } });
  });
  afterAll(() => system.stop());

  const name = (session: string): Token => token(session, 'session');
  const as = (...args: string[]) => cli(args, { env: { NATS_URL: system.url } });
  const rename = (session: string, to: string) => system.client.tools.sessionRename({ session, to });
  const stored = async (session: string) => (await system.ports.log.read(name(session), { after: 0 })).events;
  const promptOf = async (session: string, after?: number) => {
    const asked = { session, taskId: '1', taskPrompt: 'go on', ...(after && { after }) };
    return (await system.client.compile(asked)).prompt;
  };
  const rejectedOf = async (session: string) =>
    (await system.client.tools.rejectedList({ session })).rejected;

  it('a renamed session is the same under its new name, and the old one points to it', async () => {
    const { client, ports } = system;
    await furnished(system, 'was-called', 'KEPT', 'parser');
    const { sequence: before } = await client.publishReviewer('was-called', reviewed('2', 'approved'));
    await allDealtWith(ports);
    const [events, prompt] = [await stored('was-called'), await promptOf('was-called')];

    const { code, stdout, stderr } = await as('session', 'rename', 'was-called', 'is-called');

    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout:
        'renamed session was-called to is-called; its state is the same, byte for byte, but for its name and sequences\n',
      stderr: '-- was-called points to it: "throughline session forget was-called" frees the name\n',
    });
    expect(canonicalState(await stored('is-called'))).toBe(canonicalState(events));
    expect(await stored('was-called')).toEqual([]);
    expect(await promptOf('is-called', before)).toBe(prompt.replaceAll('was-called', 'is-called'));
    await expect(ports.snapshots.load(name('is-called'))).resolves.toBeDefined();
    const { proposals } = await client.proposals.list({ project: 'parser' });
    expect(proposals.length).toBeGreaterThan(0);
    for (const { source, evidence } of proposals)
      for (const each of [source, ...evidence]) expect(each.session).toBe('is-called');
    const { sessions } = await client.tools.sessionList({ archived: true });
    await soon(async () => expect(sessions.map(({ session }) => session)).toContain('is-called'));
    expect(sessions.map(({ session }) => session)).not.toContain('was-called');

    for (const asked of [
      () => client.tools.sessionShow({ session: 'was-called' }),
      () => client.tools.taskAdd({ session: 'was-called', content: 'Too late' }),
      () => client.tools.timelineList({ session: 'was-called' }),
      () => client.tools.sessionExport({ session: 'was-called' }),
      () => client.appendTrace('was-called', [{ intent_id: null, action_type: 'TOOL_EXECUTION' }]),
      () => promptOf('was-called'),
      () => rename('was-called', 'newer'),
    ])
      await expect(asked()).rejects.toMatchObject({
        code: 'session_renamed',
        message: 'session was-called was renamed to is-called: use that name',
        details: { session: 'was-called', renamedTo: 'is-called' },
      });
    // Again it changes nothing.
    expect(JSON.parse((await as('session', 'rename', 'was-called', 'is-called', '--json')).stdout)).toEqual({
      ...{ session: 'was-called', to: 'is-called', state: 'done' },
    });
    const { sequence } = await client.publishImplementer('was-called', implemented('9'));
    await soon(async () =>
      expect((await rejectedOf('was-called'))[0]).toMatchObject({ sequence, code: 'session_renamed' }),
    );
    await client.publishImplementer('is-called', implemented('1', { summary: 'after it' }));
    await allDealtWith(ports);
    expect(await promptOf('is-called')).toContain('after it');
    expect(await stored('was-called')).toEqual([]);
  });

  // What forgetting erases is tested in both layouts; in this one a name has a stream of its own.
  it.runIf(layout === PER_SESSION)(
    'a pointer that is forgotten frees the name, and a session that is forgotten takes its names along',
    async () => {
      const { client, ports } = system;
      await client.publishImplementer('first', implemented('1', { summary: 'CANARY' }));
      await allDealtWith(ports);
      const [{ sequence: last = 0 } = {}] = await stored('first');
      await renamed(system, 'first', 'second');

      await forgotten(system, 'first');
      await client.publishImplementer('first', implemented('1', { summary: 'fresh' }));
      await allDealtWith(ports);
      expect(await promptOf('first')).toContain('fresh');
      expect((await stored('first')).at(0)?.sequence).toBeGreaterThan(last);
      expect(await promptOf('second')).toContain('CANARY');
      await client.publishImplementer('second', implemented('2', { summary: 'CANARY' }));
      await allDealtWith(ports);
      await renamed(system, 'second', 'third');
      await forgotten(system, 'third');

      expect(await storedText(system)).not.toContain('CANARY');
      expect((await client.tools.sessionShow({ session: 'second' })).sequence).toBe(0);
    },
  );

  it('results that come while it is renamed are in it, or are rejected with the reason', async () => {
    const { client, ports } = system;
    const published: number[] = [];
    const publish = async () => {
      const task = `${published.length + 1}`;
      published.push((await client.publishImplementer('busy', implemented(task))).sequence);
    };
    for (let n = 0; n < 5; n += 1) await publish();
    await allDealtWith(ports);
    let isDone = false;
    const renaming = renamed(system, 'busy', 'calm').then(() => {
      isDone = true;
    });
    while (!isDone) {
      await publish();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await renaming;
    await allDealtWith(ports);

    const within = (await stored('calm')).flatMap(({ event }) =>
      event.type === 'fact.recorded' ? event.data.dispatch.sequence : [],
    );
    const rejected = (await rejectedOf('busy')).map(({ sequence, code }) => {
      expect(code).toBe('session_renamed');
      return sequence;
    });
    expect(within.length).toBeGreaterThanOrEqual(5);
    expect(rejected.length).toBeGreaterThan(0);
    expect([...within, ...rejected].sort((a, b) => a - b)).toEqual(published);
    expect(await stored('busy')).toEqual([]);
  });

  it('an archived session stays archived, and one whose first events are gone keeps what its snapshot knows', async () => {
    const { client, ports } = system;
    await client.publishImplementer('shipped', implemented('1', { summary: 'SHIPPED' }));
    await allDealtWith(ports);
    await client.tools.sessionArchive({ session: 'shipped', reason: 'Done' });
    await renamed(system, 'shipped', 'stored');
    const { session } = await client.tools.sessionShow({ session: 'stored' });
    expect(session.archived).toMatchObject({ reason: 'Done' });
    await expect(client.tools.taskAdd({ session: 'stored', content: 'x' })).rejects.toMatchObject({
      code: 'session_archived',
    });

    for (let n = 1; n <= 4; n += 1)
      await client.publishImplementer('cut', implemented(`${n}`, { summary: `SAID ${n}` }));
    await allDealtWith(ports);
    const prompt = await promptOf('cut');
    await soon(async () => expect(await ports.snapshots.load(name('cut'))).toBeDefined());
    const kept = await ports.snapshots.load(name('cut'));
    await ports.log.removeBefore(name('cut'), (kept?.sequence ?? 0) + 1);
    await renamed(system, 'cut', 'whole');
    expect(await promptOf('whole')).toBe(prompt.replaceAll('cut', 'whole'));
    expect(prompt).toContain('SAID 1');
  });

  it('what cannot be renamed is refused with the reason, and stays as it was', async () => {
    const { client, ports } = system;
    for (const session of ['one', 'two']) await client.publishImplementer(session, implemented('1'));
    await allDealtWith(ports);

    await expect(rename('one', 'two')).rejects.toMatchObject({ code: 'session_exists' });
    await expect(rename('nobody', 'three')).rejects.toMatchObject({ code: 'not_found' });
    await expect(rename('one', 'one')).rejects.toMatchObject({
      code: 'schema_invalid',
      details: { fields: ['to'] },
    });
    await expect(rename('one', '../x')).rejects.toMatchObject({ code: 'token_invalid' });
    expect(await as('session', 'rename', 'one', 'two')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('session two exists already'),
    });
    const first = client.tools.sessionForget({ session: 'two', confirm: 'two' });
    await soon(async () =>
      expect(rename('two', 'three')).rejects.toMatchObject({ code: 'session_forgotten' }),
    );
    await first;
    expect((await client.tools.sessionShow({ session: 'one' })).session).toMatchObject({ name: 'one' });
  });

  it('a name that points to a session without events is said to do so, and can be freed', async () => {
    const { client, ports } = system;
    await client.publishImplementer('pointing', implemented('1'));
    await allDealtWith(ports);
    await renamed(system, 'pointing', 'pointed');
    await ports.eraser.eraseLog(name('pointed'));

    expect(await as('session', 'rename', 'pointing', 'pointed')).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringContaining('there are no events of pointed'),
    });
    await forgotten(system, 'pointing');
    expect((await client.tools.sessionShow({ session: 'pointing' })).sequence).toBe(0);
  });

  it('of two services that are asked at once only one renames, and nothing is erased meanwhile', async () => {
    const { client, ports } = system;
    const other = await startSystem({ nats: system.nats, env: layoutEnv(layout), only: ['tools'] });
    try {
      await client.publishImplementer('pair', implemented('1'));
      await allDealtWith(ports);
      const asked = Promise.all(Array.from({ length: 6 }, () => rename('pair', 'single')));
      const lifecycle = await ports.openLifecycle();
      await soon(() => expect(lifecycle.archived(name('single'))?.importing?.from).toBe('pair'));
      lifecycle.close();
      for (const session of ['pair', 'single'])
        await expect(client.tools.sessionForget({ session, confirm: session })).rejects.toMatchObject({
          code: 'conflict',
        });
      await asked;
      await renamed(system, 'pair', 'single');
      expect(await stored('single')).toHaveLength(1);
    } finally {
      await other.stop();
    }
  });
});
