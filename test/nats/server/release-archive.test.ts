import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { findNatsServer } from '../../../src/nats/server/find-server.js';
import { NATS_SERVER_PIN, releaseName } from '../../../src/nats/server/server-version.js';
import { type FakeMachine, fakeMachine, serverOfVersion } from './fake-machine.js';

const TARGET = 'linux-amd64';

/** Packs a release archive like GitHub's, with a script instead of the server. */
async function packRelease(machine: FakeMachine): Promise<Buffer> {
  const folder = releaseName(TARGET);
  await machine.program(`../release/${folder}/nats-server`, serverOfVersion(NATS_SERVER_PIN.version));
  const archive = join(machine.root, 'release.tar.gz');
  await promisify(execFile)('tar', ['-czf', archive, '-C', join(machine.root, 'release'), folder]);
  return readFile(archive);
}

async function serve(path: string, body: Buffer): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    response.statusCode = request.url === path ? 200 : 404;
    response.end(request.url === path ? body : 'no');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('the release archive', () => {
  it('the release archive is installed into the cache when its SHA-256 is the pinned one, before go is asked', async () => {
    await using machine = await fakeMachine();
    await machine.borrow('tar');
    await machine.program('go', 'exit 1');
    const archive = await packRelease(machine);
    await using site = await serve(`/${releaseName(TARGET)}.tar.gz`, archive);
    const sha256 = createHash('sha256').update(archive).digest('hex');
    const options = { ...machine.options, releaseBaseUrl: site.url, releaseChecksums: { [TARGET]: sha256 } };

    const found = await findNatsServer(options);
    expect(found).toMatchObject({
      version: NATS_SERVER_PIN.version,
      foundBy: 'release archive',
    });
    expect(machine.lines).toEqual([`downloading nats-server ${NATS_SERVER_PIN.version} for ${TARGET}`]);
    expect(await findNatsServer(options)).toEqual({ ...found, foundBy: 'cache' });
  });

  it('the release archive is refused when its SHA-256 is another, and leaves nothing in the cache', async () => {
    await using machine = await fakeMachine();
    await machine.borrow('tar');
    await using site = await serve(`/${releaseName(TARGET)}.tar.gz`, await packRelease(machine));
    const options = { ...machine.options, releaseBaseUrl: site.url };
    const pinned = NATS_SERVER_PIN.releaseChecksums[TARGET];
    await expect(findNatsServer(options)).rejects.toThrow(
      new RegExp(`has the SHA-256 [0-9a-f]{64}, not ${pinned}`),
    );
    await expect(findNatsServer(options)).rejects.toMatchObject({ code: 'server_missing' });
  });

  it('the release download reports the status when the site does not have the archive', async () => {
    await using machine = await fakeMachine();
    await mkdir(machine.options.cacheDir);
    await using site = await serve('/other', Buffer.from(''));
    const options = { ...machine.options, releaseBaseUrl: site.url };
    await expect(findNatsServer(options)).rejects.toThrow(/release archive: cannot download .*: status 404/);
  });
});
