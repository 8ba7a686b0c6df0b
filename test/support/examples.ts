import { copyFile, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../src/contracts/errors.js';
import { executableName, executablesOnPath } from '../../src/nats/server/install-server.js';
import { BIN } from './cli.js';
import { inFolder, missing, must, packagesFolder, pythonWith, ROOT } from './samples.js';

/** The examples of scripts/examples, run as their READMEs say, but with packages that are kept in the cache. */

/** A way to run an example, or why there is none on this machine. */
export type Example =
  | { readonly run: (env: Readonly<Record<string, string>>) => Promise<string> }
  | { readonly missing: string };

export async function pythonExample(name = 'python'): Promise<Example> {
  const requirements = `scripts/examples/${name}/requirements.txt`;
  const python = await pythonWith(requirements);
  if ('missing' in python) return python;
  const program = join(ROOT, 'scripts/examples', name, 'agent.py');
  // Claude Code writes its settings in the home.
  return {
    run: (env) =>
      inFolder((folder) => must(python.path, [program], { ...python.env, HOME: folder, ...env }, folder)),
  };
}

/** An example in Python that takes a while to install and to start, so it must be asked for. */
export async function largePythonExample(name: string): Promise<Example> {
  return notAsked(name) ?? (await pythonExample(name));
}

export async function goExample(): Promise<Example> {
  const [go] = await executablesOnPath(executableName('go', process.platform), process.env);
  if (go === undefined) return { missing: 'no go on PATH' };
  const folder = join(ROOT, 'scripts/examples/go');
  const settings = { GOFLAGS: '-mod=readonly -buildvcs=false', CGO_ENABLED: '0' };
  try {
    await must(go, ['mod', 'download'], settings, folder);
  } catch (fault) {
    return { missing: `its modules cannot be downloaded: ${messageOf(fault)}` };
  }
  return { run: (env) => must(go, ['run', '.'], { ...settings, ...env }, folder) };
}

/**
 * An example in TypeScript, which must be asked for: checked under strict rules, then run with the built package in place of
 * the published one.
 */
export async function typescriptExample(name: string): Promise<Example> {
  const manifest = `scripts/examples/${name}/package.json`;
  const left = notAsked(name);
  if (left !== undefined) return left;
  const packages = await packagesFolder(manifest);
  const fault = await missing(packages, async (folder) => {
    const target = join(folder, 'packages');
    await mkdir(target);
    await copyFile(join(ROOT, manifest), join(target, 'package.json'));
    const options = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel=error'];
    await must('npm', ['install', ...options], {}, target);
    return target;
  });
  if (fault !== undefined) return { missing: `the packages of ${name} cannot be installed: ${fault}` };
  return {
    run: (env) =>
      inFolder(async (folder) => {
        const bin = await linked(join(packages, 'node_modules'), folder);
        for (const file of ['package.json', 'agent.ts'])
          await copyFile(join(ROOT, 'scripts/examples', name, file), join(folder, file));
        const rules = ['--strict', '--target', 'es2023', '--module', 'nodenext', '--erasableSyntaxOnly'];
        const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node', '--skipLibCheck'];
        await must(join(ROOT, 'node_modules/.bin/tsc'), [...rules, ...types, 'agent.ts'], {}, folder);
        const path = `${bin}:${process.env.PATH}`;
        return must(process.execPath, ['agent.js'], { PATH: path, ...env }, folder);
      }),
  };
}

/** Gives a folder the packages, and this one beside them; the folder of its command. */
async function linked(packages: string, folder: string): Promise<string> {
  const modules = join(folder, 'node_modules');
  const bin = join(modules, '.bin');
  await mkdir(bin, { recursive: true });
  for (const each of await readdir(packages))
    if (!each.startsWith('.')) await symlink(join(packages, each), join(modules, each), 'dir');
  await symlink(ROOT, join(modules, 'throughline'), 'dir');
  await symlink(BIN, join(bin, 'throughline'));
  return bin;
}

/** Why the packages of an example are left out. */
function notAsked(name: string): { readonly missing: string } | undefined {
  if (process.env.THROUGHLINE_TEST_EXAMPLES === '1') return undefined;
  return { missing: `${name} has many packages: THROUGHLINE_TEST_EXAMPLES=1 installs them and runs it` };
}
