import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { LifecycleChange, SessionLifecycle } from '../../../src/engine/ports/session-lifecycle.js';
import { newSession } from './opened.js';

/** Lifecycle records, also as seen by another process. */
export interface OpenedLifecycle {
  readonly store: SessionLifecycle;
  readonly other: SessionLifecycle;
  /** Opens them in a process that starts now. */
  reopened(): Promise<SessionLifecycle>;
  close(): Promise<void>;
}

const AT = '2026-01-31T12:00:00.000Z';
const LATER = '2026-02-01T12:00:00.000Z';

/** The contract of `src/engine/ports/session-lifecycle.ts`. */
export function sessionLifecycleContract(name: string, open: () => Promise<OpenedLifecycle>): void {
  describe(`the lifecycle records, ${name}`, () => {
    let opened: OpenedLifecycle;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());
    /** Waits a second, plus the time the machine needs for the answer itself. */
    const soon = (check: () => void) => vi.waitFor(check, { timeout: 2000, interval: 10 });

    it('the lifecycle records hold nothing of most sessions', async () => {
      const session = newSession('none');
      expect(opened.store.archived(session)).toBeUndefined();
      expect(opened.store.forgotten(session)).toBeUndefined();
      await opened.store.change(session, () => 'remove');
      expect(opened.other.archived(session)).toBeUndefined();
    });

    it('an archived session is known at once here, soon elsewhere, and to a process that starts', async () => {
      const session = newSession('archived');
      const changes: LifecycleChange[] = [];
      const unlisten = opened.other.onChange((change) => changes.push(change));
      const record = { v: 1, status: 'archived', at: AT, reason: 'the work is "done"\n✓' } as const;
      await opened.store.change(session, () => ({ at: AT, reason: record.reason }));
      expect(opened.store.archived(session)).toEqual(record);
      await soon(() => expect(opened.other.archived(session)).toEqual(record));
      expect((await opened.reopened()).archived(session)).toEqual(record);
      await opened.other.change(session, () => 'remove');
      expect(opened.other.archived(session)).toBeUndefined();
      await soon(() => expect(opened.store.archived(session)).toBeUndefined());
      expect((await opened.reopened()).archived(session)).toBeUndefined();
      unlisten();
      await opened.store.change(session, () => ({ at: LATER }));
      await soon(() =>
        expect(opened.other.archived(session)).toEqual({ v: 1, status: 'archived', at: LATER }),
      );
      expect(changes).toEqual([
        { kind: 'archived', session },
        { kind: 'reopened', session },
      ]);
    });

    it('a forgotten session is told by its name only until nothing of it is left', async () => {
      const session = newSession('forgotten');
      const changes: LifecycleChange[] = [];
      const unlisten = opened.other.onChange((change) => changes.push(change));
      await opened.store.change(session, () => ({ at: AT }));
      await opened.store.forgetting(session, { at: AT, dispatches: 10, sequence: 20 });
      expect(opened.store.archived(session)).toBeUndefined();
      const record = { v: 1, status: 'forgetting', at: AT, dispatches: 10, sequence: 20, session };
      expect(opened.store.forgotten(session)).toEqual(record);
      expect(opened.store.unfinished()).toContain(session);
      await soon(() => expect(opened.other.forgotten(session)).toEqual(record));
      const started = await opened.reopened();
      expect(started.archived(session)).toBeUndefined();
      expect(started.unfinished()).toContain(session);
      await opened.other.forgot(session, LATER);
      const done = { v: 1, status: 'forgotten', at: LATER, dispatches: 10, sequence: 20 };
      expect(opened.other.forgotten(session)).toEqual(done);
      await soon(() => expect(opened.store.forgotten(session)).toEqual(done));
      expect(opened.store.unfinished()).not.toContain(session);
      expect(changes).toContainEqual({ kind: 'forgetting', session });
      expect(changes.at(-1)).toEqual({ kind: 'forgotten' });
      unlisten();
    });

    it('the numbers of a session that is forgotten again never go down', async () => {
      const session = newSession('again');
      await opened.store.forgetting(session, { at: AT, dispatches: 10, sequence: 20 });
      await opened.other.forgetting(session, { at: LATER, dispatches: 5, sequence: 30 });
      expect(opened.other.forgotten(session)).toMatchObject({ dispatches: 10, sequence: 30, at: LATER });
    });

    it('the records of sessions that were forgotten long ago expire, and no others', async () => {
      const [old, recent, underWay] = [newSession('old'), newSession('recent'), newSession('way')];
      for (const session of [old, recent, underWay])
        await opened.store.forgetting(session, { at: AT, dispatches: 1, sequence: 1 });
      await opened.store.forgot(old, '2026-01-01T00:00:00.000Z');
      await opened.store.forgot(recent, LATER);
      await soon(() => expect(opened.other.forgotten(old)).toMatchObject({ status: 'forgotten' }));
      expect(await opened.store.expire('2026-01-20T00:00:00.000Z')).toBe(1);
      // Records removed by another process are not counted again.
      expect(await opened.other.expire('2026-01-20T00:00:00.000Z')).toBe(0);
      for (const seen of [opened.store, await opened.reopened()]) {
        expect(seen.forgotten(old)).toBeUndefined();
        expect(seen.forgotten(recent)).toBeDefined();
        expect(seen.unfinished()).toContain(underWay);
      }
    });

    it('of several processes that change the record of one session at once, none undoes what another has done', async () => {
      const session = newSession('changed');
      const letters = [...'abcdefghijkl'];
      await Promise.all(
        letters.map((letter, index) =>
          (index % 2 === 0 ? opened.store : opened.other).change(session, (there) => ({
            at: AT,
            reason: `${there?.reason ?? ''}${letter}`,
          })),
        ),
      );
      for (const seen of [opened.store, opened.other])
        await soon(() => expect([...(seen.archived(session)?.reason ?? '')].sort()).toEqual(letters));
      expect(await opened.other.change(session, () => 'keep')).toBe(false);
    });

    it('of several processes that write one session at once, all end with the same record', async () => {
      const session = newSession('race');
      const writes = Array.from({ length: 20 }, (_, dispatches) =>
        (dispatches % 2 === 0 ? opened.store : opened.other).forgetting(session, {
          ...{ at: AT, dispatches, sequence: 20 - dispatches },
        }),
      );
      await Promise.all(writes);
      const all = { dispatches: 19, sequence: 20 };
      await soon(() => {
        expect(opened.store.forgotten(session)).toMatchObject(all);
        expect(opened.other.forgotten(session)).toMatchObject(all);
      });
    });
  });
}
