import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NATS_SERVER_PIN } from '../../../src/nats/server/server-pin.js';
import { NATS_CLI_MODULE, NATS_CLI_VERSION } from '../../support/nats-cli.js';

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
