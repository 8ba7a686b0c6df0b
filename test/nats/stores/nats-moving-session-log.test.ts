import { setImmediate as turn } from 'node:timers/promises';
import type { JetStreamManager } from 'nats';
import { expect, it } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { sessionStream, type Token } from '../../../src/contracts/names.js';
import type { SessionEvent } from '../../../src/contracts/session-events.js';
import { type InstalledLayout, PER_SESSION } from '../../../src/contracts/session-layout.js';
import { createCommander } from '../../../src/folding/commander.js';
import { copyLog } from '../../../src/folding/log-copy.js';
import { createSessionReader } from '../../../src/folding/session-folding.js';
import type { RecordedLayout } from '../../../src/nats/jetstream/layout-record.js';
import type { SessionPlace } from '../../../src/nats/jetstream/session-places.js';
import { NatsMovingSessionLog } from '../../../src/nats/stores/nats-moving-session-log.js';
import type { AppendOptions, ReadRange } from '../../../src/ports/event-log.js';
import { silentLogger } from '../../../src/ports/logger.js';
import { addTask } from '../../../src/session/commands/task-commands.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { rejected, timeOf } from '../../support/builders.js';

const SESSION = 'demo' as Token;
const SHARDS = 2;
/** All sequences of the new place are above those of the old one. */
const ABOVE = 9999;
const BACK: InstalledLayout = { layout: 'moving', shards: SHARDS, towards: 'per-session' };

/** A log read from a replica that lags: it shows what this process has appended, and what `newest` has told. */
class LaggingLog extends MemorySessionLog {
  readonly leader: MemorySessionLog;
  readonly #above: number;
  #held = 0;
  /** Questions for what is newest, and what each waits for. */
  asked = 0;
  answers: () => Promise<void> = async () => {};

  constructor(above = 0) {
    super();
    this.#above = above;
    this.leader = new MemorySessionLog({ sequenceStep: above + 1 });
  }

  override async append(session: Token, event: SessionEvent, options?: AppendOptions) {
    const appended = await this.leader.append(session, event, options);
    if (appended.outcome === 'appended') this.#held = appended.sequence;
    return appended;
  }

  override async read(session: Token, range: ReadRange) {
    const through = Math.min(this.#held, range.through ?? this.#held);
    const read = await this.leader.read(session, { ...range, through });
    return { ...read, ...(range.after > 0 && range.after <= this.#above && { restart: true as const }) };
  }

  override async newest(session: Token) {
    this.asked += 1;
    await this.answers();
    this.#held = await this.leader.newest(session);
    return this.#held;
  }
}

/** A session in its shard, on its way back to a stream of its own. */
async function onItsWayBack() {
  const [own, sharded] = [new LaggingLog(ABOVE), new LaggingLog()];
  let place: SessionPlace = 'returning';
  let recorded: RecordedLayout = { layout: BACK, sequence: 1 };
  const info = async () => ({
    config: { name: sessionStream(SESSION), metadata: { 'throughline.place': place } },
    state: { messages: 0, last_seq: 0 },
  });
  const jsm = { streams: { info } } as unknown as JetStreamManager;
  const ports = { jsm, timeoutMs: 1000, own, sharded: () => sharded, recorded: async () => recorded };
  const log = new NatsMovingSessionLog({ ...ports, trustedMs: -1 }, BACK);
  await log.append(SESSION, rejected(1));
  return {
    ...{ own, sharded, log },
    async arrives() {
      await copyLog({ from: sharded.leader, to: own.leader }, SESSION);
      place = 'own';
    },
    ends() {
      recorded = { layout: PER_SESSION, sequence: 2 };
    },
    /** Moved to shards again since, and on its way back once more. */
    isBackInItsShard() {
      place = 'returning';
      recorded = { layout: BACK, sequence: 5 };
    },
    shown: async () => (await log.read(SESSION, { after: 0 })).events.length,
  };
}

it('a command whose session arrives elsewhere after its event was stored is answered, though another read asks there first', async () => {
  const { own, sharded, log, arrives, shown } = await onItsWayBack();
  const snapshots = new MemorySnapshotStore();
  const reader = createSessionReader({ log, snapshots, logger: silentLogger, maxSessions: 1 });
  const newId = () => 'command-1';
  const command = createCommander({ log, reader, clock: () => timeOf(1), newId, random: () => 0 });
  const append = sharded.append.bind(sharded);
  const others: Promise<number>[] = [];
  // The leader of the new place answers only after all that needs no answer of it.
  own.answers = () => turn();
  sharded.append = async (...args) => {
    const appended = await append(...args);
    await arrives();
    others.push(shown());
    while (own.asked === 0) await Promise.resolve();
    return appended;
  };
  const args = { content: 'parse', status: 'remaining', priority: 2 } as const;
  const { reply } = await command(SESSION, 'task-add', (state) => addTask(state, args));
  expect(reply).toMatchObject({ task: { id: 'TAS-1', content: 'parse' } });
  expect(await Promise.all(others)).toEqual([2]);
  expect(own.asked).toBe(1);
});

it('where the leader of the new place gives no answer, no read there shows less: the next one asks again', async () => {
  const { own, arrives, shown } = await onItsWayBack();
  await arrives();
  own.answers = () => Promise.reject(new ThroughlineError('unavailable', 'no leader'));
  await expect(shown()).rejects.toMatchObject({ code: 'unavailable' });
  own.answers = async () => {};
  expect(await shown()).toBe(1);
});

it('a session that nobody has read until the move had ended shows all that came along', async () => {
  const { own, arrives, ends, shown } = await onItsWayBack();
  await arrives();
  ends();
  expect([await shown(), await shown()]).toEqual([1, 1]);
  expect(own.asked).toBe(1);
});

it('a session is looked for once more when the layout was changed and changed back since', async () => {
  const { own, sharded, log, arrives, isBackInItsShard, shown } = await onItsWayBack();
  await arrives();
  expect(await shown()).toBe(1);
  isBackInItsShard();
  await log.append(SESSION, rejected(2));
  expect([await sharded.leader.newest(SESSION), await own.leader.newest(SESSION)]).toEqual([2, ABOVE + 1]);
});

it('who may not ask the leader reads what a replica shows', async () => {
  const { own, arrives, shown } = await onItsWayBack();
  await arrives();
  own.answers = () => Promise.reject(new ThroughlineError('permission_denied', 'not for you'));
  expect(await shown()).toBe(0);
});
