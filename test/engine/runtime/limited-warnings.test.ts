import { expect, it } from 'vitest';
import { limitedWarnings } from '../../../src/engine/runtime/pacing.js';
import { loggedWarnings } from '../../support/logged.js';

it('a limited warning says one thing once a minute, another one besides, and how often it was silent', () => {
  const { logger, warnings } = loggedWarnings();
  let now = 0;
  const warn = limitedWarnings(logger, () => now);
  for (const subject of ['a', 'a', 'b', 'a']) warn({ subject }, 'denied', subject);
  now = 60_000;
  warn({ subject: 'a' }, 'denied', 'a');
  expect(warnings).toMatchObject([
    { fields: { subject: 'a' }, message: 'denied' },
    { fields: { subject: 'b' } },
    { fields: { subject: 'a', silent: 2 } },
  ]);
  expect(warnings[0]?.fields).not.toHaveProperty('silent');
});
