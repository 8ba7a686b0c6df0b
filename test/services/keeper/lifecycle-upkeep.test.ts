import { expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { silentLogger } from '../../../src/engine/ports/clients.js';
import { expireForgotten } from '../../../src/services/keeper/serve-keeper.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';

const DAY_MS = 86_400_000;
const AT = '2026-01-01T00:00:00.000Z';

it('the record of a forgotten session is removed after a week, and not before it is forgotten', async () => {
  const lifecycle = new MemorySessionLifecycle();
  const [gone, leaving] = [token('gone', 'session'), token('leaving', 'session')];
  for (const session of [gone, leaving])
    await lifecycle.forgetting(session, { at: AT, dispatches: 1, sequence: 1 });
  await lifecycle.forgot(gone, AT);
  const after = (days: number) => expireForgotten(lifecycle, silentLogger, Date.parse(AT) + days * DAY_MS);
  await after(7);
  expect(lifecycle.forgotten(gone)).toMatchObject({ status: 'forgotten' });
  await after(7.1);
  expect([lifecycle.forgotten(gone), lifecycle.forgotten(leaving)]).toMatchObject([
    undefined,
    { status: 'forgetting' },
  ]);
});

it('a store that cannot be reached is said, and stops nothing', async () => {
  const said: object[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => said.push(fields) };
  await expireForgotten({ expire: () => Promise.reject(new Error('gone')) }, logger, 0);
  expect(said).toMatchObject([{ code: 'internal' }]);
});
