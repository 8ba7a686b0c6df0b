import { ThroughlineError } from '../../contracts/errors.js';
import { type DecisionOn, EVENT_VERSION, type ReplyOn, type Unstamped } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { Clock } from '../ports/logger-and-clock.js';
import type { EventLog } from '../ports/session-log.js';
import { pause } from '../runtime/pacing.js';
import type { Sequenced, StateReader } from './state-reader.js';

/**
 * Executes commands on a session or project with optimistic concurrency: load, decide, append expecting that no other command
 * has come since, and answer from the state with the stored event folded on it. On a conflict, load and decide again. So no id
 * is given twice and no task is claimed twice. Results that come in meanwhile refuse no command.
 *
 * Commands of one process on one key are serialised, since only one could win. If the answer to an append is lost, its event is
 * searched by its id before a retry.
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

export interface Timed extends Sequenced {
  lastEventAt: string;
}

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

/** Executes one command. Throws the code of a refusal, `conflict` after too many lost races, or `unavailable`. */
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
  // Appends without an answer, by id: at most one of them is stored, since all that follow expect it.
  const unsure = new Map<string, Unsure<State, Event>>();
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const { folded } = await reader.load(key);
    const { state } = folded;
    const [first] = unsure.values();
    if (first !== undefined) {
      const { events, through } = await log.read(key, { after: first.after });
      const found = events.flatMap(({ event: { id = '' } }) => unsure.get(id) ?? [])[0];
      // It may have arrived between the load and the search.
      if (found !== undefined)
        return answered((await reader.load(key)).folded.state, found.reply, found.event.type);
      // Another load has folded events beyond the searched part: the event may be among them.
      if (state.sequence > through) continue;
    }
    const decision = decide(state);
    if (decision.kind === 'refuse') {
      const { code, message, details } = decision;
      throw new ThroughlineError(code, message, details && { details });
    }
    if (decision.kind === 'answer') return answered(state, decision.reply);
    const { lastCommand: after = state.sequence } = state;
    const id = options.newId();
    const event = stamped<Event>(decision.event, id, options.clock(), state);
    try {
      const appended = await log.append(key, event, { expectedSequence: after });
      if (appended.outcome === 'appended') {
        const now = await reader.foldAppended(folded, event, after, appended.sequence);
        return answered(now, decision.reply, event.type);
      }
    } catch (error) {
      const isLost = error instanceof ThroughlineError && error.code === 'unavailable';
      if (!isLost || unsure.size >= MAX_LOST) throw error;
      unsure.set(id, { after, event, reply: decision.reply });
    }
    await (options.pause ?? pause)(Math.min(LONGEST_PAUSE_MS, attempt * 2) * options.random());
  }
  throw new ThroughlineError(
    'conflict',
    `${key} changes too fast: ${name} lost ${MAX_ATTEMPTS} write conflicts; try again`,
  );
}

interface Unsure<State, Event> {
  readonly after: number;
  readonly event: Event;
  readonly reply: ReplyOn<State>;
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

/** Makes event times monotonic, whatever the clocks of several machines say. */
function stamped<Event>(unstamped: Unstamped<Event>, id: string, now: string, state: Timed): Event {
  const at = now > state.lastEventAt ? now : state.lastEventAt;
  // `type` and `data` match already; the compiler cannot see it.
  return { v: EVENT_VERSION, type: unstamped.type, at, id, data: unstamped.data } as Event;
}
