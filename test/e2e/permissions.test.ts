import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { NatsConnection } from 'nats';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import type { ServiceName } from '../../src/contracts/names.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { Shutdown } from '../../src/engine/runtime/shutdown.js';
import { connectThroughline } from '../../src/index.js';
import { connectNats, onDenied } from '../../src/nats/connection/connect-nats.js';
import { serve } from '../../src/services/serve.js';
import { cleanEnv, cli } from '../support/cli.js';
import { natsCli } from '../support/nats-cli.js';
import { afterTest, newFolder, ofFile } from '../support/of-file.js';
import { TASKS_MD, TASKS_MD_LATER } from '../support/runs.js';
import { publishReview, publishWork, soon } from '../support/system.js';
import { startGuardedNats } from '../support/users.js';

/** The whole system, each part as the user whose permissions `throughline admin permissions` prints. */

const folder = await ofFile(newFolder());
const guarded = await ofFile(
  startGuardedNats([
    { name: 'services', role: 'services' },
    { name: 'publisher', role: 'publisher' },
    { name: 'reader', role: 'reader' },
    { name: 'operator', role: 'operator' },
    { name: 'guest', role: 'publisher', args: ['--session', 'mine'] },
    { name: 'visitor', role: 'reader', args: ['--session', 'mine'] },
    { name: 'member', role: 'member' },
    { name: 'colleague', role: 'member', args: ['--session', 'mine'] },
  ]),
);
const shutdown = new Shutdown();
/** What the services had to complain about. */
const complaints: object[] = [];
const logger = {
  ...silentLogger,
  warn: (fields: object) => complaints.push(fields),
  error: (fields: object) => complaints.push(fields),
};

const run = (user: string, ...only: ServiceName[]) => {
  const env = {
    ...guarded.env(user),
    THROUGHLINE_TASKS_ROOTS: folder.path,
    THROUGHLINE_TUNING: 'snapshotEvery=5',
  };
  return serve(guarded.url, { config: loadConfig(env), logger, shutdown }, only);
};
const client = (user: string) => connectThroughline({ url: guarded.url, ...guarded.access(user) });
const as = (user: string, ...args: string[]) =>
  cli(args, { env: { ...guarded.env(user), THROUGHLINE_LOG_LEVEL: 'info' } });

await run('services', 'extractor', 'tools', 'learnings', 'keeper');
await run('services', 'compiler');
afterAll(() => shutdown.release(10_000));
const publisher = await ofFile(client('publisher'));

