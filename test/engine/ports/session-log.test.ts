import { headers } from 'nats';
import { describe, expect, it } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import type { Forgotten } from '../../../src/contracts/lifecycle-record.js';
import {
  publishedOn,
  sessionStream,
  shardOf,
  shardStream,
  streamOf as streamIn,
  type Token,
} from '../../../src/contracts/names.js';
import {
  COMMAND_PATHS,
  RESULT_SUBJECTS,
  resultPath,
  SESSION_EVENTS,
  type SessionEvent,
} from '../../../src/contracts/session-events.js';
import type {
  Appended,
  NewestResults,
  SessionActivity,
  SessionLog,
} from '../../../src/engine/ports/session-log.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { implementer, recorded, rejected, reviewer } from '../../support/builders.js';
import { sessionsOf } from '../../support/session-names.js';
import { soon } from '../../support/soon.js';
import { eventLogContract, type LoggedEvents } from './event-log.contract.js';
import { bytes, newSession, openPorts, startNatsPorts, twoOnNats } from './opened.js';

const AT = '2026-01-01T00:00:00.000Z';
const TASK: SessionEvent = {
  v: EVENT_VERSION,
  type: 'task.added',
  at: AT,
  id: 'command',
  data: { task: 'TAS-1', content: 'a', status: 'remaining', priority: 2, depends_on: [], iteration: 0 },
};
const NOTE: SessionEvent = {
  v: EVENT_VERSION,
  type: 'note.added',
  at: AT,
  id: 'command',
  data: { note: 'NOT-1', content: 'b', type: 'tip', iteration: 0 },
};

const EVENTS: LoggedEvents<SessionEvent> = {
  format: SESSION_EVENTS,
  event: (number) => ({ ...TASK, id: `command-${number}` }),
  several: [recorded(1, implementer()), rejected(2), recorded(3, reviewer())],
  invalid: [
    '{"v":1,"type":"fact.recorded"}',
    '{"v":2,"type":"task.added","at":"2026-01-01T00:00:00Z","data":{}}',
  ],
};

for (const options of [{}, { sequenceStep: 7 }, { shared: true }]) {
  const log = new MemorySessionLog(options);
  eventLogContract(`of sessions, in memory, with ${JSON.stringify(options)}`, EVENTS, {
    log,
    other: log,
    keys: () => sessionsOf(log),
    injected: async (session, data) => log.inject(session, data),
  });
}

/** Checks what results and commands expect, on either log. */
async function expectOwnPlaces(log: SessionLog & NewestResults, other: SessionLog): Promise<void> {
  const session = newSession('places');
  expect(await log.newestResults(session)).toEqual([]);
  const result = (dispatch: number, expectedSequence: number) =>
    log.append(session, recorded(dispatch, implementer()), { expectedSequence });
  const first = sequenceOf(await result(1, 0));
  const task = sequenceOf(await log.append(session, TASK, { expectedSequence: 0 }));
  // A result refuses no command, and no result elsewhere; another command does.
  const second = sequenceOf(await result(2, 0));
  expect(await other.append(session, NOTE, { expectedSequence: 0 })).toEqual({ outcome: 'conflict' });
  const note = sequenceOf(await other.append(session, NOTE, { expectedSequence: task }));
  // The same result, and the next one at its place.
  expect(await result(1, 0)).toEqual({ outcome: 'conflict' });
  expect(await result(1 + RESULT_SUBJECTS, 0)).toEqual({ outcome: 'conflict' });
  const third = sequenceOf(await result(1 + RESULT_SUBJECTS, first));
  const read = async (at: string) => {
    const { events, newestCommand } = await log.read(session, { after: 0, at });
    return [...events.map(({ sequence, after }) => [sequence, after]), newestCommand];
  };
  expect(await read(COMMAND_PATHS)).toEqual([[task, 0], [note, task], note]);
  expect(await read(resultPath(1))).toEqual([[first, 0], [third, first], undefined]);
  expect((await log.read(session, { after: 0 })).newestCommand).toBe(note);
  const newest = await log.newestResults(session);
  expect(new Map(newest.map(({ path, sequence }) => [path, sequence]))).toEqual(
    new Map([
      [resultPath(1), third],
      [resultPath(2), second],
    ]),
  );
  expect(newest.find(({ sequence }) => sequence === second)?.event).toEqual(recorded(2, implementer()));
}

