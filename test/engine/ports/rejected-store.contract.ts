import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  RejectedSelection,
  RejectedStore,
  Rejection,
} from '../../../src/engine/ports/rejected-store.js';
import { allRejected } from '../../support/all-rejected.js';
import { timeOf } from '../../support/builders.js';
import { bytes, newSession } from './opened.js';

/** A rejected store, also opened as another process. */
export interface OpenedRejectedStore {
  readonly store: RejectedStore;
  readonly other: RejectedStore;
  close(): Promise<void>;
}

/** The contract of `src/engine/ports/rejected-store.ts`. */
export function rejectedStoreContract(name: string, open: () => Promise<OpenedRejectedStore>): void {
  describe(`the rejected store, ${name}`, () => {
    let opened: OpenedRejectedStore;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    /** Stores a rejection of the next dispatch and returns its entry on a page. */
    const put = async (overrides: Partial<Rejection> = {}) => {
      const rejection = rejectionOf(overrides);
      await opened.store.put(rejection);
      const entry = (await allRejected(opened.other)).find((each) => each.sequence === rejection.sequence);
      if (entry === undefined) throw new Error(`rejection of dispatch ${rejection.sequence} is not listed`);
      return { rejection, entry };
    };

    it('the rejected store keeps a rejection whole until it is removed', async () => {
      const { rejection, entry } = await put();
      const { body, ...rest } = rejection;
      expect(entry).toEqual({ ...rest, id: entry.id, bytes: body.length });
      const got = await opened.other.get(entry.id);
      expect(got).toEqual({ ...entry, body: got?.body, retryId: expect.stringMatching(/^.{32,}$/) });
      expect((await opened.store.get(entry.id))?.retryId).toBe(got?.retryId);
      expect(got && Buffer.from(got.body)).toEqual(Buffer.from(body));
      expect(await opened.store.remove(entry.id)).toBe(true);
      expect(await opened.other.get(entry.id)).toBeUndefined();
      expect(await allRejected(opened.other)).not.toContainEqual(entry);
      expect(await opened.store.remove(entry.id)).toBe(false);
    });

    it('the rejected store keeps a rejection whose subject named no valid session or role', async () => {
      const { entry } = await put({ session: undefined, role: undefined, subject: 'dispatch.a.b.c' });
      expect(entry).toMatchObject({ subject: 'dispatch.a.b.c' });
      expect(entry).not.toHaveProperty('session');
      expect(entry).not.toHaveProperty('role');
      const session = newSession();
      const named = (await put({ session, role: undefined })).entry;
      expect(named).toMatchObject({ session });
      expect(named).not.toHaveProperty('role');
    });

    it.each([0, 999_999])('the rejected store has nothing under the number %i', async (id) => {
      expect(await opened.store.get(id)).toBeUndefined();
      expect(await opened.store.remove(id)).toBe(false);
    });

    it('the rejected store lists those of a session, of a role, or of both', async () => {
      const [one, other] = [newSession(), newSession()];
      const first = (await put({ session: one, role: 'reviewer' })).entry;
      const second = (await put({ session: one, role: 'implementer' })).entry;
      const third = (await put({ session: other, role: 'reviewer' })).entry;
      expect(await allRejected(opened.other, { session: one })).toEqual([first, second]);
      expect(await allRejected(opened.other, { session: one, role: 'implementer' })).toEqual([second]);
      expect(await allRejected(opened.other, { role: 'reviewer' })).toEqual(
        expect.arrayContaining([first, third]),
      );
      expect(await allRejected(opened.other, { role: 'reviewer' })).not.toContainEqual(second);
    });

    it('the rejected store gives pages, the newest first, that together hold each rejection once', async () => {
      const [session, other] = [newSession(), newSession()];
      const added = [];
      for (let index = 0; index < 7; index += 1) {
        const body = index === 3 ? randomBytes(1024 * 1024) : bytes(`body ${index}`);
        added.unshift(
          (await put({ session, role: index % 2 === 0 ? 'reviewer' : 'implementer', body })).entry,
        );
        await put({ session: other });
      }
      const paged = async (asked: RejectedSelection, limit: number) => {
        const found = [];
        for (let before: number | undefined; ; ) {
          const page = await opened.other.page({ ...asked, limit, ...(before !== undefined && { before }) });
          expect(page.entries.length).toBeLessThanOrEqual(limit);
          found.push(...page.entries);
          if (page.next === undefined) return found;
          before = page.next;
        }
      };
      for (const limit of [1, 2, 3, 7, 50]) expect(await paged({ session }, limit)).toEqual(added);
      const reviewed = added.filter(({ role }) => role === 'reviewer');
      expect(await paged({ session, role: 'reviewer' }, 3)).toEqual(reviewed);
      const everything = (await allRejected(opened.other)).reverse();
      expect(await paged({}, 5)).toEqual(everything);
      expect((await opened.other.page({ limit: 3 })).entries[0]).toEqual(everything[0]);
      await opened.store.remove(added[1]?.id ?? 0);
      expect(await paged({ session }, 2)).toEqual(added.filter((_, index) => index !== 1));
      expect(await opened.other.page({ session: newSession(), limit: 5 })).toEqual({
        entries: [],
        total: 0,
      });
      for (const { id } of added) await opened.store.remove(id);
    });

    it('the rejected store keeps what would make a result readable', async () => {
      const { entry } = await put({ fix: 'add an assessment\r\nand a task', meant: 'observer' });
      expect(entry).toMatchObject({ fix: 'add an assessment and a task', meant: 'observer' });
      expect(await opened.store.get(entry.id)).toMatchObject({ fix: entry.fix, meant: 'observer' });
    });

    it.each<[string, Uint8Array]>([
      ['empty', new Uint8Array()],
      ['every byte', Uint8Array.from({ length: 256 }, (_, index) => index)],
      ['no UTF-8', Uint8Array.of(0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80)],
      ['a protocol line', bytes('x\r\nPUB dispatch.a.b 2\r\nhi\r\n')],
      ['like headers', bytes('NATS/1.0 503\r\nThroughline-Part: 7\r\n\r\n')],
      ['just under 1 MiB', randomBytes(1024 * 1024 - 8192)],
      ['1 MiB', randomBytes(1024 * 1024)],
    ])('the rejected store gives the body of a rejection back byte for byte: %s', async (_, body) => {
      const { entry } = await put({ body });
      expect(entry.bytes).toBe(body.length);
      const got = await opened.store.get(entry.id);
      expect(Buffer.compare(Buffer.from(got?.body ?? bytes('none')), body)).toBe(0);
      expect(await opened.store.remove(entry.id)).toBe(true);
    });

    it('the rejected store keeps large bodies apart that came at the same time', async () => {
      const bodies = [1, 2, 3].map((fill) => new Uint8Array(1024 * 1024 - fill).fill(fill));
      const rejections = bodies.map((body) => rejectionOf({ body }));
      await Promise.all(rejections.map((rejection) => opened.store.put(rejection)));
      const entries = (await allRejected(opened.store)).filter((each) => each.bytes > 1_000_000);
      expect(entries).toHaveLength(3);
      for (const { id, sequence } of entries) {
        const got = await opened.store.get(id);
        const expected = rejections.find((rejection) => rejection.sequence === sequence)?.body;
        expect(Buffer.compare(Buffer.from(got?.body ?? []), expected ?? bytes('none'))).toBe(0);
        expect(await opened.store.remove(id)).toBe(true);
      }
      expect((await allRejected(opened.store)).filter((each) => each.bytes > 1000)).toEqual([]);
    });

    it.each([
      ['a small one', 10],
      ['one in several parts', 1024 * 1024],
    ])('the rejected store keeps the same dispatch once: %s', async (_, size) => {
      const rejection = rejectionOf({ body: randomBytes(size) });
      await opened.store.put(rejection);
      await opened.store.put(rejection);
      await opened.other.put(rejection);
      const kept = (await allRejected(opened.store)).filter((each) => each.sequence === rejection.sequence);
      expect(kept).toHaveLength(1);
      expect(kept[0]?.bytes).toBe(size);
      for (const { id } of kept) await opened.store.remove(id);
    });

    it.each([
      ['small ones', 10],
      ['in several parts', 1024 * 1024],
    ])(
      'the rejected store keeps dispatches of one sequence that arrived at different times apart, as those of a stream made again: %s',
      async (_, size) => {
        const rejection = rejectionOf({ body: new Uint8Array(size).fill(1) });
        const later = { ...rejection, at: timeOf(70_000), body: new Uint8Array(size).fill(2) };
        for (const each of [rejection, later, rejection, later]) await opened.store.put(each);
        const kept = (await allRejected(opened.store)).filter((each) => each.sequence === rejection.sequence);
        expect(kept.map(({ at }) => at)).toEqual([rejection.at, later.at]);
        const bodies = await Promise.all(kept.map(async ({ id }) => (await opened.other.get(id))?.body));
        expect(bodies.map((body) => [body?.length, body?.at(-1)])).toEqual([
          [size, 1],
          [size, 2],
        ]);
        for (const { id } of kept) await opened.store.remove(id);
      },
    );

    it.each([
      ['line breaks', 'status: wrong\r\nThroughline-Error-Code: fine\r\n\r\nbody\nmore'],
      ['control characters', 'a\u0000b\u001b[31mc\u0085d'],
      ['other scripts and halves of characters', 'ßé😀\u2028\ud800 ﷽'],
      ['a long text', 'é'.repeat(10_000)],
      ['nothing', ''],
      ['blanks', '   '],
    ])('the rejected store keeps a hostile reason and subject as text: %s', async (_, text) => {
      const { rejection, entry } = await put({
        reason: text,
        subject: `dispatch.${text}`,
        session: undefined,
      });
      expect(entry).toMatchObject({ code: rejection.code, sequence: rejection.sequence, at: rejection.at });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not come through
      expect(`${entry.reason}${entry.subject}`).not.toMatch(/[\u0000-\u001f\u0085\u2028]/);
      const got = await opened.store.get(entry.id);
      expect(Buffer.from(got?.body ?? [])).toEqual(Buffer.from(rejection.body));
    });
  });
}

let dispatches = 0;

function rejectionOf(overrides: Partial<Rejection> = {}): Rejection {
  dispatches += 1;
  const session = newSession();
  return {
    session,
    role: 'reviewer',
    subject: `dispatch.${session}.reviewer`,
    sequence: dispatches,
    at: timeOf(dispatches),
    code: 'schema_invalid',
    reason: 'assessment: use one of approved, needs_changes, blocked',
    body: bytes(`{"task_id":"${dispatches}"}`),
    ...overrides,
  };
}

/** Returns pseudorandom bytes, the same in every run. */
function randomBytes(length: number): Uint8Array {
  let state = 42;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
}
