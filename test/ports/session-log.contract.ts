import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Token } from '../../src/contracts/names.js';
import type { StoredEvent } from '../../src/contracts/session-events.js';
import type { Appended } from '../../src/ports/event-log.js';
import type { SessionLog } from '../../src/ports/session-log.js';
import { implementer, recorded, rejected } from '../support/builders.js';
import { bytes, newSession } from './opened.js';

/** A session log, and what only its maker can do with it. */
export interface OpenedSessionLog {
  readonly log: SessionLog;
  /** The same log as somebody else holds it. */
  readonly other: SessionLog;
  /** Stores bytes on the session that are no event, as a stranger would. */
  injected(session: Token, data: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/** What `src/ports/session-log.ts` promises, of any implementation. */
export function sessionLogContract(name: string, open: () => Promise<OpenedSessionLog>): void {
  describe(`the session log, ${name}`, () => {
    let opened: OpenedSessionLog;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    const event = (dispatch: number) => recorded(dispatch, implementer({ summary: `step ${dispatch}` }));
    const append = async (session: Token, dispatch: number) =>
      sequenceOf(await opened.log.append(session, event(dispatch)));

    describe('append', () => {
      it('makes the log of a session on its first event, and gives each event a higher sequence', async () => {
        const session = newSession();
        const sequences = [await append(session, 1), await append(session, 2), await append(session, 3)];
        expect(sequences[0]).toBeGreaterThan(0);
        expect(sequences).toEqual(sorted(sequences));
        expect(new Set(sequences).size).toBe(3);
      });

      it('makes it once when many come first, from several sides', async () => {
        const session = newSession();
        const appends = Array.from({ length: 40 }, (_, index) =>
          (index % 2 === 0 ? opened.log : opened.other).append(session, event(index + 1)),
        );
        const sequences = (await Promise.all(appends)).map(sequenceOf);
        expect(new Set(sequences).size).toBe(40);
        const read = await opened.log.read(session, { after: 0 });
        expect(read.events.map(({ sequence }) => sequence)).toEqual(sorted(sequences));
      });

      it('appends when the expected sequence is the last one, 0 for none', async () => {
        const session = newSession();
        const first = sequenceOf(await opened.log.append(session, event(1), { expectedSequence: 0 }));
        const second = await opened.log.append(session, event(2), { expectedSequence: first });
        expect(second).toMatchObject({ outcome: 'appended', duplicate: false });
      });

      it.each([
        ['0', () => 0],
        ['an earlier one', (first: number) => first],
        ['a later one', (_: number, last: number) => last + 1],
      ])('gives a conflict and stores nothing when another sequence is expected: %s', async (_, expected) => {
        const session = newSession();
        const [first, last] = [await append(session, 1), await append(session, 2)];
        const options = { expectedSequence: expected(first, last) };
        expect(await opened.log.append(session, event(3), options)).toEqual({ outcome: 'conflict' });
        expect((await opened.log.read(session, { after: 0 })).events).toHaveLength(2);
      });

      it('gives a conflict in a session that does not exist when events are expected', async () => {
        const session = newSession();
        const outcome = await opened.log.append(session, event(1), { expectedSequence: 3 });
        expect(outcome).toEqual({ outcome: 'conflict' });
        expect(await opened.log.read(session, { after: 0 })).toEqual({ events: [], through: 0, skipped: 0 });
      });

      it.each([
        ['a new session', 0],
        ['a session with events', 2],
      ])('lets one win of those that expect the same sequence at once: %s', async (_, before) => {
        const session = newSession();
        let expectedSequence = 0;
        for (let dispatch = 1; dispatch <= before; dispatch += 1)
          expectedSequence = await append(session, dispatch);
        const outcomes = await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            (index % 2 === 0 ? opened.log : opened.other).append(session, event(10 + index), {
              expectedSequence,
            }),
          ),
        );
        expect(outcomes.filter(({ outcome }) => outcome === 'appended')).toHaveLength(1);
        expect((await opened.log.read(session, { after: 0 })).events).toHaveLength(before + 1);
      });

      it('does not store a repetition with the same message id, and says where the first one is', async () => {
        const session = newSession();
        const first = sequenceOf(await opened.log.append(session, event(1), { messageId: 'dispatch:1' }));
        await append(session, 2);
        const again = await opened.other.append(session, event(1), { messageId: 'dispatch:1' });
        expect(again).toEqual({ outcome: 'appended', sequence: first, duplicate: true });
        expect((await opened.log.read(session, { after: 0 })).events).toHaveLength(2);
      });

      it('takes the same message id in another session', async () => {
        const [one, two] = [newSession(), newSession()];
        await opened.log.append(one, event(1), { messageId: 'dispatch:1' });
        const elsewhere = await opened.log.append(two, event(1), { messageId: 'dispatch:1' });
        expect(elsewhere).toMatchObject({ outcome: 'appended', duplicate: false });
      });
    });

    describe('read', () => {
      it('gives nothing for a session that does not exist', async () => {
        const read = await opened.log.read(newSession(), { after: 7 });
        expect(read).toEqual({ events: [], through: 7, skipped: 0 });
      });

      it('gives events back as they were appended, of every type', async () => {
        const session = newSession();
        const events = [event(1), rejected(2), event(3)];
        for (const each of events) await opened.log.append(session, each);
        const read = await opened.log.read(session, { after: 0 });
        expect(read.events.map((stored) => stored.event)).toEqual(events);
      });

      it('shows an event to whoever reads once its append has resolved', async () => {
        const session = newSession();
        let after = 0;
        for (let dispatch = 1; dispatch <= 50; dispatch += 1) {
          const sequence = await append(session, dispatch);
          const reader = dispatch % 2 === 0 ? opened.log : opened.other;
          const read = await reader.read(session, { after });
          expect(read).toEqual({
            events: [{ sequence, event: event(dispatch) }],
            through: sequence,
            skipped: 0,
          });
          after = read.through;
        }
      });

      it('starts after `after`, and stops at `through`', async () => {
        const session = newSession();
        const [s1, s2, s3, s4] = [
          await append(session, 1),
          await append(session, 2),
          await append(session, 3),
          await append(session, 4),
        ];
        const read = async (after: number, through?: number) => {
          const range = through === undefined ? { after } : { after, through };
          const { events, through: reached, skipped } = await opened.log.read(session, range);
          expect(skipped).toBe(0);
          return [...events.map(({ sequence }) => sequence), `through ${reached}`];
        };
        expect(await read(0)).toEqual([s1, s2, s3, s4, `through ${s4}`]);
        expect(await read(s1)).toEqual([s2, s3, s4, `through ${s4}`]);
        expect(await read(s1, s3)).toEqual([s2, s3, `through ${s3}`]);
        expect(await read(0, s1)).toEqual([s1, `through ${s1}`]);
        expect(await read(s2, s2)).toEqual([`through ${s2}`]);
        expect(await read(s3, s2)).toEqual([`through ${s3}`]);
        expect(await read(s4)).toEqual([`through ${s4}`]);
        expect(await read(s4 + 100)).toEqual([`through ${s4 + 100}`]);
      });

      it('gives thousands of events in order, whole and in pieces', async () => {
        const session = newSession();
        const count = 2300;
        const dispatches = Array.from({ length: count }, (_, index) => index + 1);
        const sequences = await Promise.all(dispatches.map((dispatch) => append(session, dispatch)));
        const whole = await opened.other.read(session, { after: 0 });
        expect(whole.events.map(({ sequence }) => sequence)).toEqual(sorted(sequences));
        expect(whole.events.map(dispatchOf)).toEqual(dispatches);
        const [cut = 0] = sequences.slice(1249);
        const head = await opened.log.read(session, { after: 0, through: cut });
        const tail = await opened.log.read(session, { after: head.through });
        expect(head.events).toHaveLength(1250);
        expect([...head.events, ...tail.events]).toEqual(whole.events);
      });

      it('leaves out what is no valid event, and counts it in `through`', async () => {
        const session = newSession();
        await append(session, 1);
        for (const data of NO_EVENTS) await opened.injected(session, data);
        const second = await append(session, 2);
        const last = await opened.injected(session, bytes('no event'));
        const read = await opened.log.read(session, { after: 0 });
        expect(read.events.map(dispatchOf)).toEqual([1, 2]);
        expect(read).toMatchObject({ through: last, skipped: NO_EVENTS.length + 1 });
        expect(await opened.log.read(session, { after: second })).toEqual({
          events: [],
          through: last,
          skipped: 1,
        });
        expect(await append(session, 3)).toBeGreaterThan(last);
      });
    });

    describe('watch', () => {
      it('is told of what anybody appends to the session, and of no other', async () => {
        const [session, another] = [newSession(), newSession()];
        const told = { here: vi.fn(), there: vi.fn() };
        const unwatch = [
          opened.log.watch(session, told.here),
          opened.log.watch(another, told.there),
          opened.log.watch(session, told.here),
        ];
        // What another connection appends comes after what this one has subscribed and appended.
        await append(session, 1);
        await vi.waitFor(() => expect(told.here.mock.calls.length).toBeGreaterThanOrEqual(2), SOON);
        const before = told.here.mock.calls.length;
        await opened.other.append(session, event(2));
        await vi.waitFor(() => expect(told.here.mock.calls.length).toBeGreaterThanOrEqual(before + 2), SOON);
        expect(told.there).not.toHaveBeenCalled();
        for (const stop of unwatch) stop();
      });

      it('is told nothing after it was ended', async () => {
        const session = newSession();
        const told = { ended: vi.fn(), running: vi.fn() };
        const unwatch = opened.log.watch(session, told.ended);
        const unwatchRunning = opened.log.watch(session, told.running);
        unwatch();
        await append(session, 1);
        await vi.waitFor(() => expect(told.running).toHaveBeenCalled(), SOON);
        expect(told.ended).not.toHaveBeenCalled();
        unwatchRunning();
      });
    });

    describe('sessions', () => {
      it('gives those that have events, sorted by name, and none twice', async () => {
        const names = [newSession('b'), newSession('A'), newSession('a'), newSession('_')];
        for (const session of names) {
          await append(session, 1);
          await append(session, 2);
        }
        await opened.log.read(newSession('only-read'), { after: 0 });
        const sessions = await opened.other.sessions();
        expect(sessions.filter((session) => names.includes(session))).toEqual([...names].sort());
        expect(sessions).toEqual([...new Set(sessions)].sort());
        expect(sessions.filter((session) => session.startsWith('only-read'))).toEqual([]);
      });
    });
  });
}

const SOON = { timeout: 5000, interval: 5 };

const NO_EVENTS = [
  new Uint8Array(),
  bytes('{"v":1,"type":"fact.recorded"}'),
  bytes('{"v":2,"type":"task.added","at":"2026-01-01T00:00:00Z","data":{}}'),
  bytes('null'),
  Uint8Array.of(0, 255, 254, 13, 10),
];

function sequenceOf(appended: Appended): number {
  if (appended.outcome !== 'appended') throw new Error(`not appended: ${appended.outcome}`);
  return appended.sequence;
}

function dispatchOf({ event }: StoredEvent): number | undefined {
  return 'dispatch' in event.data ? event.data.dispatch.sequence : undefined;
}

function sorted(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b);
}
