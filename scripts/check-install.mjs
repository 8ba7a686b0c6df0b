// What a person does who has just found Throughline: tries the demo by npx, installs the package globally and runs every
// command that the README shows, in an empty directory and with a new home. `node scripts/check-install.mjs 20 22 24` does so with each of these versions of Node.js, which
// come from npm; without a version, with the one that runs this. Needs what `npm run build` makes.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from './free-port.mjs';
import { packedInto } from './pack.mjs';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const QUIET = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
/** The prompt of a machine that is busy comes a moment after its results. */
const PATIENCE_MS = 20_000;

/** The Node.js of a version such as `22`: this one, or the one that npm has, put into a folder. */
export async function nodeOf(version, folder) {
  if (version === undefined || process.version.startsWith(`v${version}.`)) return process.execPath;
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const prefix = join(folder, `node-${version}`);
  await run('npm', ['install', '--prefix', prefix, '--no-save', ...QUIET, `${name}@${version}`]);
  return join(prefix, 'node_modules', name, 'bin', 'node');
}

/** Installs a tarball with a Node.js and runs the README. Throws what is not as the README says. */
export async function checkInstall(node, tarball, folder) {
  const prefix = join(folder, 'prefix');
  const empty = join(folder, 'empty');
  await mkdir(empty, { recursive: true });
  const env = {
    ...cleanEnv(),
    HOME: join(folder, 'home'),
    PATH: [dirname(node), join(prefix, 'bin'), process.env.PATH].join(delimiter),
  };
  const { stdout: version } = await run(node, ['--version']);

  const [tried, demoSeconds] = await timed(() =>
    run('npx', ['--yes', '--prefer-offline', '--package', tarball, 'throughline', 'demo'], {
      cwd: empty,
      env,
    }),
  );
  if (!tried.stdout.includes('[Memory of shop'))
    throw new Error(`npx throughline demo says: ${tried.stdout}`);
  const [, installSeconds] = await timed(async () => {
    const npm = await run('npm', ['install', '--global', '--prefix', prefix, ...QUIET, tarball], { env });
    const warned = npm.stderr.split('\n').filter((line) => /EBADENGINE|deprecated|ERESOLVE/.test(line));
    if (warned.length > 0) throw new Error(`npm install warns: ${warned.join('; ')}`);
  });
  const [, startSeconds] = await timed(() => readme(empty, env));
  const { stdout: disk } = await run('du', ['-sk', prefix]);
  const megabytes = Number(disk.split('\t')[0]) / 1024;
  return { version: version.trim(), demoSeconds, installSeconds, startSeconds, megabytes };
}

/** What a client has configured before it is connected, in a form that no program writes. */
const CONFIGURED = '{ "permissions":\n {"allow": [ ]}}';

/** What runs in place of a command that asks, stays or needs a plan. */
const INSTEAD = {
  'throughline up': 'throughline up --detach --port $PORT',
  'throughline up --detach': 'throughline up --detach',
  'throughline connect claude': 'throughline connect claude --yes',
  'throughline connect claude --remove': 'cd your-project && throughline connect claude --remove --yes',
  'throughline work': 'throughline work --help',
};

/** Takes the day out of references: `[task:1, 27 Nov]`. */
const undated = (text) => text.replace(/, \d+ [A-Z][a-z]{2}\]/g, ']');

/** The commands of the README as they stand there, and `down`. */
async function readme(cwd, env) {
  const { steps, compile, prompt } = await readmeCommands();
  const port = { PORT: String(await freePort()) };
  const shell = (script) => run('bash', ['-eo', 'pipefail', '-c', script], { cwd, env: { ...env, ...port } });
  const quiet = async (script) => {
    const done = await shell(script);
    const said = done.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('-- '));
    if (said.length > 0) throw new Error(`${script} says on standard error: ${said.join('\n')}`);
    return done.stdout;
  };
  const settings = join(cwd, 'your-project', '.claude', 'settings.json');
  await mkdir(dirname(settings), { recursive: true });
  await writeFile(settings, CONFIGURED);
  let down;
  try {
    for (const step of steps) {
      let printed = await quiet(step);
      if (!step.includes(compile)) continue;
      printed = undated(printed.replace(/^\d+\n\d+\n/, ''));
      for (const deadline = Date.now() + PATIENCE_MS; printed !== prompt && Date.now() < deadline; )
        printed = undated((await shell(compile)).stdout);
      if (printed !== prompt) throw new Error(`the prompt is not that of the README:\n${printed}`);
    }
  } finally {
    down = await quiet('throughline down');
  }
  if (!down.startsWith('throughline stopped ')) throw new Error(`throughline down says: ${down}`);
  if ((await readFile(settings, 'utf8')) !== CONFIGURED)
    throw new Error(`throughline connect claude --remove leaves another ${settings}`);
  // Of what goes on in the background this is the standard error.
  const state = join(env.HOME, '.local', 'state', 'throughline', 'server', 'throughline.log');
  const log = (await readFile(state, 'utf8')).trim().split('\n');
  const loud = log.filter((line) => !/^(\{"level":"info"|-- )/.test(line));
  if (loud.length > 0) throw new Error(`the services say: ${loud.join('\n')}`);
}

/** Each shell block and each command in a sentence, in their order, without those of a clone. */
async function readmeCommands() {
  const text = await readFile(join(ROOT, 'README.md'), 'utf8');
  const shown = [...text.matchAll(/^```sh\n([\s\S]*?)^```$|`(throughline [^`]+)`/gm)].map(
    ([, block, inline]) => (block ?? inline).replace(/ +# .*$/gm, ''),
  );
  const lines = (step) => step.split('\n').map((line) => INSTEAD[line] ?? line);
  const steps = shown.filter((step) => /^ *throughline /m.test(step)).map((step) => lines(step).join('\n'));
  const compile = /^throughline prompt .*$/m.exec(steps.join('\n'))?.[0];
  const prompt = /^```\n(\[Session Context\][\s\S]*?)^```$/m.exec(text)?.[1];
  if (prompt === undefined || compile === undefined)
    throw new Error('README.md: its quick start has no commands, or no prompt after them');
  return { steps, compile, prompt: undated(prompt) };
}

/** Without what configures Throughline, but with the cache in which it finds a NATS server. */
function cleanEnv() {
  const kept = Object.entries(process.env).filter(
    ([name]) => name === 'NATS_SERVER_BIN' || !/^(NATS|THROUGHLINE|NODE)_/.test(name),
  );
  const caches = {
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
    npm_config_cache: process.env.npm_config_cache ?? join(homedir(), '.npm'),
  };
  const { XDG_STATE_HOME: _, XDG_CONFIG_HOME: __, ...rest } = Object.fromEntries(kept);
  return { ...rest, ...caches, NO_COLOR: '1' };
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
      const { demoSeconds, installSeconds, startSeconds } = found;
      const [tried, installed, started] = [demoSeconds, installSeconds, startSeconds].map((each) =>
        each.toFixed(1),
      );
      console.log(
        `Node.js ${found.version}: installed in ${installed} s (${found.megabytes.toFixed(1)} MB), demo by npx in ${tried} s, the README in ${started} s`,
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
