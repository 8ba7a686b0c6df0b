import { describe, expect, it } from 'vitest';
import {
  DISPATCH_STREAM,
  isToken,
  PER_SESSION,
  sessionSubjects,
  streamOf,
} from '../../src/contracts/names.js';
import { allRejected } from '../support/all-rejected.js';
import { sessionsOf } from '../support/session-names.js';
import {
  allDealtWith,
  eventsOf,
  freshState,
  implemented,
  newSession,
  publishReview,
  soon,
  systemOfFile,
} from '../support/system.js';

const bytes = (body: string) => Buffer.from(body);
const good = (task: string) => bytes(JSON.stringify(implemented(task)));

const system = await systemOfFile();

/** The rejection of a dispatch, as soon as it is there. */
function rejectionOf(sequence: number) {
  return soon(async () => {
    const entries = await allRejected(system.ports.rejected);
    const entry = entries.find((each) => each.sequence === sequence);
    expect(entry, `dispatch ${sequence} is rejected`).toBeDefined();
    if (entry === undefined) throw new Error('unreachable');
    return entry;
  });
}

describe('a published result', () => {
  it('a published result gets the time and the sequence of its arrival, and its number in the subject', async () => {
    const session = newSession('time');
    const { sequence } = await publishReview(system.client, session, '1', 'approved');
    await allDealtWith(system.ports);
    const jsm = await system.ports.connection.jetstreamManager();
    const stored = await jsm.streams.getMessage(streamOf(PER_SESSION, session), {
      last_by_subj: sessionSubjects(session),
    });
    const dispatch = await jsm.streams.getMessage(DISPATCH_STREAM, { seq: sequence });
    expect(stored.subject).toBe(`session.${session}.result.${sequence % 64}`);
    expect(stored.json()).toMatchObject({
      v: 1,
      type: 'fact.recorded',
      at: dispatch.time.toISOString(),
      data: { dispatch: { sequence, at: dispatch.time.toISOString() } },
    });
  });
});

describe('malformed input is kept whole, with its reason, and noted on its session', () => {
  const cases: [name: string, tail: string, body: Uint8Array, code: string, reason: RegExp][] = [
    ['an unknown role', 'S.boss', good('1'), 'subject_invalid', /role one of implementer, reviewer/],
    ['a wildcard for a session', '*.implementer', good('1'), 'subject_invalid', /dispatch\.<session>/],
  ];

  it.each(cases)(
    'malformed input is kept whole, with its reason, and noted on its session: %s',
    async (_name, tail, body, code, reason) => {
      const own = newSession('bad');
      const subject = `dispatch.${tail.replace(/^S/, own)}`;
      // With an id, as tools send one: an empty message without any header is what a server answers to a read of nothing.
      const { sequence } = await system.ports.source.publish(subject, body, newSession('id'));

      const entry = await rejectionOf(sequence);
      expect(entry).toMatchObject({ subject, code, bytes: body.length });
      expect(entry.reason).toMatch(reason);
      const kept = await system.ports.rejected.get(entry.id);
      expect(Buffer.compare(kept?.body ?? Buffer.alloc(0), body)).toBe(0);

      await allDealtWith(system.ports);

      const session = subject.split('.')[1];
      const sessions = await sessionsOf(system.ports.log);
      if (!isToken(session)) {
        expect(entry.session).toBeUndefined();
        expect(sessions).not.toContain(session);
        return;
      }
      const [noted, ...others] = await eventsOf(system, session);
      expect(others).toEqual([]);
      expect(noted?.event).toMatchObject({
        type: 'dispatch.rejected',
        data: { dispatch: { sequence }, error: { code } },
      });
      expect((await freshState(system, session)).dispatches.current().counts.rejected).toBe(1);
    },
  );
});
