import { expect, it } from 'vitest';
import { cli } from '../support/cli.js';
import { startListener } from '../support/listener.js';

it.each(['doctor', 'session ls'])(
  'a command ends when the server takes the connection and says nothing: %s',
  async (command) => {
    await using silent = await startListener(() => {});
    const { code, stdout, stderr } = await cli(command.split(' '), { env: { NATS_URL: silent.url } });
    expect(stdout + stderr).toContain(`no NATS server answers at ${silent.url} (TIMEOUT)`);
    expect(code).toBe(1);
  },
);
