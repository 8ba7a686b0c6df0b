import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partsOf } from '../prompt/parts.js';
import { FIX_ROUNDS, REAL_LOOP, type Rounds } from '../support/stories.js';
import {
  allDealtWith,
  implemented,
  newSession,
  publishWire,
  reviewed,
  type System,
  startSystem,
} from '../support/system.js';

/** The stories of fix rounds, and of a true and a false loop, as the agent reads them in its prompt. */

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

/** Publishes rounds of work and review, and returns the parts of the next implementer's prompt. */
async function promptAfter(rounds: Rounds) {
  const session = newSession('story-rounds');
  for (const [summary, review] of rounds) {
    const files_modified = ['src/pool.ts'];
    await publishWire(system.client, 'implementer', session, implemented('1', { summary, files_modified }));
    await publishWire(system.client, 'reviewer', session, reviewed('1', 'needs_changes', review));
  }
  await allDealtWith(system.ports);
  const asked = { session, taskId: '1', taskPrompt: 'Write the pool', include: ['messages' as const] };
  return partsOf(await system.client.compile(asked));
}

describe('fix rounds', () => {
  it('a second review with one minor finding in another file asks for a fix, not for another approach', async () => {
    const { replan, packet } = await promptAfter(FIX_ROUNDS);
    expect(replan).toEqual([]);
    expect(packet).toMatchObject({
      issues: ['minor: src/names.ts: Odd name'],
      summary: 'closed the handle',
      earlier_summary: 'wrote the pool',
    });
  });

  it('the same finding again is a loop: the prompt lists each attempt and what its review refused', async () => {
    const { replan } = await promptAfter(REAL_LOOP);
    expect(replan[0]).toMatch(/another approach/);
    expect(replan.slice(replan.indexOf('Tried already, the newest last:') + 1)).toEqual([
      '- completed: closed it in then. Refused by the review: The handle leaks',
      '- completed: closed it in catch. Refused by the review: The handle leaks; Slow',
      '- completed: closed it in finally. Refused by the review: The handle leaks',
    ]);
  });
});
