import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../../src/contracts/errors.js';
import { findNatsServer } from '../../../src/nats/server/find-server.js';
import { NATS_SERVER_PIN } from '../../../src/nats/server/server-version.js';
import { fakeMachine, serverOfVersion } from './fake-machine.js';

const PINNED = NATS_SERVER_PIN.version;
const CACHED = `../cache/nats-server-${PINNED}/nats-server`;
/** Acts as Go: installs a server of a version, and logs its arguments. */
const goThatInstalls = (version: string) => `
  echo "$* CGO_ENABLED=$CGO_ENABLED GOOS=$GOOS" >> "$GO_LOG"
  printf '#!/bin/sh\\n${serverOfVersion(version)}\\n' > "$GOBIN/nats-server"
  /bin/chmod +x "$GOBIN/nats-server"`;

describe('NATS_SERVER_BIN', () => {
  it('NATS_SERVER_BIN comes before every other place', async () => {
    await using machine = await fakeMachine();
    await machine.program('nats-server', serverOfVersion('2.14.0'));
    const path = await machine.program('../opt/my-nats', serverOfVersion('2.13.1'));
    const env = { ...machine.options.env, NATS_SERVER_BIN: path };
    const found = await findNatsServer({ ...machine.options, env });
    expect(found).toEqual({ path, version: '2.13.1', foundBy: 'NATS_SERVER_BIN' });
  });

  it('NATS_SERVER_BIN ends the search with its name and value when it does not work', async () => {
    await using machine = await fakeMachine({ env: { NATS_SERVER_BIN: '/nowhere/nats-server' } });
    await expect(findNatsServer(machine.options)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(
        'NATS_SERVER_BIN=/nowhere/nats-server is not a nats-server that runs (not found)',
      ),
    });
  });

  it('NATS_SERVER_BIN ends the search when its server is too old', async () => {
    await using machine = await fakeMachine();
    const path = await machine.program('../old', serverOfVersion('2.9.10'));
    const env = { ...machine.options.env, NATS_SERVER_BIN: path };
    await expect(findNatsServer({ ...machine.options, env })).rejects.toMatchObject({
      code: 'server_unsupported',
      message: `NATS_SERVER_BIN=${path} is nats-server 2.9.10: 2.12.0 or newer is needed`,
    });
  });
});

describe('the search', () => {
  it('the search takes nats-server from PATH when it is new enough, before the cache', async () => {
    await using machine = await fakeMachine();
    const path = await machine.program('nats-server', serverOfVersion('2.12.0'));
    await machine.program(CACHED, serverOfVersion(PINNED));
    const found = await findNatsServer(machine.options);
    expect(found).toEqual({ path, version: '2.12.0', foundBy: 'PATH' });
    expect(machine.lines).toEqual([]);
  });

  it('the search notes an old server on PATH, leaves it alone, and uses the cached one', async () => {
    await using machine = await fakeMachine();
    const old = await machine.program('nats-server', serverOfVersion('2.9.10'));
    const path = await machine.program(CACHED, serverOfVersion(PINNED));
    const found = await findNatsServer(machine.options);
    expect(found).toEqual({ path, version: PINNED, foundBy: 'cache' });
    expect(machine.lines).toEqual([`note: ${old} is 2.9.10, and 2.12.0 or newer is needed; it is not used`]);
  });

  it('the search builds with go, says so, and finds the result in the cache the next time', async () => {
    await using machine = await fakeMachine();
    const log = join(machine.root, 'go.log');
    const options = { ...machine.options, env: { ...machine.options.env, GO_LOG: log, GOOS: 'plan9' } };
    await machine.program('go', goThatInstalls(PINNED));
    const path = join(machine.options.cacheDir, `nats-server-${PINNED}`, 'nats-server');

    const first = await findNatsServer(options);
    expect(first).toEqual({ path, version: PINNED, foundBy: 'go install' });
    expect(machine.lines).toEqual([
      `downloading nats-server ${PINNED} for linux-amd64`,
      expect.stringMatching(/^note: cannot download http:.*; trying go install$/),
      `building nats-server ${PINNED} with Go, which takes a minute or two`,
    ]);
    expect(await readFile(log, 'utf8')).toBe(
      `install github.com/nats-io/nats-server/v2@v${PINNED} CGO_ENABLED=0 GOOS=\n`,
    );
    expect(await findNatsServer(options)).toEqual({ ...first, foundBy: 'cache' });
  });

  it('the search replaces a damaged server in the cache', async () => {
    await using machine = await fakeMachine({ env: { GO_LOG: '/dev/null' } });
    await machine.program(CACHED, 'exit 3');
    await machine.program('go', goThatInstalls(PINNED));
    expect(await findNatsServer(machine.options)).toMatchObject({ foundBy: 'go install', version: PINNED });
    expect(await findNatsServer(machine.options)).toMatchObject({ foundBy: 'cache' });
  });

  it('parallel searches install without harm, and leave nothing but the server', async () => {
    await using machine = await fakeMachine({ env: { GO_LOG: '/dev/null' } });
    await machine.program('go', goThatInstalls(PINNED));
    const found = await Promise.all([1, 2, 3].map(() => findNatsServer(machine.options)));
    expect(new Set(found.map((source) => source.path)).size).toBe(1);
    expect(await readdir(join(machine.options.cacheDir, `nats-server-${PINNED}`))).toEqual(['nats-server']);
  });

  it('the search never caches a server of another version', async () => {
    await using machine = await fakeMachine({ env: { GO_LOG: '/dev/null' } });
    await machine.program('go', goThatInstalls('2.14.0'));
    await expect(findNatsServer(machine.options)).rejects.toThrow(
      `go install: installed 2.14.0, not ${PINNED}`,
    );
    expect(await readdir(join(machine.options.cacheDir, `nats-server-${PINNED}`))).toEqual([]);
  });
});

describe('when there is no server to be had', () => {
  it('the search lists every place with its reason, and what to install, when it finds no server', async () => {
    await using machine = await fakeMachine();
    await machine.program('nats-server', serverOfVersion('2.9.10'));
    await machine.program('go', 'echo "go: no network" >&2; exit 1');
    const fault = await findNatsServer(machine.options).catch((thrown: unknown) => thrown);
    expect(fault).toMatchObject({ code: 'server_missing' });
    const message = messageOf(fault);
    for (const part of [
      '- NATS_SERVER_BIN: not set',
      '2.9.10, and 2.12.0 or newer is needed',
      `- nats-server ${PINNED} in the cache: ${machine.options.cacheDir}`,
      '- release archive: cannot download http://127.0.0.1:9/nats-server-v2.15.0-linux-amd64.tar.gz',
      '- go install: go: no network',
      'brew install nats-server',
      'Debian, Ubuntu',
      `nats:${PINNED} -js`,
      'NATS_URL=',
    ]) {
      expect(message).toContain(part);
    }
  });

  it('the search downloads nothing for a platform whose archive has no pinned checksum', async () => {
    await using machine = await fakeMachine({ platform: 'win32', arch: 'arm64' });
    await expect(findNatsServer(machine.options)).rejects.toThrow(
      'release archive: no checksum is pinned for win32-arm64',
    );
    expect(machine.lines).toEqual([]);
  });
});
