import { isDeepStrictEqual } from 'node:util';
import { EVENT_VERSION } from '../contracts/event.js';
import type { Token } from '../contracts/names.js';
import type { SessionEvent } from '../contracts/session-events.js';
import { ThroughlineError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { SessionLog } from '../ports/session-log.js';
import type { Decision, NewEvent } from '../session/commands/decision.js';
import type { SessionState } from '../session/state.js';
import type { SessionReader } from './session-reader.js';

/**
 * Carries out commands: load the session at sequence N, decide, append expecting N. When somebody else came first,
 * load and decide again: so ids never collide, and no task is claimed twice.
 *
 * Commands of one process on one session queue up, since only one of them could win anyway. An append whose answer
 * got lost is looked for by the event's id before it is tried again.
 */
export interface CommanderOptions {
  readonly log: SessionLog;
  readonly reader: SessionReader;
  readonly clock: Clock;
  /** A new unique id for each command. */
  readonly newId: () => string;
  /** 0 to 1, for the jitter of retries. */
  readonly random: () => number;
}

/** What a command came to: the answer, and the event that was appended, if any. */
export interface Executed {
  readonly reply: object;
  readonly appended?: SessionEvent['type'];
}

/**
 * Carries out one command. Throws a ThroughlineError with the code of a refusal, `conflict` when others came first
 * again and again, or `unavailable` when the log cannot be reached.
 */
export type Commander = (
  session: Token,
  name: string,
  decide: (state: SessionState) => Decision,
) => Promise<Executed>;

const MAX_ATTEMPTS = 100;
const MAX_LOST = 3;
const LONGEST_PAUSE_MS = 50;

export function createCommander(options: CommanderOptions): Commander {
  const queues = new Map<Token, Promise<unknown>>();
  return (session, name, decide) => {
    const ahead = queues.get(session) ?? Promise.resolve();
    const run = ahead.then(() => execute(options, session, name, decide));
    const tail = run
      .catch(() => undefined)
      .finally(() => {
        if (queues.get(session) === tail) queues.delete(session);
      });
    queues.set(session, tail);
    return run;
  };
}

async function execute(
  options: CommanderOptions,
  session: Token,
  name: string,
  decide: (state: SessionState) => Decision,
): Promise<Executed> {
  const { log, reader } = options;
  const id = options.newId();
  const lost: Lost[] = [];
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const { state } = (await reader.load(session)).folded;
    if (lost.length > 0) {
      const { arrived, through } = await findLost(log, session, lost, id);
      if (arrived !== undefined) {
        // It may have arrived between the load and the search.
        const loaded = await reader.load(session);
        return answered(loaded.folded.state, arrived.reply, arrived.event.type);
      }
      // Loads of others have moved the state past what was searched: the event may stand there.
      if (state.sequence > through) continue;
    }
    const decision = decide(state);
    if (decision.kind === 'refuse') throw refusal(decision);
    if (decision.kind === 'answer') return answered(state, decision.reply);
    const after = state.sequence;
    const event = stamped(decision.event, id, options.clock(), state);
    try {
      const { outcome } = await log.append(session, event, { expectedSequence: after, messageId: id });
      if (outcome === 'appended') {
        const loaded = await reader.load(session);
        return answered(loaded.folded.state, decision.reply, event.type);
      }
    } catch (error) {
      if (!(error instanceof ThroughlineError) || error.code !== 'unavailable' || lost.length >= MAX_LOST)
        throw error;
      lost.push({ after, event, reply: decision.reply });
    }
    await pause(Math.min(LONGEST_PAUSE_MS, attempt * 2) * options.random());
  }
  throw new ThroughlineError(
    'conflict',
    `session ${session} changes too fast: ${name} came too late ${MAX_ATTEMPTS} times, try again`,
  );
}

/** An append whose answer did not arrive. */
interface Lost {
  readonly after: number;
  readonly event: SessionEvent;
  readonly reply: (state: SessionState) => object;
}

/** Which of the lost appends is in the log after all, and up to where that was searched. */
async function findLost(
  log: SessionLog,
  session: Token,
  lost: readonly Lost[],
  id: string,
): Promise<{ readonly arrived: Lost | undefined; readonly through: number }> {
  const [first] = lost;
  const { events, through } = await log.read(session, { after: first?.after ?? 0 });
  const found = events.find(({ event }) => 'id' in event && event.id === id)?.event;
  // Decided anew in between, the same command may have come to another event.
  const same = (each: Lost) => isDeepStrictEqual(each.event.data, found?.data);
  return { arrived: found && (lost.find(same) ?? lost.at(-1)), through };
}

function answered(
  state: SessionState,
  reply: (state: SessionState) => object,
  appended?: SessionEvent['type'],
): Executed {
  return {
    reply: { ...reply(state), sequence: state.sequence },
    ...(appended !== undefined && { appended }),
  };
}

function refusal(decision: Extract<Decision, { kind: 'refuse' }>): ThroughlineError {
  const { code, message, details } = decision;
  return new ThroughlineError(code, message, details && { details });
}

/** An event's time never lies before that of the one it follows, whatever the clocks of several machines say. */
function stamped({ type, data }: NewEvent, id: string, now: string, state: SessionState): SessionEvent {
  const at = now > state.lastEventAt ? now : state.lastEventAt;
  // Type and data belong together in NewEvent already; the envelope adds nothing to either.
  return { v: EVENT_VERSION, type, at, id, data } as SessionEvent;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
