import { setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { type Token, token } from '../../../src/contracts/names.js';
import { createCommander } from '../../../src/engine/folding/commander.js';
import { createSessionReader, createSnapshotWriter } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { DEFAULT_LIMITS } from '../../../src/memory/session/session-state.js';
import { type Extractor, startExtractor } from '../../../src/services/extractor/extractor-worker.js';
import { createSessionTools } from '../../../src/services/tools/serve-tools.js';
import { ManualScheduler } from '../../doubles/manual-scheduler.js';
import { MemoryDispatchSource } from '../../doubles/memory-dispatch-source.js';
import { MemoryRejectedStore } from '../../doubles/memory-rejected-store.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { type CallTool, calling } from '../calling.js';
import { freshReader, type StoredDispatch } from './clean-run.js';
import type { Aftermath } from './end-check.js';
import { FaultyNetwork, type Life, type Weather } from './faulty-ports.js';
import { type Chance, chanceOf } from './random.js';
import { type Publication, publications } from './workload.js';

/** What a command was answered, if anything. */
export interface Answered {
  readonly session: Token;
  readonly content: string;
  readonly outcome: 'done' | 'unknown' | ThroughlineError;
  /** Id of the task, where it is done. */
  readonly task?: string;
  /** The agent that claimed the task. */
  readonly agent?: string;
}

export interface Simulated extends Aftermath {
  readonly commands: readonly Answered[];
  readonly extractors: readonly Extractor[];
}

const STORM_MS = 60_000;
/** Longer than the longest pause between two deliveries, many times over. */
const CALM_MS = 600_000;

/**
 * One run of the real workers over the ports in memory: publishers, extractors that die and are replaced, agents that
 * use tools, and readers that write snapshots, all on a network as bad as the seed makes it. Nothing in it takes real
 * time or chance, so a seed gives the same run every time.
 */
export async function simulate(seed: number): Promise<Simulated> {
  // A worker that dies stops nothing: its timers would keep each run in memory.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    return await runOf(seed);
  } finally {
    vi.useRealTimers();
  }
}

async function runOf(seed: number): Promise<Simulated> {
  const chance = chanceOf(seed);
  const scheduler = new ManualScheduler({ pick: (count) => chance.between(0, count - 1) });
  const share = () => (chance.happens(0.3) ? 0 : chance.fraction() * 0.3);
  const weather: Weather = {
    stormy: true,
    refused: share(),
    unanswered: share(),
    belated: share(),
    dropped: share(),
    doubled: share(),
    delayMs: chance.pick([1, 50, 3000]),
  };
  const network = new FaultyNetwork(scheduler, chance, weather);
  // Often no id is remembered: then nothing but the fold keeps a dispatch from counting twice.
  const dedupeLast = chance.pick([0, 3, 100_000]);
  const remembered = chance.pick([0, 3, 100_000]);
  const source = new MemoryDispatchSource({
    scheduler,
    ackWaitMs: chance.pick([100, 5000]),
    maxInHand: chance.pick([1, 5, 1000]),
    dedupeLast: remembered,
  });
  const log = new MemorySessionLog({
    sequenceStep: chance.between(1, 3),
    shared: chance.happens(0.5),
    dedupeLast,
  });
  const snapshots = new MemorySnapshotStore();
  const rejected = new MemoryRejectedStore();
  const maxDeliveries = chance.pick([2, 20, 1000]);
  const extractors: Extractor[] = [];

  const startWorker = async () => {
    const life: Life = { alive: true };
    const extractor = await startExtractor(
      {
        source: network.source(source, life),
        log: network.log(log, life),
        rejected: network.rejected(rejected, life),
        reader: freshReader(network.log(log, life), network.snapshots(snapshots, life)),
        logger: silentLogger,
      },
      {
        maxBodyBytes: 262_144,
        maxDeliveries,
        random: () => chance.fraction(),
        now: () => scheduler.now(),
      },
    );
    extractors.push(extractor);
    return life;
  };
  const toolsOf = (): CallTool => toolsProcess(scheduler, chance, network, log, snapshots);

  const sessions = ['one', 'two', 'three'].slice(0, chance.between(1, 3));
  const work = publications(chance, { sessions, perSession: chance.between(1, 12) });
  const acknowledged = new Map<number, Publication>();
  let published = 0;
  const dispatches: StoredDispatch[] = [];
  const commands: Answered[] = [];

  const some = chance.between(1, 3);
  for (let index = 0; index < some; index += 1) {
    let life = await startWorker();
    const deaths = chance.between(0, 3);
    for (let death = 0; death < deaths; death += 1) {
      scheduler.after(chance.between(0, STORM_MS), () => {
        life.alive = false;
        void startWorker().then((next) => {
          life = next;
        });
      });
    }
  }
  const publisher = network.source(source, { alive: true });
  for (const publication of work) {
    scheduler.after(chance.between(0, STORM_MS), () => {
      void publishSurely(publisher, publication).then((sequence) => {
        published += 1;
        acknowledged.set(sequence, publication);
      });
    });
  }
  const processes = [toolsOf(), toolsOf()] as const;
  const calls = chance.between(0, 12);
  for (let index = 0; index < calls; index += 1) {
    const tools = chance.pick(processes);
    const session = token(chance.pick(['one', 'two']), 'session');
    scheduler.after(chance.between(0, STORM_MS), () => {
      void call(tools, chance, session, index).then((answered) => commands.push(answered));
    });
  }

  await scheduler.advance(STORM_MS);
  weather.stormy = false;
  await startWorker();
  await scheduler.advance(CALM_MS);
  await turn();

  for (let sequence = 1; ; sequence += 1) {
    const stored = source.stored(sequence);
    if (stored === undefined) break;
    dispatches.push({ sequence, ...stored });
  }
  if (published !== work.length || commands.length !== calls) {
    throw new Error(`${published} of ${work.length} published, ${commands.length} of ${calls} commands`);
  }
  const forgetsIds = remembered < work.length;
  return {
    log,
    snapshots,
    rejected,
    dispatches,
    acknowledged,
    forgetsIds,
    maxDeliveries,
    commands,
    extractors,
  };
}

