import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import type { Token } from '../../../src/contracts/names.js';
import type { SessionLifecycle } from '../../../src/engine/ports/session-lifecycle.js';
import { recordArchived, recordForgotten } from '../../support/lifecycle-records.js';
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
      await recordArchived(opened.store, session, undefined);
      expect(opened.other.archived(session)).toBeUndefined();
    });

    it('an archived session is known at once here, soon elsewhere, and to a process that starts', async () => {
      const session = newSession('archived');
      const archived = { at: AT, reason: 'the work is "done"\n✓' };
      await recordArchived(opened.store, session, { ...archived, pending: true });
      expect(opened.store.archiving()).toContain(session);
      expect(await recordArchived(opened.store, session, archived)).toMatchObject({ archived });
      expect(opened.store.archived(session)).toEqual(archived);
      expect(opened.store.archiving()).not.toContain(session);
      await soon(() => expect(opened.other.archived(session)).toEqual(archived));
      expect((await opened.reopened()).archived(session)).toEqual(archived);
      await recordArchived(opened.other, session, undefined);
      expect(opened.other.archived(session)).toBeUndefined();
      await soon(() => expect(opened.store.archived(session)).toBeUndefined());
      expect((await opened.reopened()).archived(session)).toBeUndefined();
      await recordArchived(opened.store, session, { at: LATER });
      await soon(() => expect(opened.other.archived(session)).toEqual({ at: LATER }));
    });

    it('a forgotten session is told until nothing of it is left, and its tombstone stays when its name is used again', async () => {
      const session = newSession('forgotten');
      const told: Token[] = [];
      const unlisten = opened.other.onForgotten((each) => told.push(each));
      await recordArchived(opened.store, session, { at: AT });
      const record = { status: 'forgetting', at: AT, dispatches: 10, sequence: 20 } as const;
      await recordForgotten(opened.store, session, record);
      expect(opened.store.archived(session)).toBeUndefined();
      expect(opened.store.forgotten(session)).toEqual(record);
      expect(opened.store.unfinished()).toContain(session);
      await soon(() => expect(opened.other.forgotten(session)).toEqual(record));
      const started = await opened.reopened();
      expect(started.archived(session)).toBeUndefined();
      expect(started.unfinished()).toContain(session);
      const done = { ...record, status: 'forgotten', at: LATER } as const;
      await recordForgotten(opened.other, session, done);
      expect(opened.other.forgotten(session)).toEqual(done);
      await soon(() => expect(opened.store.forgotten(session)).toEqual(done));
      expect(opened.store.unfinished()).not.toContain(session);
      expect(told).toEqual([session, session]);
      unlisten();
      await recordArchived(opened.store, session, { at: LATER });
      await soon(() => expect(opened.other.archived(session)).toEqual({ at: LATER }));
      expect(opened.other.forgotten(session)).toEqual(done);
    });

    it('a change that throws, or returns the record that is there, changes nothing', async () => {
      const session = newSession('kept');
      const fault = new ThroughlineError('session_forgotten', 'not now');
      await recordArchived(opened.store, session, { at: AT });
      const refused = opened.other.change(session, () => {
        throw fault;
      });
      await expect(refused).rejects.toBe(fault);
      expect(await opened.other.change(session, (there) => there)).toMatchObject({ archived: { at: AT } });
      expect((await opened.reopened()).archived(session)).toEqual({ at: AT });
    });

    it('of several processes that change the record of one session at once, none undoes what another has done', async () => {
      const session = newSession('changed');
      const letters = [...'abcdefghijkl'];
      await Promise.all(
        letters.map((letter, index) =>
          (index % 2 === 0 ? opened.store : opened.other).change(session, ({ archived }) => ({
            archived: { at: AT, reason: `${archived?.reason ?? ''}${letter}` },
          })),
        ),
      );
      for (const seen of [opened.store, opened.other])
        await soon(() => expect([...(seen.archived(session)?.reason ?? '')].sort()).toEqual(letters));
    });
  });
}
