// `npm run test:clients`: each client, headless and with an empty home, is connected, says one sentence, and is taken out
// again. Installs the clients (860 MB) once, into THROUGHLINE_TEST_CLIENTS or a folder of the system's temporary ones.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEndpoint } from './endpoint.mjs';

const BIN = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));
const RECORDER = fileURLToPath(new URL('./recorder.mjs', import.meta.url));
const INSTALLED = process.env.THROUGHLINE_TEST_CLIENTS ?? join(tmpdir(), 'throughline-clients');

const CLIENTS = {
  codex: {
    package: '@openai/codex@0.169',
    write: (home, url) => ({
      [join(home, '.codex/config.toml')]: [
        '# mine',
        'model = "scripted"',
        'model_provider = "local"',
        '[model_providers.local]',
        'name = "local"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "LOCAL_KEY"',
        '',
      ].join('\n'),
    }),
    args: ['exec', '--skip-git-repo-check', '--json', '--dangerously-bypass-hook-trust', 'Say it'],
    env: () => ({ LOCAL_KEY: 'none' }),
    events: ['SessionStart', 'UserPromptSubmit', 'Stop'],
  },
  gemini: {
    package: '@google/gemini-cli@0.61',
    write: (home) => ({
      [join(home, '.gemini/settings.json')]: [
        '{',
        '  // mine',
        '  "security": { "auth": { "selectedType": "gemini-api-key" } }',
        '}',
        '',
      ].join('\n'),
    }),
    args: ['-m', 'gemini-2.5-flash', '--approval-mode', 'yolo', '-p', 'Say it'],
    env: (url) => ({
      GEMINI_API_KEY: 'dummy',
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    events: ['SessionStart', 'BeforeAgent', 'AfterAgent'],
  },
  opencode: {
    package: 'opencode-ai@1.18',
    write: (home, url) => ({
      [join(home, '.config/opencode/opencode.json')]: JSON.stringify({
        model: 'local/scripted',
        small_model: 'local/scripted',
        provider: {
          local: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'none' },
            models: { scripted: {} },
          },
        },
      }),
    }),
    args: ['run', 'Say it'],
    env: (_url, home) => ({ XDG_CONFIG_HOME: join(home, '.config'), XDG_DATA_HOME: join(home, '.data') }),
    events: ['session.start', 'chat.message', 'experimental.text.complete'],
  },
};

const chosen = process.argv.slice(2);
let failed = 0;
for (const [name, client] of Object.entries(CLIENTS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const faults = await tried(name, client);
  failed += faults.length;
  console.log(faults.length === 0 ? `ok    ${name}` : `FAIL  ${name}\n      ${faults.join('\n      ')}`);
}
process.exitCode = failed > 0 ? 1 : 0;

/** What is wrong with one client; nothing where all works. */
async function tried(name, client) {
  const program = await installed(name, client.package);
  const root = mkdtempSync(join(tmpdir(), `throughline-${name}-`));
  const [home, project, bin] = ['home', 'project', 'bin'].map((folder) => join(root, folder));
  for (const folder of [home, project, bin]) mkdirSync(folder);
  const log = join(root, 'calls.jsonl');
  writeFileSync(log, '');
  const shim = join(bin, 'throughline');
  writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${RECORDER}" "${log}" "${BIN}" "$@"\n`);
  chmodSync(shim, 0o755);
  const endpoint = await startEndpoint();
  const before = client.write(home, endpoint.url);
  for (const [path, text] of Object.entries(before)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const path = [bin, dirname(program), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const env = { HOME: home, PATH: path, NATS_URL: 'nats://127.0.0.1:9', ...client.env(endpoint.url, home) };
  const faults = [];
  try {
    const connected = await run(process.execPath, [BIN, 'connect', name, '--user', '--yes'], {
      env,
      cwd: project,
    });
    if (connected.code !== 0) faults.push(`connect ended with ${connected.code}: ${connected.output}`);
    const ran = await run(program, client.args, { env, cwd: project, timeout: 120_000 });
    if (!ran.output.includes('All is done.'))
      faults.push(`it ended with ${ran.code}: ${ran.output.slice(-400)}`);
    const calls = readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    if (!calls.some(({ args }) => args[0] === 'mcp')) faults.push('it did not start the MCP server');
    const seen = calls
      .filter(({ args }) => args[0] === 'hook')
      .map(({ input }) => JSON.parse(input).hook_event_name);
    for (const event of client.events)
      if (!seen.includes(event)) faults.push(`no hook ran for ${event}: ${seen}`);
    const removed = await run(process.execPath, [BIN, 'connect', name, '--user', '--remove', '--yes'], {
      env,
      cwd: project,
    });
    if (removed.code !== 0) faults.push(`--remove ended with ${removed.code}: ${removed.output}`);
    for (const [file, text] of Object.entries(before)) faults.push(...leftovers(file, text, home));
  } finally {
    endpoint.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
  return faults;
}

/** A file that differs from before, and files beside it with our name in them. */
function leftovers(file, text, home) {
  const now = readFileSync(file, 'utf8');
  const all = readdirSync(dirname(file), { recursive: true, encoding: 'utf8' });
  return [
    ...(now === text || !now.includes('throughline') ? [] : [`${file.slice(home.length)} holds us still`]),
    ...all.filter((name) => name.includes('throughline')).map((name) => `${name} is still there`),
  ];
}

async function installed(name, wanted) {
  const folder = join(INSTALLED, name);
  const program = join(folder, 'node_modules/.bin', name);
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  const { code, output } = await run('npm', ['install', '--no-audit', '--no-fund', wanted], { cwd: folder });
  if (code !== 0) throw new Error(`${wanted} cannot be installed: ${output}`);
  return program;
}

function run(program, args, { timeout = 600_000, ...options }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, timeout, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', reject).on('close', (code) => resolve({ code, output }));
  });
}
