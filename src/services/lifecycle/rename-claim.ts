import { beingForgotten, ThroughlineError } from '../../contracts/errors.js';
import type { Archived } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { Clock } from '../../ports/clock.js';
import type { ArchivedAs, SessionLifecycle } from '../../ports/session-lifecycle.js';
import { fieldsOf, type IsMine } from '../common/archived-record.js';

export interface RenameClaimPorts {
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'forgotten' | 'change'>;
  /** Throws while sessions are being moved to another layout. */
  readonly refuseWhileMoving: () => Promise<void>;
  readonly clock: Clock;
}

/** How old a claim may be when an event is appended. */
const HELD_MS = 1000;

/** The right to rename a session, recorded under its old name. */
export class RenameClaim {
  readonly #ports: RenameClaimPorts;
  readonly session: Token;
  readonly to: Token;
  readonly by: string;
  #wasTaken = false;
  #heldAt = 0;
  #holding: Promise<void> = Promise.resolve();

  constructor(ports: RenameClaimPorts, session: Token, to: Token, by: string) {
    this.#ports = ports;
    this.session = session;
    this.to = to;
    this.by = by;
  }

  /** Of the record of the old name. */
  readonly isMine: IsMine = (there) => there?.renaming?.by === this.by;
  /** Of the record of the new name. */
  readonly isItsName: IsMine = (there) => there?.importing?.from === this.session;

  get isCopied(): boolean {
    return this.#ports.lifecycle.archived(this.session)?.renaming?.copied === true;
  }

  /** Whether the new name is taken for this. */
  get isTaken(): boolean {
    return this.isItsName(this.#ports.lifecycle.archived(this.to));
  }

  /**
   * Makes sure of the claim, and records it once more.
   *
   * @param copied what is recorded once the new session has all of it
   * @throws ThroughlineError `conflict` where another process has taken over, or sessions are moved, `session_forgotten` where
   * another one forgets it
   */
  async hold(copied?: { readonly sequence: number }): Promise<void> {
    if (isForgetting(this.#ports, this.session)) throw beingForgotten(this.session);
    await this.keep(copied);
    if (this.#wasTaken && !this.isTaken && !this.isCopied) throw lost(this.session);
    this.#wasTaken ||= this.isTaken;
  }

  /** Makes sure of the claim unless that was done a moment ago; one after the other, so that appends stay in order. */
  held(): Promise<void> {
    const isOld = () => Date.parse(this.#ports.clock()) - this.#heldAt > HELD_MS;
    this.#holding = this.#holding.then(() => (isOld() ? this.hold() : undefined));
    return this.#holding;
  }

  /** Makes sure of the claim alone: nothing else may be as it should. Throws `conflict` as `hold`. */
  async keep(copied?: { readonly sequence: number }): Promise<void> {
    const { clock, refuseWhileMoving } = this.#ports;
    await refuseWhileMoving();
    const heldAt = Date.parse(clock());
    await this.#replace(({ renaming, ...there }) => ({
      ...fieldsOf(there),
      ...copied,
      renaming: { by: this.by, at: clock(), copied: copied !== undefined || renaming?.copied === true },
    }));
    this.#heldAt = heldAt;
  }

  /** Leaves the pointer alone. */
  async end(): Promise<void> {
    await this.#replace(({ renaming: _, ...there }) => fieldsOf(there));
  }

  async #replace(next: (there: Archived) => ArchivedAs): Promise<void> {
    const isHeld = await this.#ports.lifecycle.change(this.session, (there) =>
      there !== undefined && this.isMine(there) ? next(there) : 'keep',
    );
    if (!isHeld) throw lost(this.session);
  }
}

/** Whether it is recorded that a session is being forgotten. */
export function isForgetting({ lifecycle }: Pick<RenameClaimPorts, 'lifecycle'>, session: Token): boolean {
  return lifecycle.forgotten(session)?.status === 'forgetting';
}

export function lost(session: Token): ThroughlineError {
  return new ThroughlineError('conflict', `another process goes on with renaming session ${session}`);
}
