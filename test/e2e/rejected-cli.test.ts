import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import type { Token } from '../../src/contracts/names.js';
import type { RejectedEntry } from '../../src/engine/ports/rejected-store.js';
import { connectThroughline } from '../../src/index.js';
import type { NatsPorts } from '../../src/nats/open-nats.js';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { allRejected } from '../support/all-rejected.js';
import { type CliResult, startUp, type Up } from '../support/cli.js';
import { doctor } from '../support/doctor.js';
import { implemented, newSession, openPorts, publishWire, reviewed, soon } from '../support/system.js';

/** Rejected results at the command line: seen when they are published, listed, corrected, removed. */

const WRONG = '{"task_id":"1","status":"perhaps","summary":"half of it"}';
const GOOD = JSON.stringify(implemented('1', { files_modified: ['src/a.ts'] }));

let up: Up;
let client: ThroughlineClient;
let ports: NatsPorts;
beforeAll(async () => {
  up = await startUp();
  client = await connectThroughline({ url: up.url });
  ports = await openPorts({ url: up.url, config: loadConfig({}) });
});
afterAll(async () => {
  await Promise.all([client.close(), ports.close()]);
  await up.stop();
});

/** What became of a dispatch. */
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

  it.each([
    ['reviewer', reviewed('2', 'approved')],
    ['implementer', implemented('3')],
  ])(
    'publish --wait fails where the id belongs to a result of another role or task: %s',
    async (role, other) => {
      const session = newSession('taken');
      const id = `${session}:k2`;
      const first = await publishing(session, 'implementer', implemented('2'), '--id', id);
      const refused = await publishing(session, role, other, '--id', id, '--wait');
      const whose = `result ${first.stdout.trim()} (implementer, task 2), which is another result`;
      expect(refused).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `-- the id ${id} belongs to ${whose}: publish this one under an id of its own\n`,
      });
    },
  );

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
  it('publish --wait lists the facts of a result, as text and as JSON', async () => {
    const session = newSession('wait');
    const text = await publish(session, GOOD);
    expect(text).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        /^result \d+ recorded: implementer, task 1, 3 facts\n- task:1 completed_with completed\n- task:1 summary did 1\n- src\/a\.ts modified_by task:1\n$/,
      ),
    });
    const json = await publish(session, GOOD, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      sequence: expect.any(Number),
      result: { status: 'recorded', task: '1', facts: { length: 3 } },
    });
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
    expect(JSON.parse(ledger.stdout)).toMatchObject({
      'ledger.task.unreadable': { role: 'implementer', code: 'schema_invalid' },
    });
    await publish(session, GOOD);
    expect((await up.cli(['status', '-s', session])).stdout).not.toContain('could not be read');
    expect((await up.cli(['status', session, '--task', '1'])).stdout).not.toContain('unreadable');
  });
});

