import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { VERSION } from '../../src/version.js';
import { startNode } from '../support/cli.js';
import { NOBODY } from '../support/nobody.js';
import { folderOfFile } from '../support/of-file.js';
import { startSystem } from '../support/system.js';
import { composeFile } from './compose.js';
import { buildImage, type Image, runIn } from './image.js';

/** What `docker build` makes, made in directories: there is not an engine on every machine that tests run on. */

const root = fileURLToPath(new URL('../../', import.meta.url));
const { services } = await composeFile();

const folder = await folderOfFile();
let image: Image;
beforeAll(async () => {
  image = await buildImage(root, join(folder, 'stages'));
});

/** How a command in the image ended. */
async function ran(command: readonly string[] | undefined, env: Record<string, string> = {}) {
  if (command === undefined) throw new Error('docker-compose.yml gives no command');
  return runIn(image, command, env).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      stdout,
      stderr,
    }),
  );
}

describe('the image', () => {
  it('the image has throughline on its PATH', async () => {
    expect(await ran(['throughline', '--version'])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
  });

  it('the image does not run as root', () => {
    expect(image.user).toBe('node');
  });

  it('the image holds the program, its manifest and what it depends on, and nothing else', async () => {
    expect((await readdir(join(image.root, image.workdir))).sort()).toEqual([
      'dist',
      'node_modules',
      'package.json',
    ]);
    const names = await readdir(join(image.root, image.workdir, 'dist'), {
      recursive: true,
      withFileTypes: true,
    });
    const files = names.filter((entry) => entry.isFile()).map(({ name }) => name);
    expect(files).toContain('bin.cjs');
    // The page of the inspector, the completions and the word vectors are more than scripts.
    const others = files
      .filter((name) => !/\.c?js$/.test(name))
      .map((name) => name.replace(/-[\w-]+\.css$/, '.css'));
    const completions = ['completion.bash', 'completion.fish', 'completion.zsh'];
    expect(others.sort()).toEqual([
      'LICENSE.txt',
      'LICENSES.txt',
      'LICENSES.txt',
      'app.css',
      ...completions,
      'index.html',
      'word-vectors.bin',
    ]);
  });

  it('the image holds no package that only development needs', async () => {
    const lock = z
      .object({ packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })) })
      .parse(JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')));
    const installed = await installedPackages();
    expect(installed).toContain('node_modules/nats');
    expect(
      installed.filter((path) => lock.packages[path]?.dev !== undefined || !(path in lock.packages)),
    ).toEqual([]);
  });

  it('the image serves, by the command that it is started with', async () => {
    await using system = await startSystem({ only: [] });
    const [name = '', ...args] = image.command;
    const program = join(image.root, 'usr/local/bin', name);
    await using running = await startNode([program, ...args], { NATS_URL: system.url });
    expect(running.readyLine).toMatch(/^throughline ready /);
    const health = await ran(services.throughline?.healthcheck?.test?.slice(1), { NATS_URL: system.url });
    expect(health).toMatchObject({ code: 0, stderr: '' });
    expect(health.stdout).toMatch(/^(?:ok {4}service [a-z-]+: 1 instance answers\n)+$/);
  });

  async function installedPackages(): Promise<string[]> {
    const modules = join(image.root, image.workdir, 'node_modules');
    const manifests = await readdir(modules, { recursive: true });
    return manifests
      .filter((path) => /^(.*node_modules\/)?(@[^/]+\/)?[^/@]+\/package\.json$/.test(path))
      .map((path) => `node_modules/${dirname(path)}`);
  }
});

describe('the commands of docker-compose.yml, in the image', () => {
  it('the compose health checks in the image report a missing server and missing services, in one line each', async () => {
    const test = services.throughline?.healthcheck?.test?.slice(1);
    const nobody = await ran(test, { NATS_URL: `nats://${NOBODY}` });
    expect(nobody).toMatchObject({ code: 1, stdout: '' });
    expect(nobody.stderr).toMatch(/^throughline: no NATS server answers at .*\n$/);
    await using system = await startSystem({ only: ['extractor', 'compiler', 'tools', 'keeper'] });
    const { code, stdout, stderr } = await ran(test, { NATS_URL: system.url });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout.split('\n').filter((line) => line.startsWith('fail'))).toEqual([
      `fail  service learnings: no instance answers on ${hostname()}`,
    ]);
  });

  it('the compose settings check in the image works without a server, and says in one line what is wrong', async () => {
    const command = services.settings?.command;
    expect(await ran(command)).toEqual({ code: 0, stdout: 'the settings are valid\n', stderr: '' });
    expect(await ran(command, { THROUGHLINE_LOG_LEVEL: 'loud' })).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^throughline: THROUGHLINE_LOG_LEVEL is "loud": use one of .*\n$/),
    });
  });
});
