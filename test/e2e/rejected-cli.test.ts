import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import type { Token } from '../../src/contracts/names.js';
import type { RejectedEntry } from '../../src/engine/ports/dispatch-source.js';
import { connectThroughline } from '../../src/index.js';
import { allRejected } from '../support/all-rejected.js';
import { type CliResult, startUp } from '../support/cli.js';
import { ofFile } from '../support/of-file.js';
import { implemented, newSession, openPorts, soon } from '../support/system.js';

/** Rejected results at the command line: seen when they are published, listed, corrected, removed. */

const WRONG = '{"task_id":"1","status":"perhaps","summary":"half of it"}';
const GOOD = JSON.stringify(implemented('1', { files_modified: ['src/a.ts'] }));

const up = await ofFile(startUp());
const client = await ofFile(connectThroughline({ url: up.url }));
const ports = await ofFile(openPorts({ url: up.url, config: loadConfig({}) }));

function resultOf(session: string, dispatch: number | string) {
  return client.tools.dispatchShow({ session, dispatch: Number(dispatch) });
}

function publish(session: string, input: string, ...more: string[]): Promise<CliResult> {
  return up.cli(['publish', 'implementer', '-s', session, '--no-check', '--wait', ...more], { input });
}

function rejected(...args: string[]): Promise<CliResult> {
  return up.cli(['result', ...args]);
}

function listed(session: Token): Promise<RejectedEntry[]> {
  return allRejected(ports.rejected, { session });
}

/** Publishes what cannot be read; gives its number in the list, where it comes a moment after the event. */
async function rejectOne(session: Token, body = WRONG): Promise<string> {
  const { sequence } = await client.publishText(session, 'implementer', body);
  return soon(async () => {
    const entry = (await listed(session)).find((each) => each.sequence === sequence);
    expect(entry).toBeDefined();
    return String(entry?.id);
  });
}

describe('publish --id', () => {
  const publishing = (session: string, role: string, result: object, ...more: string[]) =>
    up.cli(['publish', role, '-s', session, '--no-check', ...more], { input: JSON.stringify(result) });

  it('publish --id says that nothing new was stored where its id was used before', async () => {
    const session = newSession('taken');
    const id = `${session}:k1`;
    const first = await publishing(session, 'implementer', implemented('1'), '--id', id);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const dispatch = first.stdout.trim();
    const again = await publishing(session, 'implementer', implemented('1'), '--id', id);
    const said = `-- stored before under this id, as result ${dispatch}: nothing new was stored\n`;
    expect(again).toMatchObject({ code: 0, stdout: first.stdout, stderr: said });
    const waited = await publishing(session, 'implementer', implemented('1'), '--id', id, '--wait', '--json');
    expect(waited).toMatchObject({ code: 0, stderr: said });
    expect(JSON.parse(waited.stdout)).toMatchObject({ duplicate: true, result: { status: 'recorded' } });
  });

  it('publish --wait says that the id of a rejected result is taken', async () => {
    const session = newSession('taken');
    const more = ['--id', `${session}:k3`, '--wait'];
    const wrong = await publish(session, WRONG, ...more);
    const [, dispatch] = /^result (\d+) rejected/.exec(wrong.stdout) ?? [];
    const mended = await publish(session, GOOD, ...more);
    expect(mended.code).toBe(1);
    expect(mended.stderr).toContain(
      `-- stored before as result ${dispatch}, which was rejected; give the corrected result an id of its own\n`,
    );
  });
});

