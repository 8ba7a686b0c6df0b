import { expect, it } from 'vitest';
import { showReply } from '../../src/cli/show-reply.js';

const session = { name: 'demo', status: 'open', facts: 3 };
const statusIn = (shown: string) => /^status +(.*)$/m.exec(shown)?.[1];

it('a session that is archived is shown as archived, with since when and why, as in a list', () => {
  expect(statusIn(showReply({ session }, false))).toBe('open');
  const archived = { at: '2026-03-01T12:00:00.000Z', reason: 'shipped' };
  for (const status of ['open', 'completed']) {
    const shown = showReply({ session: { ...session, status, archived } }, false);
    expect(statusIn(shown)).toBe('archived');
    expect(shown).toMatch(/^archived +since 2026-03-01T12:00:00\.000Z: shipped$/m);
  }
});
