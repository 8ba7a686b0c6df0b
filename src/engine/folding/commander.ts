import { isDeepStrictEqual } from 'node:util';
import { ThroughlineError } from '../../contracts/errors.js';
import {
  type DecisionOn,
  EVENT_VERSION,
  type Refusal,
  type ReplyOn,
  type Unstamped,
} from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { Clock } from '../ports/clients.js';
import type { EventLog } from '../ports/session-log.js';
import { pause } from '../runtime/batched.js';
import type { StateReader } from './state-reader.js';

/**
 * Executes commands on a session or project with optimistic concurrency: load at sequence N, decide, append expecting N, and
 * answer from the state with the stored event folded on it. On a conflict, load and decide again. So no id is given twice and
 * no task is claimed twice.
 *
 * A burst of results would starve commands, and no command is decided on results. During a burst a command is therefore
 * appended without expectation, marked as decided on N; it counts unless another command came in between. Every reader of the
 * log comes to the same verdict, and a refused command is decided again.
 *
 * Commands of one process on one key are serialised, since only one could win. If the answer to an append is lost, the event
 * is searched by its id before a retry.
 */
interface CommanderOptions<State extends Timed, Event extends Stamped> {
  readonly log: EventLog<Event>;
  readonly reader: StateReader<State, Event>;
  readonly clock: Clock;
  readonly newId: () => string;
  /** 0 to 1, for the jitter of retries. */
  readonly random: () => number;
  /** Waits before a retry. Default: a timer. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** The part of a state that commands use. */
export interface Timed {
  sequence: number;
  lastEvent: number;
  lastEventAt: string;
  /** Sequence of the newest command that counted. Default: all events are commands. */
  lastCommand?: number;
}

/** The envelope of an event. */
interface Stamped {
  readonly type: string;
  readonly at: string;
  readonly id?: string | undefined;
  readonly data: unknown;
}

interface Executed<Event extends Stamped> {
  readonly reply: object;
  readonly appended?: Event['type'];
}

/**
 * Executes one command. Throws a ThroughlineError with the code of a refusal, `conflict` after too many lost races, or
 * `unavailable` if the log cannot be reached.
 */
export type Commander<State, Event extends Stamped> = (
  key: Token,
  name: string,
  decide: (state: State) => DecisionOn<State, Event>,
) => Promise<Executed<Event>>;

const MAX_ATTEMPTS = 100;
const MAX_LOST = 3;
const LONGEST_PAUSE_MS = 50;

export function createCommander<State extends Timed, Event extends Stamped>(
  options: CommanderOptions<State, Event>,
): Commander<State, Event> {
  const queue = new KeyedQueue();
  return (key, name, decide) => queue.run(key, () => execute(options, key, name, decide));
}

/** Serialises a key's background commands among themselves first, so that many of them do not delay foreground commands. */
export function inBackground<State, Event extends Stamped>(
  command: Commander<State, Event>,
): Commander<State, Event> {
  const queue = new KeyedQueue();
  return (key, name, decide) => queue.run(key, () => command(key, name, decide));
}

/** Serialises work per key, in order of arrival. */
class KeyedQueue {
  readonly #tails = new Map<Token, Promise<unknown>>();

