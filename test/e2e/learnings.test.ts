import { expect, it } from 'vitest';
import { publishReview, soon, startSystem } from '../support/system.js';

it('proposals are made from reviews that came while the service of learnings did not run', async () => {
  await using first = await startSystem({ only: ['extractor', 'tools'] });
  for (const task of ['1', '2']) {
    await publishReview(first.client, 'away', task, 'needs_changes', { required_fixes: ['Add a test'] });
  }
  await using later = await startSystem({ nats: first.nats, only: ['learnings'] });
  const pending = async () => (await later.client.proposals.list({})).proposals;
  await soon(async () => expect(await pending()).toMatchObject([{ content: 'Add a test' }]));
});
