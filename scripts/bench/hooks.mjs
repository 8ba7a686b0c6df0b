// How long the start of a session, a prompt and the end of a turn wait in each client, whatever the server does: real hook
// processes, their wall and processor time.
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { runningUp } from '../../dist/cli/detached-up.js';
import { userStore } from '../../dist/config/user-server.js';
import { freePort } from '../free-port.mjs';
import { processorTime } from './commands.mjs';
import { goalsOf } from './goals.mjs';
import { findServer, temporaryDir, throughlineBin } from './host.mjs';

const CLIENTS = {
  claude: ['SessionStart', 'UserPromptSubmit', 'Stop', 'last_assistant_message'],
  codex: ['SessionStart', 'UserPromptSubmit', 'Stop', 'last_assistant_message'],
  gemini: ['SessionStart', 'BeforeAgent', 'AfterAgent', 'prompt_response'],
  opencode: ['session.start', 'chat.message', 'session.idle', 'last_assistant_message'],
};
const OWN = ['running', 'away', 'server hangs', 'services hang', 'slow', 'starting'];
/** A server that was joined: its port is closed, or nothing answers there. */
const JOINED = ['joined server away', 'joined server silent'];
const SLOW_MS = 300;

export default {
  name: 'hooks',
  goals: goalsOf(`
    hooks.start | hooks: longest start of a session, in any state of the server | an absolute limit | at most 300 ms
    hooks.prompt | hooks: longest wait of a prompt, in any state of the server | an absolute limit | at most 300 ms
    hooks.end | hooks: longest wait at the end of a turn, in any state of the server | an absolute limit | at most 300 ms
    hooks.stop | hooks: most processor time of the end of a turn, with git | an absolute limit | at most 250 ms
    hooks.stop.plain | hooks: most processor time of the end of a turn, without git | an absolute limit | at most 100 ms
  `),
  run,
};

async function run({ quick, progress, shutdown }) {
  const root = await temporaryDir(shutdown);
  const env = {
    ...process.env,
    HOME: root,
    XDG_STATE_HOME: join(root, 'state'),
    THROUGHLINE_SESSION: 'shop',
    NATS_URL: '',
    NATS_SERVER_BIN: (await findServer()).path,
  };
  const port = await freePort();
  const run = (...args) => spawnSync(process.execPath, [throughlineBin, ...args], { env, cwd: root });
  const up = () => run('up', '--detach', '--no-inspector', '--port', String(port));
  shutdown.add('the server of the user', () => run('down'));
  const folders = { git: join(root, 'git'), plain: join(root, 'plain') };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'first'],
  ]) {
    writeFileSync(join(folders.git, 'a.txt'), 'a');
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folders.git });
  }
  const slow = await slowProxy(port, shutdown);
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  shutdown.add('the silent listener', () => silent.close());
  const joined = { [JOINED[0]]: await freePort(), [JOINED[1]]: silent.address().port };
  const stateDir = join(root, 'state', 'throughline');

  const figures = [];
  const all = { start: [], prompt: [], git: [], plain: [] };
  for (const state of [...OWN, ...JOINED]) {
    if (state in joined) {
      run('down');
      const team = { url: `nats://127.0.0.1:${joined[state]}`, access: {} };
      writeFileSync(join(stateDir, 'team'), JSON.stringify(team), { mode: 0o600 });
    }
    const more = {
      ...(state === 'away' && { THROUGHLINE_AUTOSTART: '0' }),
      ...(state === 'slow' && { NATS_URL: `nats://127.0.0.1:${slow}` }),
    };
    for (const [client, [start, prompt, stop, said]] of Object.entries(CLIENTS)) {
      const seen = { start: [], prompt: [], git: [], plain: [] };
      for (let round = 0; round < (quick ? 1 : 5); round += 1) {
        if (state === 'away' || state === 'starting') run('down');
        else if (OWN.includes(state)) up();
        const stopped = await suspended(state, stateDir);
        const turn = { session_id: `${client}-${round}`, prompt_id: 'p' };
        const call = (where, name, payload) =>
          hook(
            client,
            { ...turn, ...payload, hook_event_name: name, cwd: folders[where] },
            { ...env, ...more },
          );
        seen.start.push(await call('git', start, { source: 'startup' }));
        seen.prompt.push(await call('git', prompt, { prompt: 'Keep the orders in sqlite' }));
        for (const where of ['git', 'plain'])
          seen[where].push(await call(where, stop, { [said]: 'Decided: sqlite keeps the orders.' }));
        if (stopped !== undefined) process.kill(stopped, 'SIGCONT');
      }
      for (const part of Object.keys(all)) all[part].push(...seen[part]);
      const text = Object.entries(seen).map(
        ([part, calls]) => `${part in folders ? `stop, ${part}` : part} ${inWords(calls)}`,
      );
      figures.push({
        name: `${state}, ${client}`,
        text: `${text.join('; ')}; load ${loadavg()[0].toFixed(1)}`,
      });
      progress(`${figures.at(-1).name}: ${figures.at(-1).text}`);
    }
  }
  const most = (calls, what) => Math.max(...calls.map((call) => call[what]));
  return {
    measured: {
      'hooks.start': most(all.start, 'wall'),
      'hooks.prompt': most(all.prompt, 'wall'),
      'hooks.end': most([...all.git, ...all.plain], 'wall'),
      'hooks.stop': most(all.git, 'cpu'),
      'hooks.stop.plain': most(all.plain, 'cpu'),
    },
    figures,
  };
}

/** Stops what must hang, and returns the process. */
async function suspended(state, stateDir) {
  if (state !== 'server hangs' && state !== 'services hang') return undefined;
  const { pid: services } = await runningUp(userStore(stateDir));
  const children = () =>
    execFileSync('pgrep', ['-P', String(services)])
      .toString()
      .trim();
  const pid = state === 'services hang' ? services : Number(children().split('\n')[0]);
  process.kill(pid, 'SIGSTOP');
  return pid;
}

/** Milliseconds of a hook process, and of the processor in it and its children. */
async function hook(client, payload, env) {
  const began = performance.now();
  const cpu = await processorTime([throughlineBin, 'hook', client], JSON.stringify(payload), {
    env,
    cwd: payload.cwd,
  });
  return { wall: performance.now() - began, cpu };
}

/** A port whose answers come late. */
async function slowProxy(port, shutdown) {
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    const late = (to) => (data) => setTimeout(() => to.writable && to.write(data), SLOW_MS);
    client.on('data', (data) => upstream.write(data));
    upstream.on('data', late(client));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  shutdown.add('the slow proxy', () => server.close());
  return server.address().port;
}

function inWords(calls) {
  const range = (what) => {
    const sorted = calls.map((call) => Math.round(call[what])).sort((a, b) => a - b);
    return sorted.length === 1 ? `${sorted[0]}` : `${sorted[0]} to ${sorted.at(-1)}`;
  };
  return `${range('wall')} ms, ${range('cpu')} ms of processor time`;
}
