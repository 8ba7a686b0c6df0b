import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { messageOf } from '../../src/contracts/errors.js';
import { executableName, executablesOnPath, installIntoCache } from '../../src/nats/server/install-server.js';
import { cacheDirOf } from '../../src/nats/server/server-version.js';
import { cleanEnv } from './cli.js';
import { NATS_CLI_MODULE } from './nats-cli.js';

/** The samples of the pages, run as they stand there. */

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** For each command: an install, a build or a run. */
const TIMEOUT_MS = 90_000;

export async function sampleIn(page: string, language: string): Promise<string> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].filter(([, of]) => of === language);
  const [[, , code] = []] = blocks;
  if (code === undefined || blocks.length > 1) throw new Error(`${page}: not one sample in ${language}`);
  return code;
}

/** A way to run samples of a language, or why there is none on this machine. */
export type Runner =
  | { readonly run: (code: string, url: string) => Promise<string> }
  | { readonly missing: string };

/** Python with the package that the example in Python names. */
export async function pythonRunner(): Promise<Runner> {
  const python = await pythonWith('scripts/examples/python/requirements.txt');
  if ('missing' in python) return python;
  return { run: (code, NATS_URL) => must(python.path, ['-c', code], { ...python.env, NATS_URL }) };
}

/** Python, and the environment in which it has the packages of a requirements.txt: they are kept in the cache. */
export async function pythonWith(
  requirements: string,
): Promise<
  { readonly path: string; readonly env: Readonly<Record<string, string>> } | { readonly missing: string }
> {
  const path = await python3();
  if (path === undefined) return { missing: 'no python3 on PATH' };
  const packages = await packagesFolder(requirements, await packageFiles());
  const fault = await missing(packages, async (folder) => {
    const target = join(folder, 'packages');
    const options = ['--quiet', '--retries', '1', '--target', target, '--requirement', 'requirements.txt'];
    await must(path, ['-m', 'pip', 'install', ...options], {}, join(ROOT, dirname(requirements)));
    return target;
  });
  if (fault !== undefined) return { missing: `${requirements} cannot be installed: ${fault}` };
  return { path, env: { PYTHONPATH: packages } };
}

export async function python3(): Promise<string | undefined> {
  const [path] = await executablesOnPath(executableName('python3', process.platform), process.env);
  return path;
}

/** The files of the package for Python, which the examples in Python need. */
async function packageFiles(): Promise<string[]> {
  const names = await readdir(join(ROOT, 'clients/python/src/throughline_memory'));
  const modules = names.filter((name) => name.endsWith('.py')).sort();
  return [
    'clients/python/pyproject.toml',
    ...modules.map((name) => `clients/python/src/throughline_memory/${name}`),
  ];
}

/** Where the cache keeps the packages that a file pins: another folder for other text, there or in further files. */
export async function packagesFolder(file: string, further: readonly string[] = []): Promise<string> {
  const hash = createHash('sha256');
  for (const each of [file, ...further]) hash.update(await readFile(join(ROOT, each)));
  return join(cacheDirOf(process.env, homedir()), 'samples', hash.digest('hex').slice(0, 16));
}

/** Go with the NATS client that the pinned `nats` command line is built with. */
export async function goRunner(): Promise<Runner> {
  const [go] = await executablesOnPath(executableName('go', process.platform), process.env);
  if (go === undefined) return { missing: 'no go on PATH' };
  const pinned = await readFile(join(NATS_CLI_MODULE, 'go.mod'), 'utf8');
  const [, client] = /(github\.com\/nats-io\/nats\.go v[\d.]+)/.exec(pinned) ?? [];
  const module = `module sample\n\ngo 1.25.0\n\nrequire ${client}\n`;
  const env = { GOFLAGS: '-mod=mod -buildvcs=false', CGO_ENABLED: '0' };
  // What its registry gives, go keeps in a cache of its own.
  const fault = await inFolder(async (folder) => {
    await writeFile(join(folder, 'go.mod'), module);
    await must(go, ['mod', 'download', 'github.com/nats-io/nats.go'], env, folder);
  }).then(
    () => undefined,
    (thrown: unknown) => messageOf(thrown),
  );
  if (fault !== undefined) return { missing: `nats.go cannot be downloaded: ${fault}` };
  return {
    run: (code, NATS_URL) =>
      inFolder(async (folder) => {
        await writeFile(join(folder, 'go.mod'), module);
        await writeFile(join(folder, 'main.go'), code);
        return must(go, ['run', '.'], { ...env, NATS_URL }, folder);
      }),
  };
}

/** TypeScript with the built package: compiled under strict rules, then run. */
export function typescriptRunner(): Exclude<Runner, { readonly missing: string }> {
  return {
    run: (code, NATS_URL) =>
      inFolder(async (folder) => {
        await mkdir(join(folder, 'node_modules'));
        await symlink(ROOT, join(folder, 'node_modules', 'throughline'), 'dir');
        await writeFile(join(folder, 'package.json'), '{"type":"module"}');
        await writeFile(join(folder, 'sample.ts'), code);
        const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
        const rules = ['--strict', '--target', 'es2022', '--lib', 'es2022', '--module', 'nodenext'];
        const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
        await must(tsc, [...rules, ...types, '--skipLibCheck', 'sample.ts'], {}, folder);
        return must(process.execPath, ['sample.js'], { NATS_URL }, folder);
      }),
  };
}

/** Fills a folder of the cache where there is none yet; the reason when that fails. */
export async function missing(
  folder: string,
  fill: (folder: string) => Promise<string>,
): Promise<string | undefined> {
  if (existsSync(folder)) return undefined;
  try {
    await installIntoCache(folder, fill);
    return undefined;
  } catch (fault) {
    return messageOf(fault);
  }
}

export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'throughline-sample-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function must(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = ROOT,
): Promise<string> {
  const { stdout } = await promisify(execFile)(file, args, { env: cleanEnv(env), cwd, timeout: TIMEOUT_MS });
  return stdout;
}
