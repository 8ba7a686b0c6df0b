import { describe, expect, it, vi } from 'vitest';
import type { EventFormat } from '../../../src/contracts/event.js';
import type { Token } from '../../../src/contracts/names.js';
import type { Appended, EventLog, EventRemoval, ReadRange } from '../../../src/engine/ports/session-log.js';
import { soon } from '../../support/soon.js';
import { bytes, newSession } from './opened.js';

/** An event log and operations that only its opener can do. */
export interface OpenedEventLog<Event> {
  readonly log: EventLog<Event> & EventRemoval;
  /** The same log in another process. */
  readonly other: EventLog<Event>;
  /** Returns all keys that have an event, as `other` lists them. */
  keys(): Promise<Token[]>;
  /** Stores bytes on the key that are not an event, like a foreign publisher. */
  injected(key: Token, data: Uint8Array): Promise<number>;
}

export interface LoggedEvents<Event> {
  readonly format: Pick<EventFormat<Event>, 'pathOf'>;
  /** Returns a unique command. */
  event(number: number): Event;
  readonly several: readonly Event[];
  /** JSON of invalid events. */
  readonly invalid: readonly string[];
}

/** The contract of `src/engine/ports/event-log.ts`. */
export function eventLogContract<Event extends { readonly type: string }>(
  name: string,
  { format, event, several, invalid }: LoggedEvents<Event>,
  opened: OpenedEventLog<Event>,
): void {
  describe(`the event log, ${name}`, () => {
    const append = async (key: Token, number: number) =>
      sequenceOf(await opened.log.append(key, event(number)));
    const noEvents = [
      new Uint8Array(),
      bytes('null'),
      Uint8Array.of(0, 255, 254, 13, 10),
      ...invalid.map((text) => bytes(text)),
    ];

    describe('append', () => {
      it('append makes the log of a key on its first event, and gives each event a higher sequence', async () => {
        const key = newSession();
        const sequences = [await append(key, 1), await append(key, 2), await append(key, 3)];
        expect(sequences[0]).toBeGreaterThan(0);
        expect(sequences).toEqual(sorted(sequences));
        expect(new Set(sequences).size).toBe(3);
      });

      it('append makes the log once when many first events come at once, from several sides', async () => {
        const key = newSession();
        const appends = Array.from({ length: 40 }, (_, index) =>
          (index % 2 === 0 ? opened.log : opened.other).append(key, event(index + 1)),
        );
        const sequences = (await Promise.all(appends)).map(sequenceOf);
        expect(new Set(sequences).size).toBe(40);
        const read = await opened.log.read(key, { after: 0 });
        expect(read.events.map(({ sequence }) => sequence)).toEqual(sorted(sequences));
      });

      it('append stores each of many events together, from two sides, and calls no sequence lower than it is', async () => {
        const [key, neighbour] = [newSession(), newSession()];
        for (const each of [key, neighbour]) await opened.log.append(each, event(1));
        const appended = await Promise.all(
          Array.from({ length: 60 }, async (_, index) => {
            const log = index % 3 === 0 ? opened.other : opened.log;
            const number = index + 2;
            const to = index % 2 === 0 ? key : neighbour;
            const sequence = sequenceOf(await log.append(to, event(number)));
            return { to, event: event(number), sequence };
          }),
        );
        for (const each of [key, neighbour]) {
          const { events } = await opened.other.read(each, { after: 0 });
          expect(events).toHaveLength(31);
          for (const { to, event: said, sequence } of appended) {
            if (to !== each) continue;
            const found = events.filter((stored) => JSON.stringify(stored.event) === JSON.stringify(said));
            expect(found).toHaveLength(1);
            expect(sequence).toBeGreaterThanOrEqual(found[0]?.sequence ?? 0);
          }
          const [last] = events.slice(-1);
          expect(sequenceOf(await opened.log.append(each, event(99)))).toBeGreaterThan(last?.sequence ?? 0);
        }
      });

      it('append takes an event when the expected sequence is the last one, 0 for none', async () => {
        const key = newSession();
        const first = sequenceOf(await opened.log.append(key, event(1), { expectedSequence: 0 }));
        const second = await opened.log.append(key, event(2), { expectedSequence: first });
        expect(second).toMatchObject({ outcome: 'appended' });
      });

      it.each([
        ['0', () => 0],
        ['an earlier one', (first: number) => first],
        ['a later one', (_: number, last: number) => last + 1],
      ])(
        'append gives a conflict and stores nothing when another sequence is expected: %s',
        async (_, expected) => {
          const key = newSession();
          const [first, last] = [await append(key, 1), await append(key, 2)];
          const options = { expectedSequence: expected(first, last) };
          expect(await opened.log.append(key, event(3), options)).toEqual({ outcome: 'conflict' });
          expect((await opened.log.read(key, { after: 0 })).events).toHaveLength(2);
        },
      );

      it('append gives a conflict in a key that does not exist when events are expected', async () => {
        const key = newSession();
        const outcome = await opened.log.append(key, event(1), { expectedSequence: 3 });
        expect(outcome).toEqual({ outcome: 'conflict' });
        expect(await opened.log.read(key, { after: 0 })).toMatchObject({
          events: [],
          through: 0,
          skipped: 0,
        });
      });

      it.each([
        ['a new key', 0],
        ['a key with events', 2],
      ])('append lets one win of those that expect the same sequence at once: %s', async (_, before) => {
        const key = newSession();
        let expectedSequence = 0;
        for (let number = 1; number <= before; number += 1) expectedSequence = await append(key, number);
        const outcomes = await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            (index % 2 === 0 ? opened.log : opened.other).append(key, event(10 + index), {
              expectedSequence,
            }),
          ),
        );
        expect(outcomes.filter(({ outcome }) => outcome === 'appended')).toHaveLength(1);
        expect((await opened.log.read(key, { after: 0 })).events).toHaveLength(before + 1);
      });

      it('append does not store a repetition with the same message id, and says where the first one is', async () => {
        const key = newSession();
        const first = sequenceOf(await opened.log.append(key, event(1), { messageId: 'first' }));
        await append(key, 2);
        const again = await opened.other.append(key, event(1), { messageId: 'first' });
        expect(again).toEqual({ outcome: 'appended', sequence: first });
        expect((await opened.log.read(key, { after: 0 })).events).toHaveLength(2);
      });

      it('append takes the same message id in another key', async () => {
        const [one, two] = [newSession(), newSession()];
        await opened.log.append(one, event(1), { messageId: 'first' });
        const elsewhere = await opened.log.append(two, event(1), { messageId: 'first' });
        expect(elsewhere).toMatchObject({ outcome: 'appended' });
      });
    });

    describe('read', () => {
      it('read gives nothing for a key that does not exist', async () => {
        const read = await opened.log.read(newSession(), { after: 7 });
        expect(read).toMatchObject({ events: [], through: 7, skipped: 0 });
      });

      it('read gives events back as they were appended, of every type', async () => {
        const key = newSession();
        for (const each of several) await opened.log.append(key, each);
        const read = await opened.log.read(key, { after: 0 });
        expect(read.events.map((stored) => stored.event)).toEqual(several);
      });

      it('read shows an event to every reader once its append has resolved', async () => {
        const key = newSession();
        let after = 0;
        for (let number = 1; number <= 50; number += 1) {
          const sequence = await append(key, number);
          const reader = number % 2 === 0 ? opened.log : opened.other;
          const read = await reader.read(key, { after });
          expect(read).toMatchObject({
            events: [{ sequence, event: event(number) }],
            through: sequence,
            skipped: 0,
          });
          after = read.through;
        }
      });

      it('read starts after `after`, and stops at `through`', async () => {
        const key = newSession();
        const [s1, s2, s3, s4] = [
          await append(key, 1),
          await append(key, 2),
          await append(key, 3),
          await append(key, 4),
        ];
        const read = async (after: number, through?: number) => {
          const range = through === undefined ? { after } : { after, through };
          const { events, through: reached, skipped } = await opened.log.read(key, range);
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

      it('read takes at most so many messages, and goes on after them', async () => {
        const key = newSession();
        const [s1, s2] = [await append(key, 1), await append(key, 2)];
        await opened.injected(key, bytes('no event'));
        const s4 = await append(key, 3);
        const read = async (after: number, limit: number) => {
          const { events, through } = await opened.log.read(key, { after, limit });
          return [...events.map(({ sequence }) => sequence), `through ${through}`];
        };
        expect(await read(0, 1)).toEqual([s1, `through ${s1}`]);
        expect((await read(0, 3)).slice(0, 2)).toEqual([s1, s2]);
        expect(await read(s2, 2)).toEqual([s4, `through ${s4}`]);
        expect(await read(s2, 5)).toEqual([s4, `through ${s4}`]);
        expect(await read(s4, 5)).toEqual([`through ${s4}`]);
      });

      it('read gives the events of one place alone, as if there were no others', async () => {
        const key = newSession();
        const stored: { sequence: number; event: Event }[] = [];
        for (const each of [...several, ...several]) {
          stored.push({ sequence: sequenceOf(await opened.log.append(key, each)), event: each });
          await opened.injected(key, bytes('no event'));
        }
        for (const at of new Set(several.map(format.pathOf))) {
          const ofType = stored.filter((each) => format.pathOf(each.event) === at);
          const [first = 0, last = 0] = [ofType[0]?.sequence, ofType.at(-1)?.sequence];
          const read = (range: Omit<ReadRange, 'at'>) => opened.other.read(key, { ...range, at });
          expect(await read({ after: 0 })).toMatchObject({ events: ofType, through: last, skipped: 0 });
          expect((await read({ after: first })).events).toEqual(ofType.slice(1));
          expect((await read({ after: 0, through: last - 1 })).events).toEqual(ofType.slice(0, -1));
          expect(await read({ after: last })).toMatchObject({ events: [], through: last, skipped: 0 });
        }
        expect(await opened.log.read(key, { after: 0, at: 'none' })).toMatchObject({
          events: [],
          through: 0,
        });
      });

      it('read gives thousands of events in order, whole and in pieces', async () => {
        const key = newSession();
        const count = 2300;
        const numbers = Array.from({ length: count }, (_, index) => index + 1);
        const sequences = await Promise.all(numbers.map((number) => append(key, number)));
        const whole = await opened.other.read(key, { after: 0 });
        expect(whole.events.map(({ sequence }) => sequence)).toEqual(sorted(sequences));
        expect(whole.events.map((stored) => stored.event)).toEqual(numbers.map(event));
        const [cut = 0] = sequences.slice(1249);
        const head = await opened.log.read(key, { after: 0, through: cut });
        const tail = await opened.log.read(key, { after: head.through });
        expect(head.events).toHaveLength(1250);
        expect([...head.events, ...tail.events]).toEqual(whole.events);
      });

      it('read leaves out what is not a valid event, and counts it in `through`', async () => {
        const key = newSession();
        await append(key, 1);
        for (const data of noEvents) await opened.injected(key, data);
        const second = await append(key, 2);
        const last = await opened.injected(key, bytes('no event'));
        const read = await opened.log.read(key, { after: 0 });
        expect(read.events.map((stored) => stored.event)).toEqual([event(1), event(2)]);
        expect(read).toMatchObject({ through: last, skipped: noEvents.length + 1 });
        expect(await opened.log.read(key, { after: second })).toMatchObject({
          events: [],
          through: last,
          skipped: 1,
        });
        expect(await append(key, 3)).toBeGreaterThan(last);
      });
    });

    describe('watch', () => {
      it('watch reports what any process appends to the key, and nothing of other keys', async () => {
        const [key, another] = [newSession(), newSession()];
        const told = { here: vi.fn(), there: vi.fn() };
        const unwatch = [
          opened.log.watch(key, told.here),
          opened.log.watch(another, told.there),
          opened.log.watch(key, told.here),
        ];
        // An append on another connection arrives after the subscription and the append of this one.
        await append(key, 1);
        await soon(() => expect(told.here.mock.calls.length).toBeGreaterThanOrEqual(2));
        const before = told.here.mock.calls.length;
        await opened.other.append(key, event(2));
        await soon(() => expect(told.here.mock.calls.length).toBeGreaterThanOrEqual(before + 2));
        expect(told.there).not.toHaveBeenCalled();
        for (const stop of unwatch) stop();
      });

      it('watch reports nothing after it was ended', async () => {
        const key = newSession();
        const told = { ended: vi.fn(), running: vi.fn() };
        const unwatch = opened.log.watch(key, told.ended);
        const unwatchRunning = opened.log.watch(key, told.running);
        unwatch();
        await append(key, 1);
        await soon(() => expect(told.running).toHaveBeenCalled());
        expect(told.ended).not.toHaveBeenCalled();
        unwatchRunning();
      });
    });

    describe('removeBefore', () => {
      it('removeBefore removes what is before a sequence, of its key alone, and says how much it was', async () => {
        const [key, another] = [newSession(), newSession()];
        const sequences = [];
        for (const number of [1, 2, 3, 4]) {
          sequences.push(await append(key, number));
          await append(another, number);
        }
        const [, , third = 0, last = 0] = sequences;
        expect(await opened.log.removeBefore(key, third)).toBe(2);
        for (const log of [opened.log, opened.other]) {
          const { events, through } = await log.read(key, { after: 0 });
          expect(events.map(({ sequence }) => sequence)).toEqual([third, last]);
          expect(through).toBe(last);
          expect((await log.read(another, { after: 0 })).events).toHaveLength(4);
        }
        expect(await opened.log.removeBefore(key, third)).toBe(0);
        expect(await opened.log.removeBefore(newSession(), 10)).toBe(0);
      });

      it('what expects the last sequence is appended after a removal, and only then', async () => {
        const key = newSession();
        await append(key, 1);
        const last = await append(key, 2);
        await opened.log.removeBefore(key, last);
        expect(await opened.other.append(key, event(3), { expectedSequence: last - 1 })).toEqual({
          outcome: 'conflict',
        });
        const appended = await opened.other.append(key, event(3), { expectedSequence: last });
        expect(sequenceOf(appended)).toBeGreaterThan(last);
      });
    });

    describe('keys', () => {
      it('keys gives those that have events, sorted by name, and none twice', async () => {
        const names = [newSession('b'), newSession('A'), newSession('a'), newSession('_')];
        for (const key of names) {
          await append(key, 1);
          await append(key, 2);
        }
        await opened.log.read(newSession('only-read'), { after: 0 });
        const keys = await opened.keys();
        expect(keys.filter((key) => names.includes(key))).toEqual([...names].sort());
        expect(keys).toEqual([...new Set(keys)].sort());
        expect(keys.filter((key) => key.startsWith('only-read'))).toEqual([]);
      });
    });
  });
}

function sequenceOf(appended: Appended): number {
  if (appended.outcome !== 'appended') throw new Error(`not appended: ${appended.outcome}`);
  return appended.sequence;
}

function sorted(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b);
}