describe('the whole system under the users of its roles', () => {
  it('results become facts and prompts hold them, under the users of the roles', async () => {
    await publishWork(publisher, 'demo', '1', { files_modified: ['src/parser.ts'] });
    const { sequence: after } = await publishReview(publisher, 'demo', '1', 'needs_changes', {
      required_fixes: ['check the bounds'],
    });
    const { prompt, factsTotal } = await publisher.compile({
      session: 'demo',
      taskId: '2',
      taskPrompt: 'parser bounds',
      after,
    });
    expect(prompt).toContain('check the bounds');
    expect(factsTotal).toBeGreaterThan(1);
  });

  it('tools, runs and traces work under the users of the roles', async () => {
    await publisher.tools.taskAdd({ session: 'demo', content: 'Write the printer' });
    const entry = { intent_id: 'INT-1', action_type: 'TOOL_EXECUTION' } as const;
    expect(await publisher.traces.append({ session: 'demo', entries: [entry] })).toMatchObject({
      appended: 1,
    });
    expect(await publisher.traces.compact({ session: 'demo', intentId: 'INT-1' })).toMatchObject({
      total: 1,
    });
    const tasksPath = await folder.write('tasks.md', TASKS_MD);
    await publisher.runs.init({ session: 'demo', spec: 'parser', tasksPath });
    const iteration = await publisher.compile({ session: 'demo', kind: 'iteration' });
    expect(iteration.prompt).toContain('Write the printer');
  });

  it('a changed tasks file gets into the next prompt of a compiler in a process of its own', async () => {
    const rebuilt = async () => {
      const { stdout } = await as('reader', 'status', '-s', 'demo', '--json');
      const { session }: { session: { sequence: number } } = JSON.parse(stdout);
      return session.sequence;
    };
    const before = await rebuilt();
    await folder.write('tasks.md', TASKS_MD_LATER);
    const request = { session: 'demo', taskId: '2.2', taskPrompt: 'statements' };
    const { ledger, sequence } = await publisher.compile(request);
    expect(ledger).toEqual({ mode: 'ledger' });
    expect([sequence, await rebuilt()]).toEqual([before + 1, before + 1]);
    expect(await publisher.runs.status({ session: 'demo' })).toMatchObject({
      run: { totals: { completed: 3 } },
      sequence,
    });
  });

  it('an operator accepts a proposed learning, which then stands in a prompt', async () => {
    await publisher.send('learning.propose', { content: 'Close every file that the parser opens' });
    const listed = await as('operator', 'learning', 'ls', '--status', 'pending', '--json');
    const [, id] = /"id":"([^"]+)"/.exec(listed.stdout) ?? [];
    expect(
      await cli(['learning', 'accept', id ?? ''], { env: guarded.env('operator'), terminal: true }),
    ).toMatchObject({ code: 0 });
    const { prompt } = await publisher.compile({ session: 'demo', kind: 'session-start' });
    expect(prompt).toContain('Close every file that the parser opens');
    const listed2 = await as('reader', 'learning', 'ls');
    expect(listed2).toMatchObject({ code: 0, stdout: expect.stringContaining('Close every file') });
  });

  it('what cannot be used is kept under the users of the roles', async () => {
    await publisher.publishText('demo', 'implementer', 'no result at all');
    await soon(async () => {
      const { stdout } = await as('reader', 'result', 'ls', '--json');
      expect(JSON.parse(stdout)).toMatchObject({
        rejected: [{ session: 'demo', code: 'marker_missing' }],
      });
    });
  });

  it('a reader gets a prompt of the past from older snapshots', async () => {
    const { sequence } = await publisher.compile({ session: 'demo', taskId: '2', taskPrompt: 'x' });
    const request = { session: 'demo', taskId: '2', taskPrompt: 'x', asOf: 2 };
    expect((await publisher.compile(request)).sequence).toBe(2);
    expect(sequence).toBeGreaterThan(2);
  });

  it.each([
    ['session', 'ls'],
    ['status', '-s', 'demo'],
    ['task', 'ls', '-s', 'demo'],
    ['facts', '-s', 'demo'],
    ['session', 'iterations', '-s', 'demo'],
    ['status', '-s', 'demo', '-t', '1'],
    ['session', 'telemetry', '-s', 'demo'],
    ['admin', 'retention'],
  ])('a reader can use throughline %s %s', async (...args) => {
    await soon(async () => expect(await as('reader', ...args)).toMatchObject({ code: 0 }));
  });

  it('an operator sees everything that the doctor looks at', async () => {
    const { stdout } = await as('operator', 'doctor');
    expect(stdout).toMatch(/^ok {4}sessions: /m);
    expect(stdout).not.toContain('permission_denied');
  });

  it('the doctor says who may run it; a reader may ask for the health of the services', async () => {
    const refused = await as('reader', 'doctor');
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('with the role operator') });
    expect(await as('reader', 'admin', 'health')).toMatchObject({ code: 0 });
  });

  it('an operator reads the text of a snapshot with the plain nats CLI', async (context) => {
    const found = await natsCli();
    if ('missing' in found) return context.skip(found.missing);
    const nats = async (user: string, ...args: string[]) => {
      const env = { ...cleanEnv(), ...guarded.env(user) };
      const all = ['--inbox-prefix', `_INBOX_${user}`, ...args];
      return (await promisify(execFile)(found.path, all, { env })).stdout;
    };
    await soon(async () => {
      const stored = await nats('operator', 'kv', 'get', 'session_snapshots', 'demo', '--raw');
      expect(JSON.parse(stored)).toMatchObject({ session: 'demo' });
    });
  });

  it('a reader sees by requests what was rejected, compiled and counted, and how all does', async () => {
    await using reader = await client('reader');
    const [entry] = (await reader.tools.rejectedList({ session: 'demo' })).rejected;
    expect(await reader.tools.rejectedShow({ id: entry?.id ?? 0 })).toMatchObject({
      body: 'no result at all',
    });
    expect(await reader.tools.rejectedList()).toMatchObject({ rejected: [{ session: 'demo' }], total: 1 });
    const { prompts } = await reader.tools.promptList({ session: 'demo' });
    const { request, prompt } = await reader.tools.promptShow({ session: 'demo', id: prompts[0]?.id ?? '' });
    expect(await reader.request('prompt.past.demo', request)).toMatchObject({ fullPromptHash: prompt.hash });
    expect(await reader.tools.telemetryShow({ session: 'demo' })).toMatchObject({
      rejections: { marker_missing: 1 },
    });
    const health = await reader.tools.healthShow({});
    expect(health).toMatchObject({ missing: [], results: { stored: 3, rejected: 1 } });
    expect(new Set(health.services.map(({ service }) => service)).size).toBe(5);
  });

  it.each([
    ['reader', ['session.*.>', 'compiled.*', 'rejected.*.*', 'learning.*.>']],
    ['visitor', ['session.mine.>', 'compiled.mine', 'rejected.mine.*']],
  ])('a %s is told what happens in its sessions', async (user, subjects) => {
    const connection = await connectionOf(user);
    const denied: object[] = [];
    onDenied(connection, (denial) => denied.push(denial));
    const told = new Set<string>();
    for (const subject of subjects) connection.subscribe(subject, { callback: () => told.add(subject) });
    await connection.flush();
    const { sequence: after } = await publishWork(publisher, 'mine', '0');
    await publisher.compile({ session: 'mine', taskId: '2', taskPrompt: 'x', after });
    await soon(() => expect([...told]).toEqual(expect.arrayContaining(subjects.slice(0, 2))));
    expect(denied).toEqual([]);
    await connection.close();
  });

  it('an operator retries what was rejected', async () => {
    const [rejected] = JSON.parse((await as('operator', 'result', 'ls', '--json')).stdout).rejected;
    expect(await as('operator', 'result', 'retry', `${rejected.id}`)).toMatchObject({ code: 0, stderr: '' });
  });

  it('a dispatch stream that was deleted is made again, and goes on after what sessions have seen', async () => {
    const admin = await connectionOf('admin');
    await (await admin.jetstreamManager()).streams.delete('DISPATCH');
    await admin.close();
    await soon(async () => {
      const { sequence: after } = await publishWork(publisher, 'demo', '3');
      expect(after).toBeGreaterThan(100_000);
      await publisher.compile({ session: 'demo', taskId: '4', taskPrompt: 'x', after });
    });
  });

  it('no service was refused anything under the users of the roles', () => {
    expect(complaints.filter((fields) => 'code' in fields && fields.code === 'permission_denied')).toEqual(
      [],
    );
  });

  it('one session is enough for an agent, and for a user who looks at it', async () => {
    await using guest = await client('guest');
    const { sequence: after } = await publishWork(guest, 'mine', '1');
    const { session } = await guest.runs.status({ session: 'mine' });
    expect(session).toBeDefined();
    const { factsTotal } = await guest.compile({ session: 'mine', taskId: '2', taskPrompt: 'x', after });
    expect(factsTotal).toBeGreaterThan(0);
    await using visitor = await client('visitor');
    const { prompts } = await visitor.tools.promptList({ session: 'mine' });
    const { request } = await visitor.tools.promptShow({ session: 'mine', id: prompts[0]?.id ?? '' });
    expect(await visitor.request('prompt.past.mine', request)).toMatchObject({ kind: 'dispatch' });
    expect(await visitor.tools.rejectedList({ session: 'mine' })).toMatchObject({ rejected: [] });
    expect(await visitor.tools.telemetryShow({ session: 'mine' })).toMatchObject({ session: 'mine' });
    const { code, stdout } = await as('visitor', 'facts', '-s', 'mine');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('did 1') });
  });
});

