import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { codeOf, ThroughlineError } from '../../../src/contracts/errors.js';
import type { ServiceName } from '../../../src/contracts/names.js';
import { connectThroughline, type ThroughlineClient } from '../../../src/index.js';
import type { NatsPorts } from '../../../src/nats/open-nats.js';
import { allDealtWith, openPorts, type System, soon, startSystem } from '../system.js';
import type { Aftermath } from './end-check.js';
import {
  type Acknowledged,
  expectCleanEndOn,
  expectNobodyConnected,
  publishAll,
  publishSurely,
} from './nats-run.js';
import { chanceOf } from './random.js';
import type { FaultyServer } from './server.js';
import { SETTINGS } from './settings.js';
import { type Publication, publications } from './workload.js';

/** What a disturbance can get at. */
export interface Load {
  readonly system: System;
  /** Of another process, as far as the server can tell. */
  readonly ports: NatsPorts;
  readonly sessions: readonly string[];
  readonly acknowledged: Acknowledged;
  /** Publishes as a careful publisher does. */
  publish(publication: Publication): Promise<void>;
  /** Waits until everything that was to be published has been, and has been dealt with. */
  dealtWith(): Promise<void>;
  /** Configuration for more processes of the same kind. */
  readonly env: Readonly<Record<string, string>>;
}

export interface LoadOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  /** How many sessions get results. Default: 8. */
  readonly sessions?: number;
  /** Which services run in this process. Default: all. */
  readonly only?: readonly ServiceName[];
}

const SESSIONS = Array.from({ length: 8 }, (_, index) => `load-${index}`);
const PER_SESSION = SETTINGS.long ? 60 : 30;
const PAUSE_MS = 10;

/**
 * All services on a server, results coming in, and prompts being asked for, while `disturb` does its worst; then the
 * check that every fault ends with, and that no client stays connected.
 */
export async function underLoad(
  server: FaultyServer,
  disturb: (load: Load) => Promise<Pick<Aftermath, 'lost'>>,
  { env: more = {}, url = server.url, only, sessions: count = SESSIONS.length }: LoadOptions = {},
): Promise<void> {
  const nats = { ...server, url };
  {
    const env = { ...FAST, ...more };
    const sessions = SESSIONS.slice(0, count);
    await using system = await startSystem({ nats, env, ...(only !== undefined && { only }) });
    const ports = await openPorts(system);
    const acknowledged: Acknowledged = new Map();
    const work = publications(chanceOf(SETTINGS.seed), { sessions, perSession: PER_SESSION });
    const publish = (publication: Publication) => publishSurely(ports, publication, acknowledged);
    const half = work.length / 2;
    await publishAll(ports, work.slice(0, half), acknowledged);
    const publishing = publishSlowly(publish, work.slice(half));
    const dealtWith = async () => {
      await publishing;
      await allDealtWith(ports);
    };
    const load = { system, ports, sessions, acknowledged, publish, dealtWith, env };

    let disturbed = false;
    await using client = await connectThroughline({ url, timeoutMs: 3000 });
    const asking = askForPrompts(client, sessions, () => disturbed);
    const { lost } = await disturb(load);
    await publishing;
    disturbed = true;
    await expectCleanEndOn(ports, acknowledged, lost && { lost });
    await expectPrompts(load);
    await asking;
    await ports.close();
  }
  await expectNobodyConnected(server);
}

/** What a dead server or worker held comes again soon, and snapshots are written often. */
const FAST = {
  THROUGHLINE_TUNING: 'ackWaitMs=1000 snapshotEvery=10 requestTimeoutMs=3000',
};

async function publishSlowly(publish: Load['publish'], work: readonly Publication[]): Promise<void> {
  const queue = work.values();
  const publishers = Array.from({ length: 4 }, async () => {
    for (const publication of queue) {
      await publish(publication);
      await sleep(PAUSE_MS);
    }
  });
  await Promise.all(publishers);
}

/** Asks for prompts until the disturbance is over. An answer that never comes is to be expected; a wrong one is not. */
async function askForPrompts(
  client: ThroughlineClient,
  sessions: readonly string[],
  over: () => boolean,
): Promise<void> {
  while (!over()) {
    for (const session of sessions) {
      try {
        await client.compile({ session, taskId: 't1', taskPrompt: 'step' });
      } catch (error) {
        expect(error).toBeInstanceOf(ThroughlineError);
        expect(error).toMatchObject({ code: 'unavailable' });
      }
      await sleep(PAUSE_MS);
    }
  }
}

async function expectPrompts({ system, sessions, acknowledged }: Load): Promise<void> {
  for (const session of sessions) {
    const last = [...acknowledged]
      .filter(([, { subject }]) => subject.startsWith(`dispatch.${session}.`))
      .reduce((highest, [sequence]) => Math.max(highest, sequence), 0);
    // What was lost with a server may cost a request its deadline; the next one is answered.
    await soon(() =>
      system.client
        .compile({ session, taskId: 't1', taskPrompt: 'step', after: last })
        .catch((error: unknown) => {
          // Of a result that could not be used, the answer says so.
          if (codeOf(error) !== 'dispatch_rejected') throw error;
        }),
    );
  }
}