describe('publish --wait', () => {
  it('publish --wait lists the facts of a result', async () => {
    const session = newSession('wait');
    const text = await publish(session, GOOD);
    expect(text).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        /^result \d+ recorded: implementer, task 1, 3 facts\n- task:1 completed_with completed\n- task:1 summary did 1\n- src\/a\.ts modified_by task:1\n$/,
      ),
    });
  });

  it('result show with a session shows what a result that counted has become', async () => {
    const session = newSession('shown');
    const { stdout } = await publish(session, GOOD);
    const [, number = ''] = /^result (\d+) recorded/.exec(stdout) ?? [];
    expect(await rejected('show', number, '-s', session)).toEqual({ code: 0, stderr: '', stdout });
    const json = await rejected('show', number, '-s', session, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'recorded', dispatch: Number(number) });
    expect((await rejected('show', '999999')).stderr).toContain(
      '"throughline result show 999999 -s SESSION"',
    );
  });

  it('publish says on standard error what was repaired, and with --wait in its answer', async () => {
    const loose = '{"task_id":"1","status":"completed","files_modified":"src/a.ts"}';
    const args = ['publish', 'implementer', '-s', newSession('wait')];
    expect(await up.cli(args, { input: loose })).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\n$/),
      stderr: '-- read with 1 repair: files_modified: was one value and became a list ("src/a.ts")\n',
    });
    const waited = await up.cli([...args, '--wait'], { input: loose });
    expect(waited.stdout).toContain('read with 1 repair: files_modified');
  });

  it('publish --wait says why a result was rejected, and exits 1', async () => {
    const session = newSession('wait');
    const text = await publish(session, WRONG);
    expect(text).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^result \d+ rejected: status is "perhaps".*\(schema_invalid\)\n/),
    });
    expect(text.stderr).toContain(`"throughline result ls --session ${session}"`);
    const json = await publish(session, WRONG, '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout).result).toMatchObject({
      status: 'rejected',
      code: 'schema_invalid',
      task: '1',
    });
  });
});

describe('what the tools show of a task whose last result could not be read', () => {
  it('status and ledger say it until a result can be read', async () => {
    const session = newSession('shown');
    await publish(session, WRONG);
    const status = await up.cli(['status', '-s', session]);
    expect(status.stdout).toMatch(/^ {2}1 {2}last result \d+ could not be read: schema_invalid: status is/m);
    const ledger = await up.cli(['status', session, '--task', '1', '--json']);
    expect(JSON.parse(ledger.stdout).entries).toMatchObject({
      'ledger.task.unreadable': { role: 'implementer', code: 'schema_invalid' },
    });
    await publish(session, GOOD);
    expect((await up.cli(['status', '-s', session])).stdout).not.toContain('could not be read');
    expect((await up.cli(['status', session, '--task', '1'])).stdout).not.toContain('unreadable');
  });
});

describe('rejected', () => {
  it('result retry publishes what is edited in a file, which is then recorded and no longer listed', async () => {
    const session = newSession('retry');
    const id = await rejectOne(session);
    const { stdout: body } = await rejected('show', id, '--raw');
    expect(body).toBe(WRONG);
    const input = body.replace('perhaps', 'completed').replace('"1"', '"7"');
    const retried = await up.cli(['result', 'retry', id, '--file', '-'], { input });
    expect(retried).toMatchObject({ code: 0, stderr: '' });
    const [, dispatch = ''] = /^\d+ published again as result (\d+)\n$/.exec(retried.stdout) ?? [];
    expect(await resultOf(session, dispatch)).toMatchObject({ status: 'recorded', task: '7' });
    expect(await listed(session)).toEqual([]);
  });

  it('result retry publishes a result as that of the role that it was meant for', async () => {
    const session = newSession('retry');
    const id = await rejectOne(session, '{"task_id":"1","assessment":"approved"}');
    expect((await rejected('show', id)).stderr).toContain('this is a review: publish it as reviewer');
    expect(await listed(session)).toMatchObject([{ meant: 'reviewer' }]);
    const { sequence } = JSON.parse((await rejected('retry', id, '--role', 'reviewer', '--json')).stdout);
    expect(await resultOf(session, sequence)).toMatchObject({ status: 'recorded', role: 'reviewer' });
  });

  it('result retry refuses a correction that cannot be read either, says why, and keeps the result', async () => {
    const session = newSession('retry');
    const id = await rejectOne(session);
    const input = WRONG.replace('perhaps', 'odd');
    expect(await up.cli(['result', 'retry', id, '--file', '-'], { input })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        new RegExp(`^throughline: ${id} still cannot be read as the result of implementer: status is "odd"`),
      ),
    });
    expect(await listed(session)).toHaveLength(1);
  });

  it('result rm and retry go on after a number that is not there, and name it', async () => {
    const session = newSession('rm');
    const [one, two, other] = [await rejectOne(session), await rejectOne(session), await rejectOne(session)];
    const removed = await rejected('rm', one, '999999', two, '--json');
    expect(removed).toEqual({
      code: 3,
      stdout: `{"id":${one}}\n{"id":${two}}\n`,
      stderr: expect.stringContaining('no rejected result has the number 999999: '),
    });
    expect((await listed(session)).map(({ id }) => String(id))).toEqual([other]);
  });

  it('result retry takes one file for one result', async () => {
    expect(await rejected('retry', '1', '2', '--file', '-')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--file goes with one result'),
    });
  });
});
