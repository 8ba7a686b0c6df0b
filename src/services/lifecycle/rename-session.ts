import { checkedRequest } from '../../contracts/checked.js';
import { codeOf, noSuchSession, renamedSession, ThroughlineError } from '../../contracts/errors.js';
import type { Archived } from '../../contracts/lifecycle-record.js';
import { type Token, token } from '../../contracts/names.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { TOOLS } from '../../contracts/tool-requests.js';
import { isSameSession } from '../../folding/log-copy.js';
import type { SessionReader, SessionSnapshotWriter } from '../../folding/session-folding.js';
import type { Clock } from '../../ports/clock.js';
import type { EventRemoval } from '../../ports/event-log.js';
import type { Logger } from '../../ports/logger.js';
import type { SessionEraser } from '../../ports/session-eraser.js';
import type { SessionLog } from '../../ports/session-log.js';
import type { ReplacingSnapshotStore } from '../../ports/snapshot-store.js';
import { withinDeadline } from '../../shared/deadline.js';
import { archivedSince, requireOwnName } from '../common/forgotten-results.js';
import { carriedLog } from '../layout/carried-log.js';
import { bring, lostBeginning } from '../layout/move-session.js';
import { beating, isGone } from './forget-claim.js';
import { type LearningsPorts, renameInLearnings } from './forget-learnings.js';
import { SETTLED_MS } from './forget-session.js';
import { becomeSession, exists, type NewSessionPorts, requireFree } from './new-session.js';

/**
 * Answers `session-rename`: the events of a session are copied to another name, and the old one stays as a pointer.
 *
 * 1. Both names are recorded, and all processes notice: results of both are held back, and requests refused.
 * 2. The log is copied, where its beginning is gone with what the snapshot knows of that, and both are compared.
 * 3. That is recorded. From then on the new name counts: learnings name it, and it becomes a session.
 * 4. The log of the old name is erased, and its record becomes a pointer.
 *
 * What was cut short is gone on with by the same request, once the process that did it has not been heard of for some seconds.
 */
export interface RenameOptions extends NewSessionPorts {
  readonly log: NewSessionPorts['log'] & Pick<SessionLog, 'append'> & EventRemoval;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly writer: Pick<SessionSnapshotWriter, 'write'>;
  readonly snapshots: Pick<ReplacingSnapshotStore, 'load'>;
  readonly eraser: Pick<SessionEraser, 'check' | 'eraseLog'>;
  readonly inLearnings: Pick<LearningsPorts, 'learnings' | 'projects' | 'command'>;
  /** Throws while sessions are being moved to another layout. */
  readonly refuseWhileMoving: () => Promise<void>;
  readonly clock: Clock;
  /** A new unique id for each renaming. */
  readonly newId: () => string;
  readonly logger: Logger;
  /** Waits so many milliseconds. */
  readonly pause: (ms: number) => Promise<void>;
}

type Reply = ToolReply<'session-rename'>;

/** Before clients give up on an answer. */
const ANSWER_MS = 3000;
const OTHER_NAME = 'choose another name';

export function createSessionRename(options: RenameOptions): (request: unknown) => Promise<Reply> {
  const { lifecycle, clock, logger } = options;
  const running = new Map<Token, { readonly to: Token; readonly ended: Promise<Reply['state']> }>();

  return async (request) => {
    const asked = checkedRequest(TOOLS['session-rename'].request, request);
    const [session, to] = [token(asked.session, 'session'), token(asked.to, 'to')];
    if (session === to)
      throw new ThroughlineError('schema_invalid', `to: session ${session} has that name already`, {
        details: { fields: ['to'] },
      });
    const record = lifecycle.archived(session);
    if (record?.renamed_to !== undefined) {
      const isDone = record.renaming === undefined;
      if (record.renamed_to !== to) throw renamedSession(session, record.renamed_to, isDone);
      if (isDone) return { session, to, state: 'done' };
    }
    const job = running.get(session) ?? { to, ended: renamed(options, session, to) };
    if (job.to !== to) throw renamedSession(session, job.to, false);
    if (!running.has(session)) {
      running.set(session, job);
      const forget = () => running.delete(session);
      job.ended.then(forget, (error: unknown) => {
        forget();
        // Who has asked may not wait for it any longer.
        logger.warn({ session, to, code: codeOf(error), err: error }, 'session not renamed');
      });
    }
    let state: Reply['state'] = 'running';
    await withinDeadline(
      ANSWER_MS,
      job.ended.then((ended) => {
        state = ended;
      }),
    );
    return { session, to, state };
  };

  async function renamed(ports: RenameOptions, session: Token, to: Token): Promise<Reply['state']> {
    const { renaming } = lifecycle.archived(session) ?? {};
    if (renaming !== undefined && !isGone(renaming, clock)) return 'running';
    const claim = await claimed(ports, session, to);
    if (claim === undefined) return 'running';
    const release = beating(() => claim.hold());
    try {
      await rename(ports, claim);
    } finally {
      await release();
    }
    logger.info({ session, to }, 'session renamed');
    return 'done';
  }
}

/** The right to rename a session, recorded under its old name. */
class RenameClaim {
  readonly #ports: RenameOptions;
  readonly session: Token;
  readonly to: Token;
  readonly by: string;
  #wasTaken = false;

  constructor(ports: RenameOptions, session: Token, to: Token, by: string) {
    this.#ports = ports;
    this.session = session;
    this.to = to;
    this.by = by;
  }

  get isCopied(): boolean {
    return this.#ports.lifecycle.archived(this.session)?.renaming?.copied === true;
  }

  /** Whether the new name is taken for this. */
  get isTaken(): boolean {
    return this.#ports.lifecycle.archived(this.to)?.importing?.from === this.session;
  }

