// The driver's side of BullMQ, here because it imports what only this project has.
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';

/** A queue to fill, and to look into. */
export async function openQueue(port, name) {
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
  const queue = new Queue(name, { connection });
  const redis = new Redis(connection);
  await queue.waitUntilReady();
  return {
    async fill(results) {
      for (let from = 0; from < results.length; from += 1000) {
        await queue.addBulk(results.slice(from, from + 1000).map((data) => ({ name: 'dispatch', data })));
      }
    },
    /** Jobs that wait or are worked on. */
    async left() {
      const { waiting, active, delayed, failed } = await queue.getJobCounts();
      if (failed > 0) throw new Error(`${failed} jobs failed`);
      return waiting + active + delayed;
    },
    /** Events in all session streams. */
    async stored() {
      const keys = await redis.keys('session:*');
      const lengths = await Promise.all(keys.map((key) => redis.xlen(key)));
      return lengths.reduce((sum, length) => sum + length, 0);
    },
    async close() {
      await queue.close();
      redis.disconnect();
    },
  };
}
