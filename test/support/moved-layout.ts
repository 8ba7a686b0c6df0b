import { ThroughlineError } from '../../src/contracts/errors.js';
import { type Token, token } from '../../src/contracts/names.js';
import type { SessionEvent } from '../../src/contracts/session-events.js';
import { type Commander, createCommander } from '../../src/folding/commander.js';
import { canonicalLog } from '../../src/folding/log-copy.js';
import { createSessionReader, createSnapshotWriter } from '../../src/folding/session-folding.js';
import type { NatsPorts } from '../../src/nats/open-nats.js';
import { systemClock } from '../../src/ports/clock.js';
import { silentLogger } from '../../src/ports/logger.js';
import type { SessionLog } from '../../src/ports/session-log.js';
import { LayoutMove } from '../../src/services/layout/layout-move.js';
import { addTask } from '../../src/session/commands/task-commands.js';
import type { SessionState } from '../../src/session/session-state.js';
import { openPorts } from '../ports/opened.js';
import { implementer, recorded, rejected, reviewer } from './builders.js';

/** An installation whose sessions are moved: what it is given, and what it must hold then. */

export const TRUSTED_MS = 100;
const SETTLE_MS = 150;

/** What is answered from memory; `claimed` asks only where the process has stood still. */
const NO_REQUESTS = new Set(['claimed', 'archived', 'forgotten', 'renamed']);

/** Ports of a process that is killed before the request of that number: it does nothing more then. */
export function mortal(killedAt: number) {
  let requests = 0;
  const count = () => {
    requests += 1;
    if (requests >= killedAt) throw new Killed();
  };
  const dying = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(of, name) {
        const value = Reflect.get(of, name);
        if (typeof value === 'object' && value !== null) return dying(value);
        if (typeof value !== 'function') return value;
        if (NO_REQUESTS.has(String(name))) return value.bind(of);
        return (...args: unknown[]) => {
          count();
          const made = value.apply(of, args);
          return name === 'sharded' ? dying(made) : made;
        };
      },
    });
  const isKilled = (error: unknown) => error instanceof Killed;
  return { dying, isKilled, requests: () => requests };
}

/** The process that moves sessions, killed before the request of that number. */
export async function moving(
  url: string,
  how: (move: LayoutMove) => Promise<unknown>,
  killedAt = Number.POSITIVE_INFINITY,
): Promise<{ readonly killed: boolean; readonly requests: number }> {
  const { dying, isKilled, requests } = mortal(killedAt);
  const { moving, logs, snapshots, close } = await openPorts(url, { makes: [] });
  try {
    const nats = { moving: dying(moving), logs: dying(logs), snapshots: dying(snapshots) };
    // What is killed does not try again.
    const patience = Number.isFinite(killedAt) ? { patienceMs: 0 } : {};
    await how(new LayoutMove({ nats, clock: systemClock, settleMs: SETTLE_MS, ...patience }));
  } catch (error) {
    if (!isKilled(error)) throw error;
  } finally {
    await close();
  }
  return { killed: requests() >= killedAt, requests: requests() };
}

class Killed extends ThroughlineError {
  constructor() {
    super('unavailable', 'killed');
  }
}

/** A process that takes results and commands of sessions. */
export interface Taker {
  readonly ports: NatsPorts;
  readonly command: Commander<SessionState, SessionEvent>;
  readonly reader: ReturnType<typeof createSessionReader>;
}

export async function taker(url: string): Promise<Taker> {
  const ports = await openPorts(url, { layoutTrustedMs: TRUSTED_MS, requestTimeoutMs: 20_000 });
  const { log, snapshots } = ports;
  const writer = createSnapshotWriter({ snapshots, clock: systemClock, logger: silentLogger, every: 5 });
  const reader = createSessionReader({
    ...{ log, snapshots, logger: silentLogger, maxSessions: 100 },
    onFolded: (folded) => writer.folded(folded),
  });
  let commands = 0;
  const newId = () => `command-${process.pid}-${++commands}-${Math.random()}`;
  const command = createCommander({ log, reader, clock: systemClock, newId, random: Math.random });
  return { ports, command, reader };
}