describe('throughline admin permissions', () => {
  const print = (...args: string[]) => as('reader', 'admin', 'permissions', ...args);

  it.each([
    ['a session with a wildcard', ['--role', 'publisher', '--session', '*'], 2, '--session is "*"'],
    ['services of some sessions', ['--role', 'services', '--session', 'demo'], 2, 'works for all sessions'],
    ['an inbox prefix with a wildcard', ['--role', 'reader', '--inbox-prefix', '>'], 2, 'prefix is ">"'],
  ] as const)('permissions refuses %s', async (_, args, code, text) => {
    expect(await print(...args)).toEqual({ code, stdout: '', stderr: expect.stringContaining(text) });
  });
});

/**
 * What roles must not do: who, how, and subjects. A publisher neither hears nor makes events, a reader writes nothing and asks
 * JetStream for nothing, a member does both, users of one session see no other, and an operator alone decides, retries, imports and
 * erases.
 */
const REFUSED = `
publisher subscription session.demo.> session.> dispatch.> > _INBOX_services.> _INBOX.> prompt.compile compiled.demo
publisher subscription rejected.demo.implementer
publisher publish session.demo.result.1 rejected.demo.implementer dispatch.demo.admin
publisher publish $KV.session_snapshots.demo $JS.API.DIRECT.GET.SESSION_demo $JS.API.STREAM.MSG.GET.SESSION_demo
publisher publish $JS.API.STREAM.DELETE.SESSION_demo $JS.API.CONSUMER.CREATE.SESSION_demo proposal.accept
publisher publish learning.retract learning.project.accepted _INBOX_services.forged tool.rejected-show
publisher publish tool.rejected-retry tool.rejected-remove tool.session-forget tool.session-import
publisher publish tool.session-forget.demo tool.retention-set compiled.demo
guest publish learning.search prompt.compile tool.task-add tool.task-add.demo dispatch.demo.implementer
guest publish tool.session-forget tool.session-import tool.session-forget.demo tool.retention-set
guest publish tool.retention-show tool.rejected-show tool.rejected-list tool.rejected-retry tool.session-list
guest publish tool.health-show tool.prompt-list.demo prompt.past.demo
reader publish proposal.accept tool.session-forget tool.session-import tool.session-forget.demo
reader publish tool.retention-set tool.rejected-retry tool.rejected-remove compiled.demo rejected.demo.implementer
reader publish dispatch.demo.implementer session.demo.result.1 $KV.session_snapshots.demo tool.task-add
reader publish prompt.compile $JS.API.STREAM.CREATE.SESSION_new $JS.API.STREAM.PURGE.SESSION_demo
reader publish $JS.API.STREAM.DELETE.KV_session_snapshots $JS.API.STREAM.MSG.DELETE.DISPATCH_REJECTED
reader publish $JS.API.DIRECT.GET.DISPATCH $JS.API.INFO $JS.API.STREAM.NAMES $JS.API.STREAM.INFO.SESSION_demo
reader publish $JS.API.STREAM.MSG.GET.SESSION_demo $JS.API.DIRECT.GET.SESSION_demo
reader publish $JS.API.DIRECT.GET.KV_session_snapshots.$KV.session_snapshots.demo
reader publish $JS.API.CONSUMER.INFO.DISPATCH.extractor
visitor publish tool.session-export tool.session-export.demo tool.session-list tool.health-show tool.rejected-list
visitor publish tool.rejected-list.demo tool.rejected-show tool.prompt-show.demo prompt.past.demo prompt.past
visitor publish learning.list $JS.API.DIRECT.GET.SESSION_demo $JS.API.DIRECT.GET.SESSION_mine
visitor publish $JS.API.STREAM.INFO.SESSION_mine $JS.API.DIRECT.GET.KV_session_snapshots.$KV.session_snapshots.demo
visitor publish $JS.API.DIRECT.GET.KV_session_snapshots
reader subscription dispatch.> prompt.past tool.rejected-list session.>
visitor subscription session.demo.> session.*.> compiled.demo compiled.* rejected.*.*
member subscription dispatch.> > session.> _INBOX_services.> _INBOX.> _INBOX_publisher.> prompt.compile tool.task-add
member publish session.demo.result.1 rejected.demo.implementer dispatch.demo.admin compiled.demo
member publish $KV.session_snapshots.demo $JS.API.INFO $JS.API.STREAM.NAMES $JS.API.DIRECT.GET.SESSION_demo
member publish $JS.API.STREAM.DELETE.SESSION_demo $JS.API.STREAM.SNAPSHOT.DISPATCH $JS.API.STREAM.MSG.GET.DISPATCH
member publish proposal.accept proposal.reject learning.retract learning.project.accepted
member publish tool.session-forget tool.session-forget.demo tool.session-archive.demo tool.session-reopen.demo
member publish tool.session-export tool.session-export.demo tool.session-import.demo tool.fact-erase.demo
member publish tool.rejected-show tool.rejected-retry tool.rejected-remove tool.retention-set _INBOX_services.forged
colleague publish tool.task-add tool.task-add.demo dispatch.demo.implementer prompt.compile tool.session-list
colleague publish tool.session-archive.mine tool.session-forget.mine tool.session-export.mine tool.rejected-show
colleague subscription session.demo.> session.*.> compiled.demo compiled.* rejected.*.*
services publish $JS.API.STREAM.UPDATE.DISPATCH dispatch.demo.admin
services subscription _INBOX_publisher.>
operator publish session.demo.result.1 $JS.API.STREAM.DELETE.SESSION_demo
`
  .trim()
  .split('\n')
  .map((row) => row.split(' ') as [user: string, operation: 'publish' | 'subscription', ...string[]]);