/** As a careful publisher does it: again, under the same id, until there is a PubAck. */
async function publishSurely(
  source: Pick<MemoryDispatchSource, 'publish'>,
  { subject, body, id }: Publication,
): Promise<number> {
  for (;;) {
    try {
      return (await source.publish(subject, body, id)).sequence;
    } catch {
      // No PubAck: it may be stored or not.
    }
  }
}

/** The tools as one process runs them: one cache of states, one queue of commands, one writer of snapshots. */
function toolsProcess(
  scheduler: ManualScheduler,
  chance: Chance,
  network: FaultyNetwork,
  log: MemorySessionLog,
  snapshots: MemorySnapshotStore,
): CallTool {
  const life: Life = { alive: true };
  const ports = { log: network.log(log, life), snapshots: network.snapshots(snapshots, life) };
  const clock = () => new Date(scheduler.now()).toISOString();
  const every = chance.between(1, 10);
  const writer = createSnapshotWriter({ snapshots: ports.snapshots, clock, logger: silentLogger, every });
  const reader = createSessionReader({
    ...ports,
    limits: DEFAULT_LIMITS,
    logger: silentLogger,
    maxCached: chance.between(1, 3),
    onFolded: (folded) => writer.folded(folded),
  });
  let ids = 0;
  const name = chance.between(0, 1_000_000);
  const command = createCommander({
    log: ports.log,
    reader,
    clock,
    newId: () => {
      ids += 1;
      return `${name}-${ids}`;
    },
    random: () => chance.fraction(),
    pause: (ms) => new Promise((resolve) => scheduler.after(ms, resolve)),
  });
  return calling(createSessionTools({ command, reader, writer, logger: silentLogger }));
}

/** Adds a task, or claims one. */
async function call(tools: CallTool, chance: Chance, session: Token, index: number): Promise<Answered> {
  const content = `task ${index}`;
  const agent = chance.happens(0.4) ? `agent-${index}` : undefined;
  const about = { session, content, ...(agent !== undefined && { agent }) };
  try {
    const reply =
      agent === undefined
        ? await tools('task-add', { session, content })
        : await tools('task-next', { session, claim: agent });
    const task = taskOf(reply);
    return { ...about, outcome: 'done', ...(task !== undefined && { task }) };
  } catch (error) {
    if (!(error instanceof ThroughlineError)) throw error;
    return { ...about, outcome: error.code === 'unavailable' ? 'unknown' : error };
  }
}

function taskOf(reply: object): string | undefined {
  if (!('task' in reply) || typeof reply.task !== 'object' || reply.task === null) return undefined;
  return 'id' in reply.task && typeof reply.task.id === 'string' ? reply.task.id : undefined;
}
