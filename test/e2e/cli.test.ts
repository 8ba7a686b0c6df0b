import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { portProblem } from '../../src/nats/server/server-process.js';
import { cli, startCli, startUp } from '../support/cli.js';
import { freePort } from '../support/free-port.js';
import { startPrivateNats } from '../support/nats-server.js';
import { NOBODY } from '../support/nobody.js';
import { folderOfFile, ofFile } from '../support/of-file.js';
import { onTerminal, PTY_MISSING } from '../support/pty.js';
import { implemented, newSession, reviewed, soon } from '../support/system.js';

const run = promisify(execFile);

const folder = await folderOfFile();
const up = await ofFile(startUp());

/** Publishes a result and gives its sequence, as `$(throughline publish …)` does in a shell. */
async function publish(session: string, role: 'implementer' | 'reviewer', result: object): Promise<string> {
  const { stdout } = await up.cli(['publish', role, '-s', session], { input: JSON.stringify(result) });
  return stdout.trim();
}

describe('publish', () => {
  it('publish takes a file, and says which sequence to wait for', async () => {
    const file = join(folder, 'result.json');
    await writeFile(file, JSON.stringify(implemented('1')));
    const plain = await up.cli(['publish', 'implementer', '--session', 'files', '--file', file]);
    expect(plain).toMatchObject({ code: 0, stderr: '' });
    expect(plain.stdout).toMatch(/^[1-9]\d*\n$/);
    const json = await up.cli(['publish', 'implementer', '-s', 'files', '-f', file, '--json']);
    expect(JSON.parse(json.stdout)).toEqual({ sequence: Number(plain.stdout) + 1 });
  });

  it('publish says of a result that it refuses how to correct it, and that nothing was sent', async () => {
    const args = ['publish', 'implementer', '-s', 'refused'];
    const unsaid = await up.cli(args, { input: '{"task_id":"1","summary":"Parser done"}' });
    expect(unsaid).toMatchObject({ code: 1, stdout: '' });
    expect(unsaid.stderr).toMatch(
      /; nothing was published\. To fix it: set status to one of .*\. --no-check stores it all the same, for "throughline result ls"/,
    );
  });
});

describe('prompt', () => {
  const session = newSession('compile');
  const base = ['prompt', '-s', session, '-t', '9', '-p', 'touch src/a.ts'];
  let last: string;
  beforeAll(async () => {
    await publish(session, 'implementer', implemented('1', { files_modified: ['src/a.ts'] }));
    last = await publish(
      session,
      'reviewer',
      reviewed('1', 'needs_changes', { required_fixes: ['one', 'two'] }),
    );
  });

  it('compile prints the prompt, and says on standard error what it holds', async () => {
    const { code, stdout, stderr } = await up.cli([...base, '--after', last]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^You are the implementer/);
    // Each line ends with the day.
    expect(stdout.replaceAll(/, \d{1,2} \w{3}\]$/gm, ', 3 Mar]')).toContain(
      [
        '\n[Session Context]',
        'Open findings of other tasks, not yours unless you touch their files:',
        '- required fix: one [task:1, 3 Mar]',
        '- required fix: two [task:1, 3 Mar]',
        'Likely files:',
        '- src/a.ts (the task names it)\n',
      ].join('\n'),
    );
    expect(stdout.endsWith('Task prompt:\ntouch src/a.ts\n')).toBe(true);
    expect(stderr).toMatch(
      /^-- \d of \d facts, 1 likely file, about \d+ tokens, event 2 \(no snapshot, \d replayed\)\n$/,
    );
  });

  it('compile prints the reply with --json, with --explain all parts of it, and the reason for each fact with --explain', async () => {
    const json = await up.cli([...base, '--after', last, '--json', '--explain', '--max-facts', '2']);
    const reply: unknown = JSON.parse(json.stdout);
    expect(reply).toMatchObject({
      sequence: 2,
      factsShown: 2,
      facts: [
        { relation: 'must_fix', object: 'one', eventSequence: 2 },
        { relation: 'must_fix', object: 'two', eventSequence: 2 },
      ],
    });
    const explained = await up.cli([...base, '--after', last, '--explain', '--max-facts', '1']);
    expect(explained.stderr).toMatch(
      /\n-- Open findings: file\n-- .*\n-- {3}[0-9a-f]{8} {2}.*one .* {2}<- result \d+\n/,
    );
    expect(explained.stderr).toMatch(/\n-- Likely files.*\n(?:-- .*\n)*-- .*src\/a\.ts.*\n/);
    expect(explained.stderr).toMatch(
      /\n-- Left out\n-- {3}[0-9a-f]{8} {2}task:1 must_fix two {2}<- others came first, or it shares too little with the task; score \d+\.\d\d: result \d+, task 1, findings, a likely or open file.*\n/,
    );
  });
});