it('the session log in memory keeps results and commands apart', async () => {
  const log = new MemorySessionLog({ sequenceStep: 7 });
  await expectOwnPlaces(log, log);
});

/** Checks the contract of `src/engine/ports/session-activity.ts`. */
async function expectActivity(
  log: SessionLog & SessionActivity,
  other: SessionLog & SessionActivity,
): Promise<void> {
  const session = newSession('active');
  const moved = new Set<Token>();
  const unfollow = other.follow((each) => moved.add(each));
  expect(await other.newest(session)).toBe(0);
  await log.append(session, recorded(1, implementer()));
  const last = await log.append(session, TASK);
  const sequence = last.outcome === 'appended' ? last.sequence : 0;
  expect(await other.newest(session)).toBe(sequence);
  const found = (await other.activity()).filter((each) => each.session === session);
  expect(found).toEqual([{ session, sequence, at: expect.stringMatching(/^\d{4}-.*Z$/) }]);
  await soon(() => expect(moved).toContain(session));
  unfollow();
}

describe('on NATS', async () => {
  const opened = await twoOnNats();
  const log = 'the session log on NATS';
  const streamOf = (session: Token) => streamIn(opened.nats.layout, session);

  const event = (dispatch: number) => recorded(dispatch, implementer());
  const append = async (session: Token, dispatch: number) => {
    const appended = await opened.nats.log.append(session, event(dispatch));
    if (appended.outcome !== 'appended') throw new Error(appended.outcome);
    return appended.sequence;
  };
  const publish = async (session: Token, data: Uint8Array, head = headers()) =>
    // A bare request, since the client's own publish drops a status among the headers.
    (
      await opened.nats.connection.request(publishedOn(opened.nats.layout, session, 'x'), data, {
        headers: head,
        timeout: 5000,
      })
    ).json<{
      seq: number;
    }>().seq;

  it(`${log} tells how far each session has come`, async () => {
    await expectActivity(opened.nats.log, opened.other.log);
  });

  eventLogContract('of sessions, on NATS', EVENTS, {
    log: opened.nats.log,
    other: opened.other.log,
    keys: () => sessionsOf(opened.other.log),
    injected: publish,
  });

  it(`${log} keeps results and commands apart`, () => expectOwnPlaces(opened.nats.log, opened.other.log));

  it(`${log} makes the stream again when it is deleted`, async () => {
    const session = newSession('deleted');
    const first = await append(session, 1);
    expect((await opened.other.log.read(session, { after: first })).events).toEqual([]);
    await (await opened.nats.connection.jetstreamManager()).streams.delete(streamOf(session));
    expect((await opened.other.log.read(session, { after: first })).events).toEqual([]);
    expect((await opened.nats.log.read(session, { after: 0 })).events).toEqual([]);
    expect(await opened.nats.log.append(session, event(2))).toMatchObject({ outcome: 'appended' });
    expect((await opened.other.log.read(session, { after: 0 })).events).toHaveLength(1);
  });

  describe('reads past messages whose headers pretend to come from the server', () => {
    it.each([
      ['a status that ends a batch', () => headers(204, 'EOB')],
      ['a status that says there is nothing', () => headers(404, 'Message Not Found')],
      ['a status of a fault', () => headers(500, 'Fault')],
      ['another sequence', () => withHeader('Nats-Sequence', '900000000')],
      ['another count of pending messages', () => withHeader('Nats-Num-Pending', '0')],
    ])(`${log} reads past messages whose headers pretend to come from the server: %s`, async (_, head) => {
      const session = newSession('hostile');
      const first = await append(session, 1);
      await publish(session, bytes('no event'), head());
      const second = await append(session, 2);
      const last = await publish(session, bytes('no event'), head());
      const read = await opened.nats.log.read(session, { after: 0 });
      expect(read.events.map(({ sequence }) => sequence)).toEqual([first, second]);
      expect(read).toMatchObject({ through: last, skipped: 2 });
      const tail = await opened.other.log.read(session, { after: first });
      expect(tail.events.map(({ sequence }) => sequence)).toEqual([second]);
      expect(tail).toMatchObject({ through: last, skipped: 2 });
    });
  });

  it(`${log} skips deleted messages`, async () => {
    const session = newSession('holes');
    const sequences: number[] = [];
    for (let dispatch = 1; dispatch <= 5; dispatch += 1) sequences.push(await append(session, dispatch));
    const [first = 0, second = 0, third = 0, fourth = 0, last = 0] = sequences;
    expect((await opened.nats.log.read(session, { after: 0 })).through).toBe(last);
    const jsm = await opened.nats.connection.jetstreamManager();
    for (const sequence of [first, third, last]) await jsm.streams.deleteMessage(streamOf(session), sequence);
    const read = await opened.nats.log.read(session, { after: 0 });
    expect(read.events.map(({ sequence }) => sequence)).toEqual([second, fourth]);
    expect(read.skipped).toBe(0);
  });

  it(`${log} takes a command whose state is newer than what is left of the log, once`, async () => {
    const session = newSession('removed');
    await opened.nats.log.append(session, TASK);
    const last = sequenceOf(await opened.nats.log.append(session, NOTE));
    await opened.nats.log.read(session, { after: 0 });
    const jsm = await opened.nats.connection.jetstreamManager();
    await jsm.streams.deleteMessage(streamOf(session), last);
    const next = () => opened.nats.log.append(session, TASK, { expectedSequence: last });
    expect(await next()).toMatchObject({ outcome: 'appended' });
    expect(await next()).toEqual({ outcome: 'conflict' });
  });
});

