import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli } from '../support/cli.js';
import { startGuardedSystem } from '../support/guarded-system.js';
import { implemented, newSession, publishWire, systemOfFile } from '../support/system.js';

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
  await publishWire(system.client, 'implementer', session, implemented('1'), { wait: true });
  return session;
}

describe('throughline publish for a session that takes no results', () => {
  it('publish stores a result of an archived session, and says that it will be rejected and what to do', async () => {
    const session = await withResult('shelved');
    await system.client.tools.sessionArchive({ session });
    const stored = await publish(session);
    expect(stored).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\n$/) });
    expect(stored.stderr).toBe(
      `-- session ${session} is archived, so this result will be rejected. Let it take results again with "throughline session reopen ${session}", then "throughline result retry" sends this one again\n`,
    );
    const shown = await publish(session, '--json');
    expect(JSON.parse(shown.stdout)).toEqual({
      sequence: expect.any(Number),
      session: { name: session, state: 'archived' },
    });
    await system.client.tools.sessionReopen({ session });
    expect(await publish(session)).toMatchObject({ code: 0, stderr: '' });
  });

  it('publish tells it to a publisher of that session alone, and says nothing to a user who may not ask', async () => {
    await using guarded = await startGuardedSystem([
      { name: 'publisher', role: 'publisher', args: ['--session', 'shelved'] },
    ]);
    await publishWire(guarded.client, 'implementer', 'shelved', implemented('1'), { wait: true });
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
