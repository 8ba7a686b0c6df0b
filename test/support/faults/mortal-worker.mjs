// A real worker process on real ports that dies by SIGKILL at a named point, the N-th time that it comes there.
// usage: node mortal-worker.mjs URL POINT N
import { silentLogger } from '../../../dist/engine/ports/logger-and-clock.js';
import { sessionReader } from '../../../dist/services/common/process-parts.js';
import { startExtractor } from '../../../dist/services/extractor/extractor-worker.js';
import { retryRejected } from '../../../dist/services/tools/result-queries.js';
import { openMortal } from './mortality.mjs';

const [url, point, count] = process.argv.slice(2);
const { config, nats, at } = await openMortal('mortal worker', url, point, count);

let isConsumed = () => {};
const consumed = new Promise((resolve) => {
  isConsumed = resolve;
});

let inFlight = 0;
const log = {
  read: (session, range) => nats.log.read(session, range),
  newestResults: (session) => nats.log.newestResults(session),
  watch: (session, onEvent) => nats.log.watch(session, onEvent),
  async append(session, event, options) {
    at('before append');
    inFlight += 1;
    const appended = await nats.log.append(session, event, options);
    inFlight -= 1;
    at('after append, before ack');
    if (inFlight > 0) at('between two appends of a burst');
    return appended;
  },
};

const rejected = {
  get: (id) => nats.rejected.get(id),
  async put(rejection) {
    at('before a rejection is kept');
    await nats.rejected.put(rejection);
    at('after a rejection is kept, before term');
  },
  async remove(id) {
    at('during retry, before the rejection is removed');
    const removed = await nats.rejected.remove(id);
    at('during retry, after the rejection is removed');
    return removed;
  },
};

const source = {
  // No dispatch is worked on, and so no point reached, before it was said that the consumer is there.
  consume: (handler) => nats.source.consume((delivery) => void consumed.then(() => handler(delivery))),
  async publish(subject, body, id) {
    at('during retry, before it is published');
    return nats.source.publish(subject, body, id);
  },
};

const snapshots = {
  load: (session) => nats.snapshots.load(session),
  loadAtOrBefore: (session, sequence) => nats.snapshots.loadAtOrBefore(session, sequence),
  async save(session, snapshot) {
    at('before a snapshot write');
    const saving = nats.snapshots.save(session, snapshot);
    // The request is handed to the socket in a turn of its own: by now it may have arrived or not.
    setImmediate(() => at('during a snapshot write'));
    const outcome = await saving;
    at('after a snapshot write');
    return outcome;
  },
};

const { reader } = sessionReader({ ...nats, snapshots }, config, silentLogger);

if (point.startsWith('during retry')) {
  console.log('ready');
  const { entries } = await nats.rejected.page({ limit: 200 });
  for (const { id } of entries.toReversed()) await retryRejected({ source, rejected, reader }, id);
  await nats.close();
} else {
  const { maxBodyBytes, maxDeliveries, maxInHand, ackWaitMs } = config;
  await startExtractor(
    { source, log, rejected, reader, logger: silentLogger },
    { maxBodyBytes, maxDeliveries, maxInHand, ackWaitMs, random: Math.random },
  );
  console.log('ready');
  isConsumed();
  // As many requests for prompts would do it.
  for (;;) {
    for (const { session } of await nats.log.activity()) await reader.load(session);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
