// Publishes a version, or shows all that would happen: see `scripts/publish`.
import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { optionsOrExit } from './options.mjs';
import { packedInto } from './pack.mjs';
import { releaseProblems } from './release-problems.mjs';
import { writeSbom } from './sbom.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NODES = ['20', '22', '24'];

const { values: options } = optionsOrExit('publish', {
  options: {
    really: { type: 'boolean', default: false },
    'checks-only': { type: 'boolean', default: false },
    help: { type: 'boolean' },
  },
});
if (options.help) {
  console.log(`usage: ./scripts/publish [--checks-only | --really]
Checks the version, builds and packs it, installs it on Node.js ${NODES.join(', ')}, writes its list of components, and
shows what npm would publish. --really publishes it: where a CI with provenance runs it, see docs/contributing/README.md.`);
  process.exit(0);
}
process.exitCode = await publish(options).catch((error) => {
  console.error(`publish: ${error.stderr || error.message}`);
  return 1;
});

async function publish({ really, 'checks-only': checksOnly }) {
  const state = await releaseState();
  const problems = releaseProblems(state);
  console.log(`== ${state.manifest.name} ${state.manifest.version}`);
  for (const problem of problems) console.error(`publish: ${problem}`);
  if (checksOnly || (really && problems.length > 0)) return problems.length > 0 ? 1 : 0;

  const folder = `${ROOT}release`;
  await mkdir(folder, { recursive: true });
  await step('build', 'npm', ['run', '--silent', 'build']);
  const tarball = await packedInto(folder);
  console.log(`== packed ${tarball}`);
  await step('install and quick start', process.execPath, ['scripts/check-install.mjs', ...NODES]);
  console.log(`== components ${await writeSbom()}`);
  // A dry run asks the registry nothing: --force leaves out the look whether the version is there.
  const how = really ? ['--provenance'] : ['--dry-run', '--force', '--loglevel', 'error'];
  await step(really ? 'publish' : 'publish, dry run', 'npm', ['publish', tarball, ...how]);
  if (problems.length === 0) return 0;
  console.error(`publish: not ready: ${problems.length} of the checks above failed`);
  return 1;
}

async function releaseState() {
  const [manifest, server, changelog] = await Promise.all([
    readFile(`${ROOT}package.json`, 'utf8').then(JSON.parse),
    readFile(`${ROOT}server.json`, 'utf8').then(JSON.parse),
    readFile(`${ROOT}CHANGELOG.md`, 'utf8'),
  ]);
  const changes = await linesOf('git', 'status', '--porcelain');
  const tags = await linesOf('git', 'tag', '--points-at', 'HEAD');
  const [tool = ''] = await linesOf('npm', '--version');
  return { manifest, server, changelog, changes: changes.map((line) => line.slice(3)), tags, tool };
}

async function linesOf(command, ...args) {
  const { stdout } = await promisify(execFile)(command, args, { cwd: ROOT });
  return stdout.split('\n').filter((line) => line !== '');
}

async function step(title, command, args) {
  console.log(`== ${title}`);
  const { stdout } = await promisify(execFile)(command, args, { cwd: ROOT, maxBuffer: 2 ** 26 });
  if (stdout !== '') process.stdout.write(stdout);
}
