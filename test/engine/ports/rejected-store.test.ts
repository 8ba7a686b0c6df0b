import { describe, expect, it } from 'vitest';
import { HEADERS, REJECTED_STREAM } from '../../../src/contracts/names.js';
import type { RejectedSelection, Rejection } from '../../../src/engine/ports/dispatch-source.js';
import { allRejected } from '../../support/all-rejected.js';
import { timeOf } from '../../support/builders.js';
import { bytes, newSession, twoOnNats } from './opened.js';

describe('on NATS', async () => {
  const opened = await twoOnNats();

  const { rejected: store } = opened.nats;
  const { rejected: beside } = opened.other;

  /** Stores a rejection of the next dispatch and returns its entry on a page. */
  const put = async (overrides: Partial<Rejection> = {}) => {
    const rejection = rejectionOf(overrides);
    await store.put(rejection);
    const entry = (await allRejected(beside)).find((each) => each.sequence === rejection.sequence);
    if (entry === undefined) throw new Error(`rejection of dispatch ${rejection.sequence} is not listed`);
    return { rejection, entry };
  };

  it('the rejected store keeps a rejection whole until it is removed', async () => {
    const { rejection, entry } = await put();
    const { body, ...rest } = rejection;
    expect(entry).toEqual({ ...rest, id: entry.id, bytes: body.length });
    const got = await beside.get(entry.id);
    expect(got).toEqual({ ...entry, body: got?.body, retryId: expect.stringMatching(/^.{32,}$/) });
    expect((await store.get(entry.id))?.retryId).toBe(got?.retryId);
    expect(got && Buffer.from(got.body)).toEqual(Buffer.from(body));
    expect(await store.remove(entry.id)).toBe(true);
    expect(await beside.get(entry.id)).toBeUndefined();
    expect(await allRejected(beside)).not.toContainEqual(entry);
    expect(await store.remove(entry.id)).toBe(false);
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
    expect(await store.get(id)).toBeUndefined();
    expect(await store.remove(id)).toBe(false);
  });

  it('the rejected store lists those of a session, of a role, or of both', async () => {
    const [one, other] = [newSession(), newSession()];
    const first = (await put({ session: one, role: 'reviewer' })).entry;
    const second = (await put({ session: one, role: 'implementer' })).entry;
    const third = (await put({ session: other, role: 'reviewer' })).entry;
    expect(await allRejected(beside, { session: one })).toEqual([first, second]);
    expect(await allRejected(beside, { session: one, role: 'implementer' })).toEqual([second]);
    expect(await allRejected(beside, { role: 'reviewer' })).toEqual(expect.arrayContaining([first, third]));
    expect(await allRejected(beside, { role: 'reviewer' })).not.toContainEqual(second);
  });

  it('the rejected store gives pages, the newest first, that together hold each rejection once', async () => {
    const [session, other] = [newSession(), newSession()];
    const added = [];
    for (let index = 0; index < 7; index += 1) {
      const body = index === 3 ? randomBytes(512 * 1024) : bytes(`body ${index}`);
      added.unshift((await put({ session, role: index % 2 === 0 ? 'reviewer' : 'implementer', body })).entry);
      await put({ session: other });
    }
    const paged = async (asked: RejectedSelection, limit: number) => {
      const found = [];
      for (let before: number | undefined; ; ) {
        const page = await beside.page({ ...asked, limit, ...(before !== undefined && { before }) });
        expect(page.entries.length).toBeLessThanOrEqual(limit);
        found.push(...page.entries);
        if (page.next === undefined) return found;
        before = page.next;
      }
    };
    for (const limit of [1, 2, 3, 7, 50]) expect(await paged({ session }, limit)).toEqual(added);
    const reviewed = added.filter(({ role }) => role === 'reviewer');
    expect(await paged({ session, role: 'reviewer' }, 3)).toEqual(reviewed);
    const everything = (await allRejected(beside)).reverse();
    expect(await paged({}, 5)).toEqual(everything);
    expect((await beside.page({ limit: 3 })).entries[0]).toEqual(everything[0]);
    await store.remove(added[1]?.id ?? 0);
    expect(await paged({ session }, 2)).toEqual(added.filter((_, index) => index !== 1));
    expect(await beside.page({ session: newSession(), limit: 5 })).toEqual({
      entries: [],
      total: 0,
    });
    for (const { id } of added) await store.remove(id);
  });

  it('the rejected store keeps what would make a result readable', async () => {
    const { entry } = await put({ fix: 'add an assessment\r\nand a task', meant: 'observer' });
    expect(entry).toMatchObject({ fix: 'add an assessment and a task', meant: 'observer' });
    expect(await store.get(entry.id)).toMatchObject({ fix: entry.fix, meant: 'observer' });
  });

  it.each<[string, Uint8Array]>([
    ['empty', new Uint8Array()],
    ['every byte', Uint8Array.from({ length: 256 }, (_, index) => index)],
    ['no UTF-8', Uint8Array.of(0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80)],
    ['a protocol line', bytes('x\r\nPUB dispatch.a.b 2\r\nhi\r\n')],
    ['like headers', bytes('NATS/1.0 503\r\nThroughline-Retry-Id: 7\r\n\r\n')],
    ['just under 1 MiB', randomBytes(1024 * 1024 - 8192)],
  ])('the rejected store gives the body of a rejection back byte for byte: %s', async (_, body) => {
    const { entry } = await put({ body });
    expect(entry.bytes).toBe(body.length);
    const got = await store.get(entry.id);
    expect(Buffer.compare(Buffer.from(got?.body ?? bytes('none')), body)).toBe(0);
    expect(await store.remove(entry.id)).toBe(true);
  });

  const rejection = (sequence: number, size: number) => {
    const session = newSession('rejected');
    const subject = `dispatch.${session}.implementer`;
    const [code, reason] = ['too_large', 'ask for less'];
    const body = new Uint8Array(size).fill(7);
    return {
      session,
      role: 'implementer' as const,
      subject,
      sequence,
      at: timeOf(1),
      code,
      reason,
      body,
    };
  };

  it('the rejected store on NATS says in headers what was rejected and why, and names its session in the subject', async () => {
    const rejected = rejection(5001, 10);
    await opened.nats.rejected.put(rejected);
    const jsm = await opened.nats.connection.jetstreamManager();
    const last = await jsm.streams.getMessage(REJECTED_STREAM, {
      last_by_subj: `rejected.${rejected.session}.implementer`,
    });
    expect(last.header.get(HEADERS.errorCode)).toBe('too_large');
    expect(last.header.get(HEADERS.errorReason)).toBe('ask for less');
    expect(last.header.get(HEADERS.dispatchSequence)).toBe('5001');
    expect(Buffer.from(last.data)).toEqual(Buffer.from(rejected.body));
  });

  it('the rejected store on NATS makes its stream again when it is deleted', async () => {
    await (await opened.nats.connection.jetstreamManager()).streams.delete(REJECTED_STREAM);
    expect(await allRejected(opened.nats.rejected)).toEqual([]);
    expect(await opened.nats.rejected.get(1)).toBeUndefined();
    expect(await opened.nats.rejected.remove(1)).toBe(false);
    await opened.nats.rejected.put(rejection(5003, 10));
    expect(await allRejected(opened.other.rejected)).toHaveLength(1);
  });
});

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

function randomBytes(length: number): Uint8Array {
  let state = 42;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
}
