import { describe, expect, test } from 'vitest';
import { token } from '../../src/contracts/names.js';
import { RESULT_PATHS } from '../../src/contracts/session-events.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { encodeSnapshot } from '../../src/memory/session/session-snapshot.js';
import { sessionReader } from '../../src/services/common/process-parts.js';
import { cli } from '../support/cli.js';
import { forgotten, furnished, storedText } from '../support/forgetting.js';
import { ofFile } from '../support/of-file.js';
import { soon } from '../support/soon.js';
import { filesHolding } from '../support/store-files.js';
import { allDealtWith, publishWork, startPrivateSystem, systemOfFile } from '../support/system.js';

const ZERO = {
  events: 0,
  dispatches: 0,
  rejected: 0,
  snapshots: 0,
  prompts: 0,
  index: 0,
  learnings: 0,
};

describe('a session that is forgotten', async () => {
  // A shared stream: there the text of a session lies beside that of others.
  const env = { THROUGHLINE_LAYOUT: 'sharded:1', THROUGHLINE_TUNING: 'snapshotEvery=5' };
  const system = await ofFile(startPrivateSystem({ env }));
  const { nats } = system;

  test('is in no stream, no bucket and no file, its neighbours are as they were, and one of its name begins at nothing', async () => {
    await furnished(system, 'victim', 'CANARY');
    await furnished(system, 'neighbour', 'BIRDSONG');
    const besides = async () => ({
      facts: await system.client.tools.factFind({ session: 'neighbour' }),
      notes: await system.client.tools.noteList({ session: 'neighbour' }),
      prompts: await system.client.tools.promptList({ session: 'neighbour' }),
      events: (await system.ports.log.read(token('neighbour', 'session'), { after: 0 })).events,
    });
    const before = await besides();
    expect(await filesHolding(nats.storeDir, 'CANARY')).not.toEqual([]);
    await expect(
      system.client.tools.sessionForget({ session: 'victim', confirm: 'other' }),
    ).rejects.toMatchObject({ code: 'schema_invalid' });
    const counted = await system.client.tools.sessionForget({ session: 'victim', dryRun: true });
    expect(counted).toMatchObject({ state: 'counted', found: { dispatches: 16, rejected: 1, prompts: 3 } });

    expect(counted.found.learnings).toBeGreaterThan(0);

    await forgotten(system, 'victim');

    expect(await storedText(system)).not.toContain('CANARY');
    expect(await filesHolding(nats.storeDir, 'CANARY')).toEqual([]);
    expect(await storedText(system)).not.toMatch(/\bvictim\b/);
    await expect(system.client.runs.status({ session: 'victim' })).resolves.toMatchObject({
      sequence: 0,
    });
    expect(await besides()).toEqual(before);

    const { sequence } = await publishWork(system.client, 'victim', '1', {
      facts: [{ subject: 'parser', relation: 'is', object: 'fresh' }],
    });
    const { prompt } = await system.client.compile({
      session: 'victim',
      kind: 'dispatch',
      role: 'implementer',
      after: sequence,
      taskId: '2',
      taskPrompt: 'go on',
    });
    const { facts } = await system.client.tools.factFind({ session: 'victim' });
    expect(facts.map(({ object }) => object)).toContain('fresh');
    expect(JSON.stringify(facts)).not.toContain('CANARY');
    expect(prompt).not.toContain('CANARY');

    await nats.restart();
    await soon(() => system.client.runs.status({ session: 'neighbour' }));
    expect(await filesHolding(nats.storeDir, 'CANARY')).toEqual([]);
    expect(await filesHolding(nats.storeDir, 'BIRDSONG')).not.toEqual([]);
  });

  test('a statement that a person erases is in no stream, bucket or file, and the rest of its result stays', async () => {
    const { client } = system;
    const [session, text] = ['penned', 'the queue is called MAGPIE'];
    const decided = { relation: 'decided', tags: ['decision' as const] };
    const { sequence: first } = await publishWork(client, session, '1', {
      summary: `Tested the parser, and wrote down that the queue is called **MAGPIE** today.`,
      facts: [
        { subject: 'queue', object: text, ...decided },
        { subject: 'port', object: 'is 9464', ...decided },
      ],
    });
    await client.tools.noteAdd({ session, content: `Remember: ${text}`, by: 'ann', person: true });
    await client.tools.inboxAdd({ session, content: `Remember: ${text}` });
    await client.tools.noteAdd({ session, content: 'The gate opens with LYREBIRD', by: 'ann', person: true });
    // On a busy machine an answer may be late: the same request goes on.
    const ann = { session, by: 'ann', person: true } as const;
    const erase = (id: string) => soon(() => client.tools.factErase({ ...ann, id }));
    await client.tools.iterationStart({ session });
    await client.tools.iterationComplete({ session });
    const asked = { session, kind: 'dispatch', role: 'implementer', taskId: '2' } as const;
    await client.compile({ ...asked, taskPrompt: `Empty the queue: ${text}` });
    await soon(async () => expect((await client.tools.promptList({ session })).total).toBe(1));

    const { fact } = await erase(`M${first}`);
    expect(fact).toMatchObject({ ref: `M${first}`, retracted: { by: 'ann', erased: true } });
    expect(fact.object).toMatch(/^erased by ann, \d+ \w+$/);

    expect(await storedText(system)).not.toContain('MAGPIE');
    expect(await filesHolding(nats.storeDir, 'MAGPIE')).toEqual([]);
    const { prompt } = await client.compile({ ...asked, taskPrompt: 'Empty the queue' });
    expect(prompt).toContain('is 9464');
    expect(prompt).not.toContain(`[M${first},`);
    const { entries } = await client.tools.timelineList({ session });
    expect(entries.map(({ summary }) => summary)).toContain(`M${first} was erased by ann`);
    expect(entries.map(({ summary }) => summary).join()).toContain('wrote down that erased by ann');
    await expect(client.tools.factRestore({ ...ann, id: `M${first}` })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect((await erase(`M${first}`)).fact).toEqual(fact);
    const { sequence } = await publishWork(client, session, '1', {
      facts: [{ subject: 'host', object: 'is local', ...decided }],
    });
    await client.tools.dispatchShow({ session, dispatch: sequence });
    expect((await client.tools.factShow({ session, id: `M${sequence}` })).fact.object).toBe('is local');

    await erase('N2');
    expect(await storedText(system)).not.toContain('LYREBIRD');
    const after = (await client.tools.timelineList({ session })).entries;
    expect(after.flatMap(({ dispatch }) => dispatch ?? [])).toContain(sequence);
  });

  test('is not brought back by what was under way, and results that are published meanwhile begin another one', async () => {
    await furnished(system, 'busy', 'PARROT');
    const { client, ports } = system;
    const busy = token('busy', 'session');
    const { folded } = await sessionReader(ports, system.config, silentLogger).reader.load(busy);
    const late = {
      sequence: folded.state.sequence,
      text: encodeSnapshot(folded.state, folded.state.lastEventAt),
    };
    const published: number[] = [];
    let isOver = false;
    const publishing = (async () => {
      for (let at = 0; !isOver; at += 1) {
        const facts = [{ subject: `new ${at}`, relation: 'is', object: 'published' }];
        published.push((await publishWork(client, 'busy', '1', { facts })).sequence);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();

    const asked = forgotten(system, 'busy');
    await asked;
    isOver = true;
    await publishing;
    // As a compiler does that was about to when the session was forgotten.
    expect(await ports.snapshots.save(busy, late)).toBe('older');

    await allDealtWith(ports);
    const { events } = await ports.log.read(busy, { after: 0, at: RESULT_PATHS });
    const kept = events.flatMap(({ event }) =>
      event.type === 'fact.recorded' ? [event.data.dispatch.sequence] : [],
    );
    // All from some moment on, and none before it.
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.sort((one, other) => one - other)).toEqual(published.slice(-kept.length));
    expect(JSON.stringify(await client.tools.factFind({ session: 'busy' }))).not.toContain('PARROT');
    expect(await filesHolding(nats.storeDir, 'PARROT')).toEqual([]);
  });

  test('is in no file either where it was archived before, so that its events had gone', async () => {
    const session = 'shipped';
    // Of others is more in the files: the server does not write them again by itself.
    for (let at = 0; at < 20; at += 1) {
      await publishWork(system.client, session, `${at}`, { summary: `CANARY ${at}` });
      for (const of of ['around', 'beside'])
        await publishWork(system.client, of, `${at}`, { summary: 'x'.repeat(1000) });
    }
    await allDealtWith(system.ports);
    await system.client.tools.sessionArchive({ session });
    await soon(async () => {
      const { events } = await system.ports.log.read(token(session, 'session'), { after: 0 });
      expect(events.map(({ event }) => event.type)).toEqual(['session.checkpoint']);
    });

    await forgotten(system, session);

    expect(await storedText(system)).not.toContain('CANARY');
    expect(await filesHolding(nats.storeDir, 'CANARY')).toEqual([]);
  });
});

describe('the commands that forget, without a terminal', async () => {
  const system = await systemOfFile();
  const forget = (...args: string[]) => cli(args, { env: { NATS_URL: system.url } });

  test('say of a session that does not exist just that, and of one that does how it is erased', async () => {
    await publishWork(system.client, 'real', '1');
    const { code, stderr } = await forget('session', 'rm', 'nobody');
    expect(code).toBe(3);
    expect(stderr).toContain(
      'nothing is stored of session nobody: "throughline session ls" lists what there is',
    );
    const real = await forget('session', 'rm', 'real');
    expect(real).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no terminal is attached to confirm this. Add --yes'),
    });
  });

  test('say of a session that was forgotten already that nothing is left of it', async () => {
    await furnished(system, 'gone', 'GONE', 'past');
    expect(await forget('session', 'rm', 'gone', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^removed session gone: \d+ events/),
    });
    for (const more of [[], ['--yes']])
      expect(await forget('session', 'rm', 'gone', ...more)).toEqual({
        code: 0,
        stdout: 'nothing is left of session gone: it was removed before\n',
        stderr: '',
      });
    const { code, stdout } = await forget('session', 'rm', 'gone', '--json');
    expect({ code, said: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      said: { session: 'gone', forgotten: true, found: ZERO },
    });
  });
});
