// A real worker process that dies by SIGKILL after the PubAck of its N-th event and before the ack of its dispatch.
// usage: node crashing-extractor.mjs URL N with-ids|without-ids
// Without ids its events carry no Nats-Msg-Id: what another worker appends again is then stored again.
import { loadConfig } from '../../dist/config.js';
import { natsOptions } from '../../dist/main.js';
import { openNats } from '../../dist/nats/open.js';
import { silentLogger } from '../../dist/ports/logger.js';
import { startExtractor } from '../../dist/workers/extractor.js';

const [url, dieAfter, ids] = process.argv.slice(2);
const config = loadConfig();
const { source, rejected, log } = await openNats(
  natsOptions(url, 'crashing extractor', config, silentLogger),
);

let appended = 0;
const mortalLog = {
  async append(session, event, options) {
    const outcome = await log.append(session, event, ids === 'without-ids' ? {} : options);
    appended += 1;
    if (appended === Number(dieAfter)) process.kill(process.pid, 'SIGKILL');
    return outcome;
  },
};

console.log('ready');
await startExtractor(
  { source, log: mortalLog, rejected, logger: silentLogger },
  { maxBodyBytes: config.maxBodyBytes, maxDeliveries: config.maxDeliveries, random: Math.random },
);
