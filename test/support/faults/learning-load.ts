import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { type ServiceName, type Token, token } from '../../../src/contracts/names.js';
import { connectThroughline } from '../../../src/index.js';
import type { NatsPorts } from '../../../src/nats/open-nats.js';
import type { ThroughlineClient } from '../../../src/sdk/throughline-client.js';
import { allDealtWith, openPorts, reviewed, type System, startSystem } from '../system.js';
import { expectLearningsEnd, type LearningsAftermath, type Told } from './learning-check.js';
import { type Acknowledged, expectNobodyConnected, publishSurely } from './nats-run.js';
import type { FaultyServer } from './server.js';

/** What a disturbance of learnings can get at. */
export interface LearningLoad {
  readonly system: System;
  /** Of another process, as far as the server can tell. */
  readonly ports: NatsPorts;
  readonly client: ThroughlineClient;
  readonly env: Readonly<Record<string, string>>;
  /** What people were told that it counts. */
  readonly told: Told[];
  /** Has reviewers and people pause, and waits until all that they did has been dealt with. */
  pause(): Promise<void>;
  resume(): void;
  /** Waits until people have been told of so many decisions more. */
  decisions(count: number): Promise<void>;
}

export const PROJECTS = [token('alpha', 'project'), token('beta', 'project')] as const;
/** Two sessions of each project. */
const SESSIONS = PROJECTS.flatMap((project) =>
  [1, 2].map((each) => ({ project, name: `${project}-${each}` })),
);
/** What reviewers demand, again and again. */
const DEMANDS = ['bounds', 'units', 'errors', 'names', 'locks', 'tests', 'types'].map(
  (what) => `Check the ${what}`,
);
const PAUSE_MS = 10;
/** Few, so that snapshots are written while the load goes on. */
export const SNAPSHOT_EVERY = 5;
const FAST = {
  THROUGHLINE_TUNING: `ackWaitMs=1000 snapshotEvery=${SNAPSHOT_EVERY} requestTimeoutMs=3000`,
};

/**
 * Reviews coming in, and people who propose and decide, on two projects, while `disturb` does its worst; then the check
 * that every fault ends with, and that no client stays connected.
 */
export async function underLearningLoad(
  server: FaultyServer,
  disturb: (load: LearningLoad) => Promise<Pick<LearningsAftermath, 'removed'> | undefined>,
  only: readonly ServiceName[] = ['extractor', 'tools', 'learnings'],
): Promise<void> {
  {
    await using system = await startSystem({ nats: server, env: FAST, only });
    const ports = await openPorts(system);
    await using client = await connectThroughline({ url: server.url, timeoutMs: 3000 });
    for (const { name, project } of SESSIONS) await client.tools.sessionOpen({ session: name, project });
    const told: Told[] = [];
    const gate = new Gate(1 + PROJECTS.length);
    const working = Promise.all([
      reviewing(ports, gate),
      ...PROJECTS.map((each) => deciding(client, each, told, gate)),
    ]);
    const load: LearningLoad = {
      system,
      ports,
      client,
      env: FAST,
      told,
      async pause() {
        await Promise.race([gate.close(), working]);
        await allDealtWith(ports);
      },
      resume: () => gate.open(),
      async decisions(count) {
        const enough = told.length + count;
        while (told.length < enough) await Promise.race([sleep(PAUSE_MS), working]);
      },
    };
    const aftermath = await disturb(load);
    gate.over = true;
    gate.open();
    await working;
    if (only.includes('extractor')) await expectLearningsEnd(load, PROJECTS, aftermath);
    await ports.close();
  }
  await expectNobodyConnected(server);
}

/** Holds everybody up between two steps. */
class Gate {
  over = false;
  readonly #members: number;
  #waiting = 0;
  #opened: Promise<void> | undefined;
  #open: () => void = () => {};
  #allWait: () => void = () => {};

  constructor(members: number) {
    this.#members = members;
  }

  /** Resolves when everybody waits. */
  close(): Promise<void> {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    return new Promise((resolve) => {
      this.#allWait = resolve;
    });
  }

  open(): void {
    this.#opened = undefined;
    this.#open();
  }

  /** Waits between two steps; gives whether there is to be another. */
  async next(): Promise<boolean> {
    await sleep(PAUSE_MS);
    if (this.#opened !== undefined) {
      this.#waiting += 1;
      if (this.#waiting === this.#members) this.#allWait();
      await this.#opened;
      this.#waiting -= 1;
    }
    return !this.over;
  }
}

async function reviewing(ports: NatsPorts, gate: Gate): Promise<void> {
  const acknowledged: Acknowledged = new Map();
  for (let index = 0; await gate.next(); index += 1) {
    const session = SESSIONS[index % SESSIONS.length]?.name;
    const required_fixes = [DEMANDS[index % DEMANDS.length] ?? ''];
    const body = Buffer.from(JSON.stringify(reviewed(`t${index}`, 'needs_changes', { required_fixes })));
    const publication = { subject: `dispatch.${session}.reviewer`, body, id: `review:${index}` };
    await publishSurely(ports, publication, acknowledged);
  }
}

/** Proposes a text of their own, and accepts every other one. */
async function deciding(client: ThroughlineClient, project: Token, told: Told[], gate: Gate): Promise<void> {
  for (let index = 0; await gate.next(); index += 1) {
    const content = `Remember ${inLetters(index)}`;
    const { proposal } = await surely(() => client.learnings.propose({ project, content }));
    const about = { project, id: proposal.id, by: 'ann', person: true as const };
    const status = index % 2 === 0 ? 'accepted' : 'rejected';
    await surely(
      () =>
        status === 'accepted'
          ? client.proposals.accept({ ...about, separate: true })
          : client.proposals.reject(about),
      (error) => error.code === 'already_decided' && decidedAs(error, status),
    );
    told.push({ project, id: proposal.id, status });
  }
}

/** Asks until there is an answer; `done` says which error means that an earlier attempt had arrived. */
async function surely<T>(ask: () => Promise<T>): Promise<T>;
async function surely<T>(
  ask: () => Promise<T>,
  done: (error: ThroughlineError) => boolean,
): Promise<T | undefined>;
async function surely<T>(ask: () => Promise<T>, done: (error: ThroughlineError) => boolean = () => false) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ThroughlineError)) throw error;
      if (attempt > 1 && done(error)) return undefined;
      // Nobody else decides here: whatever else the service says, it is wrong.
      expect(['unavailable', 'conflict'], error.message).toContain(error.code);
      await sleep(PAUSE_MS);
    }
  }
}

function decidedAs({ details }: ThroughlineError, status: string): boolean {
  expect(details).toMatchObject({ status, decidedBy: 'ann' });
  return true;
}

/** Numbers do not tell two texts apart, words do. */
function inLetters(index: number): string {
  return [...String(index)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
}
