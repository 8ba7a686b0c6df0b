import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_PROJECT, DISPATCH_STREAM, LEARNER_CONSUMER, token } from '../../src/contracts/names.js';
import { publishWire, reviewed, type System, soon, startSystem } from '../support/system.js';

const REVIEWS = 1000;
const PROJECT = token(DEFAULT_PROJECT, 'project');

describe('a backlog of reviews', () => {
  let system: System;
  let learning: System;
  beforeAll(async () => {
    system = await startSystem({ only: ['extractor', 'tools'] });
    const publishing = Array.from({ length: REVIEWS }, (_, index) =>
      publishWire(
        system.client,
        'reviewer',
        `s${index % 5}`,
        reviewed(`t${index}`, 'needs_changes', { required_fixes: [`Add a test of ${index % 50}x`] }),
      ),
    );
    await Promise.all(publishing);
  });
  afterAll(async () => {
    await learning?.stop();
    await system.stop();
  });

  it('the learner works through a backlog of reviews a hundred at a time, while people get their answers', async () => {
    learning = await startSystem({ nats: system.nats, only: ['learnings'] });
    const { client, ports } = learning;
    const jsm = await ports.connection.jetstreamManager();
    const looked: number[] = [];
    /** Proposals of rules that came between what a person asked for and the answer. */
    const between: number[] = [];
    // As another process reads it, one that takes no part.
    const log = system.ports.learnings;
    let asked = 0;
    for (let turn = 0; ; turn += 1) {
      const content = `Said by a person, ${'x'.repeat(turn % 50)}`;
      asked = (await log.read(PROJECT, { after: asked })).through;
      await client.learnings.propose({ content });
      const { events } = await log.read(PROJECT, { after: asked });
      between.push(
        events.filter(({ event }) => event.type === 'proposed' && event.data.method !== 'manual').length,
      );
      const { num_pending, num_ack_pending, num_redelivered } = await jsm.consumers.info(
        DISPATCH_STREAM,
        LEARNER_CONSUMER,
      );
      expect(num_redelivered).toBe(0);
      looked.push(num_ack_pending);
      if (num_pending + num_ack_pending === 0) break;
    }
    expect(Math.max(...looked)).toBeLessThanOrEqual(100);
    expect(looked.length).toBeGreaterThan(1);
    expect(Math.max(...between)).toBeLessThan(10);
    await soon(async () => {
      const { proposals } = await client.proposals.list({ limit: 1000 });
      expect(proposals.filter(({ method }) => method === 'recurring_fix')).toHaveLength(50);
    });
  });
});
