import { checkedRequest } from '../../contracts/checked.js';
import {
  beingForgotten,
  codeOf,
  noSuchSession,
  renamedSession,
  ThroughlineError,
} from '../../contracts/errors.js';
import { type Token, token } from '../../contracts/names.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { TOOLS } from '../../contracts/tool-requests.js';
import { isSameSession } from '../../folding/log-copy.js';
import type { SessionReader, SessionSnapshotWriter } from '../../folding/session-folding.js';
import { wholeLog } from '../../folding/whole-log.js';
import type { Clock } from '../../ports/clock.js';
import type { EventRemoval } from '../../ports/event-log.js';
import type { Logger } from '../../ports/logger.js';
import type { SessionEraser } from '../../ports/session-eraser.js';
import type { SessionLog } from '../../ports/session-log.js';
import type { ReplacingSnapshotStore } from '../../ports/snapshot-store.js';
import { withinDeadline } from '../../shared/deadline.js';
import { archivedSince, asFree, fieldsOf } from '../common/archived-record.js';
import { requireOwnName } from '../common/own-name.js';
import { heldLog } from '../layout/held-ports.js';
import { copyMissing, type SessionMove } from '../layout/move-session.js';
import { beating, isGone } from './forget-claim.js';
import type { LearningsPorts } from './forget-learnings.js';
import { SETTLED_MS } from './forget-session.js';
import { becomeSession, type NewSessionPorts, requireFree } from './new-session.js';
import { isForgetting, RenameClaim, type RenameClaimPorts } from './rename-claim.js';
import { renameInLearnings } from './rename-learnings.js';
import { OTHER_NAME, takeName } from './take-name.js';

/**
 * Answers `session-rename`: the events of a session are copied to another name, and the old one stays as a pointer.
 *
 * 1. Both names are recorded, and all processes notice: results of both are held back, and requests refused.
 * 2. The log is copied, where its beginning is gone with what the snapshot knows of that, and both are compared.
 * 3. That is recorded. From then on the new name counts: learnings name it, and it becomes a session.
 * 4. The log of the old name is erased, and its record becomes a pointer.
 *
 * `watchRenames`, or the same request, continues a rename that was cut short, once the process that did it has not been heard of
 * for some seconds. One that fails before the third step is undone: the old name is a session again, and the new one is free.
 */
export interface RenameOptions extends NewSessionPorts, Pick<RenameClaimPorts, 'refuseWhileMoving'> {
  readonly log: NewSessionPorts['log'] & Pick<SessionLog, 'append'> & EventRemoval;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly writer: Pick<SessionSnapshotWriter, 'write'>;
  readonly snapshots: Pick<ReplacingSnapshotStore, 'load'>;
  readonly eraser: Pick<SessionEraser, 'check' | 'eraseLog'>;
  readonly inLearnings: Pick<LearningsPorts, 'learnings' | 'projects' | 'command'>;
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
/** How long an error waits for the caller to ask again. */
const TOLD_MS = 30_000;

export function createSessionRename(options: RenameOptions): (request: unknown) => Promise<Reply> {
  const { lifecycle, clock, logger } = options;
  const running = new Map<Token, Job>();

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
      if (isDone) {
        await requireRenamed(options, session, to);
        return { session, to, state: 'done' };
      }
    }
    const failedAt = running.get(session)?.failedAt;
    if (failedAt !== undefined && Date.parse(clock()) - failedAt > TOLD_MS) running.delete(session);
    const job: Job = running.get(session) ?? { to, ended: renamed(options, session, to) };
    const forget = () => {
      if (running.get(session) === job) running.delete(session);
    };
    if (job.to !== to) {
      if (job.failedAt !== undefined) forget();
      throw renamedSession(session, job.to, false);
    }
    if (!running.has(session)) {
      running.set(session, job);
      job.ended.then(forget, (error: unknown) => {
        // The caller may have stopped waiting: the next request is told.
        job.failedAt = Date.parse(clock());
        logger.warn({ session, to, code: codeOf(error), err: error }, 'session not renamed');
      });
    }
    let state: Reply['state'] = 'running';
    const answered = job.ended.then((ended) => {
      state = ended;
    });
    try {
      await withinDeadline(ANSWER_MS, answered);
    } catch (error) {
      forget();
      throw error;
    }
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
    } catch (error) {
      await undone(ports, claim, error);
      throw error;
    } finally {
      await release();
    }
    logger.info({ session, to }, 'session renamed');
    return 'done';
  }
}

interface Job {
  readonly to: Token;
  readonly ended: Promise<Reply['state']>;
  /** When it failed, in milliseconds, until a caller is told. */
  failedAt?: number;
}

