import { expect, it } from 'vitest';
import { DISPATCH_STREAM } from '../../../src/contracts/names.js';
import { ownConfig } from '../../../src/nats/backup/backup-manifest.js';

it('a restored stream keeps the limits that its owner gave it: ages beyond 104 days, and what it does when it is full', () => {
  const limits = { max_age: 365 * 86_400 * 1e9, max_bytes: 1e12, discard: 'new', num_replicas: 3 };
  expect(ownConfig(DISPATCH_STREAM, limits)).toMatchObject(limits);
  expect(ownConfig(DISPATCH_STREAM, { ...limits, max_age: 1.5, discard: 'ask' })).toMatchObject({
    discard: 'old',
    max_age: undefined,
  });
  expect(ownConfig('KV_session_snapshots', { discard: 'old' })).toMatchObject({ discard: 'new' });
});
