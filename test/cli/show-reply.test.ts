import { expect, it } from 'vitest';
import { showReply } from '../../src/cli/show-reply.js';
import type { ToolReply } from '../../src/contracts/replies/replies.js';

type Session = ToolReply<'session-show'>['session'];

const session: Session = {
  ...{ name: 'demo', status: 'open', facts: 3, sequence: 7, iteration: 0, notes: 0, unread: 0, plan: null },
  ...{
    started_at: null,
    last_event_at: null,
    dispatches: { implementer: 1, reviewer: 0, observer: 0, rejected: 0 },
  },
  board: {
    ...{ total: 2, ready: 1, waiting: 0, remaining: 1, in_progress: 1 },
    ...{ blocked: 0, completed: 0, cancelled: 0 },
  },
};
const shownOf = (shown: Session) => showReply('session-show', { session: shown, sequence: 7 }).join('\n');
const statusIn = (shown: string) => /^status +(.*)$/m.exec(shown)?.[1];

it('a session that is archived is shown as archived, with since when and why, as in a list', () => {
  expect(statusIn(shownOf(session))).toBe('open');
  const archived = { at: '2026-03-01T12:00:00.000Z', reason: 'shipped' };
  for (const status of ['open', 'completed'] as const) {
    const shown = shownOf({ ...session, status, archived });
    expect(statusIn(shown)).toBe('archived');
    expect(shown).toMatch(/^archived +since 2026-03-01T12:00:00\.000Z: shipped$/m);
  }
});

it('the status of a task is shown in words for people', () => {
  expect(shownOf(session)).toMatch(/^board .*1 pending, 1 in progress/m);
  expect(shownOf(session)).toMatch(/^results +1 implementer, 0 reviewer/m);
});
