import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  isSupportedServer,
  NATS_SERVER_PIN,
  parseServerVersion,
  requireSupportedServer,
} from '../../../src/nats/server/server-version.js';
import { NATS_CLI_MODULE, NATS_CLI_VERSION } from '../../support/nats-cli.js';

describe('parseServerVersion', () => {
  it.each([
    ['nats-server: v2.15.0\n', '2.15.0'],
    ['2.15.0-RC.1', '2.15.0-RC.1'],
    ['v2.9.10', '2.9.10'],
    ['nats-server: v2.10.7-beta', '2.10.7-beta'],
  ])('the version parser reads %j as %s', (text, expected) => {
    expect(parseServerVersion(text)).toBe(expected);
  });

  it.each(['', 'nats-server', 'v2.15', 'version two'])(
    'the version parser finds no version in %j',
    (text) => {
      expect(parseServerVersion(text)).toBeUndefined();
    },
  );
});

describe('requireSupportedServer', () => {
  it('the version check accepts the minimum and the pinned version', () => {
    requireSupportedServer(NATS_SERVER_PIN.minimum, 'nats://x');
    requireSupportedServer(NATS_SERVER_PIN.version, 'nats://x');
    for (const newer of ['2.12.1', '2.100.0', '10.0.0', '2.13.0-RC.1'])
      requireSupportedServer(newer, 'nats://x');
    expect(isSupportedServer('2.12.0-RC.1')).toBe(false);
  });

  it.each(['2.11.9', '2.9.10', 'unknown'])(
    'the version check refuses %s, naming the found and the needed version',
    (found) => {
      expect(() => requireSupportedServer(found, 'nats://x:4222')).toThrowError(
        expect.objectContaining({
          code: 'server_unsupported',
          message: `nats://x:4222 is nats-server ${found}: 2.12.0 or newer is needed`,
        }),
      );
    },
  );
});

const read = (name: string) => readFile(new URL(`../../../${name}`, import.meta.url), 'utf8');
const imageVersions = (text: string) =>
  Array.from(text.matchAll(/\bnats:(\d+\.\d+\.\d+[^\s"']*)/g), ([, version]) =>
    version?.replace(/-alpine$/, ''),
  );

describe('the pinned versions', () => {
  it('the pinned versions are the ones that docker-compose.yml runs', async () => {
    const versions = imageVersions(await read('docker-compose.yml'));
    expect(versions.length).toBeGreaterThan(0);
    expect(new Set(versions)).toEqual(new Set([NATS_SERVER_PIN.version]));
  });

  it('the pinned versions are the ones that the Dockerfile names, if it names any', async () => {
    for (const version of imageVersions(await read('Dockerfile')))
      expect(version).toBe(NATS_SERVER_PIN.version);
  });

  it('the pinned versions are the ones of the nats command line module', async () => {
    const module = await readFile(join(NATS_CLI_MODULE, 'go.mod'), 'utf8');
    expect(module).toContain(`require github.com/nats-io/natscli v${NATS_CLI_VERSION}\n`);
  });
});
