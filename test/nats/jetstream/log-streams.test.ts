import { describe, expect, it } from 'vitest';
import { sessionStream, type Token } from '../../../src/contracts/names.js';
import { createSessionReader, type SessionReader } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { encodeSnapshot } from '../../../src/memory/session/session-snapshot.js';
import { DEFAULT_LIMITS } from '../../../src/memory/session/session-state.js';
import type { NatsPorts } from '../../../src/nats/open-nats.js';
import { newSession, openPorts, startNatsPorts } from '../../engine/ports/opened.js';
import { implementer, recorded } from '../../support/builders.js';
import { ofFile } from '../../support/of-file.js';
import { soon } from '../../support/system.js';
import { workersOn } from '../../support/tools-on.js';

const nats = await ofFile(startNatsPorts());
const other = await ofFile(openPorts(nats.server.url));
const jsm = await nats.connection.jetstreamManager();

const remove = (session: Token) => jsm.streams.delete(sessionStream(session));
const append = async (ports: NatsPorts, session: Token, ...dispatches: number[]) => {
  let last = 0;
  for (const dispatch of dispatches) {
    const appended = await ports.log.append(session, recorded(dispatch, implementer()));
    if (appended.outcome === 'appended') last = appended.sequence;
  }
  return last;
};
const readerOn = ({ log, snapshots }: NatsPorts) =>
  createSessionReader({ log, snapshots, limits: DEFAULT_LIMITS, logger: silentLogger, maxCached: 9 });
const dispatchesOf = async (reader: SessionReader, session: Token) => {
  const { state } = (await reader.load(session)).folded;
  return [1, 2, 3, 4].filter((dispatch) => state.dispatches.has(dispatch));
};
const snapshot = async (reader: SessionReader, session: Token) => {
  const { state } = (await reader.load(session)).folded;
  const text = encodeSnapshot(state, '2026-01-01T00:00:00.000Z');
  await nats.snapshots.save(session, { sequence: state.sequence, text });
};

describe('a deleted session stream', () => {
  it('a deleted session stream keeps what the newest snapshot holds, and shows new events to processes that start then', async () => {
    const session = newSession('fresh');
    await append(nats, session, 1, 2);
    await snapshot(readerOn(nats), session);
    await append(nats, session, 3);
    await remove(session);
    // Read by a process that does not know the session.
    const newcomer = await openPorts(nats.server.url);
    expect(await append(newcomer, session, 4)).toBeGreaterThan(3);
    expect(await dispatchesOf(readerOn(newcomer), session)).toEqual([1, 2, 4]);
    await newcomer.close();
  });

  it('a deleted session stream is the same to a reader that had folded more than the snapshot', async () => {
    const session = newSession('cached');
    const reader = readerOn(nats);
    await append(nats, session, 1);
    await snapshot(reader, session);
    await append(nats, session, 2, 3);
    expect(await dispatchesOf(reader, session)).toEqual([1, 2, 3]);
    await remove(session);
    await append(other, session, 4);
    await soon(async () => expect(await dispatchesOf(reader, session)).toEqual([1, 4]));
  });

  it('a deleted session stream begins again with 1 without a snapshot, and its new events are all seen', async () => {
    const session = newSession('young');
    const reader = readerOn(nats);
    await append(nats, session, 1, 2, 3);
    expect(await dispatchesOf(reader, session)).toEqual([1, 2, 3]);
    await remove(session);
    expect(await append(other, session, 4)).toBe(1);
    await soon(async () => expect(await dispatchesOf(reader, session)).toEqual([4]));
  });

  it('a deleted session stream never repeats a sequence that the process itself has seen', async () => {
    const session = newSession('seen');
    const last = await append(nats, session, 1, 2);
    await remove(session);
    expect(await append(nats, session, 3)).toBeGreaterThan(last);
  });

  it('a deleted session stream takes commands, which go on from the snapshot', async () => {
    const session = newSession('commands');
    const { tools, reader } = workersOn({ ports: nats }, { append: (...args) => nats.log.append(...args) });
    await tools('task-add', { session, content: 'a' });
    await snapshot(reader, session);
    await tools('task-add', { session, content: 'b' });
    await remove(session);
    expect(await tools('task-add', { session, content: 'c' })).toMatchObject({ task: { id: 'TAS-2' } });
    expect(await tools('task-list', { session })).toMatchObject({
      tasks: [{ content: 'a' }, { content: 'c' }],
    });
  });
});

describe('many sessions that begin at once', () => {
  it('many sessions that begin at once leave the server room to answer others while their streams are made', async () => {
    const asked = newSession('asked');
    await append(other, asked, 1);
    const many = Array.from({ length: 200 }, (_, index) => newSession(`many-${index}`));
    let made = false;
    const making = Promise.all(many.map((session) => append(nats, session, 1))).finally(() => {
      made = true;
    });
    let answered = 0;
    while (!made) {
      await jsm.streams.info(sessionStream(asked));
      if (!made) answered += 1;
    }
    await making;
    // The server answers excess requests when all streams are created: 28 here, rather than 400 and more.
    expect(answered).toBeGreaterThan(many.length / 2);
  });
});
