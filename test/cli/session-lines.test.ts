import picocolors from 'picocolors';
import { expect, it } from 'vitest';
import { sessionLines } from '../../src/cli/show-reply.js';
import type { SessionListed } from '../../src/contracts/replies/session-reply.js';

const AT = '2026-03-01T12:00:00.000Z';
const figures = {
  brief: false,
  sequence: 3,
  status: 'open',
  facts: 20,
  results: 5,
  rejected: 0,
  board: { open: 0, done: 0 },
  stalled: [],
  waiting: [],
  asks: [],
  working: [],
  unread: 0,
} as const;

it('lists sessions in columns, however long their names, with what they wait for below', () => {
  const sessions: SessionListed[] = [
    {
      ...figures,
      session: 'secret',
      at: '2026-03-01T11:59:58.000Z',
      started_at: '2026-02-27T11:00:00.000Z',
      waiting: ['an answer'],
    },
    { ...figures, title: 'The\nninth', session: 'b9', at: '2026-03-01T11:30:00.000Z', status: 'completed' },
    { session: 'unread', at: '2026-03-01T11:30:00.000Z', sequence: 4, brief: true },
    { ...figures, session: 'x'.repeat(60), at: AT, archived: { at: AT } },
  ];
  const name = 'x'.repeat(60);
  const lines = (unread: string) => [
    'SESSION  STATUS     MOVED      BEGAN       HOW FAR',
    'secret   open       just now   2d 1hr ago  5 results, 20 facts',
    '  waits: an answer',
    'b9       completed  30min ago              The ninth, 5 results, 20 facts',
    `unread              30min ago${unread}`,
    `${name}  archived   just now               5 results, 20 facts`,
  ];
  const plain = picocolors.createColors(false);
  expect(sessionLines(plain, sessions, AT)).toEqual(lines(''));
  expect(sessionLines(plain, sessions, AT, 'not read yet')).toEqual(lines('              not read yet'));
});
