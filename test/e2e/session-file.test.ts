import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SessionLayout, token } from '../../src/contracts/names.js';
import type { StoredEvent } from '../../src/contracts/session-events.js';
import { canonicalState, renumbered } from '../support/canonical.js';
import { cli } from '../support/cli.js';
import { layoutEnv } from '../support/layouts.js';
import {
  allDealtWith,
  implemented,
  publishWire,
  reviewed,
  type System,
  soon,
  startSystem,
} from '../support/system.js';

/** Sessions as files. */

const SESSION = 'demo';

let system: System;
beforeAll(async () => {
  system = await startSystem({ env: { THROUGHLINE_TASKS_ROOTS: tmpdir() } });
  const { client, ports } = system;
  await client.tools.sessionOpen({ session: SESSION, goal: 'A parser', project: 'parser' });
  await client.tools.taskAdd({ session: SESSION, content: 'Write the lexer \u202e' });
  for (let n = 1; n <= 40; n += 1)
    await publishWire(client, 'implementer', SESSION, implemented(`${n}`, { summary: 'x'.repeat(n * 100) }));
  await publishWire(
    client,
    'reviewer',
    SESSION,
    reviewed('1', 'needs_changes', { required_fixes: ['check it'] }),
  );
  await allDealtWith(ports);
});
afterAll(() => system.stop());

const as = (...args: string[]) => cli(args, { env: { NATS_URL: system.url } });
const stored = async (session: string) =>
  (await system.ports.log.read(token(session, 'session'), { after: 0 })).events;

function read(text: string) {
  const lines = text.trimEnd().split('\n');
  const [head, ...rest] = lines.map((line) => JSON.parse(line));
  return { head, events: rest.slice(0, -1) as StoredEvent[], end: rest.at(-1), lines };
}

describe('session export', () => {
  it('an exported session is a file of its events, which says of what it is and that it is whole', async () => {
    const { code, stdout, stderr } = await as('session', 'export', SESSION);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '-- exported session demo: 43 events\n' });
    const { head, events, end, lines } = read(stdout);
    const log = await stored(SESSION);
    expect(head).toMatchObject({
      ...{ throughline: 'session', v: 1, session: SESSION, project: 'parser' },
      sequence: log.at(-1)?.sequence,
    });
    expect(events).toEqual(log);
    expect(canonicalState(events)).toBe(canonicalState(log));
    const before = `${lines.slice(0, -1).join('\n')}\n`;
    expect(end).toEqual({ events: 43, sha256: createHash('sha256').update(before).digest('hex') });
    // A terminal shows it as it is.
    expect(stdout).not.toMatch(/\p{Cf}/u);
  });

  it('an exported session that was archived is the checkpoint that its log begins with', async () => {
    const session = 'shipped';
    await publishWire(system.client, 'implementer', session, implemented('1'));
    await allDealtWith(system.ports);
    await system.client.tools.sessionArchive({ session, reason: 'Shipped' });

    const { events } = read((await as('session', 'export', session)).stdout);

    expect(events.map(({ event }) => event.type)).toEqual(['session.checkpoint']);
    expect(canonicalState(events)).toBe(canonicalState(await stored(session)));
  });

  it('a session that does not exist is not exported', async () => {
    expect(await as('session', 'export', 'nobody')).toMatchObject({
      ...{ code: 3, stdout: '' },
      stderr: expect.stringContaining('session nobody does not exist'),
    });
  });
});

