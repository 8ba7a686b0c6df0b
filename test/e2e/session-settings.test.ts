import { describe, expect, it } from 'vitest';
import { startTestNats } from '../support/nats-server.js';
import { ofFile } from '../support/of-file.js';
import { newSession, publishReview, publishWork, startSystem } from '../support/system.js';

/** What shapes a prompt stands on the session's log, and not in the environment of a process. */

const nats = await ofFile(startTestNats());

/** Variables that differ between processes, some of them unknown. */
const ODD = {
  THROUGHLINE_MAX_FACTS: '10',
  THROUGHLINE_STALL_THRESHOLDS: '1',
  THROUGHLINE_IMPLEMENTER_TOKENS: '500',
  THROUGHLINE_TOKENIZER: 'o200k_base',
  THROUGHLINE_TUNING: 'snapshotEvery=2 cacheMb=1',
};

describe('two compilers with different environments', () => {
  it('two compilers with different environments compile the same bytes from the same log, with the settings of the session', async () => {
    await using plain = await startSystem({ nats });
    const session = newSession('settings');
    const settings = { implementerTokens: 3000, stallThresholds: { ping_pong: 1 } };
    await plain.client.tools.sessionOpen({ session, goal: 'A parser', settings });
    for (let round = 0; round < 6; round += 1) {
      await publishWork(plain.client, session, '1', { summary: `Round ${round}` });
      await publishReview(plain.client, session, '1', 'needs_changes');
    }
    const { sequence: after } = await publishWork(plain.client, session, '2');
    const request = { session, taskId: '1', taskPrompt: 'Extend the parser', after };
    const first = await plain.client.compile(request);
    expect(first.budget).toMatchObject({ room: 1800, tokenizer: 'approximate' });
    await using odd = await startSystem({ nats, env: ODD, only: ['compiler'] });
    const prompts = await Promise.all(Array.from({ length: 10 }, () => odd.client.compile(request)));
    expect(new Set(prompts.map(({ prompt }) => prompt))).toEqual(new Set([first.prompt]));
    expect(first.prompt).toContain('ping_pong');
  });
});