describe('rejected', () => {
  it('result ls shows those of a session and of a role', async () => {
    const [one, other] = [newSession('ls'), newSession('ls')];
    const id = await rejectOne(one);
    await rejectOne(other);
    const ls = async (...args: string[]) =>
      JSON.parse((await rejected('ls', '--json', '-s', one, ...args)).stdout);
    expect(await ls()).toMatchObject([{ id: Number(id), session: one, code: 'schema_invalid' }]);
    expect(await ls('--role', 'reviewer')).toEqual([]);
    expect((await rejected('ls', '--role', 'implementer')).stdout.split('\n').length).toBeGreaterThan(2);
  });

  it.each([
    ['bytes that are not text', Uint8Array.of(0xff, 0xfe, 0, 10, 0xc3, 0x28)],
    ['a text longer than a reply', Buffer.from(`no result ${'ä\u0001'.repeat(150_000)}`)],
  ])('rejected-show gives a body back byte for byte, part by part: %s', async (_, body) => {
    const session = newSession('raw');
    const { sequence } = await client.publishText(session, 'implementer', body);
    const id = await soon(async () => {
      const entry = (await listed(session)).find((each) => each.sequence === sequence);
      expect(entry).toBeDefined();
      return entry?.id ?? 0;
    });
    const parts: Buffer[] = [];
    for (let offset = 0; ; ) {
      const part = await client.tools.rejectedShow({ id, offset });
      parts.push(Buffer.from(part.body, part.encoding));
      if (part.next === undefined) break;
      offset = part.next;
    }
    expect(Buffer.compare(Buffer.concat(parts), Buffer.from(body))).toBe(0);
    await rejected('rm', String(id));
  });

  it('rejected-retry publishes to another session, and keeps what still cannot be read', async () => {
    const [session, meant] = [newSession('retry'), newSession('meant')];
    const id = Number(await rejectOne(session));
    await expect(client.tools.rejectedRetry({ id, body: 'no result' })).rejects.toMatchObject({
      code: 'marker_missing',
      message: expect.stringMatching(`^${id} still cannot be read as the result of implementer: `),
    });
    expect(await listed(session)).toHaveLength(1);
    const { dispatch } = await client.tools.rejectedRetry({ id, toSession: meant, body: GOOD });
    expect(await resultOf(meant, dispatch)).toMatchObject({ status: 'recorded', task: '1' });
    expect(await listed(session)).toEqual([]);
  });

  it('result fix sets fields and publishes the result again, which is then recorded and no longer listed', async () => {
    const session = newSession('fix');
    const id = await rejectOne(session);
    const fixed = await rejected('fix', id, '--set', 'status=completed', '--set', 'task_id=7');
    expect(fixed).toMatchObject({ code: 0, stderr: '' });
    const [, dispatch = ''] = /^\d+ corrected and published as result (\d+)\n$/.exec(fixed.stdout) ?? [];
    expect(await resultOf(session, dispatch)).toMatchObject({ status: 'recorded', task: '7' });
    expect(await listed(session)).toEqual([]);
  });

  it('result fix takes a whole result, from a file or standard input, and the fields are set in it', async () => {
    const session = newSession('fix');
    const id = await rejectOne(session, 'no result');
    const options = ['--file', '-', '--set', 'summary=all of it', '--json'];
    const fixed = await up.cli(['result', 'fix', id, ...options], { input: GOOD });
    const { sequence } = JSON.parse(fixed.stdout);
    expect(await resultOf(session, sequence)).toMatchObject({
      facts: expect.arrayContaining([expect.objectContaining({ relation: 'summary', object: 'all of it' })]),
    });
  });

  it('result fix sends a result to the role and the session that it was meant for', async () => {
    const [session, meant] = [newSession('fix'), newSession('meant')];
    const id = await rejectOne(session, '{"task_id":"1","assessment":"approved"}');
    const command = `publish it with "throughline result fix ${id} --role reviewer"`;
    expect((await rejected('show', id)).stderr).toContain(`this is a review: ${command}`);
    expect(await listed(session)).toMatchObject([{ meant: 'reviewer' }]);
    const fixed = await rejected('fix', id, '--role', 'reviewer', '--session', meant, '--json');
    const { sequence } = JSON.parse(fixed.stdout);
    expect(await resultOf(meant, sequence)).toMatchObject({ status: 'recorded', role: 'reviewer' });
  });

  it('result fix refuses what still cannot be read, says why, and keeps it', async () => {
    const session = newSession('fix');
    const id = await rejectOne(session);
    expect(await rejected('fix', id, '--set', 'status=odd')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        new RegExp(`^throughline: ${id} still cannot be read as the result of implementer: status is "odd"`),
      ),
    });
    expect(await listed(session)).toHaveLength(1);
    const text = await rejectOne(session, 'no result');
    expect(await rejected('fix', text, '--set', 'status=completed')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/has no fields to set, .*: give --file \(marker_missing\)/),
    });
  });

  it.each([['show'], ['fix', '--role', 'implementer'], ['retry'], ['rm']])(
    'result %s says which number a dispatch has',
    async (command, ...more) => {
      const session = newSession('numbers');
      // The list counts from 1 as dispatches do: a dispatch that is not rejected comes first.
      await publishWire(client, 'implementer', session, implemented('1'), { wait: true });
      const id = await rejectOne(session);
      const [entry] = await listed(session);
      const refused = await rejected(command, String(entry?.sequence), ...more);
      expect(refused).toMatchObject({ code: 3, stdout: '' });
      expect(refused.stderr).toContain(
        `no rejected result has the number ${entry?.sequence}; dispatch ${entry?.sequence} is number ${id} in "throughline result ls" (not_found)`,
      );
    },
  );

  it('result rm removes by number, and says which numbers are not there', async () => {
    const session = newSession('rm');
    const [one, other] = [await rejectOne(session), await rejectOne(session)];
    expect(await rejected('rm', one, '999999', '--json')).toEqual({
      code: 3,
      stdout: `{"id":${one}}\n`,
      stderr: expect.stringMatching(
        /^-- 1 rejected result removed\n\{"error":\{"code":"not_found","message":"no rejected result has the number 999999: /,
      ),
    });
    expect((await listed(session)).map(({ id }) => String(id))).toEqual([other]);
  });

  it.each([
    [
      'nothing to correct',
      ['fix', '1'],
      /give --file, --set, --role or --session; "throughline result retry 1"/,
    ],
    ['no field', ['fix', '1', '--set', 'status'], /use field=value/],
    ['nothing to remove', ['rm'], /give either numbers of results or --older-than/],
    ['both numbers and an age', ['rm', '1', '--older-than', '7d'], /give either numbers/],
    ['an odd age', ['rm', '--older-than', 'a week'], /use a number with m, h, d or w, such as 7d/],
    ['a session without an age', ['rm', '1', '-s', 'x'], /--session goes with --older-than/],
  ])('result exits 2 for %s', async (_, args, text) => {
    expect(await rejected(...args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(text),
    });
  });

  it('result rm --older-than removes what is older, of one session or of all, and the doctor is content', async () => {
    const session = newSession('rm');
    await rejectOne(session);
    expect((await rejected('rm', '--older-than', '1w')).stdout).toBe('');
    expect(await listed(session)).toHaveLength(1);
    const check = async () => (await doctor(up.url)).found.find((finding) => finding.check === 'rejected');
    expect(await check()).toMatchObject({ level: 'warn', fix: expect.stringContaining('result fix') });
    const all = await allRejected(ports.rejected);
    expect((await rejected('rm', '--older-than', '0m', '-s', session)).stderr).toBe(
      '-- 1 rejected result removed\n',
    );
    expect(await allRejected(ports.rejected)).toHaveLength(all.length - 1);
    await rejected('rm', '--older-than', '0m');
    expect(await check()).toMatchObject({ level: 'ok', message: 'none' });
  });
});
