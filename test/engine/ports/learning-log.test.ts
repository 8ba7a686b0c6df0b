import { headers } from 'nats';
import { describe, expect, it } from 'vitest';
import { LEARNING_EVENTS, type LearningEvent } from '../../../src/contracts/learning-events.js';
import { LEARNINGS_STREAM, learningSubject, type Token } from '../../../src/contracts/names.js';
import { projectReader } from '../../support/faults/clean-run.js';
import { accepted, eventAt, observed, proposed } from '../../support/learning-project.js';
import { eventLogContract, type LoggedEvents } from './event-log.contract.js';
import { newSession, openPorts, twoOnNats } from './opened.js';

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

describe('on NATS', async () => {
  const opened = await twoOnNats();

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

  eventLogContract('of learnings, on NATS', EVENTS, {
    log: opened.nats.learnings,
    other: opened.other.learnings,
    keys: () => opened.other.learnings.projects(),
    injected: publish,
  });

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

  it('the learning log on NATS reports learnings again after the stream was deleted under a state folded from it', async () => {
    const project = newSession('folded');
    const reader = projectReader(opened.other.learnings, opened.other.learningSnapshots);
    for (const number of [1, 2, 3]) await append(project, number);
    const before = (await reader.load(project)).folded.state.sequence;
    await deleteStream();
    expect(await append(project, 4)).toBeGreaterThan(before);
    // Otherwise a snapshot of both would restore the lost event, only for readers that load it.
    const { state } = (await reader.load(project)).folded;
    expect([...state.proposals.values()].map(({ content }) => content)).toEqual(['Learning 4']);
  });
});
