import { headers } from 'nats';
import { describe, expect, it } from 'vitest';
import { LEARNING_EVENTS, type LearningEvent } from '../../../src/contracts/learning-events.js';
import { LEARNINGS_STREAM, learningSubject, projectOf, type Token } from '../../../src/contracts/names.js';
import { PROJECT_FOLDING } from '../../../src/engine/folding/session-folding.js';
import { StateReader } from '../../../src/engine/folding/state-reader.js';
import { silentLogger } from '../../../src/engine/ports/clients.js';
import type { MemoryEventLogOptions } from '../../doubles/memory-event-log.js';
import { MemoryLearningLog } from '../../doubles/memory-learning-log.js';
import { accepted, eventAt, observed, proposed } from '../../support/learning-project.js';
import { eventLogContract, type LoggedEvents, type OpenedEventLog } from './event-log.contract.js';
import { bytes, newSession, openPorts, twoOnNats } from './opened.js';

const event = (number: number) => eventAt(number, proposed(`Learning ${number}`));
const EVENTS: LoggedEvents<LearningEvent> = {
  format: LEARNING_EVENTS,
  event,
  several: [event(1), eventAt(2, accepted('Learning 1')), eventAt(3, observed(9, []))],
  invalid: [
    '{"v":1,"type":"accepted"}',
    '{"v":1,"type":"accepted","at":"2026-01-01T00:00:00Z","data":{"proposal":"x","by":"ann"}}',
    '{"v":2,"type":"retracted","at":"2026-01-01T00:00:00Z","data":{"learning":"0123456789ab","by":"ann"}}',
  ],
};

async function inMemory(options?: MemoryEventLogOptions): Promise<OpenedEventLog<LearningEvent>> {
  const log = new MemoryLearningLog(options);
  return {
    log,
    other: log,
    keys: () => log.projects(),
    injected: async (project, data) => log.inject(project, data),
    close: async () => {},
  };
}

eventLogContract('of learnings, in memory', EVENTS, () => inMemory());
eventLogContract('of learnings, in memory, with gaps', EVENTS, () => inMemory({ sequenceStep: 7 }));

