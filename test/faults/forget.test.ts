import { describe, expect, test } from 'vitest';
import { startCli } from '../support/cli.js';
import { forgotten, storedText } from '../support/forgetting.js';
import { startTestNats } from '../support/nats-server.js';
import { soon } from '../support/soon.js';
import { filesHolding } from '../support/store-files.js';
import { allDealtWith, publishReview, publishWork, startSystem } from '../support/system.js';

describe('forgetting', () => {
  test('what a service had in hand when it stood still does not come back when it goes on', async () => {
    await using nats = await startTestNats();
    await using system = await startSystem({ nats, only: ['compiler', 'tools', 'keeper'] });
    const args = ['admin', 'serve', '--only', 'extractor', 'learnings', '--nats', system.url];
    await using still = await startCli(args);
    // It cannot end while it stands still.
    await using _ = { [Symbol.asyncDispose]: async () => still.signal('SIGCONT') };
    const { client, ports } = system;
    await publishWork(client, 'victim', '1', { summary: 'CANARY first' });
    await allDealtWith(ports);
    still.signal('SIGSTOP');
    for (let at = 0; at < 20; at += 1) {
      await publishWork(client, 'victim', '1', { summary: `CANARY ${at}` });
      const required_fixes = [`CANARY demand ${at}`];
      await publishReview(client, 'victim', '1', 'needs_changes', { required_fixes });
    }

    await forgotten(system, 'victim');
    still.signal('SIGCONT');
    const { sequence } = await publishWork(client, 'victim', '1', { summary: 'fresh' });
    await allDealtWith(ports);
    await soon(async () => {
      const { prompt } = await client.compile({
        session: 'victim',
        taskId: '1',
        taskPrompt: 'go on',
        after: sequence,
      });
      expect(prompt).toContain('fresh');
    });

    expect(await storedText(system)).not.toContain('CANARY');
    expect(await filesHolding(system.nats.storeDir, 'CANARY')).toEqual([]);
  });
});