describe('in a stream each', async () => {
  const opened = await twoOnNats();

  it('the session log on NATS gives each session a stream of its own, with its subjects and direct get', async () => {
    const [one, two] = [newSession('own'), newSession('own')];
    await opened.nats.log.append(one, recorded(1, implementer()));
    await opened.nats.log.append(two, recorded(1, implementer()));
    const jsm = await opened.nats.connection.jetstreamManager();
    for (const session of [one, two]) {
      const { config, state } = await jsm.streams.info(`SESSION_${session}`);
      expect(config).toMatchObject({
        name: sessionStream(session),
        subjects: [`session.${session}.>`],
        storage: 'file',
        allow_direct: true,
      });
      expect(state.messages).toBe(1);
      const { subject } = await jsm.streams.getMessage(sessionStream(session), { seq: 1 });
      expect(subject).toBe(`session.${session}.result.1`);
    }
  });

  it('the session log on NATS finds out that a stream is missing even if another connection listens to everything', async () => {
    const session = newSession('overheard');
    const overheard = opened.nats.connection.subscribe('>', { callback: () => {} });
    expect(await opened.other.log.read(session, { after: 0 })).toEqual({
      events: [],
      through: 0,
      skipped: 0,
    });
    expect(await opened.nats.log.append(session, recorded(1, implementer()))).toMatchObject({
      outcome: 'appended',
    });
    expect((await opened.other.log.read(session, { after: 0 })).events).toHaveLength(1);
    overheard.unsubscribe();
  });
});

