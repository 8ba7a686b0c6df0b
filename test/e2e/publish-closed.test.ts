import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli } from '../support/cli.js';
import { startGuardedSystem } from '../support/guarded-system.js';
import { implemented, newSession, soon, systemOfFile } from '../support/system.js';

/** Results that are published for a session that takes none. */

const system = await systemOfFile();
const input = JSON.stringify(implemented('2'));
const publish = (session: string, ...more: string[]) =>
  cli(['publish', 'implementer', '--session', session, ...more], {
    env: { NATS_URL: system.url },
    input,
  });

async function withResult(name: string) {
  const session = newSession(name);
  await system.client.publishImplementer(session, implemented('1'), { wait: true });
  return session;
}

async function renamed(name: string): Promise<readonly [before: string, now: string]> {
  const [before, now] = [await withResult(name), newSession(name)];
  await soon(async () =>
    expect(await system.client.tools.sessionRename({ session: before, to: now })).toMatchObject({
      state: 'done',
    }),
  );
  return [before, now];
}

describe('throughline publish for a session that takes no results', () => {
  it('publish stores a result of an archived session, and says that it will be rejected and what to do', async () => {
    const session = await withResult('shelved');
    await system.client.tools.sessionArchive({ session });
    const stored = await publish(session);
    expect(stored).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\n$/) });
    expect(stored.stderr).toBe(
      `-- session ${session} is archived, so this result will be rejected. Let it take results again with "throughline session reopen ${session}", then "throughline rejected retry" sends this one again\n`,
    );
    const shown = await publish(session, '--json');
    expect(JSON.parse(shown.stdout)).toEqual({
      sequence: expect.any(Number),
      session: { name: session, state: 'archived' },
    });
    await system.client.tools.sessionReopen({ session });
    expect(await publish(session)).toMatchObject({ code: 0, stderr: '' });
  });

  it('publish of a name that a session had before names the new one and the command for it', async () => {
    const [before, now] = await renamed('moved');
    const command = `throughline publish implementer --session ${now}`;
    expect(await publish(before)).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\n$/),
      stderr: `-- session ${before} was renamed to ${now}, so this result will be rejected: publish it there with "${command}"\n`,
    });
    expect(JSON.parse((await publish(before, '--json')).stdout)).toMatchObject({
      session: { name: before, state: 'renamed', renamedTo: now },
    });
    const waited = await publish(before, '--wait');
    expect(waited.code).toBe(1);
    expect(waited.stdout).toMatch(
      new RegExp(
        `^dispatch \\d+ rejected: session ${before} was renamed to ${now} \\(session_renamed\\)\nto fix it: publish it with "${command} --wait"\n$`,
      ),
    );
    expect(waited.stderr).toBe(
      `-- "throughline rejected ls --session ${before}" lists it; "throughline rejected fix ID --session ${now}" sends it there, too\n`,
    );
    const { result }: { result: unknown } = JSON.parse((await publish(before, '--wait', '--json')).stdout);
    expect(result).toMatchObject({ status: 'rejected', code: 'session_renamed' });
    expect(await publish(now, '--wait')).toMatchObject({ code: 0, stderr: '' });
  });

  it('a result that was stored under its id before the session was renamed is not said to be rejected', async () => {
    const session = await withResult('kept');
    const id = `${session}:once`;
    expect(await publish(session, '--id', id, '--wait')).toMatchObject({ code: 0 });
    const now = newSession('kept');
    await soon(async () =>
      expect(await system.client.tools.sessionRename({ session, to: now })).toMatchObject({ state: 'done' }),
    );
    const again = await publish(session, '--id', id);
    expect(again.stderr).toMatch(
      /^-- stored before under this id, as dispatch \d+: nothing new was stored\n$/,
    );
    const waited = await publish(session, '--id', id, '--wait');
    expect(waited).toMatchObject({ code: 1, stdout: '' });
    expect(waited.stderr).toMatch(/stored before under this id, as dispatch \d+, .*was renamed to/);
  });

  it('publish tells it to a publisher of that session alone, and says nothing to a user who may not ask', async () => {
    await using guarded = await startGuardedSystem([
      { name: 'publisher', role: 'publisher', args: ['--session', 'shelved'] },
    ]);
    await guarded.client.publishImplementer('shelved', implemented('1'), { wait: true });
    await guarded.client.tools.sessionArchive({ session: 'shelved' });
    const file = join(await mkdtemp(join(tmpdir(), 'throughline-')), 'result.json');
    await writeFile(file, input);
    const words = ['publish', 'implementer', '--session', 'shelved', '--file', file];
    expect(await guarded.as('publisher', ...words)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('session shelved is archived, so this result will be rejected'),
    });
    // It may publish results, and answers tools, but may not ask them.
    const stored = await guarded.as('worker', ...words);
    expect(stored).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\n$/), stderr: '' });
  });
});
