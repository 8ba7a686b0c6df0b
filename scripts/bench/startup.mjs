// `throughline up` with the server binary present, and nats-server alone, in turn; and commands beside `node -e 0`.
import { spawn } from 'node:child_process';
import { connect } from 'nats';
import { Shutdown } from '../../dist/engine/runtime/shutdown.js';
import { freePort } from '../free-port.mjs';
import { commandGoals, measureCommands } from './commands.mjs';
import { findServer, startScript, temporaryDir, throughlineBin } from './host.mjs';
import { median } from './stats.mjs';

export default {
  name: 'startup',
  goals: [
    ...commandGoals,
    {
      id: 'startup.more',
      work: 'start-up: `throughline up` → ready, more than nats-server alone',
      against: 'nats-server alone → ready',
      atMost: 1.5,
      unit: 's',
    },
  ],
  run,
};

async function run({ quick, progress, shutdown }) {
  const commands = await measureCommands({ rounds: quick ? 9 : 31, progress, shutdown });
  const whole = await measureUp({ rounds: quick ? 3 : 9, progress });
  return {
    measured: { ...commands.measured, ...whole.measured },
    figures: [...commands.figures, ...whole.figures],
  };
}

async function measureUp({ rounds, progress }) {
  const source = await findServer();
  const alone = [];
  const whole = [];
  for (let round = 1; round <= rounds; round += 1) {
    alone.push(await inDir((...at) => serverAlone(source.path, ...at)));
    whole.push(await inDir(up));
    progress(`round ${round}/${rounds}`);
  }
  return {
    measured: { 'startup.more': median(whole.map((seconds, round) => seconds - alone[round])) },
    figures: [
      { name: 'nats-server alone', text: `${(median(alone) * 1000).toFixed(0)} ms` },
      { name: 'throughline up', text: `${(median(whole) * 1000).toFixed(0)} ms` },
    ],
  };
}

/** Seconds until `start` is done, in a directory that goes away afterwards. */
async function inDir(start) {
  const shutdown = new Shutdown();
  try {
    const dir = await temporaryDir(shutdown);
    const port = await freePort();
    const began = performance.now();
    await start(dir, shutdown, port);
    return (performance.now() - began) / 1000;
  } finally {
    await shutdown.release(10_000);
  }
}

async function serverAlone(path, dir, shutdown, port) {
  const child = spawn(path, ['-js', '-sd', dir, '-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  shutdown.add('nats-server', async () => {
    child.kill('SIGTERM');
    await exited;
  });
  for (;;) {
    try {
      return await (await connect({ servers: `127.0.0.1:${port}` })).close();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
  }
}

function up(dir, shutdown, port) {
  return startScript(throughlineBin, ['up', '--port', String(port), '--store', dir], shutdown, {
    NATS_URL: '',
    THROUGHLINE_LOG_LEVEL: 'warn',
  });
}
