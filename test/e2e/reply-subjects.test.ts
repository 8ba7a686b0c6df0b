import { headers, type StoredMsg } from 'nats';
import { describe, expect, it } from 'vitest';
import { token } from '../../src/contracts/names.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { stateToJson } from '../../src/memory/session/session-snapshot.js';
import { connectNats } from '../../src/nats/connection/connect-nats.js';
import { allRejected } from '../support/all-rejected.js';
import { startGuardedSystem } from '../support/guarded-system.js';
import { ofFile } from '../support/of-file.js';
import { allDealtWith, freshState, implemented, publishWork, soon } from '../support/system.js';

/**
 * NATS does not check the reply subject of a request. Each user here has the permissions that the command line prints, and
 * asks for what it may ask for, to be answered where it may not publish.
 */

const A = token('a', 'session');
const B = token('b', 'session');

const system = await ofFile(
  startGuardedSystem([
    { name: 'publisher', role: 'publisher' },
    { name: 'reader', role: 'reader' },
    { name: 'operator', role: 'operator' },
    { name: 'guest', role: 'publisher', args: ['--session', 'a'] },
  ]),
);
const admin = system.ports.connection;
const { client } = system;
for (const session of ['a', 'b']) {
  await client.tools.sessionOpen({ session, goal: `goal of ${session}` });
  await client.tools.taskAdd({ session, content: `task of ${session}` });
  const { sequence: after } = await publishWork(client, session, '1', {
    files_modified: [`src/only-in-${session}.ts`],
  });
  await client.compile({ session, taskId: '2', taskPrompt: 'x', after });
}
await soon(async () => {
  expect(await system.ports.snapshots.load(A)).toBeDefined();
  expect(await system.ports.snapshots.load(B)).toBeDefined();
});

/** Sends requests as a user, each to be answered at `reply`, and waits until the server has taken them all. */
async function ask(
  user: string,
  ...requests: readonly (readonly [subject: string, body: object | string, reply: string])[]
) {
  const connection = await connectNats({
    url: system.url,
    name: user,
    logger: silentLogger,
    access: system.access(user),
  });
  for (const [subject, body, reply] of requests) {
    connection.publish(subject, typeof body === 'string' ? body : JSON.stringify(body), { reply });
  }
  await connection.flush();
  await connection.close();
}

/** Waits until a stream holds a message that makes `like` true, and gives it: else a test would show nothing. */
async function stored(stream: string, like: (message: StoredMsg) => boolean): Promise<StoredMsg> {
  const jsm = await admin.jetstreamManager();
  return soon(async () => {
    const { state } = await jsm.streams.info(stream);
    for (let seq = state.last_seq; seq >= state.first_seq; seq -= 1) {
      const message = await jsm.streams.getMessage(stream, { seq });
      if (like(message)) return message;
    }
    throw new Error(`${stream} holds no such message`);
  });
}

const isCopy = ({ header }: StoredMsg) => header.has('Nats-Stream');
const at = (subject: string) => (message: StoredMsg) => message.subject === subject;
const stateOf = async (session: string) => stateToJson(await freshState(system, session));

describe('an operator, who may read streams', () => {
  it('an operator changes nothing in a session by copying what stands in it', async () => {
    // What was malformed is counted event by event: nothing else tells a copy from the first one.
    const entries = [{ intent_id: 'INT-1', action_type: 'TOOL_EXECUTION' }, { action_type: 'UNKNOWN' }];
    await system.client.send('trace.append', { session: 'a', entries });
    const before = await stateOf('a');
    const { seq } = await stored('SESSION_a', at('session.a.trace.appended'));
    await ask('operator', ['$JS.API.DIRECT.GET.SESSION_a', { seq }, 'session.a.trace.appended']);
    await stored('SESSION_a', isCopy);
    expect(await stateOf('a')).toEqual(before);
  });
});