describe('in shards', async () => {
  const opened = await twoOnNats({ wanted: { layout: 'sharded', shards: 2 } });
  const event = (number: number): SessionEvent => ({ ...TASK, id: `command-${number}` });
  const append = async (session: Token, dispatch: number, expectedSequence?: number) => {
    const options = expectedSequence === undefined ? {} : { expectedSequence };
    const appended = await opened.nats.log.append(session, event(dispatch), options);
    if (appended.outcome !== 'appended') throw new Error(appended.outcome);
    return appended.sequence;
  };
  const jsmOf = () => opened.nats.connection.jetstreamManager();

  it('the session log in shards stores an event under its session and place, in a stream that says how many shards there are', async () => {
    const session = newSession('sharded');
    const sequence = await append(session, 1);
    const jsm = await jsmOf();
    const name = shardStream(shardOf(session, 2));
    const { config } = await jsm.streams.info(name);
    expect(config).toMatchObject({
      subjects: [`sessions.0${shardOf(session, 2)}.*.>`],
      storage: 'file',
      allow_direct: true,
      metadata: { 'throughline.shards': '2' },
    });
    const { subject } = await jsm.streams.getMessage(name, { seq: sequence });
    expect(subject).toBe(`session.${session}.command.task.added`);
  });

  it('the session log in shards tells how far each session has come, and which sessions there are', async () => {
    await expectActivity(opened.nats.log, opened.other.log);
    const [one, two] = neighbours();
    await append(one, 1);
    await append(two, 1);
    expect(await sessionsOf(opened.other.log)).toEqual(expect.arrayContaining([one, two]));
  });

  it('the session log in shards removes what is before a sequence of one session, and keeps its neighbours', async () => {
    const [one, two] = neighbours();
    await append(one, 1);
    const kept = await append(two, 1);
    const last = await append(one, 2);
    expect(await opened.nats.log.removeBefore(one, last)).toBe(1);
    expect(await opened.nats.log.read(one, { after: 0 })).toMatchObject({ events: [{ sequence: last }] });
    expect(await opened.nats.log.read(two, { after: 0 })).toMatchObject({ events: [{ sequence: kept }] });
  });

  it('the session log in shards expects the last command of the session, whatever its neighbours append in between', async () => {
    const [one, two] = neighbours();
    const first = await append(one, 1, 0);
    await append(two, 1, 0);
    await append(two, 2);
    const second = await append(one, 2, first);
    expect(second).toBeGreaterThan(first + 1);
    const late = { expectedSequence: first };
    expect(await opened.other.log.append(one, event(3), late)).toEqual({ outcome: 'conflict' });
    expect(await opened.nats.log.read(one, { after: first })).toMatchObject({ through: second, skipped: 0 });
  });

  it('the session log in shards takes commands on a session whose events are gone, where the snapshot has them', async () => {
    const [one, two] = neighbours();
    const last = await append(one, 1);
    await opened.nats.snapshots.save(one, { sequence: last, text: snapshotAt(last) });
    await (await jsmOf()).streams.delete(shardStream(shardOf(one, 2)));
    // Appended by a neighbour, in a process that knows neither.
    const fresh = await openPorts(opened.nats.server.url);
    const appended = await fresh.log.append(two, event(1));
    expect(appended).toMatchObject({ outcome: 'appended' });
    const { through, events } = await fresh.log.read(one, { after: last });
    expect({ through, events }).toEqual({ through: last, events: [] });
    const next = await fresh.log.append(one, event(2), { expectedSequence: last });
    expect(next).toMatchObject({ outcome: 'appended' });
    // The stream starts above the snapshots of all its sessions.
    expect(sequenceOf(appended)).toBeGreaterThan(last);
    expect(sequenceOf(next)).toBeGreaterThan(sequenceOf(appended));
    expect(await fresh.log.append(one, event(3), { expectedSequence: last })).toEqual({
      outcome: 'conflict',
    });
    await fresh.close();
  });

  it('the session log in shards stores no command that was decided before its session was forgotten', async () => {
    let forgotten: Forgotten | undefined;
    const lifecycle = { forgotten: () => forgotten, refreshed: () => undefined };
    const { log, close } = await openPorts(opened.nats.server.url, { lifecycle });
    const session = newSession('forgotten');
    const appended = await log.append(session, event(1));
    const expectedSequence = sequenceOf(appended);
    await log.read(session, { after: 0 });
    await log.removeBefore(session, expectedSequence + 1);

    const late = log.append(session, event(2), { expectedSequence: expectedSequence + 1 });
    forgotten = { status: 'forgotten', at: AT, dispatches: 0, sequence: expectedSequence };
    await expect(late).rejects.toMatchObject({ code: 'session_forgotten' });
    expect(await opened.nats.log.newest(session)).toBe(0);
    await close();
  });

  it('the session log in shards keeps a session from its neighbours whose snapshot is ahead of the stream', async () => {
    const [one, two] = neighbours();
    const last = await append(two, 1);
    await opened.nats.snapshots.save(one, { sequence: last + 500, text: snapshotAt(last + 500) });
    const fresh = await openPorts(opened.nats.server.url);
    expect(await fresh.log.append(two, event(2))).toMatchObject({ outcome: 'appended' });
    await expect(fresh.log.append(one, event(1))).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('restore all streams of one backup'),
    });
    expect(await fresh.log.append(two, event(3))).toMatchObject({ outcome: 'appended' });
    await fresh.close();
  });

  it('the session log in shards asks for one message where nothing may be new, since a batch makes the server count', async () => {
    const [one, two] = neighbours();
    const { log } = opened.other;
    const first = await append(one, 1);
    await append(two, 1);
    const asked = await asking(async () => {
      expect((await log.read(one, { after: 0 })).through).toBe(first);
      expect((await log.read(one, { after: first })).events).toEqual([]);
    });
    expect(asked).toEqual([
      { seq: 1, batch: expect.any(Number), next_by_subj: `session.${one}.>` },
      { seq: first + 1, next_by_subj: `session.${one}.>` },
    ]);
    const second = await append(one, 2);
    // This process knows the streams to which it has appended.
    expect(await asking(() => opened.nats.log.read(one, { after: first }))).toMatchObject([
      { seq: first + 1, batch: expect.any(Number) },
    ]);
    const third = await append(one, 3);
    const { events } = await log.read(one, { after: first });
    expect(events.map(({ sequence }) => sequence)).toEqual([second, third]);
  });

  it('the session log in shards tells how far many sessions have come by a few requests, and then asks for those that moved', async () => {
    const sessions = Array.from({ length: 60 }, () => newSession('busy'));
    const newest = new Map<Token, number>();
    for (const session of sessions) {
      await opened.nats.log.append(session, TASK);
      newest.set(session, await append(session, 1));
    }
    const { log } = opened.other;
    const came = async () =>
      new Map((await log.activity()).map(({ session, sequence }) => [session, sequence]));
    const asked = await asking(async () => expect((await came()).size).toBeGreaterThan(sessions.length));
    expect(asked.length).toBeLessThanOrEqual(2);
    const [moved = newSession('none')] = sessions;
    newest.set(moved, await append(moved, 2));
    const again = await asking(async () => {
      const found = await came();
      for (const [session, sequence] of newest) expect(found.get(session), session).toBe(sequence);
    });
    expect(again).toEqual([{ multi_last: [`session.${moved}.>`] }]);
  });

  /** Returns the direct get requests during `work`. */
  async function asking(work: () => Promise<unknown>): Promise<unknown[]> {
    const { connection } = opened.nats;
    const asked: unknown[] = [];
    const subscription = connection.subscribe('$JS.API.DIRECT.GET.*', {
      callback: (_, message) => asked.push(message.json()),
    });
    await connection.flush();
    await work();
    await connection.flush();
    subscription.unsubscribe();
    return asked;
  }

  function neighbours(): [Token, Token] {
    const one = newSession('neighbour');
    let two = newSession('neighbour');
    while (shardOf(two, 2) !== shardOf(one, 2)) two = newSession('neighbour');
    return [one, two];
  }
});

describe('on a closed connection', () => {
  it('the session log on NATS is unavailable at once on a closed connection, and leaves nothing that fails later', async () => {
    const nats = await startNatsPorts();
    const ports = await openPorts(nats.server.url, { requestTimeoutMs: 1500 });
    await ports.close();
    const session = newSession('closed');
    const unavailable = expect.objectContaining({ code: 'unavailable' });
    await expect(ports.log.read(session, { after: 0 })).rejects.toEqual(unavailable);
    await expect(ports.log.append(session, recorded(1, implementer()))).rejects.toEqual(unavailable);
    await expect(ports.log.activity()).rejects.toEqual(unavailable);
    // Longer than the deadline of the read: a leaked timer would end this process with an error.
    await new Promise((resolve) => setTimeout(resolve, 1600));
    await nats.close();
  });
});

function snapshotAt(sequence: number): string {
  return `{"after_sequence":${sequence},"state":{}}`;
}

function sequenceOf(appended: Appended): number {
  return appended.outcome === 'appended' ? appended.sequence : 0;
}

function withHeader(name: string, value: string) {
  const head = headers();
  head.set(name, value);
  return head;
}
