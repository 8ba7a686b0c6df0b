import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { LEARNINGS_STREAM, type Token } from '../../../src/contracts/names.js';
import { REQUESTS, type RequestArguments, type RequestInput } from '../../../src/contracts/requests.js';
import { createCommander } from '../../../src/engine/folding/commander.js';
import type { LearningLog } from '../../../src/engine/ports/session-log.js';
import { systemClock } from '../../../src/engine/runtime/pacing.js';
import { decideLearning, type LearningCommand } from '../../../src/memory/learnings/decide-learning.js';
import type { NatsPorts } from '../../../src/nats/open-nats.js';
import { newSession, openPorts, startNatsPorts } from '../../engine/ports/opened.js';
import { projectReader } from '../../support/faults/clean-run.js';
import { ofFile } from '../../support/of-file.js';

const nats = await ofFile(startNatsPorts());
const other = await ofFile(openPorts(nats.server.url));

/** Returns a commander of its own process, with a reader on its own connection. */
function worker(
  ports: NatsPorts,
  append: LearningLog['append'] = (...args) => ports.learnings.append(...args),
) {
  const log: LearningLog = {
    append,
    read: (project, range) => ports.learnings.read(project, range),
    newest: (project) => ports.learnings.newest(project),
    watch: (project, onEvent) => ports.learnings.watch(project, onEvent),
    projects: () => ports.learnings.projects(),
  };
  const reader = projectReader(log, ports.learningSnapshots);
  const command = createCommander({
    log,
    reader,
    clock: systemClock,
    newId: randomUUID,
    random: Math.random,
  });
  const does = async <Name extends LearningCommand>(
    project: Token,
    name: Name,
    input: Omit<RequestInput<Name>, 'person'>,
  ) => {
    const args = REQUESTS[name].request.parse({ ...input, person: true });
    // The request schema defines the arguments; the index type cannot express that.
    const { reply } = await command(project, name, (state) =>
      decideLearning(name, state, args as unknown as RequestArguments<Name>),
    );
    return JSON.parse(JSON.stringify(reply));
  };
  return { does, reader };
}

const eventsOf = async (project: Token) =>
  (await nats.learnings.read(project, { after: 0 })).events.map(({ event }) => event);

/** Returns the results of two concurrent runs: the error of the loser, the reply of the winner. */
async function race<T>(...runs: (() => Promise<T>)[]) {
  const settled = await Promise.allSettled(runs.map((run) => run()));
  return {
    won: settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
    told: settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : [])),
  };
}

describe('two decisions on one proposal at once', () => {
  it.each([
    ['two acceptances', 'proposal.accept', 'proposal.accept'],
    ['an acceptance and a rejection', 'proposal.accept', 'proposal.reject'],
    ['two rejections', 'proposal.reject', 'proposal.reject'],
  ] as const)(
    'of two decisions on one proposal at once one wins, and the other is told who won, and when: %s',
    async (_what, first, second) => {
      const [ann, bob] = [worker(nats), worker(other)];
      for (let round = 0; round < 10; round += 1) {
        const project = newSession('race');
        const { proposal } = await ann.does(project, 'learning.propose', { content: 'Name the field' });
        await bob.reader.load(project);
        const { id } = proposal;
        const { won, told } = await race(
          () => ann.does(project, first, { id, by: 'ann' }),
          () => bob.does(project, second, { id, by: 'bob' }),
        );
        expect([won.length, told.length]).toEqual([1, 1]);
        const { decidedBy, decidedAt, status } = won[0].proposal;
        expect(told[0]).toBeInstanceOf(ThroughlineError);
        expect(told[0]).toMatchObject({
          code: 'already_decided',
          message: `proposal ${id} was ${status} by ${decidedBy} at ${decidedAt}`,
          details: { id, status, decidedBy, decidedAt },
        });
        expect(await eventsOf(project)).toHaveLength(2);
      }
    },
  );
});

describe('many at once', () => {
  it('many proposals of one text at once become one proposal', async () => {
    const project = newSession('same');
    const workers = [worker(nats), worker(other), worker(nats)];
    const replies = await Promise.all(
      workers.flatMap(({ does }) =>
        [1, 2].map(() => does(project, 'learning.propose', { content: 'Name it' })),
      ),
    );
    expect(replies.filter(({ existing }) => existing === false)).toHaveLength(1);
    expect(await eventsOf(project)).toHaveLength(1);
  });

  it('two proposals of nearly the same text accepted at once leave one in force, and the other caller is told', async () => {
    const project = newSession('near');
    const [ann, bob] = [worker(nats), worker(other)];
    const propose = async (content: string) =>
      (await ann.does(project, 'learning.propose', { content })).proposal.id;
    const one = await propose('Name the field in every error');
    const two = await propose('Name the field in every single error');
    await bob.reader.load(project);
    const { won, told } = await race(
      () => ann.does(project, 'proposal.accept', { id: one }),
      () => bob.does(project, 'proposal.accept', { id: two }),
    );
    expect(won).toHaveLength(1);
    expect(told).toMatchObject([{ code: 'near_duplicate', details: { learning: won[0].proposal.id } }]);
  });
});

describe('a decision whose answer is lost', () => {
  it('a decision whose answer is lost is found again, and is not taken for that of another', async () => {
    const project = newSession('lost');
    let appends = 0;
    const ann = worker(nats, async (...args) => {
      const appended = await nats.learnings.append(...args);
      appends += 1;
      if (appends !== 2) return appended;
      throw new ThroughlineError('unavailable', 'no PubAck within 1 ms');
    });
    const { proposal } = await ann.does(project, 'learning.propose', { content: 'Name it' });
    expect(await ann.does(project, 'proposal.accept', { id: proposal.id, by: 'ann' })).toMatchObject({
      proposal: { status: 'accepted', decidedBy: 'ann' },
    });
    expect(appends).toBe(2);
    expect(await eventsOf(project)).toHaveLength(2);
  });
});

describe('a decision on a proposal that was lost with its stream', () => {
  it.each([
    ['by the process that finds the stream missing', async () => {}],
    [
      'by the process that finds another in its place',
      async (project: Token) => {
        await worker(other).does(project, 'learning.propose', { content: 'Say the unit' });
      },
    ],
    [
      'by the process that finds another in its place, with events of other projects',
      async () => {
        await worker(other).does(newSession('beside'), 'learning.propose', { content: 'Say the unit' });
      },
    ],
  ])(
    'a decision on a proposal that was lost with its stream is refused, and never answered as if it counted: %s',
    async (_what, meanwhile) => {
      const project = newSession('removed');
      const ann = worker(nats);
      const { proposal } = await ann.does(project, 'learning.propose', { content: 'Name the field' });
      await (await nats.connection.jetstreamManager()).streams.delete(LEARNINGS_STREAM);
      await meanwhile(project);
      const accepting = ann.does(project, 'proposal.accept', { id: proposal.id, by: 'ann' });
      await expect(accepting).rejects.toMatchObject({ code: 'not_found' });
      const { does } = worker(other);
      expect(await does(project, 'learning.list', {})).toMatchObject({ learnings: [] });
    },
  );
});
