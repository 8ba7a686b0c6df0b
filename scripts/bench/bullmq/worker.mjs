// The same work on Redis: job → the product's own validation and extraction → XADD to the session's stream.
// Arguments: port of Redis, name of the queue.
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { parseDispatchBody } from '../../../dist/contracts/dispatch-body.js';
import { parseDispatchSubject } from '../../../dist/contracts/names.js';
import { RuleBasedFactExtractor } from '../../../dist/memory/facts/fact-extractor.js';
import { recordedEvent } from '../../../dist/services/extractor/extractor-worker.js';

const [port, queue] = process.argv.slice(2);
const redis = { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null };
const streams = new Redis(redis);
const rules = new RuleBasedFactExtractor();

const worker = new Worker(
  queue,
  async (job) => {
    const { subject, body } = job.data;
    const { session, role } = parseDispatchSubject(subject);
    const parsed = parseDispatchBody(Buffer.from(body), role, 256 * 1024);
    if (!parsed.ok) throw new Error(parsed.reason);
    const at = new Date(job.timestamp).toISOString();
    const event = recordedEvent({ sequence: Number(job.id), at }, parsed.value, rules);
    await streams.xadd(`session:${session}`, '*', 'event', JSON.stringify(event));
  },
  { connection: redis, concurrency: 256, removeOnComplete: { count: 0 }, drainDelay: 1 },
);
worker.on('error', (error) => {
  throw error;
});
await worker.waitUntilReady();
console.log('ready');
process.on('SIGTERM', () => process.exit(0));
