import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { renamedSession, ThroughlineError } from '../../../src/contracts/errors.js';
import { type Token, token } from '../../../src/contracts/names.js';
import { createSessionReader, createSnapshotWriter } from '../../../src/folding/session-folding.js';
import { silentLogger } from '../../../src/ports/logger.js';
import { begin } from '../../../src/services/lifecycle/forget-claim.js';
import { createSessionRename } from '../../../src/services/lifecycle/rename-session.js';
import { resumeRenames } from '../../../src/services/lifecycle/resume-renames.js';
import { canonicalState } from '../../../src/session/copied-events.js';
import { LateSessionLifecycle } from '../../doubles/late-session-lifecycle.js';
import { MemorySessionEraser } from '../../doubles/memory-session-eraser.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, recorded } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

const [DEMO, PARSER, OTHER] = ['demo', 'parser', 'other'].map((name) => token(name, 'session')) as [
  Token,
  Token,
  Token,
];
const ASKED = { session: DEMO, to: PARSER };

let log: MemorySessionLog;
let lifecycle: MemorySessionLifecycle;
let now: number;
const clock = () => new Date(now).toISOString();

beforeEach(async () => {
  log = new MemorySessionLog({ sequenceStep: 2, shared: true });
  lifecycle = new MemorySessionLifecycle();
  now = Date.parse('2026-01-01T00:00:00.000Z');
  for (let n = 1; n <= 3; n += 1) await log.append(DEMO, recorded(n, implementer()));
});

afterEach(() => void vi.useRealTimers());

type Append = MemorySessionLog['append'];
let ids = 0;

/** A process that renames. `append` is what its log does with the events of the copy, `pause` what happens while it waits. */
function service(
  given: {
    readonly append?: Append;
    readonly pause?: () => Promise<void>;
    readonly records?: MemorySessionLifecycle;
    readonly load?: () => Promise<never>;
  } = {},
) {
  const snapshots = new MemorySnapshotStore();
  const append: Append = given.append ?? ((...args) => log.append(...args));
  ids += 1;
  const by = `process-${ids}`;
  return createSessionRename({
    log: {
      append,
      read: (session, range) => log.read(session, range),
      newest: (session) => log.newest(session),
      removeBefore: (session, before) => log.removeBefore(session, before),
    },
    ...{ snapshots, clock, logger: silentLogger, pause: given.pause ?? (async () => {}) },
    lifecycle: given.records ?? lifecycle,
    reader:
      given.load === undefined
        ? createSessionReader({ log, snapshots, logger: silentLogger, maxSessions: 10 })
        : { load: given.load },
    writer: createSnapshotWriter({ snapshots, clock, logger: silentLogger, every: 5 }),
    archiver: { settle: async () => {} },
    eraser: { check: async () => {}, eraseLog: async (session) => log.remove(session) },
    inLearnings: {
      learnings: { projects: async () => [] } as never,
      projects: { load: never },
      command: never,
    },
    refuseWhileMoving: async () => {},
    newId: () => by,
  });
}

async function never(): Promise<never> {
  throw new Error('no project has learnings here');
}

const eventsOf = async (session: Token) => (await log.read(session, { after: 0 })).events;

function failing(code: 'too_large' | 'unavailable'): Append {
  let appended = 0;
  return async (...args) => {
    appended += 1;
    if (appended > 1) throw new ThroughlineError(code, 'the server refuses the event');
    return log.append(...args);
  };
}

it('a rename that cannot be done is undone: the old name is a session again, and the new one is free', async () => {
  const before = canonicalState(await eventsOf(DEMO));

  await expect(service({ append: failing('too_large') })(ASKED)).rejects.toMatchObject({ code: 'too_large' });

  expect(lifecycle.archived(DEMO)).toBeUndefined();
  expect(lifecycle.archived(PARSER)).toBeUndefined();
  expect(await eventsOf(PARSER)).toEqual([]);
  expect(await service()(ASKED)).toMatchObject({ state: 'done' });
  expect(canonicalState(await eventsOf(PARSER))).toBe(before);
});

it('a rename that is cut short since the server is away stays recorded, and the same request continues it', async () => {
  await expect(service({ append: failing('unavailable') })(ASKED)).rejects.toMatchObject({
    code: 'unavailable',
  });
  expect(lifecycle.archived(DEMO)?.renaming).toMatchObject({ copied: false });
  await expect(
    begin({ lifecycle, clock, eraser: new MemorySessionEraser({}) }, PARSER, { by: 'forget' }),
  ).rejects.toMatchObject({
    code: 'conflict',
  });

  now += 60_000;
  // Where it fails for good then, it is undone.
  await expect(service({ append: failing('too_large') })(ASKED)).rejects.toMatchObject({ code: 'too_large' });

  expect(lifecycle.archived(DEMO)).toBeUndefined();
  expect(lifecycle.archived(PARSER)).toBeUndefined();
});

