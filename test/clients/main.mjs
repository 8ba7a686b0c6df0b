// `npm run test:clients [CLIENT...]`: each client, headless and with an empty home, against a scripted model: connected by
// `throughline connect`, with its hooks, its MCP server, a NATS server and all services, and taken out again.
// Installs the clients (860 MB) once, into THROUGHLINE_TEST_CLIENTS or a folder of the system's temporary ones.
// THROUGHLINE_TEST_RECORD names a folder that gets what hooks were told, one file for each client.
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claudeTypesFault } from './claude-types.mjs';
import { CLIENTS } from './clients.mjs';
import { run } from './processes.mjs';
import { startThroughline } from './services.mjs';
import { story } from './story.mjs';
import { tried } from './tried.mjs';
import { worked } from './worked.mjs';

const INSTALLED = process.env.THROUGHLINE_TEST_CLIENTS ?? join(tmpdir(), 'throughline-clients');

const CLAUDE_SDK = '@anthropic-ai/claude-agent-sdk@0.3.330';

const names = Object.keys(CLIENTS);
const given = process.argv.slice(2);
const unknown = given.filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`${unknown}: use ${names.join(', ')}`);
const chosen = given.length === 0 ? names : given;
const root = realpathSync(mkdtempSync(join(tmpdir(), 'tried-clients-')));
const services = await startThroughline(join(root, 'store'), root);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
let failed = 0;
try {
  for (const [name, client] of Object.entries(CLIENTS)) {
    if (!chosen.includes(name)) continue;
    const program = join(await installed(name, client.package), '.bin', name);
    const folder = join(root, name);
    mkdirSync(folder);
    const { checks, recorded } = await tried({ name, client, program, folder, services });
    checks.push(...(await worked({ name, client, program, folder: join(root, `${name}-work`), services })));
    const faults = checks.filter(({ fault }) => fault !== undefined);
    failed += faults.length;
    for (const { what, fault } of faults) console.log(`FAIL  ${name}: ${what}\n      ${fault}`);
    for (const [what, why] of Object.entries(client.cannot)) console.log(`skip  ${name}: ${what}: ${why}`);
    console.log(
      `${faults.length === 0 ? 'ok   ' : 'FAIL '} ${name}: ${checks.length} checks, ${faults.length} failed`,
    );
    const records = process.env.THROUGHLINE_TEST_RECORD;
    if (records) writeFileSync(join(records, `${name}.json`), `${JSON.stringify(recorded, null, 2)}\n`);
  }
  // Each client and the one after it.
  for (const [index, name] of chosen.entries()) {
    const next = chosen[(index + 1) % chosen.length];
    const [first, second] = await Promise.all(
      [name, next].map(async (each) => {
        const client = CLIENTS[each];
        return { name: each, client, program: join(await installed(each, client.package), '.bin', each) };
      }),
    );
    const { told, fault } = await story({ first, second, folder: join(root, `story-${name}`), services });
    if (fault !== undefined) failed += 1;
    console.log(`${fault === undefined ? 'ok   ' : 'FAIL '} a turn in ${name}, the next session in ${next}:`);
    console.log((fault ?? told).replace(/^/gm, '      '));
  }
  for (const name of chosen.filter((each) => CLIENTS[each].plugin !== undefined)) {
    const client = CLIENTS[name];
    const self = { name, client, program: join(await installed(name, client.package), '.bin', name) };
    const folder = join(root, `packaged-${name}`);
    const { fault } = await story({ first: self, second: self, folder, services, isPackaged: true });
    if (fault !== undefined) failed += 1;
    console.log(
      `${fault === undefined ? 'ok   ' : 'FAIL '} the package for ${name}, installed by its own command`,
    );
    if (fault !== undefined) console.log(fault.replace(/^/gm, '      '));
  }
  if (chosen.includes('claude')) {
    // Without the program itself, which is not needed for its types.
    const sdk = join(await installed('claude-sdk', CLAUDE_SDK, '--omit=optional'), '..');
    const env = { HOME: join(root, 'claude-types'), PATH: process.env.PATH, NATS_URL: services.url };
    const fault = await claudeTypesFault(sdk, { ...env, THROUGHLINE_SESSION: 'claude-types' });
    if (fault !== undefined) failed += 1;
    console.log(
      fault === undefined
        ? 'ok    claude: payloads and answers have the types of its SDK'
        : `FAIL  claude: ${fault}`,
    );
  }
} finally {
  await services.stop();
  if (process.env.THROUGHLINE_TEST_KEEP) console.log(`kept: ${root}`);
  else rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
process.exitCode = failed > 0 ? 1 : 0;

/** The packages that hold one of them; installed where they are not. */
async function installed(name, wanted, ...more) {
  const folder = join(INSTALLED, name);
  const modules = join(folder, 'node_modules');
  if (existsSync(join(modules, wanted.slice(0, wanted.lastIndexOf('@'))))) return modules;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  const { code, output } = await run('npm', ['install', '--no-audit', '--no-fund', ...more, wanted], {
    cwd: folder,
  });
  if (code !== 0) throw new Error(`${wanted} cannot be installed: ${output}`);
  return modules;
}
