import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkInstall, nodeOf, packedInto } from '../../scripts/check-install.mjs';
import { messageOf } from '../../src/contracts/errors.js';

/** Each version of Node.js that people have: the package installed globally, and the quick start in an empty directory. */

let folder: string;
let tarball: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'throughline-quick-start-'));
  tarball = await packedInto(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

it.for(['20', '22', '24'])(
  'the quick start gives what the README says with Node.js %s',
  async (version, { skip }) => {
    const node = await nodeOf(version, folder).catch((fault: unknown) =>
      skip(`npm cannot install Node.js ${version}: ${messageOf(fault)}`),
    );
    const found = await checkInstall(node, tarball, join(folder, version));
    expect(found.version).toMatch(new RegExp(`^v${version}\\.`));
  },
);