it('a rename that a process has left is gone on with by another one, once it is gone, though nobody asks again', async () => {
  await expect(service({ append: failing('unavailable') })(ASKED)).rejects.toMatchObject({
    code: 'unavailable',
  });
  const ports = { lifecycle, clock, logger: silentLogger, refuseWhileMoving: async () => {} };
  await resumeRenames(ports, service());
  expect(lifecycle.archived(DEMO)?.renaming).toBeDefined();

  now += 8000;
  const refuseWhileMoving = async () =>
    Promise.reject(new ThroughlineError('conflict', 'sessions are moved'));
  await expect(resumeRenames({ ...ports, refuseWhileMoving }, service())).rejects.toMatchObject({
    code: 'conflict',
  });
  await resumeRenames(ports, service());

  expect(lifecycle.archived(DEMO)).toMatchObject({ renamed_to: PARSER });
  expect(lifecycle.archived(DEMO)?.renaming).toBeUndefined();
  expect(await eventsOf(PARSER)).toHaveLength(3);
  await resumeRenames(ports, () => Promise.reject(new Error('nothing is left')));
});

it('a process that is asked while another one begins the same rename says that it is running', async () => {
  const load = async () => {
    const renaming = { by: 'another', at: clock(), copied: false };
    await lifecycle.change(DEMO, () => ({ at: clock(), renamed_to: PARSER, renaming }));
    throw renamedSession(DEMO, PARSER, false);
  };
  expect(await service({ load })(ASKED)).toMatchObject({ state: 'running' });
});

it('a process whose rename was taken over undoes nothing of it', async () => {
  const slow = service({
    async append() {
      await lifecycle.change(DEMO, (there) =>
        there?.renaming ? { ...there, renaming: { ...there.renaming, by: 'another' } } : 'keep',
      );
      throw new ThroughlineError('too_large', 'the server refuses the event');
    },
  });

  await expect(slow(ASKED)).rejects.toMatchObject({ code: 'too_large' });

  expect(lifecycle.archived(DEMO)?.renaming).toMatchObject({ by: 'another' });
  expect(lifecycle.archived(PARSER)?.importing).toMatchObject({ from: DEMO });
});

it('a session that begins under the new name meanwhile stays, and the old name is a session again', async () => {
  const pause = async () => void (await log.append(PARSER, recorded(9, implementer())));

  await expect(service({ pause })(ASKED)).rejects.toMatchObject({ code: 'session_exists' });

  expect(lifecycle.archived(DEMO)).toBeUndefined();
  expect(lifecycle.archived(PARSER)).toBeUndefined();
  expect(await eventsOf(PARSER)).toHaveLength(1);
});

it('a process that stood still while it copied appends nothing once another one has taken over', async () => {
  let appended = 0;
  const slow = service({
    async append(...args) {
      appended += 1;
      const done = await log.append(...args);
      now += 60_000;
      await lifecycle.change(DEMO, (there) =>
        there?.renaming ? { ...there, renaming: { ...there.renaming, by: 'another' } } : 'keep',
      );
      return done;
    },
  });

  await expect(slow(ASKED)).rejects.toMatchObject({ code: 'conflict' });

  expect(appended).toBe(1);
});

it('what is left over from the rename of a lost session can be renamed to, and forgotten', async () => {
  const leftOver = { file: 'rename demo', dispatches: 0, ready: true, from: DEMO };
  await lifecycle.change(PARSER, () => ({ at: clock(), importing: leftOver }));
  await log.append(PARSER, recorded(9, implementer()));
  const before = canonicalState(await eventsOf(DEMO));
  await log.append(OTHER, recorded(10, implementer()));

  expect(await service()({ session: OTHER, to: PARSER })).toMatchObject({ state: 'done' });
  expect(await eventsOf(PARSER)).toHaveLength(1);

  const another = token('another', 'session');
  await lifecycle.change(another, () => ({ at: clock(), importing: leftOver }));
  expect(await service()({ session: DEMO, to: another })).toMatchObject({ state: 'done' });
  expect(canonicalState(await eventsOf(another))).toBe(before);

  const last = token('last', 'session');
  await lifecycle.change(last, () => ({ at: clock(), importing: leftOver }));
  expect(await begin({ lifecycle, clock, eraser: new MemorySessionEraser({}) }, last, { by: 'forget' })).toBe(
    true,
  );
  expect(lifecycle.archived(last)).toBeUndefined();
});

