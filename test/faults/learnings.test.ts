import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { LEARNINGS_STREAM, SNAPSHOT_BUCKET, type Token } from '../../src/contracts/names.js';
import type { StoredSnapshot } from '../../src/engine/ports/session-log.js';
import { startNode } from '../support/cli.js';
import { expectLearningsEnd } from '../support/faults/learning-check.js';
import {
  type LearningLoad,
  PROJECTS,
  SNAPSHOT_EVERY,
  underLearningLoad,
} from '../support/faults/learning-load.js';
import { startFaultyServer } from '../support/faults/server.js';
import { soon, startSystem } from '../support/system.js';

const MORTAL = fileURLToPath(new URL('../support/faults/mortal-learner.mjs', import.meta.url));
const TIMEOUT_MS = 240_000;
/** Decisions acknowledged before and after a disturbance: enough for snapshots. */
const SOME = 8;

const jsmOf = ({ ports }: LearningLoad) => ports.connection.jetstreamManager({ checkAPI: false });

it.concurrent(
  'learnings survive a server that is killed and started again',
  async () => {
    await using server = await startFaultyServer();
    await underLearningLoad(server, async (load) => {
      for (let time = 0; time < 2; time += 1) {
        await load.decisions(SOME);
        await server.kill();
        await server.restart();
      }
      await load.decisions(SOME);
      return undefined;
    });
  },
  TIMEOUT_MS,
);

it.concurrent(
  'learnings survive the loss of all snapshots',
  async () => {
    await using server = await startFaultyServer();
    await underLearningLoad(server, async (load) => {
      await load.decisions(SOME);
      await (await jsmOf(load)).streams.delete(`KV_${SNAPSHOT_BUCKET}`);
      // They are redelivered with new events.
      for (const project of PROJECTS) {
        await soon(async () => expect(await load.ports.learningSnapshots.load(project)).toBeDefined());
      }
      return undefined;
    });
  },
  TIMEOUT_MS,
);

it.concurrent(
  'learnings survive the loss of their stream, except for what came after their snapshots',
  async () => {
    await using server = await startFaultyServer();
    await underLearningLoad(server, async (load) => {
      await load.decisions(SOME);
      await load.pause();
      const removed = new Map<Token, StoredSnapshot>();
      const lost: { project: Token; id: string; by: string; person: true }[] = [];
      for (const project of PROJECTS) {
        const { snapshot, id } = await beyondSnapshot(load, project);
        removed.set(project, snapshot);
        lost.push({ project, id, by: 'ann', person: true });
      }
      await (await jsmOf(load)).streams.delete(LEARNINGS_STREAM);
      // Only the contents of the snapshots remain: no other decision was acknowledged.
      load.told.length = 0;
      for (const decision of lost) {
        await expect(load.client.proposals.accept(decision)).rejects.toMatchObject({ code: 'not_found' });
      }
      load.resume();
      await load.decisions(2 * SOME);
      return { removed };
    });
  },
  TIMEOUT_MS,
);

/** Proposes until a proposal of the project is in no snapshot, nor due to be; returns it with the newest snapshot. */
async function beyondSnapshot({ client, ports }: LearningLoad, project: Token) {
  for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
    const content = `Forgotten ${letter.repeat(9)}`;
    const { sequence, proposal } = await client.learnings.propose({ project, content });
    const snapshot = await ports.learningSnapshots.load(project);
    if (snapshot === undefined || snapshot.sequence >= sequence) continue;
    // With this many events the next snapshot may already be in progress.
    const { events } = await ports.learnings.read(project, { after: snapshot.sequence });
    if (events.length < SNAPSHOT_EVERY) return { snapshot, id: proposal.id };
  }
  throw new Error(`every proposal of project ${project} got a snapshot`);
}

const POINTS = [
  'before an observation is appended',
  'after an observation is appended',
  'after a proposal is appended',
  'after a decision is appended',
  'after an append, before the snapshot',
  'during a snapshot write',
  'after a snapshot write',
] as const;

it.concurrent(
  'learnings survive repeated kills of their service at any point',
  async () => {
    await using server = await startFaultyServer();
    await underLearningLoad(
      server,
      async (load) => {
        for (const point of POINTS) {
          await using service = await startNode([MORTAL, server.url, point, '2'], load.env);
          expect(await service.exited).toEqual({ code: null, signal: 'SIGKILL' });
          expect(service.stderr()).toContain(`died ${point}`);
        }
        await using _heir = await startSystem({
          nats: server,
          env: load.env,
          only: ['extractor', 'learnings'],
        });
        await load.decisions(SOME);
        await load.pause();
        await expectLearningsEnd(load, PROJECTS);
        return undefined;
      },
      ['tools'],
    );
  },
  TIMEOUT_MS,
);