describe('on NATS', () => {
  const opened = twoOnNats();

  const publish = async (project: Token, data: Uint8Array) =>
    (
      await opened.nats.connection.request(learningSubject(project, 'x'), data, {
        headers: headers(),
        timeout: 5000,
      })
    ).json<{ seq: number }>().seq;
  const append = async (project: Token, number: number, expectedSequence?: number) => {
    const options = expectedSequence === undefined ? {} : { expectedSequence };
    const appended = await opened.nats.learnings.append(project, event(number), options);
    if (appended.outcome !== 'appended') throw new Error(appended.outcome);
    return appended.sequence;
  };
  const deleteStream = async () => {
    await (await opened.nats.connection.jetstreamManager()).streams.delete(LEARNINGS_STREAM);
  };

  eventLogContract('of learnings, on NATS', EVENTS, async () => ({
    log: opened.nats.learnings,
    other: opened.other.learnings,
    keys: () => opened.other.learnings.projects(),
    injected: publish,
    close: async () => {},
  }));

  it('the learning log on NATS holds all projects in one stream, each event under its project and type', async () => {
    const project = newSession('own');
    const sequence = await append(project, 1);
    const jsm = await opened.nats.connection.jetstreamManager();
    const { config } = await jsm.streams.info('LEARNINGS');
    expect(config).toMatchObject({ subjects: ['learning.*.>'], storage: 'file', allow_direct: true });
    const { subject } = await jsm.streams.getMessage('LEARNINGS', { seq: sequence });
    expect(subject).toBe(`learning.${project}.proposed`);
  });

  it('the learning log on NATS expects the last sequence of the project, whatever other projects append in between', async () => {
    const [one, two] = [newSession('one'), newSession('two')];
    const first = await append(one, 1, 0);
    const second = await append(two, 2, 0);
    expect(second).toBe(first + 1);
    const third = await append(one, 3, first);
    // Another type has another subject, which counts as well.
    const decision = eventAt(4, accepted('Learning 1'));
    const fourth = await opened.nats.learnings.append(one, decision, { expectedSequence: third });
    expect(fourth).toMatchObject({ outcome: 'appended' });
    const late = { expectedSequence: third };
    expect(await opened.other.learnings.append(one, event(5), late)).toEqual({ outcome: 'conflict' });
    expect(await append(two, 6, second)).toBeGreaterThan(second);
  });

  it('the learning log on NATS tells a project from another whose name begins the same way', async () => {
    const [short, long] = [newSession('app'), newSession('app')];
    await append(short, 1, 0);
    await append(projectOf(`${short}-x`), 1, 0);
    await append(long, 1, 0);
    expect((await opened.nats.learnings.read(short, { after: 0 })).events).toHaveLength(1);
  });

  it('the learning log on NATS lets the decisions of many projects pass at once', async () => {
    const projects = Array.from({ length: 20 }, () => newSession('busy'));
    const outcomes = await Promise.all(
      projects.flatMap((project, index) =>
        [opened.nats, opened.other].map(({ learnings }) =>
          learnings.append(project, event(index), { expectedSequence: 0 }),
        ),
      ),
    );
    const won = outcomes.filter(({ outcome }) => outcome === 'appended');
    expect(won).toHaveLength(projects.length);
  });

  it('the learning log on NATS takes an event that a killed process stored already, and that the newest snapshot covers', async () => {
    const project = newSession('repeated');
    const options = { messageId: 'observed:1' };
    await opened.nats.learnings.append(project, event(1), options);
    const sequence = await append(project, 2);
    const text = `{"after_sequence":${sequence},"state":{}}`;
    await opened.nats.learningSnapshots.save(project, { sequence, text });
    const heir = await openPorts(opened.nats.server.url, { makes: false });
    expect(await heir.learnings.append(project, event(1), options)).toMatchObject({ outcome: 'appended' });
    await heir.close();
  });

  it('the learning log on NATS makes its stream again when it is deleted', async () => {
    const project = newSession('deleted');
    await append(project, 1);
    await deleteStream();
    expect(await opened.nats.learnings.projects()).toEqual([]);
    expect((await opened.nats.learnings.read(project, { after: 0 })).events).toEqual([]);
    // States in memory treat lower sequences as already folded.
    expect(await append(project, 2, 0)).toBeGreaterThan(1);
    expect((await opened.other.learnings.read(project, { after: 0 })).events).toHaveLength(1);
  });

  it('the learning log on NATS goes on when the newest event of a project is gone, for readers that had seen it too', async () => {
    const project = newSession('purged');
    await append(project, 1);
    const last = await append(project, 2);
    await opened.nats.learnings.read(project, { after: 0 });
    await (await opened.nats.connection.jetstreamManager()).streams.deleteMessage(LEARNINGS_STREAM, last);
    expect(await append(project, 3, last)).toBeGreaterThan(last);
    await expect(
      opened.other.learnings.append(project, event(4), { expectedSequence: last }),
    ).resolves.toEqual({
      outcome: 'conflict',
    });
  });

  it('the learning log on NATS reports learnings again after the stream was deleted under a state folded from it', async () => {
    const project = newSession('folded');
    const reader = new StateReader({
      log: opened.other.learnings,
      snapshots: opened.other.learningSnapshots,
      folding: PROJECT_FOLDING,
      logger: silentLogger,
      maxCached: 9,
    });
    for (const number of [1, 2, 3]) await append(project, number);
    const before = (await reader.load(project)).folded.state.sequence;
    await deleteStream();
    expect(await append(project, 4)).toBeGreaterThan(before);
    // Otherwise a snapshot of both would restore the lost event, only for readers that load it.
    const { state } = (await reader.load(project)).folded;
    expect([...state.entries.values()].map(({ proposal }) => proposal.content)).toEqual(['Learning 4']);
  });

  it('the learning log on NATS makes its stream again even when a watcher takes the answer "no stream" away', async () => {
    const ports = await openPorts(opened.nats.server.url, { requestTimeoutMs: 2000 });
    const project = newSession('watched');
    const overheard = opened.nats.connection.subscribe('>', { callback: () => {} });
    await ports.learnings.append(project, event(1));
    await deleteStream();
    // The first attempt gets no responder, and the next one checks the stream.
    const unavailable = expect.objectContaining({ code: 'unavailable' });
    await expect(ports.learnings.append(project, event(2))).rejects.toEqual(unavailable);
    expect(await ports.learnings.append(project, event(2))).toMatchObject({ outcome: 'appended' });
    expect((await ports.learnings.read(project, { after: 0 })).events).toHaveLength(1);
    overheard.unsubscribe();
    await ports.close();
  });

  it('the learning log on NATS reads nothing, and at once, from a missing stream that a watcher listens to', async () => {
    await deleteStream();
    const overheard = opened.nats.connection.subscribe('>', { callback: () => {} });
    const fresh = await openPorts(opened.nats.server.url);
    await deleteStream();
    const read = await fresh.learnings.read(newSession('none'), { after: 0 });
    expect(read).toEqual({ events: [], through: 0, skipped: 0 });
    expect(await fresh.learnings.append(newSession('none'), event(1))).toMatchObject({ outcome: 'appended' });
    overheard.unsubscribe();
    await fresh.close();
  });

  it('the learning log on NATS reads messages past those that pretend to come from the server', async () => {
    const project = newSession('hostile');
    const first = await append(project, 1);
    const head = headers();
    head.set('Nats-Sequence', '900000000');
    head.set('Nats-Num-Pending', '0');
    const subject = learningSubject(project, 'proposed');
    await opened.nats.connection.request(subject, bytes('no event'), { headers: head, timeout: 5000 });
    const last = await append(project, 2);
    const read = await opened.nats.learnings.read(project, { after: 0 });
    expect(read).toMatchObject({ through: last, skipped: 1 });
    expect(read.events.map(({ sequence }) => sequence)).toEqual([first, last]);
  });

  it('the learning log on NATS is unavailable on a closed connection', async () => {
    const ports = await openPorts(opened.nats.server.url);
    await ports.close();
    const unavailable = expect.objectContaining({ code: 'unavailable' });
    const project = newSession('closed');
    await expect(ports.learnings.read(project, { after: 0 })).rejects.toEqual(unavailable);
    await expect(ports.learnings.append(project, event(1))).rejects.toEqual(unavailable);
    await expect(ports.learnings.projects()).rejects.toEqual(unavailable);
  });
});
