// What a process needs that is to die by SIGKILL at a named point, the N-th time that it comes there.
import { writeSync } from 'node:fs';
import { loadConfig } from '../../../dist/config/config.js';
import { silentLogger } from '../../../dist/engine/ports/logger-and-clock.js';
import { openNats } from '../../../dist/nats/open-nats.js';
import { natsOptions } from '../../../dist/services/common/service-context.js';

/** Real ports, and `at(name)`, which ends the process if this is the N-th time at the point that it is to die at. */
export async function openMortal(name, url, point, count) {
  // Few at a time, so that a burst is in several hands.
  const config = loadConfig(process.env, { maxInHand: 20 });
  const nats = await openNats(natsOptions(url, name, config, silentLogger));
  let passed = 0;
  const at = (here) => {
    if (here !== point) return;
    passed += 1;
    if (passed !== Number(count)) return;
    writeSync(2, `died ${here}\n`);
    process.kill(process.pid, 'SIGKILL');
  };
  return { config, nats, at };
}