describe('a publisher', () => {
  const dispatch = 'dispatch.a.implementer';
  const junk = [
    'session.b.x',
    'session.b.result.1',
    'learning.default.x',
    '$KV.session_snapshots.b',
    '$KV.session_snapshots.project=default',
    'rejected.b.implementer',
    'dispatch.b.implementer',
  ];

  it('a publisher can store the server’s replies where it may not publish, but none of them counts', async () => {
    const before = await stateOf('b');
    const result = `BEGIN_DISPATCH_RESULT ${JSON.stringify(implemented('9'))} END_DISPATCH_RESULT`;
    for (const reply of junk) await ask('guest', [dispatch, result, reply]);
    await stored(
      'DISPATCH',
      (message) => at('dispatch.b.implementer')(message) && message.string().startsWith('{"stream"'),
    );
    await stored(
      'SESSION_b',
      (message) => at('session.b.x')(message) && message.string().startsWith('{"stream"'),
    );
    await stored('DISPATCH_REJECTED', at('rejected.b.implementer'));
    await allDealtWith(system.ports);
    expect(await stateOf('b')).toEqual(before);
    const rejected = await allRejected(system.ports.rejected);
    expect(new Set(rejected.map(({ code }) => code))).toEqual(new Set(['stored_reply']));
  });

  it('a publisher gets no service to answer where the publisher may not publish', async () => {
    const jsm = await admin.jetstreamManager();
    const streams = ['SESSION_b', 'LEARNINGS', 'DISPATCH', 'DISPATCH_REJECTED', 'KV_session_snapshots'];
    const ends = () =>
      Promise.all(streams.map(async (name) => (await jsm.streams.info(name)).state.last_seq));
    const before = await ends();
    for (const reply of junk) {
      await ask(
        'guest',
        ['tool.note-list.a', { session: 'a' }, reply],
        ['tool.note-list.a', 'no JSON', reply],
      );
      await ask('publisher', ['prompt.compile', { session: 'a', taskId: '1', taskPrompt: 'x' }, reply]);
      await ask(
        'reader',
        ['$SRV.PING', '', reply],
        ['$SRV.INFO.session-tools', '', reply],
        ['$SRV.STATS', '', reply],
        ['health.extractor', '', reply],
      );
    }
    // A request that comes after them is answered: those before it have been seen.
    await system.client.tools.noteList({ session: 'a' });
    await system.client.compile({ session: 'a', taskId: '1', taskPrompt: 'x' });
    const after = await ends();
    for (const [index, stream] of streams.entries()) {
      for (let seq = (before[index] ?? 0) + 1; seq <= (after[index] ?? 0); seq += 1) {
        // The services themselves write snapshots.
        const text = (await jsm.streams.getMessage(stream, { seq })).string();
        expect({ stream, text }).toEqual({ stream, text: expect.stringMatching(/^\{"after_sequence":/) });
      }
    }
  });

  it('an operator cannot pass off an empty read or a reply of the server’s API as a result of another session', async () => {
    const before = await stateOf('b');
    await ask(
      'operator',
      ['$JS.API.DIRECT.GET.SESSION_a', { seq: 99_999 }, 'dispatch.b.reviewer'],
      ['$JS.API.STREAM.INFO.SESSION_a', '', 'dispatch.b.reviewer'],
      ['$JS.API.DIRECT.GET.SESSION_a', { seq: 1 }, 'dispatch.b.reviewer'],
    );
    await stored('DISPATCH', (message) => at('dispatch.b.reviewer')(message) && message.data.length === 0);
    await stored(
      'DISPATCH',
      (message) => at('dispatch.b.reviewer')(message) && message.string().includes('stream_info_response'),
    );
    await allDealtWith(system.ports);
    expect(await stateOf('b')).toEqual(before);
    const rejected = await allRejected(system.ports.rejected);
    // An empty body without headers may as well be that of a publisher with a PubAck: it is kept, and changes no session.
    expect(rejected.filter(({ session, code }) => session === 'b' && code !== 'stored_reply')).toMatchObject([
      { code: 'marker_missing', reason: 'the body is empty', bytes: 0 },
    ]);
  });
});

describe('stored replies', () => {
  it('a stored reply is listed among the rejected results with its own reason, and never retried', async () => {
    const head = headers();
    head.set('Anything', 'else');
    await admin.request('rejected.b.reviewer', 'no rejection', { headers: head, timeout: 5000 });
    await system.client.publishText('a', 'implementer', 'no result either');
    await soon(async () =>
      expect((await allRejected(system.ports.rejected)).some(({ code }) => code === 'marker_missing')).toBe(
        true,
      ),
    );
    const { stdout: listed } = await system.as('admin', 'result', 'ls');
    expect(listed).toMatch(/dispatch\.b\.reviewer +\d+ .*stored_reply: an answer of the server, stored here/);
    expect(listed).toMatch(/dispatch\.b\.reviewer +\d+ .*stored_reply: a copy of message 1 of SESSION_a/);
    expect(listed).toMatch(/rejected\.b\.reviewer +0 +\d+ +stored_reply: not a rejected result/);
    const ids = (await allRejected(system.ports.rejected)).map(({ id }) => `${id}`);
    const { code, stderr, stdout } = await system.as('admin', 'result', 'retry', ...ids);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('was not published as a result'),
    });
    expect(stdout).toContain('published again');
    const left = await allRejected(system.ports.rejected);
    expect(left.filter((each) => each.code === 'stored_reply').length).toBeGreaterThan(1);
  });
});
