import { ThroughlineError } from '../../../src/contracts/errors.js';
import type {
  DispatchDelivery,
  DispatchSource,
  RejectedStore,
} from '../../../src/engine/ports/dispatch-source.js';
import type { NewestResults, SessionLog, SnapshotStore } from '../../../src/engine/ports/session-log.js';
import type { ManualScheduler } from '../../doubles/manual-scheduler.js';
import type { Chance } from './random.js';

/** How bad the network is. All shares are of calls, 0 to 1. */
export interface Weather {
  /** Whether faults happen at all: a run ends in calm weather, so that it can end. */
  stormy: boolean;
  /** Calls that fail before they have had any effect. */
  readonly refused: number;
  /** Calls that have their effect, and the answer is lost. */
  readonly unanswered: number;
  /** Calls that fail at once and have their effect later, when no caller expects it any more. */
  readonly belated: number;
  /** Deliveries and acknowledgements that get lost. */
  readonly dropped: number;
  /** Deliveries that come twice. */
  readonly doubled: number;
  /** Longest delay of anything, in milliseconds. */
  readonly delayMs: number;
}

/** One worker process: once it has died, nothing of it has an effect, and it hears nothing any more. */
export interface Life {
  alive: boolean;
}

/** The ports as a worker sees them through a network that drops, delays, doubles and reorders. */
export class FaultyNetwork {
  readonly #scheduler: ManualScheduler;
  readonly #chance: Chance;
  readonly #weather: Weather;

  constructor(scheduler: ManualScheduler, chance: Chance, weather: Weather) {
    this.#scheduler = scheduler;
    this.#chance = chance;
    this.#weather = weather;
  }

  log(log: SessionLog & NewestResults, life: Life): SessionLog & NewestResults {
    return {
      newestResults: (session) => this.#read(life, () => log.newestResults(session)),
      append: (session, event, options) => this.#write(life, () => log.append(session, event, options)),
      read: (session, range) => this.#read(life, () => log.read(session, range)),
      newest: (session) => this.#read(life, () => log.newest(session)),
      watch: (session, onEvent) => log.watch(session, onEvent),
    };
  }

  snapshots(store: SnapshotStore, life: Life): SnapshotStore {
    return {
      load: (session) => this.#read(life, () => store.load(session)),
      loadAtOrBefore: (session, at) => this.#read(life, () => store.loadAtOrBefore(session, at)),
      save: (session, snapshot) => this.#write(life, () => store.save(session, snapshot)),
    };
  }

  rejected(store: RejectedStore, life: Life): RejectedStore {
    return {
      put: (rejection) => this.#write(life, () => store.put(rejection)),
      page: (asked) => this.#read(life, () => store.page(asked)),
      get: (id) => this.#read(life, () => store.get(id)),
      remove: (id) => this.#write(life, () => store.remove(id)),
    };
  }

  source(source: DispatchSource, life: Life): DispatchSource {
    return {
      publish: (subject, body, id) => this.#write(life, () => source.publish(subject, body, id)),
      consume: (handler, hasCapacity) =>
        source.consume((delivery) => {
          const { dropped, doubled } = this.#weather;
          const arrive = () => {
            if (life.alive) handler(this.#answering(delivery, life));
          };
          if (this.#happens(dropped)) return;
          this.#later(arrive);
          if (this.#happens(doubled)) this.#later(arrive);
        }, hasCapacity),
    };
  }

  #answering(delivery: DispatchDelivery, life: Life): DispatchDelivery {
    const send = (answer: () => void) => {
      if (life.alive && !this.#happens(this.#weather.dropped)) this.#later(answer);
    };
    return {
      ...delivery,
      ack: () => send(() => delivery.ack()),
      working: () => send(() => delivery.working()),
      nak: (delayMs) => send(() => delivery.nak(delayMs)),
      term: (reason) => send(() => delivery.term(reason)),
    };
  }

  async #write<T>(life: Life, effect: () => Promise<T>): Promise<T> {
    const { refused, unanswered, belated } = this.#weather;
    await this.#arrival(life);
    if (this.#happens(refused)) throw lost();
    if (this.#happens(belated)) {
      // Its sender may have died meanwhile: what is on its way arrives all the same.
      this.#scheduler.after(this.#chance.between(1, 4 * this.#weather.delayMs), () => void effect());
      throw lost();
    }
    const answer = await effect();
    await this.#arrival(life);
    if (this.#happens(unanswered)) throw lost();
    return answer;
  }

  async #read<T>(life: Life, effect: () => Promise<T>): Promise<T> {
    await this.#arrival(life);
    if (this.#happens(this.#weather.refused)) throw lost();
    const answer = await effect();
    await this.#arrival(life);
    return answer;
  }

  /** Resolves when a message has crossed the network; never for one who has died meanwhile. */
  #arrival(life: Life): Promise<void> {
    return new Promise((resolve) => {
      this.#later(() => {
        if (life.alive) resolve();
      });
    });
  }

  #later(task: () => void): void {
    const { stormy, delayMs } = this.#weather;
    this.#scheduler.after(stormy ? this.#chance.between(0, delayMs) : 0, task);
  }

  #happens(share: number): boolean {
    return this.#weather.stormy && this.#chance.happens(share);
  }
}

function lost(): ThroughlineError {
  return new ThroughlineError('unavailable', 'the answer got lost');
}