it('of two processes that rename to a left-over name at once, one does, and the other is told to choose another name', async () => {
  await log.append(OTHER, recorded(10, implementer()));
  const said = new Map<Token, string>();
  for (const session of [DEMO, OTHER]) said.set(session, canonicalState(await eventsOf(session)));
  const importing = { file: 'rename lost', dispatches: 0, ready: true, from: token('lost', 'session') };
  let names = 0;
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (turns) => {
      names += 1;
      const to = token(`new-${names}`, 'session');
      lifecycle = new MemorySessionLifecycle();
      await lifecycle.change(to, () => ({ at: clock(), importing }));
      await log.append(to, recorded(9, implementer({ task_id: 'old' })));
      const asked = [DEMO, OTHER].map((session) => {
        const turn = () => turns.schedule(Promise.resolve());
        const records = new LateSessionLifecycle(lifecycle, [DEMO, OTHER, to], turn);
        const pause = async () => {
          await turn();
          records.notice();
        };
        return service({ records, pause })({ session, to });
      });
      const ended = Promise.allSettled(asked);
      await turns.waitFor(ended);
      const [one, other] = await ended;

      const won = one?.status === 'fulfilled' ? [DEMO, OTHER, other] : [OTHER, DEMO, one];
      const [winner, loser, refused] = won as [Token, Token, PromiseSettledResult<unknown>];
      expect(refused).toMatchObject({
        reason: { code: expect.stringMatching(/^session_(exists|importing)$/) },
      });
      expect(String((refused as PromiseRejectedResult).reason)).toMatch(
        /choose another name|try again in a moment/,
      );
      expect(canonicalState(await eventsOf(to))).toBe(said.get(winner));
      expect(lifecycle.archived(winner)).toMatchObject({ renamed_to: to });
      expect(lifecycle.archived(to)).toBeUndefined();
      expect(lifecycle.archived(loser)).toBeUndefined();
      expect(canonicalState(await eventsOf(loser))).toBe(said.get(loser));
      for (const { event } of await eventsOf(to)) await log.append(winner, event);
    }),
    { numRuns: 40 },
  );
});

it('a session that another process begins to forget is not renamed, and neither name stays locked', async () => {
  let isForgetting = false;
  const pause = async () => {
    if (isForgetting) return;
    isForgetting = true;
    const before = lifecycle.archived(DEMO);
    await lifecycle.forgetting(DEMO, { at: clock(), dispatches: 9, sequence: 9, by: 'forget' });
    // The two did not know of each other yet.
    if (before) await lifecycle.change(DEMO, () => before);
  };

  await expect(service({ pause })(ASKED)).rejects.toMatchObject({ code: 'session_forgotten' });

  expect(lifecycle.archived(DEMO)).toBeUndefined();
  expect(lifecycle.archived(PARSER)).toBeUndefined();
  await expect(service()(ASKED)).rejects.toMatchObject({ code: 'session_forgotten' });
  await lifecycle.forgot(DEMO, clock());
  log.remove(DEMO);
  await expect(service()(ASKED)).rejects.toMatchObject({ code: 'not_found' });
});

it('an error that comes once the caller has stopped waiting is told to the next request', async () => {
  vi.useFakeTimers();
  let refuse = () => {};
  const refused = new Promise<void>((resolve) => {
    refuse = resolve;
  });
  const rename = service({
    async append() {
      await refused;
      throw new ThroughlineError('too_large', 'the server refuses the event');
    },
  });
  const asked = rename(ASKED);
  await vi.advanceTimersByTimeAsync(3000);
  expect(await asked).toMatchObject({ state: 'running' });
  refuse();
  await vi.advanceTimersByTimeAsync(0);

  await expect(rename(ASKED)).rejects.toMatchObject({ code: 'too_large' });

  expect(lifecycle.archived(DEMO)).toBeUndefined();
});

it('a rename that is recorded as done is not said to be so where there are no events under the new name', async () => {
  await service()(ASKED);
  expect(await service()(ASKED)).toMatchObject({ state: 'done' });
  await service()({ session: PARSER, to: OTHER });
  // The events are there, under the name that the session has by now.
  expect(await service()(ASKED)).toMatchObject({ state: 'done' });

  log.remove(OTHER);

  await expect(service()(ASKED)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('"throughline session forget demo"'),
  });
  await expect(service()({ session: PARSER, to: OTHER })).rejects.toMatchObject({ code: 'not_found' });
});
