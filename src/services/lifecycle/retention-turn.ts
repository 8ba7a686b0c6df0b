import type { Token } from '../../contracts/names.js';
import { NOTHING_DONE, type RetentionCounts, type RetentionRun } from '../../contracts/retention-record.js';
import type { Clock } from '../../ports/clock.js';
import type { RetentionStore } from '../../ports/retention-store.js';

/**
 * One process at a time follows the rules. It says every few seconds that it is at it; where it has not for several times
 * that, the next one takes over, first of all the sessions that were in hand.
 */
const BEAT_MS = 5000;
const GONE_MS = 4 * BEAT_MS;

export interface TurnPorts {
  readonly store: Pick<RetentionStore, 'changeRun'>;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** Whether a process is at it now, as far as the record says. */
export function isRunning({ endedAt, beatAt }: RetentionRun, now: string): boolean {
  return endedAt === undefined && Date.parse(now) - Date.parse(beatAt) < GONE_MS;
}

type InHand = NonNullable<RetentionRun['inHand']>;

/** The right to follow the rules, until it is ended, or lost to another process. */
export class Turn {
  readonly #ports: TurnPorts;
  #run: RetentionRun;
  #isLost = false;
  #writing: Promise<void> = Promise.resolve();
  readonly #beating: NodeJS.Timeout;

  private constructor(ports: TurnPorts, run: RetentionRun) {
    this.#ports = ports;
    this.#run = run;
    this.#beating = setInterval(() => void this.#save().catch(() => {}), BEAT_MS);
    this.#beating.unref();
  }

  /**
   * Begins one, unless another process is at it, or `mayBegin` says that it is too soon after the last one.
   *
   * @returns the turn, or else the run of the process that has it
   */
  static async take(
    ports: TurnPorts,
    mayBegin: (last: RetentionRun | undefined) => boolean,
  ): Promise<Turn | RetentionRun | undefined> {
    const id = ports.newId();
    const now = ports.clock();
    const run = await ports.store.changeRun((last) => {
      if (last !== undefined && isRunning(last, now)) return last;
      if (!mayBegin(last)) return last;
      const inHand = last?.inHand ?? [];
      const begun = { v: 1 as const, id, startedAt: now, beatAt: now, ...NOTHING_DONE };
      return { ...begun, ...(inHand.length > 0 && { inHand }) };
    });
    return run?.id === id ? new Turn(ports, run) : run;
  }

  /** As it stands. */
  get run(): RetentionRun {
    return this.#run;
  }

  /** Whether another process has taken over: this one stood still for long. */
  get isLost(): boolean {
    return this.#isLost;
  }

  add(what: keyof RetentionCounts, count = 1): void {
    this.#run = { ...this.#run, [what]: this.#run[what] + count };
  }

  /** Records what is in hand from now on, before anything is done to it. */
  async take(inHand: readonly { readonly session: Token; readonly idleSince: string }[]): Promise<void> {
    const { inHand: _, ...run } = this.#run;
    this.#run = { ...run, ...(inHand.length > 0 && { inHand: inHand as InHand }) };
    await this.#save();
  }

  /** Says that it is done, or what it failed with: what was in hand then is for the next one. */
  async end(error?: string): Promise<void> {
    clearInterval(this.#beating);
    this.#run = {
      ...this.#run,
      endedAt: this.#ports.clock(),
      ...(error !== undefined && { error }),
    };
    await this.#save();
  }

  /** Lets another process go on with it soon. */
  async leave(): Promise<void> {
    clearInterval(this.#beating);
    await this.#writing.catch(() => {});
  }

  #save(): Promise<void> {
    this.#writing = this.#writing
      .catch(() => {})
      .then(async () => {
        this.#run = { ...this.#run, beatAt: this.#ports.clock() };
        const wanted = this.#run;
        const stored = await this.#ports.store.changeRun((last) => (last?.id === wanted.id ? wanted : last));
        if (stored?.id !== wanted.id) this.#isLost = true;
      });
    return this.#writing;
  }
}
