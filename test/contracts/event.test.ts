import { describe, expect, it } from 'vitest';
import { readEvent, writeEvent } from '../../src/contracts/event.js';
import { SESSION_EVENTS, type SessionEvent, type StoredEvent } from '../../src/contracts/session-events.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { emptyState, type SessionState } from '../../src/memory/session/session-state.js';
import { bytes, restored } from '../support/snapshots.js';

const AT = '2026-01-01T00:00:00.000Z';
const message = (number: number, content = `message ${number}`): SessionEvent => ({
  v: 1,
  type: 'inbox.added',
  at: AT,
  id: `command-${number}`,
  data: { message: `MSG-${number}`, content },
});
const read = (key: string, data: Uint8Array) => readEvent(SESSION_EVENTS, key, data);

describe('an event as it is stored', () => {
  it('a stored event is read back as it was, with what its append expected', () => {
    expect(read('demo', writeEvent({ kind: 'session' }, 'demo', message(1), 7))).toEqual({
      event: message(1),
      after: 7,
    });
    expect(read('demo', writeEvent({ kind: 'session' }, 'demo', message(1)))).toEqual({ event: message(1) });
  });

  it.each([
    ['of another session', JSON.stringify({ ...message(1), session: 'other' })],
    ['of no session', JSON.stringify(message(1))],
    ['of another version', JSON.stringify({ session: 'demo', ...message(1), v: 2 })],
    ['decided on what is not a sequence', JSON.stringify({ ...message(1), session: 'demo', after: -1 })],
    ['that is not JSON', 'no event'],
    ['that is not an object', '7'],
  ])('a message %s is not an event', (_, text) => {
    expect(read('demo', Buffer.from(text))).toBeUndefined();
  });
});

describe('a command', () => {
  /** 1 is decided on nothing; 3 follows something at 2 that is not an event; 4 and 6 are the same commands again. */
  const LOG: StoredEvent[] = [
    { sequence: 1, event: message(1), after: 0 },
    { sequence: 3, event: message(2), after: 2 },
    { sequence: 4, event: message(1, 'again'), after: 0 },
    { sequence: 5, event: message(3), after: 4 },
    { sequence: 6, event: message(2, 'again'), after: 2 },
  ];
  const LAST = 8;
  const foldedFrom = (state: SessionState, through: number) => {
    for (const stored of LOG) {
      if (stored.sequence > state.sequence && stored.sequence <= through) evolve(state, stored);
    }
    // As a reader does, past what is not an event.
    state.sequence = Math.max(state.sequence, through);
    return state;
  };

  it('a command changes nothing when it is stored again', () => {
    const { notebook } = foldedFrom(emptyState('demo'), LAST);
    expect([...notebook.inbox.values()].map(({ content }) => content)).toEqual([
      ...['message 1', 'message 2', 'message 3'],
    ]);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    'repeated commands fold to the same bytes through a snapshot at %i',
    (cut) => {
      const loaded = restored(bytes(foldedFrom(emptyState('demo'), cut)));
      expect(bytes(foldedFrom(loaded, LAST))).toBe(bytes(foldedFrom(emptyState('demo'), LAST)));
    },
  );
});
