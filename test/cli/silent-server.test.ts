import { expect, it } from 'vitest';
import { cli } from '../support/cli.js';
import { startListener } from '../support/listener.js';

it.each(['doctor', 'session ls'])(
  'a command ends when the server takes the connection and says nothing: %s',
  async (command) => {
    await using silent = await startListener(() => {});
    const { code, stdout, stderr } = await cli(command.split(' '), { env: { NATS_URL: silent.url } });
    expect(stdout + stderr).toContain(
      `${silent.url.replace('nats://', '')} is not a NATS server, or hangs: it sends no greeting`,
    );
    expect(code).toBe(1);
  },
);