describe('what a role has no need of is refused', () => {
  it('a guest reaches no other session by naming it under its own subject', async () => {
    await using guest = await client('guest');
    const asked = guest.request('prompt.compile.mine', { session: 'demo', taskId: '1', taskPrompt: 'x' });
    await expect(asked).rejects.toMatchObject({ code: 'permission_denied' });
    const tool = guest.request('tool.task-list.mine', { session: 'demo' });
    await expect(tool).rejects.toMatchObject({ code: 'permission_denied' });
    const beyond: [string, object][] = [
      ['prompt.compile.mine', { taskId: '1', taskPrompt: 'x', project: 'other' }],
      ['prompt.past.mine', { taskId: '1', taskPrompt: 'x', asOf: 1, project: 'other' }],
      ['tool.session-open.mine', { project: 'other' }],
      ['run.init.mine', { tasksPath: '/etc/hostname' }],
    ];
    for (const [subject, body] of beyond)
      await expect(guest.request(subject, { session: 'mine', ...body }), subject).rejects.toMatchObject({
        code: 'permission_denied',
      });
    // The client then sends it without the project: that of the session counts.
    const of = { session: 'mine', taskId: '1', taskPrompt: 'x' };
    const { prompt } = await guest.compile(of);
    expect((await guest.compile({ ...of, project: 'other' })).prompt).toBe(prompt);
  });

  it('a visitor sees no other session, and no list of them', async () => {
    for (const args of [
      ['facts', '-s', 'demo'],
      ['session', 'telemetry', '-s', 'demo'],
      ['session', 'ls'],
      ['result', 'ls'],
    ]) {
      const { code, stderr } = await as('visitor', ...args);
      expect({ args, code, stderr }).toMatchObject({
        code: 1,
        // One line for people, and nothing before it.
        stderr: expect.stringMatching(/^throughline: .*\(permission_denied\)\n$/),
      });
    }
  });

  it.each(REFUSED)(
    'a role is refused what it does not need: %s: %s',
    async (user, operation, ...subjects) => {
      const connection = await connectionOf(user);
      afterTest(() => connection.close());
      for (const subject of subjects)
        expect(await denials(connection, operation, subject)).toEqual([{ operation, subject }]);
    },
  );

  it('refused requests stored nothing', async () => {
    const admin = await connectionOf('admin');
    const jsm = await admin.jetstreamManager();
    for await (const name of jsm.streams.names()) expect(name).not.toContain('new');
    const { state } = await jsm.streams.info('DISPATCH', { subjects_filter: 'dispatch.demo.admin' });
    expect(state.subjects ?? {}).toEqual({});
    await admin.close();
  });
});

function connectionOf(user: string): Promise<NatsConnection> {
  return connectNats({ url: guarded.url, name: user, logger: silentLogger, access: guarded.access(user) });
}

/** What the server refuses of one act. Whatever it refuses is told before the answer to a flush. */
async function denials(
  connection: NatsConnection,
  operation: 'publish' | 'subscription',
  subject: string,
): Promise<object[]> {
  const found: object[] = [];
  onDenied(connection, ({ operation, subject }) => found.push({ operation, subject }));
  if (operation === 'publish') connection.publish(subject, '{}');
  else connection.subscribe(subject, { callback: () => {} });
  await connection.flush();
  // The denial has arrived, and is handed on in a turn of its own.
  await soon(() => expect(found).not.toEqual([]));
  return found;
}