describe('serve', () => {
  it('serve --only starts one service, and several of them make a whole system', async () => {
    await using nats = await startPrivateNats();
    const env = { NATS_URL: nats.url };
    const compile = ['prompt', '-s', 'served', '-t', '2', '-p', 'x', '--after', '1'];
    await using extractor = await startCli(['admin', 'serve', '--only', 'extractor'], env);
    expect(extractor.readyLine).toBe(`throughline ready ${nats.url} extractor`);
    const input = JSON.stringify(implemented('1'));
    expect((await cli(['publish', 'implementer', '-s', 'served'], { env, input })).stdout).toBe('1\n');
    const unanswered = await cli(compile, { env });
    expect(unanswered).toMatchObject({ code: 1, stdout: '' });
    expect(unanswered.stderr).toMatch(
      /no service answers prompt\.compile\.served: start the services with "throughline up"/,
    );

    await using compiler = await startCli(['--nats', nats.url, 'admin', 'serve', '--only', 'compiler']);
    const answered = await cli(compile, { env });
    expect(answered).toMatchObject({ code: 0 });
    expect(answered.stdout).toContain('\nTask prompt:\n');
    expect(await compiler.stop()).toEqual({ code: 0, signal: null });
  });
});

async function processesWith(text: string): Promise<{ pid: number; args: string }[]> {
  const { stdout } = await run('ps', ['-A', '-ww', '-o', 'pid=,args=']);
  return stdout
    .split('\n')
    .filter((line) => line.includes(text))
    .map((line) => ({ pid: Number.parseInt(line, 10), args: line }));
}

async function serverPid(store: string): Promise<number> {
  const server = (await processesWith(store)).find(({ args }) => args.includes('nats-server.conf'));
  if (server === undefined) throw new Error(`no server process has its store in ${store}`);
  return server.pid;
}

describe('up', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'up drains on %s, exits 0 and leaves no server behind',
    async (signal) => {
      const own = await startUp();
      expect(await serverPid(own.store)).toBeGreaterThan(0);
      own.signal(signal);
      expect(await own.exited).toEqual({ code: 0, signal: null });
      expect(own.stderr()).toBe('');
      expect(await processesWith(own.store)).toEqual([]);
      expect(await portProblem(own.port)).toBeUndefined();
      await own.stop();
    },
  );

  const missing = PTY_MISSING === undefined ? '' : ` (skipped: ${PTY_MISSING})`;
  it.skipIf(missing !== '')(
    `up writes lines for people on a terminal, and leaves no server behind when it is closed${missing}`,
    async () => {
      const [port, store] = [await freePort('127.0.0.1'), join(folder, 'closed')];
      const env = { THROUGHLINE_LOG_LEVEL: 'debug' };
      await using terminal = await onTerminal(['up', '--port', `${port}`, '--store', store], env);
      await terminal.shows('throughline ready');
      expect(terminal.screen()).toContain('-- extractor: service started');
      expect(terminal.screen()).not.toContain('{"level"');
      terminal.hangUp();
      await soon(async () => expect(await processesWith(store)).toEqual([]));
    },
  );

  it('up ends with an error when its server dies', async () => {
    const own = await startUp();
    process.kill(await serverPid(own.store), 'SIGKILL');
    expect(await own.exited).toEqual({ code: 1, signal: null });
    expect(own.stderr()).toMatch(/the NATS server ended \(SIGKILL\): see /);
    await own.stop();
  });
});

describe('the command line', () => {
  it('the command line takes the server before the command as well as after it', async () => {
    const nobody = ['--nats', 'nats://127.0.0.1:2'];
    const before = await cli([...nobody, 'session', 'ls']);
    expect(before).toMatchObject({ code: 1, stderr: expect.stringContaining('nats://127.0.0.1:2') });
    expect(await cli(['session', 'ls', ...nobody])).toEqual(before);
  });

  it('up with a server in NATS_URL that does not answer says who starts that one', async () => {
    const env = { NATS_URL: `nats://${NOBODY}` };
    const failed = await cli(['up'], { env });
    const way = 'start that server, or unset NATS_URL so that "throughline up" starts one';
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toContain(`NATS_URL names it: ${way}`);
    expect(failed.stderr).not.toContain('or name another');
  });

  it.each([
    ['publish', ['publish', 'implementer', '-s', 'x', '--timeout', '600ms']],
    ['prompt', ['prompt', '-s', 'x', '-t', '1', '-p', 'x']],
    ['admin serve', ['admin', 'serve']],
    ['up', ['up']],
  ])('%s exits 1 and names the URL when no server answers', async (_name, args) => {
    const url = `nats://${NOBODY}`;
    const failed = await cli(['--nats', url, ...args], {
      input: JSON.stringify(implemented('1')),
      env: { THROUGHLINE_LOG_LEVEL: 'info' },
    });
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toMatch(
      new RegExp(
        `^(-- no answer yet.*\\n)?throughline: no NATS server answers at ${url}.*throughline up.*\\n$`,
      ),
    );
  });
});
