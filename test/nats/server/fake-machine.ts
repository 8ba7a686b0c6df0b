import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { executablesOnPath, type FindOptions } from '../../../src/nats/server/install-server.js';
import { newFolder } from '../../support/of-file.js';

/** A machine whose PATH has only the programs added by a test. */
export interface FakeMachine extends AsyncDisposable {
  readonly root: string;
  /** Search options for this machine; `progress` collects into `lines`. */
  readonly options: FindOptions;
  readonly lines: readonly string[];
  /** Adds a shell script to PATH, or at another path under the root, and returns its path. */
  program(name: string, body: string): Promise<string>;
  /** Links a program of the real machine under its own name. */
  borrow(name: string): Promise<void>;
}

export function serverOfVersion(version: string): string {
  return `echo "nats-server: v${version}"`;
}

/** Creates a fake machine, a Linux on amd64 without network. Removed on disposal. */
export async function fakeMachine(overrides: Partial<FindOptions> = {}): Promise<FakeMachine> {
  const folder = await newFolder();
  const root = folder.path;
  const bin = join(root, 'bin');
  await mkdir(bin);
  const lines: string[] = [];
  const options: FindOptions = {
    cacheDir: join(root, 'cache'),
    platform: 'linux',
    arch: 'x64',
    progress: (line) => lines.push(line),
    // Port 9 is closed on any test machine: no test reaches the network.
    releaseBaseUrl: 'http://127.0.0.1:9',
    ...overrides,
    env: { PATH: bin, ...overrides.env },
  };
  return {
    root,
    options,
    lines,
    async program(name, body) {
      const path = join(bin, name);
      await mkdir(join(path, '..'), { recursive: true });
      await writeFile(path, `#!/bin/sh\n${body}\n`);
      await chmod(path, 0o755);
      return path;
    },
    async borrow(name) {
      const [real] = await executablesOnPath(name, process.env);
      if (real === undefined) throw new Error(`this test needs ${name}`);
      await symlink(real, join(bin, name));
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
