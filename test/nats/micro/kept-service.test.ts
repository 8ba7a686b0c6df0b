import { connect } from 'nats';
import { expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { startService } from '../../../src/nats/micro/micro-service.js';
import { startPrivateNats } from '../../support/nats-server.js';
import { ofFile } from '../../support/of-file.js';

/** Services of a user who may not subscribe to everything. */

const denied = '{ user: half, password: x, permissions { subscribe: { deny: ["a.denied"] } } }';
const server = await ofFile(startPrivateNats({ extraConfig: `authorization { users = [ ${denied} ] }` }));

const service = (names: readonly string[], logger = silentLogger) => ({
  name: 'half',
  version: '1.0.0',
  description: 'for tests',
  logger,
  endpoints: names.map((name) => ({
    name,
    subject: `a.${name}`,
    description: 'echoes',
    handle: async (given: unknown) => given,
  })),
});

const halfUser = () => connect({ servers: server.url, user: 'half', pass: 'x' });

it.each([
  ['its only endpoint', ['denied']],
  ['one of many', [...Array.from({ length: 20 }, (_, index) => `e${index}`), 'denied']],
])('a service does not start where %s is denied, and does not try again', async (_, names) => {
  const connection = await halfUser();
  const error = vi.fn();
  await expect(startService(connection, service(names, { ...silentLogger, error }))).rejects.toMatchObject({
    code: 'permission_denied',
    message: expect.stringContaining('a.denied'),
  });
  await connection.flush();
  expect(error).not.toHaveBeenCalled();
  await connection.close();
});

it('a service starts beside one that is denied', async () => {
  const connection = await halfUser();
  const [denied, allowed] = await Promise.allSettled([
    startService(connection, service(['denied'])),
    startService(connection, service(['allowed'])),
  ]);
  expect([denied?.status, allowed?.status]).toEqual(['rejected', 'fulfilled']);
  expect((await connection.request('a.allowed', '1', { timeout: 5000 })).json()).toBe(1);
  await connection.close();
});
