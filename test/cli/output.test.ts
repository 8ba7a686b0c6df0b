import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { bytes, startNatsPorts } from '../engine/ports/opened.js';
import { allRejected } from '../support/all-rejected.js';
import { BIN, cleanEnv } from '../support/cli.js';
import { afterTest } from '../support/of-file.js';
import { allDealtWith, soon } from '../support/system.js';

/** What happens to a process whose output is no longer read. */

describe('a reader that has seen enough', () => {
  it.each([
    ['help', ['--help']],
    ['an answer', ['admin', 'permissions', '--role', 'operator']],
  ])('a reader that closes the pipe early causes no error in %s', async (_, args) => {
    const child = spawn(process.execPath, [BIN, ...args], {
      env: cleanEnv(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('EPIPE') });
  });

  it('a closed standard error leaves the exit code of a command as it is', async () => {
    const args = [BIN, 'status', 'no.token'];
    const child = spawn(process.execPath, args, { env: cleanEnv(), stdio: ['ignore', 'pipe', 'pipe'] });
    child.stderr.destroy();
    expect(await once(child, 'exit')).toEqual([2, null]);
  });
});

describe('a log that cannot be written', () => {
  const missing = existsSync('/dev/full') ? '' : ' (skipped: there is no /dev/full)';
  it.skipIf(missing !== '')(`a log that cannot be written ends no service${missing}`, async () => {
    const nats = await startNatsPorts();
    const full = await open('/dev/full', 'w');
    const child = spawn(process.execPath, [BIN, 'admin', 'serve', '--only', 'extractor'], {
      env: cleanEnv({ NATS_URL: nats.server.url, THROUGHLINE_LOG_LEVEL: 'warn' }),
      stdio: ['ignore', 'ignore', full.fd],
    });
    const ended = once(child, 'exit');
    afterTest(async () => {
      child.kill('SIGKILL');
      await full.close();
      await nats.close();
    });
    // Each is rejected, with a warning.
    const bodies = ['no', 'result', 'at all'].map(bytes);
    for (const body of bodies) await nats.source.publish('dispatch.demo.reviewer', body);
    await soon(async () => expect(await allRejected(nats.rejected)).toHaveLength(3));
    await allDealtWith(nats);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