  /**
   * Makes sure of the claim, and records it once more.
   *
   * @param copied what is recorded once the new session has all of it
   * @throws ThroughlineError `conflict` where another process has taken over, or sessions are moved
   */
  async hold(copied?: { readonly sequence: number }): Promise<void> {
    const { clock, refuseWhileMoving } = this.#ports;
    await refuseWhileMoving();
    await this.#replace(({ renaming, ...there }) => ({
      ...there,
      ...copied,
      renaming: { by: this.by, at: clock(), copied: copied !== undefined || renaming?.copied === true },
    }));
    if (this.#wasTaken && !this.isTaken && !this.isCopied) throw lost(this.session);
    this.#wasTaken ||= this.isTaken;
  }

  /** Leaves the pointer alone. */
  async end(): Promise<void> {
    await this.#replace(({ renaming: _, ...there }) => there);
  }

  async #replace(next: (there: Archived) => Archived): Promise<void> {
    const isHeld = await this.#ports.lifecycle.archive(this.session, (there) => {
      if (there?.renaming?.by !== this.by) return undefined;
      const { v: _, status: __, ...record } = next(there);
      return record;
    });
    if (!isHeld) throw lost(this.session);
  }
}

function lost(session: Token): ThroughlineError {
  return new ThroughlineError('conflict', `another process goes on with renaming session ${session}`);
}

/** Records both names, or goes on with one that is gone; `undefined` where another one is at it. */
async function claimed(ports: RenameOptions, session: Token, to: Token): Promise<RenameClaim | undefined> {
  const { lifecycle, clock, eraser, refuseWhileMoving } = ports;
  await refuseWhileMoving();
  await eraser.check();
  if (lifecycle.archived(session)?.renaming === undefined) await requireRenamable(ports, session, to);
  const by = ports.newId();
  const isClaimed = await lifecycle.archive(session, (there) => {
    if (there?.renaming !== undefined && (!isGone(there.renaming, clock) || there.renamed_to !== to))
      return undefined;
    if (there?.importing !== undefined || (there?.renamed_to !== undefined && there.renaming === undefined))
      return undefined;
    const { v: _, status: __, ...record } = there ?? { v: 1, status: '' };
    const at = there?.at ?? archivedSince(lifecycle.forgotten(session), clock());
    const copied = there?.renaming?.copied ?? false;
    return { ...record, at, renamed_to: to, renaming: { by, at: clock(), copied } };
  });
  return isClaimed ? new RenameClaim(ports, session, to, by) : undefined;
}

/** @throws ThroughlineError `not_found`, `session_exists`, and what is said of a session that is going, or not there yet */
async function requireRenamable(ports: RenameOptions, session: Token, to: Token): Promise<void> {
  requireOwnName(session, ports.lifecycle.archived(session));
  const { state } = (await ports.reader.load(session)).folded;
  if (state.sequence === 0) throw new ThroughlineError('not_found', noSuchSession(session));
  await requireFree(ports, to, OTHER_NAME);
}

async function rename(ports: RenameOptions, claim: RenameClaim): Promise<void> {
  const { reader, writer, eraser } = ports;
  const { session, to } = claim;
  if (!claim.isCopied) {
    await take(ports, claim);
    await claim.hold({ sequence: await copied(ports, claim) });
  }
  await renameInLearnings(ports.inLearnings, session, to);
  if (claim.isTaken) {
    await becomeSession(ports, to);
    await writer.write((await reader.load(to)).folded);
  }
  await claim.hold();
  await eraser.eraseLog(session);
  await claim.end();
}

/** The new name is taken, and nothing can come any more under either name. */
async function take(ports: RenameOptions, claim: RenameClaim): Promise<void> {
  const { lifecycle, clock, pause, log } = ports;
  const { session, to } = claim;
  const importing = { file: `rename ${session}`.slice(0, 64), dispatches: 0, from: session };
  const taken = (ready: boolean) =>
    lifecycle.archive(to, (there) =>
      there === undefined || there.importing?.from === session
        ? {
            at: there?.at ?? archivedSince(lifecycle.forgotten(to), clock()),
            importing: { ...importing, ready },
          }
        : undefined,
    );
  const isReady = claim.isTaken && lifecycle.archived(to)?.importing?.ready === true;
  let isFree = isReady;
  if (!isReady) {
    isFree = lifecycle.forgotten(to)?.status !== 'forgetting' && (await taken(false));
  }
  await pause(SETTLED_MS);
  await claim.hold();
  if (isReady) return;
  // A result may have been on its way.
  if (isFree && (await log.newest(to)) === 0) {
    await taken(true);
    return;
  }
  if (isFree) await lifecycle.reopen(to);
  // As it was before.
  await becomeSession(ports, session);
  throw exists(to, OTHER_NAME);
}

/** Copies the events, and gives the last sequence that the old log had. */
async function copied(ports: RenameOptions, claim: RenameClaim): Promise<number> {
  const { log: to, snapshots } = ports;
  const { session, to: as } = claim;
  const kept = await lostBeginning(to, session, snapshots);
  const whole = kept === undefined ? to : carriedLog(to, kept);
  let last = 0;
  const from: Pick<SessionLog, 'read'> = {
    async read(key, range) {
      // Before each page: one that stood still meanwhile has lost it.
      await claim.hold();
      const page = await whole.read(key, range);
      last = Math.max(last, page.events.at(-1)?.sequence ?? 0);
      return page;
    },
  };
  const clear = async () => void (await to.removeBefore(as, (await to.newest(as)) + 1));
  await bring({ session, as, from, to, clear });
  if (await isSameSession({ from, to }, session, as)) return last;
  throw new ThroughlineError(
    'internal',
    `session ${session} is not the same in its copy: it was not renamed`,
  );
}
