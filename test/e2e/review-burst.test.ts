import { describe, expect, it } from 'vitest';
import { DEFAULT_PROJECT, token } from '../../src/contracts/names.js';
import { allDealtWith, publishReview, soon, systemOfFile } from '../support/system.js';

const REVIEWS = 1000;
const PROJECT = token(DEFAULT_PROJECT, 'project');

const system = await systemOfFile({ only: ['extractor', 'tools', 'learnings'] });

describe('a burst of reviews', () => {
  it('a thousand reviews are learned from, while people get their answers', async () => {
    const { client, ports } = system;
    const published = Promise.all(
      Array.from({ length: REVIEWS }, (_, index) =>
        publishReview(client, `s${index % 5}`, `t${index}`, 'needs_changes', {
          required_fixes: [`Add a test of ${index % 50}x`],
        }),
      ),
    );
    /** Proposals of rules that came between a person's proposal and its answer. */
    const between: number[] = [];
    for (let turn = 0; turn < 50; turn += 1) {
      const content = `Said by a person, ${'x'.repeat(turn)}`;
      const after = (await ports.learnings.read(PROJECT, { after: 0 })).through;
      await client.learnings.propose({ content });
      const { events } = await ports.learnings.read(PROJECT, { after });
      between.push(
        events.filter(({ event }) => event.type === 'proposed' && event.data.method !== 'manual').length,
      );
    }
    await published;
    await allDealtWith(ports);
    expect(Math.max(...between)).toBeLessThan(10);
    await soon(async () => {
      const { proposals } = await client.proposals.list({ limit: 1000 });
      expect(proposals.filter(({ method }) => method === 'recurring_fix')).toHaveLength(50);
    });
  });
});