/** What was acknowledged of a session: dispatches, and the ids of tasks. */
export interface Acknowledged {
  readonly dispatches: Set<number>;
  readonly tasks: string[];
}

/** Results and commands that come in until it is ended; what is acknowledged is kept by session. */
export function underLoad(takers: readonly Taker[], sessions: readonly Token[]) {
  const acknowledged = new Map<Token, Acknowledged>();
  const of = (session: Token) => {
    const known = acknowledged.get(session) ?? { dispatches: new Set(), tasks: [] };
    acknowledged.set(session, known);
    return known;
  };
  let next = 1_000_000;
  let ended = false;
  const results = async ({ ports }: Taker) => {
    while (!ended) {
      const dispatch = ++next;
      const session = sessions[(dispatch * 7) % sessions.length] as Token;
      // As the extractor: it is acknowledged once the append has resolved, and comes again until then.
      const event = recorded(dispatch, implementer({ summary: `result ${dispatch}` }));
      for (let stored = false; !stored && !ended; ) {
        stored = await ports.log.append(session, event, { messageId: `dispatch:${dispatch}` }).then(
          () => true,
          () => false,
        );
      }
      if (!ended) of(session).dispatches.add(dispatch);
      await ports.log.read(session, { after: 0, type: 'fact.recorded' }).then(({ events }) => {
        const seen = events.some(
          ({ event: { data } }) => 'dispatch' in data && data.dispatch.sequence === dispatch,
        );
        if (!seen && !ended)
          throw new Error(`dispatch ${dispatch} of ${session} cannot be read once it is stored`);
      });
    }
  };
  const commands = async ({ command }: Taker) => {
    while (!ended) {
      const number = ++next;
      const session = sessions[(number * 11) % sessions.length] as Token;
      const args = { content: `task ${number}`, status: 'remaining', priority: 2 } as const;
      const done = await command(session, 'task-add', (state) => addTask(state, args));
      if ('task' in done.reply) of(session).tasks.push((done.reply.task as { id: string }).id);
    }
  };
  const running = takers.flatMap((each) => [results(each), commands(each)]);
  return {
    acknowledged,
    async end() {
      ended = true;
      await Promise.all(running);
    },
  };
}

/** Sessions of all shapes, of which every third has a snapshot; none of them changes by itself. */
export async function sessionsOfAllShapes(
  { ports, command, reader }: Taker,
  count: number,
): Promise<Token[]> {
  const { log, snapshots, connection } = ports;
  const writer = createSnapshotWriter({ snapshots, clock: systemClock, logger: silentLogger, every: 1000 });
  const one = async (index: number) => {
    const session = token(`shape-${index}`, 'session');
    const length = index % 50 === 7 ? 700 : index % 20;
    for (let at = 1; at <= length; at += 1) {
      const result =
        at % 3 === 0 ? reviewer({ required_fixes: [`fix ${at}`] }) : implementer({ task_id: `${at % 4}` });
      await log.append(session, at % 7 === 0 ? rejected(at) : recorded(at, result));
      // Published again, and a message that holds nothing.
      if (at % 5 === 0) await log.append(session, recorded(at, result));
      if (at % 9 === 0) connection.publish(`session.${session}.note.added`, '{"v":1}');
      if (at % 6 === 0) {
        const args = { content: `task ${at}`, status: 'remaining', priority: at % 4 } as const;
        await command(session, 'task-add', (state) => addTask(state, args));
      }
    }
    if (index % 3 === 0 && length > 0) await writer.write((await reader.load(session)).folded);
    // A copy of a command later in the log does not count.
    if (index % 4 === 1 && length > 6) {
      const { events } = await log.read(session, { after: 0 });
      const task = events.find(({ event }) => event.type === 'task.added');
      if (task !== undefined) {
        const { event, sequence: _, ...decided } = task;
        await log.append(session, event, { decided });
      }
    }
    return session;
  };
  const sessions: Token[] = [];
  for (let at = 0; at < count; at += 20)
    sessions.push(
      ...(await Promise.all(Array.from({ length: Math.min(20, count - at) }, (_, i) => one(at + i)))),
    );
  return sessions;
}

export async function canonicalOf(log: Pick<SessionLog, 'read'>, session: Token): Promise<string> {
  return (await canonicalLog(log, session)).text();
}