describe('session import', () => {
  const OTHER: SessionLayout = { layout: 'sharded', shards: 2 };
  let other: System;
  let folder: string;
  let file: string;
  beforeAll(async () => {
    other = await startSystem({ env: layoutEnv(OTHER) });
    folder = await mkdtemp(join(tmpdir(), 'throughline-export-'));
    file = join(folder, 'demo.jsonl');
    await writeFile(file, (await as('session', 'export', SESSION)).stdout);
    // Numbers that the session of the file names are given there, too.
    await publishWire(other.client, 'implementer', 'native', implemented('1'));
    await allDealtWith(other.ports);
    // Services may have looked for the session before it comes.
    expect((await other.client.tools.sessionShow({ session: SESSION })).sequence).toBe(0);
  });
  afterAll(async () => {
    await other.stop();
    await rm(folder, { recursive: true });
  });
  const there = (...args: string[]) => cli(args, { env: { NATS_URL: other.url } });
  const eventsOf = async (of: System, session: string) =>
    (await of.ports.log.read(token(session, 'session'), { after: 0 })).events;
  const indexed = async (of: System, session: string) => {
    for await (const { entries } of of.ports.index.read(0))
      for (const { figures } of entries) if (figures.session === session) return figures;
    return undefined;
  };
  const promptOf = async (of: System, session: string) =>
    (await of.client.compile({ session, taskId: '1', taskPrompt: 'lexer' })).prompt;

  it('an imported session is the same on another server and layout, and new results count as newer', async () => {
    const { code, stdout, stderr } = await there('session', 'import', file);

    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout:
        'imported session demo: 43 events; its state is that of the file, byte for byte, but for its name and sequences\n',
      stderr: '',
    });
    expect(canonicalState(await eventsOf(other, SESSION))).toBe(canonicalState(await stored(SESSION)));
    expect(await promptOf(other, SESSION)).toBe(await promptOf(system, SESSION));
    const { sequence } = await publishWire(other.client, 'reviewer', SESSION, reviewed('1', 'approved'));
    expect(sequence).toBeGreaterThan(43);
    await expect(
      other.client.tools.dispatchShow({ session: SESSION, dispatch: sequence }),
    ).resolves.toMatchObject({ status: 'recorded', role: 'reviewer' });
    const { tasks } = await other.client.tools.ledgerList({ session: SESSION });
    expect(tasks.find(({ last_dispatch: last }) => last === sequence)).toMatchObject({
      last_outcome: 'reviewer_approved',
    });
    // The keeper has put it off until it was a session.
    await soon(async () => expect(await indexed(other, SESSION)).toMatchObject({ session: SESSION }));
    const { stdout: said } = await there('doctor');
    expect(said).not.toMatch(/not a lifecycle record|used again/);
    // Services start there as before.
    const again = await startSystem({ nats: other.nats, env: layoutEnv(OTHER), only: ['extractor'] });
    await again.stop();
  });

  it('a session that follows a plan file is imported, archived or not', async () => {
    const plan = join(folder, 'tasks.md');
    await writeFile(plan, '- [ ] T001 Write the lexer\n');
    expect(await as('plan', 'follow', plan, '--session', 'planned')).toMatchObject({ code: 0 });
    for (const copy of ['open-copy', 'archived-copy']) {
      const path = join(folder, `${copy}.jsonl`);
      await writeFile(path, (await as('session', 'export', 'planned')).stdout);
      const imported = await as('session', 'import', path, '--as', copy);
      expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('byte for byte') });
      await system.client.tools.sessionArchive({ session: 'planned', reason: 'Done' });
    }
  });

  it('a session that was imported can be carried back, under another name', async () => {
    const back = join(folder, 'back.jsonl');
    await writeFile(back, (await there('session', 'export', SESSION)).stdout);
    expect(await as('session', 'import', back)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--as NAME'),
    });

    // By standard input, which cannot be read twice.
    const { code, stdout } = await cli(['session', 'import', '-', '--as', 'demo-2', '--json'], {
      env: { NATS_URL: system.url },
      input: await readFile(back),
    });

    const events = await stored('demo-2');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ session: 'demo-2', events: events.length, same: true });
    expect(canonicalState(events)).toBe(canonicalState(await eventsOf(other, SESSION)));
  });

  it('a file that comes by a pipe is named in what is wrong with it', async () => {
    const [dash, pipe] = await Promise.all(
      ['-', '/dev/stdin'].map((path) =>
        cli(['session', 'import', path], { env: { NATS_URL: system.url }, input: 'no file\n' }),
      ),
    );
    expect(dash).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('standard input line 1: is not JSON'),
    });
    expect(pipe).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/dev/stdin line 1: is not JSON'),
    });
    expect(await as('session', 'import', folder)).toMatchObject({
      stderr: expect.stringContaining('cannot be read: EISDIR'),
    });
  });

  it('an archived session is archived where it is imported', async () => {
    const archived = join(folder, 'shipped.jsonl');
    await writeFile(archived, (await as('session', 'export', 'shipped')).stdout);
    expect(await there('session', 'import', archived)).toMatchObject({ code: 0 });
    const { session } = await other.client.tools.sessionShow({ session: 'shipped' });
    expect(session.archived).toMatchObject({ reason: 'Shipped' });
    await expect(other.ports.log.sessions()).resolves.toContain('shipped');
    expect(canonicalState(await eventsOf(other, 'shipped'))).toBe(canonicalState(await stored('shipped')));
    // It takes no results there, and another file does not take its place.
    const { sequence: dispatch } = await publishWire(
      other.client,
      'implementer',
      'shipped',
      implemented('2'),
    );
    await expect(
      other.client.tools.dispatchShow({ session: 'shipped', dispatch, timeoutMs: 10_000 }),
    ).resolves.toMatchObject({ status: 'rejected', code: 'session_archived' });
    expect(await there('session', 'import', file, '--as', 'shipped')).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringContaining('(session_exists)'),
    });
    await expect(other.ports.log.sessions()).resolves.toContain('shipped');
    await expect(other.client.tools.sessionShow({ session: 'shipped' })).resolves.toMatchObject({
      session: { archived: { reason: 'Shipped' } },
    });
  });

  it('an import that was cut short is not a session, holds results back, and is gone on with by the same file', async () => {
    const session = 'halved';
    const events = renumbered(await stored(SESSION));
    const { end } = read(await readFile(file, 'utf8'));
    const of = { session, file: end.sha256, dispatches: 41 };
    const ask = (more: object) => other.client.requestTool('session-import', { ...of, ...more });
    await soon(async () => expect((await ask({})).state).toBe('importing'));
    await ask({ events: events.slice(0, 20) });

    const { sequence } = await publishWire(other.client, 'implementer', session, implemented('90'));
    for (const asked of [
      () => other.client.tools.sessionShow({ session }),
      () => other.client.tools.taskAdd({ session, content: 'In between' }),
      () => other.client.appendTrace(session, [{ intent_id: null, action_type: 'TOOL_EXECUTION' }]),
      () => ask({ file: 'another' }),
    ])
      await expect(asked()).rejects.toMatchObject({ code: 'session_importing' });
    const { sessions } = await other.client.tools.sessionList({ archived: true });
    expect(sessions.map((each) => each.session)).not.toContain(session);
    expect(await there('session', 'export', session)).toMatchObject({ code: 1, stdout: '' });
    await expect(ask({ events: events.slice(10, 12).reverse() })).rejects.toThrow('events.1.sequence');
    await expect(ask({ events: [{ ...events[5], sequence: 10 }] })).rejects.toMatchObject({
      code: 'conflict',
    });

    expect(await there('session', 'import', file, '--as', session)).toMatchObject({ code: 0 });

    const held = await eventsOf(other, session);
    expect(canonicalState(held.slice(0, 43))).toBe(canonicalState(await stored(SESSION)));
    await expect(
      other.client.tools.dispatchShow({ session, dispatch: sequence, timeoutMs: 10_000 }),
    ).resolves.toMatchObject({ status: 'recorded' });
  });

  it('an import that was cut short can be forgotten instead', async () => {
    const session = 'dropped';
    const ask = () => other.client.requestTool('session-import', { session, file: 'f', dispatches: 0 });
    await soon(async () => expect((await ask()).state).toBe('importing'));
    await other.client.requestTool('session-import', {
      ...{ session, file: 'f', dispatches: 0 },
      events: renumbered(await stored(SESSION)).slice(0, 1),
    });
    await soon(async () =>
      expect((await other.client.tools.sessionForget({ session, confirm: session })).state).toBe('done'),
    );
    expect(await there('session', 'import', file, '--as', session)).toMatchObject({ code: 0 });
  });

  it('an import of which nothing is stored yet can be forgotten as well', async () => {
    const session = 'barely';
    const ask = (file: string) =>
      other.client.requestTool('session-import', { session, file, dispatches: 0 });
    await soon(async () => expect((await ask('f')).state).toBe('importing'));
    await expect(ask('g')).rejects.toMatchObject({ code: 'session_importing' });

    expect(await there('session', 'rm', session, '--yes')).toMatchObject({ code: 0 });

    await soon(async () => expect((await ask('g')).state).toBe('importing'));
  });

  it('an archived session that was forgotten here is archived again once it is imported', async () => {
    const session = 'returned';
    const { client, ports } = other;
    await publishWire(client, 'implementer', session, implemented('1'));
    await allDealtWith(ports);
    await client.tools.sessionArchive({ session, reason: 'Shipped' });
    const path = join(folder, 'returned.jsonl');
    await writeFile(path, (await there('session', 'export', session)).stdout);
    expect(await there('session', 'rm', session, '--yes')).toMatchObject({ code: 0 });

    expect(await there('session', 'import', path)).toMatchObject({ code: 0 });

    const before = await eventsOf(other, session);
    const { sequence } = await publishWire(client, 'implementer', session, implemented('2'));
    await expect(
      client.tools.dispatchShow({ session, dispatch: sequence, timeoutMs: 10_000 }),
    ).resolves.toMatchObject({ status: 'rejected', code: 'session_archived' });
    expect((await eventsOf(other, session)).filter(({ event }) => event.type === 'fact.recorded')).toEqual(
      [],
    );
    expect(before.map(({ event }) => event.type)).toEqual(['session.checkpoint']);
  });

  const changed: readonly [what: string, change: (lines: string[]) => string[], message: RegExp][] = [
    ['is cut off', (lines) => lines.slice(0, 10), /ends with line 10: the last line is missing/],
    [
      'lacks a line',
      (lines) => lines.filter((_, at) => at !== 7),
      /line 44: events: says 43, and 42 are there/,
    ],
    ['was changed', (lines) => lines.map((line) => line.replace('xxx', 'yyy')), /line 45: sha256: /],
    ['is cut off within a line', (lines) => [...lines.slice(0, 10), '{"sequence":'], /line 11: .*cut off/],
    ['holds no JSON', (lines) => lines.with(4, '{"sequence":'), /line 5: is not JSON/],
    ['is another file', (lines) => lines.with(0, '{"name":"x"}'), /line 1: .*throughline/s],
    [
      'is of a later version',
      (lines) => lines.with(0, `${lines[0]?.replace('"v":1', '"v":2')}`),
      /line 1: v: is 2, of a later version/,
    ],
    [
      'holds what is not an event',
      (lines) => lines.with(3, '{"sequence":3,"event":{"v":1,"type":"evil","at":"x","data":{}}}'),
      /line 4: event\.type/,
    ],
    [
      'is out of order',
      (lines) => [...lines.slice(0, 3), ...lines.slice(2)],
      /line 4: sequence: must be above/,
    ],
    ['is empty', () => [], /is empty/],
  ];
  it.each(changed)(
    'a file that %s is refused with line and field, and nothing is imported',
    async (_, change, message) => {
      const bad = join(folder, 'bad.jsonl');
      const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
      await writeFile(
        bad,
        change(lines)
          .map((line) => `${line}\n`)
          .join(''),
      );
      const { code, stderr } = await there('session', 'import', bad, '--as', 'bad');
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
      expect(await eventsOf(other, 'bad')).toEqual([]);
    },
  );
});
