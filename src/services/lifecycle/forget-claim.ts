import { ThroughlineError } from '../../contracts/errors.js';
import type { Forgotten } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { Clock } from '../../ports/clock.js';
import type { Marks, SessionEraser } from '../../ports/session-eraser.js';
import type { ForgottenAt, SessionLifecycle } from '../../ports/session-lifecycle.js';

/**
 * A session is erased by one at a time, whom its record names, and says at what time it was still at it. Two would harm
 * each other: once one has ended another session of the name begins, which the other one would erase.
 */
export interface ClaimPorts {
  readonly lifecycle: SessionLifecycle;
  readonly eraser: Pick<SessionEraser, 'marks'>;
  readonly clock: Clock;
  /** Waits so many milliseconds. */
  readonly pause: (ms: number) => Promise<void>;
}

/** Who forgets a session, and what goes with it. */
export interface Claimant {
  readonly by: string;
  readonly withLearnings?: boolean;
  /** The project that is forgotten with it. */
  readonly project?: Token | undefined;
  /** Forget it only if this is still its newest event, and no result was stored since. Default: in any case. */
  readonly unlessMoved?: ForgottenAt['unless_moved'] | undefined;
}

/** How often it is recorded that one is still at it. One that has not recorded it for several times that is taken to be gone. */
const BEAT_MS = 2000;
const GONE_MS = 4 * BEAT_MS;
const LOOK_MS = 500;

/** Whether a session is being erased now, as far as its record says. */
export function isAtIt(
  { lifecycle, clock }: Pick<ClaimPorts, 'lifecycle' | 'clock'>,
  session: Token,
): boolean {
  const record = lifecycle.forgotten(session);
  return record?.status === 'forgetting' && !isGone(record, clock);
}

/** Whether one has not said for long that it is still at it. */
export function isGone({ at }: { readonly at: string }, clock: Clock): boolean {
  return Date.parse(clock()) - Date.parse(at) >= GONE_MS;
}

/**
 * Records that a session is being forgotten, unless another one is at it. The boundary is written with the first record: a
 * process that continues after a crash must not move it.
 */
export async function begin(
  { lifecycle, eraser, clock }: Omit<ClaimPorts, 'pause'>,
  session: Token,
  { by, withLearnings = false, project, unlessMoved }: Claimant,
): Promise<boolean> {
  let isClaimed = false;
  const isFirst = lifecycle.forgotten(session)?.status !== 'forgetting';
  const begun = isFirst ? await eraser.marks(session) : undefined;
  await lifecycle.forgetting(session, (there) => {
    isClaimed = there?.status !== 'forgetting' || there.by === by || isGone(there, clock);
    if (there?.status !== 'forgetting') {
      return {
        ...{ at: clock(), dispatches: 0, sequence: 0, by },
        ...(begun && { begun }),
        ...(withLearnings && { with_learnings: true }),
        ...(project && { project }),
        ...(unlessMoved && { unless_moved: unlessMoved }),
      };
    }
    const { v: _, status: __, session: ___, unless_moved: unless, ...record } = there;
    // Where a person says so, it is not spared any longer.
    const mayBeSpared = unless !== undefined && unlessMoved !== undefined;
    if (!isClaimed && (unless === undefined || mayBeSpared)) return undefined;
    return {
      ...record,
      ...(isClaimed && { at: clock(), by }),
      ...(withLearnings && { with_learnings: true }),
      ...(project && { project }),
      ...(mayBeSpared && { unless_moved: unless }),
    };
  });
  return isClaimed;
}

/** Waits until the session may be erased here; `undefined` where it was forgotten by another one meanwhile. */
export async function claim(
  ports: ClaimPorts,
  session: Token,
  claimant: Claimant,
): Promise<Claim | undefined> {
  while (!(await begin(ports, session, claimant))) {
    await ports.pause(LOOK_MS);
    if (ports.lifecycle.forgotten(session)?.status !== 'forgetting') return undefined;
  }
  return new Claim(ports, session, claimant.by);
}

/** The right to erase a session, kept until `release`. */
export class Claim {
  readonly #ports: ClaimPorts;
  readonly #session: Token;
  readonly #by: string;
  /** Ends with it. */
  readonly release: () => Promise<void>;

  constructor(ports: ClaimPorts, session: Token, by: string) {
    this.#ports = ports;
    this.#session = session;
    this.#by = by;
    this.release = beating(() => this.hold());
  }

  get record(): Forgotten {
    const record = this.#ports.lifecycle.forgotten(this.#session);
    if (record === undefined) throw this.#lost();
    return record;
  }

  /**
   * Makes sure of the claim, and records it once more.
   *
   * @throws ThroughlineError `conflict` where another one has taken over
   */
  async hold(more: Partial<Marks & Pick<Forgotten, 'settled'>> = {}): Promise<void> {
    const { lifecycle, clock } = this.#ports;
    const isHeld = await lifecycle.forgetting(this.#session, (there) => {
      if (!isBy(there, this.#by)) return undefined;
      const { v: _, status: __, session: ___, unless_moved, ...record } = there;
      // Once it is settled it is not spared.
      const unless = more.settled !== true && unless_moved !== undefined && { unless_moved };
      return { ...record, ...unless, ...more, at: clock() };
    });
    if (!isHeld) throw this.#lost();
  }

  #lost(): ThroughlineError {
    return new ThroughlineError(
      'conflict',
      `another process goes on with forgetting session ${this.#session}`,
    );
  }
}

/** Says every few seconds that one is still at it, until the function that it gives is called. */
export function beating(hold: () => Promise<unknown>): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    // Whether it is still there is asked where it matters.
    last = hold().catch(() => {});
  }, BEAT_MS);
  return async () => {
    clearInterval(timer);
    await last;
  };
}

/** Whether a session is being erased by this one, as its record says. */
export function isBy(there: Forgotten | undefined, by: string): there is Forgotten {
  return there?.status === 'forgetting' && there.by === by;
}
