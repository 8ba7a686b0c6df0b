// What a person does who has just found Throughline: installs the package globally and runs the quick start of the README
// in an empty directory. `node scripts/check-install.mjs 20 22 24` does so with each of these versions of Node.js, which
// come from npm; without a version, with the one that runs this. Needs what `npm run build` makes.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const QUIET = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
/** The prompt of a machine that is busy comes a moment after its results. */
const PATIENCE_MS = 20_000;

/** Packs what is built into a folder; the path of the tarball. */
export async function packedInto(folder) {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: ROOT,
  });
  const [{ filename }] = JSON.parse(stdout);
  return join(folder, filename);
}

/** The Node.js of a version such as `22`: this one, or the one that npm has, put into a folder. */
export async function nodeOf(version, folder) {
  if (version === undefined || process.version.startsWith(`v${version}.`)) return process.execPath;
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const prefix = join(folder, `node-${version}`);
  await run('npm', ['install', '--prefix', prefix, '--no-save', ...QUIET, `${name}@${version}`]);
  return join(prefix, 'node_modules', name, 'bin', 'node');
}

/** Installs a tarball with a Node.js and runs the quick start. Throws what is not as the README says. */
export async function checkInstall(node, tarball, folder) {
  const prefix = join(folder, 'prefix');
  const empty = join(folder, 'empty');
  await mkdir(empty, { recursive: true });
  const env = {
    ...cleanEnv(),
    XDG_STATE_HOME: join(folder, 'state'),
    PATH: [dirname(node), join(prefix, 'bin'), process.env.PATH].join(delimiter),
  };
  const { stdout: version } = await run(node, ['--version']);

  const [, installSeconds] = await timed(async () => {
    const npm = await run('npm', ['install', '--global', '--prefix', prefix, ...QUIET, tarball], { env });
    const warned = npm.stderr.split('\n').filter((line) => /EBADENGINE|deprecated|ERESOLVE/.test(line));
    if (warned.length > 0) throw new Error(`npm install warns: ${warned.join('; ')}`);
  });
  const [, startSeconds] = await timed(() => quickStart(empty, env));
  const { stdout: disk } = await run('du', ['-sk', prefix]);
  const megabytes = Number(disk.split('\t')[0]) / 1024;
  return { version: version.trim(), installSeconds, startSeconds, megabytes };
}

/** `up`, the commands of the README as they stand there, and `down`. */
async function quickStart(cwd, env) {
  const { commands, compile, prompt } = await readmeCommands();
  const shell = (script) => run('bash', ['-eo', 'pipefail', '-c', script], { cwd, env });
  const quiet = (stderr, what) => {
    const said = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('-- '));
    if (said.length > 0) throw new Error(`${what} says on standard error: ${said.join('\n')}`);
  };
  let down;
  try {
    const up = await shell(`throughline up --detach --port ${await freePort()}`);
    quiet(up.stderr, 'throughline up');
    const first = await shell(commands);
    quiet(first.stderr, 'the quick start');
    let printed = first.stdout.replace(/^1\n2\n/, '');
    for (const deadline = Date.now() + PATIENCE_MS; printed !== prompt && Date.now() < deadline; )
      printed = (await shell(compile)).stdout;
    if (printed !== prompt) throw new Error(`the prompt is not that of the README:\n${printed}`);
  } finally {
    down = await shell('throughline down');
  }
  quiet(down.stderr, 'throughline down');
  if (!down.stdout.startsWith('throughline stopped '))
    throw new Error(`throughline down says: ${down.stdout}`);
  // Of what goes on in the background this is the standard error.
  const log = (await readFile(join(env.XDG_STATE_HOME, 'throughline', 'server', 'throughline.log'), 'utf8'))
    .trim()
    .split('\n');
  const loud = log.filter((line) => !/^(\{"level":"info"|-- )/.test(line));
  if (loud.length > 0) throw new Error(`the services say: ${loud.join('\n')}`);
}

async function readmeCommands() {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const start = readme.split('\n## Quick start\n')[1]?.split('\n## ')[0] ?? '';
  const blocks = [...start.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, of, text]) => ({ of, text }));
  const commands = blocks.find(({ of, text }) => of === 'sh' && text.includes('throughline publish'))?.text;
  const prompt = blocks.find(({ of }) => of === '')?.text;
  const compile = commands?.split('\n').find((line) => line.startsWith('throughline prompt'));
  if (prompt === undefined || compile === undefined)
    throw new Error('README.md: its quick start has no commands, or no prompt after them');
  return { commands, compile, prompt };
}

/** Without what configures Throughline, but with the cache in which it finds a NATS server. */
function cleanEnv() {
  const kept = Object.entries(process.env).filter(
    ([name]) => name === 'NATS_SERVER_BIN' || !/^(NATS|THROUGHLINE|NODE)_/.test(name),
  );
  return { ...Object.fromEntries(kept), NO_COLOR: '1' };
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function timed(work) {
  const before = performance.now();
  const done = await work();
  return [done, (performance.now() - before) / 1000];
}

async function main(versions) {
  const folder = await mkdtemp(join(tmpdir(), 'throughline-install-'));
  try {
    const tarball = await packedInto(folder);
    for (const version of versions) {
      const at = join(folder, String(version));
      const found = await checkInstall(await nodeOf(version, folder), tarball, at);
      const [installed, started] = [found.installSeconds, found.startSeconds].map((each) => each.toFixed(1));
      console.log(
        `Node.js ${found.version}: installed in ${installed} s (${found.megabytes.toFixed(1)} MB), quick start in ${started} s`,
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const versions = process.argv.slice(2);
  await main(versions.length === 0 ? [undefined] : versions).catch((error) => {
    console.error(`check-install: ${error.stderr || error.message}`);
    process.exitCode = 1;
  });
}
