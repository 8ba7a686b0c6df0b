import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/config.js';
import { token } from '../../../src/contracts/names.js';
import { type NatsOptions, openNats } from '../../../src/nats/open-nats.js';
import { systemClock } from '../../../src/ports/clock.js';
import { silentLogger } from '../../../src/ports/logger.js';
import { natsOptions } from '../../../src/services/common/nats-options.js';
import { LayoutMove } from '../../../src/services/layout/layout-move.js';
import { rejected } from '../../support/builders.js';
import { TRUSTED_MS } from '../../support/moved-layout.js';
import { startGuardedNats } from '../../support/users.js';

const SESSION = token('demo', 'session');

it('a compiler that may only read goes on with a session that has moved', async () => {
  await using guarded = await startGuardedNats([{ name: 'compiler', role: 'compiler' }]);
  const portsOf = (user: string, makes: NatsOptions['makes']) => {
    const options = natsOptions(guarded.url, user, loadConfig(guarded.env(user)), silentLogger);
    return openNats({ ...options, layoutTrustedMs: TRUSTED_MS, ...(makes && { makes }) });
  };
  const admin = await portsOf('admin', undefined);
  const compiler = await portsOf('compiler', []);
  await admin.log.append(SESSION, rejected(1));
  const shown = async () => (await compiler.log.read(SESSION, { after: 0 })).events.length;
  expect(await shown()).toBe(1);
  await new LayoutMove({ nats: admin, clock: systemClock, settleMs: 2 * TRUSTED_MS }).toShards(2, false);
  await wait(TRUSTED_MS);
  expect(await shown()).toBe(1);
  await compiler.close();
  await admin.close();
});
