import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkInstall, nodeOf } from '../../scripts/check-install.mjs';
import { packedInto } from '../../scripts/pack.mjs';
import { messageOf } from '../../src/contracts/errors.js';
import { folderOfFile } from '../support/of-file.js';

/** The oldest and the newest Node.js that is supported, or those that THROUGHLINE_TEST_NODES names: the demo by npx, the package installed globally, and every command of the README in an empty directory. */

const folder = await folderOfFile();
const tarball = await packedInto(folder);

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