  run<T>(key: Token, work: () => Promise<T>): Promise<T> {
    const run = (this.#tails.get(key) ?? Promise.resolve()).then(work);
    const tail = run
      .catch(() => undefined)
      .finally(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    this.#tails.set(key, tail);
    return run;
  }
}

async function execute<State extends Timed, Event extends Stamped>(
  options: CommanderOptions<State, Event>,
  key: Token,
  name: string,
  decide: (state: State) => DecisionOn<State, Event>,
): Promise<Executed<Event>> {
  const { log, reader } = options;
  const whole = async () => (await reader.load(key)).folded.state;
  let id = options.newId();
  let unsure: Unsure<State, Event>[] = [];
  let losses = 0;
  let wasOvertaken = false;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const { state, folded } = await reader.loadForCommand(key);
    if (unsure.length > 0) {
      const found = await findEffect(options, key, unsure, id);
      if (found.effect !== undefined) {
        // The event may have arrived between the load and the search.
        return answered(await whole(), found.effect.reply, found.effect.event.type);
      }
      if (found.isRefused) {
        // Appends of the same id that are still in flight were decided on no more than that: none can count.
        id = options.newId();
        unsure = [];
      }
      // Another load has folded events beyond the searched part: the event may be among them.
      else if (state.sequence > found.through) continue;
    }
    const decision = decide(state);
    if (decision.kind === 'refuse') throw refusal(decision);
    if (decision.kind === 'answer') {
      return answered(folded === undefined ? await whole() : state, decision.reply);
    }
    const after = state.sequence;
    const event = stamped<Event>(decision.event, id, options.clock(), state);
    const doubt = () => unsure.push({ after, event, reply: decision.reply });
    // During a burst: a fork on which the other events need not be folded.
    const crowded = wasOvertaken && isCrowded(state) ? reader.fork(state) : undefined;
    const ahead = folded === undefined ? state : crowded;
    const place = ahead === undefined ? { expectedSequence: after } : { decidedOn: after };
    try {
      const appended = await log.append(key, event, { ...place, messageId: id });
      if (appended.outcome === 'conflict') wasOvertaken = true;
      else if (ahead === undefined) {
        // A duplicate may hold the event of an earlier decision, so the log is read.
        const isKnown = folded !== undefined && !appended.duplicate;
        const now = isKnown ? await reader.foldAppended(folded, event, appended.sequence) : await whole();
        return answered(now, decision.reply, event.type);
      } else {
        const found = await reader.foldThrough(key, ahead, appended.sequence);
        // It is unknown which of the repeated events is stored.
        if (appended.duplicate || found === 'unseen') doubt();
        else if (found === 'counts') return answered(ahead, decision.reply, event.type);
        else if (unsure.length > 0) doubt();
        else id = options.newId();
      }
    } catch (error) {
      losses += 1;
      if (!(error instanceof ThroughlineError) || error.code !== 'unavailable' || losses > MAX_LOST)
        throw error;
      doubt();
    }
    await (options.pause ?? pause)(Math.min(LONGEST_PAUSE_MS, attempt * 2) * options.random());
  }
  throw new ThroughlineError(
    'conflict',
    `${key} changes too fast: ${name} lost ${MAX_ATTEMPTS} write conflicts; try again`,
  );
}

/** Returns true if a result, and not a command, won the race. */
function isCrowded({ lastEvent, lastCommand = lastEvent }: Timed): boolean {
  return lastCommand < lastEvent;
}

/** An append that may not be stored, or may not count. */
interface Unsure<State, Event> {
  readonly after: number;
  readonly event: Event;
  readonly reply: ReplyOn<State>;
}

/** Searches the log for a command's appends: the one that counts, or whether a refused one is stored. */
async function findEffect<State extends Timed, Event extends Stamped>(
  { log, reader }: Pick<CommanderOptions<State, Event>, 'log' | 'reader'>,
  key: Token,
  unsure: readonly Unsure<State, Event>[],
  id: string,
): Promise<{
  readonly effect: Unsure<State, Event> | undefined;
  readonly isRefused: boolean;
  readonly through: number;
}> {
  const { events, through } = await log.read(key, { after: unsure[0]?.after ?? 0 });
  const stored = events.filter(({ event }) => event.id === id);
  if (stored.length > 0) {
    for (const { sequence, event } of stored) {
      if (!(await reader.counted(key, sequence))) continue;
      // The retries of a command may have decided on different events.
      const same = (each: Unsure<State, Event>) => isDeepStrictEqual(each.event.data, event.data);
      return { effect: unsure.find(same) ?? unsure.at(-1), isRefused: false, through };
    }
  }
  return { effect: undefined, isRefused: stored.length > 0, through };
}

function answered<State extends Timed, Event extends Stamped>(
  state: State,
  reply: ReplyOn<State>,
  appended?: Event['type'],
): Executed<Event> {
  return {
    reply: { ...reply(state), sequence: state.sequence },
    ...(appended !== undefined && { appended }),
  };
}

function refusal({ code, message, details }: Refusal): ThroughlineError {
  return new ThroughlineError(code, message, details && { details });
}

/** Makes event times monotonic, whatever the clocks of several machines say. */
function stamped<Event>(unstamped: Unstamped<Event>, id: string, now: string, state: Timed): Event {
  const at = now > state.lastEventAt ? now : state.lastEventAt;
  // `type` and `data` match already; the compiler cannot see it.
  return { v: EVENT_VERSION, type: unstamped.type, at, id, data: unstamped.data } as Event;
}
