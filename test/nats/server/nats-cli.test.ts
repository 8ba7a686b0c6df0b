import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { NATS_CLI_VERSION, natsCli } from '../../support/nats-cli.js';
import { startTestNats } from '../../support/nats-server.js';

const run = promisify(execFile);
const cli = await natsCli();

if ('missing' in cli) {
  it.skip(`the nats command line (skipped: ${cli.missing})`, () => {});
} else {
  it('the nats command line runs, and talks to the test server', async () => {
    const { stdout } = await run(cli.path, ['--version']);
    expect(stdout.trim()).toBe(`v${NATS_CLI_VERSION}`);
    await using nats = await startTestNats();
    const account = await run(cli.path, ['--server', nats.url, 'account', 'info']);
    expect(account.stdout).toContain('JetStream');
  });
}
