import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkInstall, nodeOf } from '../../scripts/check-install.mjs';
import { packedInto } from '../../scripts/pack.mjs';
import { messageOf } from '../../src/contracts/errors.js';

/** The oldest and the newest Node.js that is supported, or those that THROUGHLINE_TEST_NODES names: the demo by npx, the package installed globally, and every command of the README in an empty directory. */

let folder: string;
let tarball: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'throughline-quick-start-'));
  tarball = await packedInto(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

const VERSIONS = (process.env.THROUGHLINE_TEST_NODES ?? '20,24').split(',');

it.for(VERSIONS)(
  'the commands of the README do what it says, from the packed tarball, with Node.js %s',
  async (version, { skip }) => {
    const node = await nodeOf(version, folder).catch((fault: unknown) =>
      skip(`npm cannot install Node.js ${version}: ${messageOf(fault)}`),
    );
    const found = await checkInstall(node, tarball, join(folder, version));
    expect(found.version).toMatch(new RegExp(`^v${version}\\.`));
  },
);