/** Records both names, or goes on with one that is gone; `undefined` where another one is at it. */
async function claimed(ports: RenameOptions, session: Token, to: Token): Promise<RenameClaim | undefined> {
  const { lifecycle, clock, eraser, refuseWhileMoving } = ports;
  await refuseWhileMoving();
  await eraser.check();
  if (isForgetting(ports, session)) throw beingForgotten(session);
  try {
    if (lifecycle.archived(session)?.renaming === undefined) await requireRenamable(ports, session, to);
  } catch (error) {
    // Another process began with the same meanwhile.
    if (codeOf(error) === 'session_renamed' && lifecycle.archived(session)?.renamed_to === to)
      return undefined;
    throw error;
  }
  const by = ports.newId();
  const isClaimed = await lifecycle.change(session, (there) => {
    if (there?.renaming !== undefined && (!isGone(there.renaming, clock) || there.renamed_to !== to))
      return 'keep';
    if (isForgetting(ports, session)) return 'keep';
    if (there?.importing !== undefined || (there?.renamed_to !== undefined && there.renaming === undefined))
      return 'keep';
    const record = there && fieldsOf(there);
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
  await requireFree(ports, to, OTHER_NAME, session);
}

/**
 * Leaves both names as they were before, where the new session does not have all of it. A process that has lost its claim
 * undoes nothing, and one that cannot reach the server leaves it to the next request.
 */
async function undone(ports: RenameOptions, claim: RenameClaim, error: unknown): Promise<void> {
  const { lifecycle, eraser, logger, pause } = ports;
  const { session, to } = claim;
  if (claim.isCopied || codeOf(error) === 'unavailable') return;
  try {
    await claim.keep();
    if (claim.isCopied) return;
    if (claim.isTaken) {
      const { ready = false, left_over: isLeft = false } = lifecycle.archived(to)?.importing ?? {};
      if (ready || isLeft) {
        // Events of the copy may be on their way.
        await pause(SETTLED_MS / 4);
        await eraser.eraseLog(to);
      }
      await lifecycle.change(to, asFree(claim.isItsName));
    }
    if (isForgetting(ports, session)) await lifecycle.change(session, asFree(claim.isMine));
    else await becomeSession(ports, session, claim.isMine);
  } catch (err) {
    logger.warn({ session, to, code: codeOf(err), err }, 'a rename that failed is not undone yet');
  }
}

async function rename(ports: RenameOptions, claim: RenameClaim): Promise<void> {
  const { reader, writer, eraser } = ports;
  const { session, to } = claim;
  if (!claim.isCopied) {
    await requireEvents(ports, session);
    await removeArchived(ports, claim);
    await takeName(ports, claim);
    await claim.hold({ sequence: await copied(ports, claim) });
  }
  await renameInLearnings(ports.inLearnings, session, to);
  if (claim.isTaken) {
    await becomeSession(ports, to, claim.isItsName);
    await writer.write((await reader.load(to)).folded);
  }
  await claim.hold();
  await eraser.eraseLog(session);
  await claim.end();
}

/** One that was forgotten meanwhile must not become a session without events. */
async function requireEvents(ports: RenameOptions, session: Token): Promise<void> {
  if (!(await isThere(ports, session))) throw new ThroughlineError('not_found', noSuchSession(session));
}

async function isThere({ log, snapshots }: RenameOptions, session: Token): Promise<boolean> {
  return (await log.newest(session)) > 0 || (await snapshots.load(session)) !== undefined;
}

/**
 * What a name points to must be there, under the name that it has by now: a record alone says nothing of events, as after a
 * restore of some streams.
 */
async function requireRenamed(ports: RenameOptions, session: Token, to: Token): Promise<void> {
  const { lifecycle } = ports;
  const names = new Set<Token>();
  for (let name: Token | undefined = to; name !== undefined && !names.has(name); ) {
    names.add(name);
    name = lifecycle.archived(name)?.renamed_to;
  }
  for (const name of names) if (await isThere(ports, name)) return;
  throw new ThroughlineError(
    'not_found',
    `session ${session} was renamed to ${to}, but there are no events of ${to}: restore them from a backup that has them, or free the name with "throughline session forget ${session}"`,
    { details: { session, renamedTo: to } },
  );
}

/** What a checkpoint stands for must not go while the log is copied. */
async function removeArchived({ log }: RenameOptions, claim: RenameClaim): Promise<void> {
  const { events } = await log.read(claim.session, { after: 0, type: 'session.checkpoint' });
  const checkpoint = events.at(-1)?.sequence ?? 0;
  if (checkpoint > 0) await log.removeBefore(claim.session, checkpoint, { mayGoOn: () => claim.held() });
}

/** Copies the events, and gives the last sequence that the old log had. */
async function copied(ports: RenameOptions, claim: RenameClaim): Promise<number> {
  const { log: to, snapshots, logger } = ports;
  const { session, to: as } = claim;
  // Every later read shows it.
  await to.newest(session);
  const whole = await wholeLog({ log: to, snapshots, logger }, session);
  let last = 0;
  const from: SessionMove['from'] = {
    newest: (key) => to.newest(key),
    async read(key, range) {
      // Before each page: one that stood still meanwhile has lost it.
      await claim.hold();
      const page = await whole.read(key, range);
      last = Math.max(last, page.events.at(-1)?.sequence ?? 0);
      return page;
    },
  };
  // By the log itself, which knows its stream, and leaves nothing that forgetting would not reach.
  const clear = async () => {
    await claim.hold();
    await to.removeBefore(as, (await to.newest(as)) + 1, { mayGoOn: () => claim.held() });
  };
  await copyMissing({ session, as, from, to: heldLog(to, () => claim.held()), clear });
  if (await isSameSession({ from, to }, session, as)) return last;
  throw new ThroughlineError(
    'internal',
    `session ${session} is not the same in its copy: it was not renamed`,
  );
}
