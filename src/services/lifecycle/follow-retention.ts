import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import { projectOf, type Token } from '../../contracts/names.js';
import type { RetentionRules } from '../../contracts/retention-record.js';
import type { SessionReader } from '../../folding/session-folding.js';
import type { AgedKind } from '../../ports/aged-messages.js';
import type { RetentionStore } from '../../ports/retention-store.js';
import type { RewrittenKind } from '../../ports/session-eraser.js';
import type { SessionLog } from '../../ports/session-log.js';
import type { TermFilter } from '../../session/retention-rules.js';
import type { SessionState } from '../../session/session-state.js';
import type { Archiver } from './archive-session.js';
import { eraseSession, type ForgetPorts, finishForgetting } from './forget-session.js';
import { agedLook, type DueSession, dueSessions, type LookPorts, throughCuts } from './retention-look.js';
import type { Turn } from './retention-turn.js';

/**
 * Does what the rules of retention say, and logs each thing with its rule. Each session is looked at again when its turn has
 * come: one that has moved is left alone, up to the moment when nothing of it can be added any longer.
 *
 * Archiving is appended on the expectation that the session has not moved. Forgetting is recorded first, which holds back
 * results and requests, and taken back where something came before that.
 */
export interface RetentionPorts extends LookPorts, Omit<ForgetPorts, 'lifecycle'> {
  readonly lifecycle: ForgetPorts['lifecycle'];
  readonly store: RetentionStore;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly log: Pick<SessionLog, 'append'>;
  readonly archiver: Archiver;
  readonly newId: () => string;
  /** Milliseconds since 1970, as ages are counted. */
  readonly now: () => number;
}

/** Sessions that are archived, or forgotten, together: in between it is looked at whether the rules still hold. */
const ARCHIVED_AT_ONCE = 8;
const FORGOTTEN_AT_ONCE = 64;

/** How the reasons begin with which rules archive. */
const REASON = 'retention: no activity';

/**
 * @param stopped whether the process is about to end: the turn is left to another one then
 * @returns `false` where it was cut short
 * @throws ThroughlineError `unavailable`, `permission_denied`, `conflict`
 */
export async function followRules(
  ports: RetentionPorts,
  rules: RetentionRules,
  counts: TermFilter,
  turn: Turn,
  stopped: () => boolean,
): Promise<boolean> {
  /** Whether it may go on. */
  const holds = async () => {
    if (stopped() || turn.isLost) return false;
    // Who changes the rules must not have to wait for what the old ones began.
    return (await ports.store.rules()).version === rules.version;
  };
  if (!(await holds())) return false;
  await ports.eraser.check();
  const mayGoOn = async () => {
    if (stopped() || turn.isLost) throw new ThroughlineError('unavailable', 'another process goes on');
  };
  await finishArchiving(ports, turn, mayGoOn);
  const { archive, forget } = await dueSessions(ports, rules, ports.now(), counts);
  for (const some of parts(archive, ARCHIVED_AT_ONCE)) {
    if (!(await holds())) return false;
    await turn.take(some.map(({ session, last }) => ({ session, idleSince: iso(last) })));
    const done = await Promise.all(
      some.map((due) => tolerantly(ports, due, () => archiveIdle(ports, due, mayGoOn))),
    );
    for (const isDone of done) turn.add(isDone ? 'archived' : 'spared');
    await turn.take([]);
  }
  for (const some of parts(forget, FORGOTTEN_AT_ONCE)) {
    if (!(await holds())) return false;
    await forgetIdle(ports, some, turn);
  }
  for (const kind of ['dispatches', 'rejected'] as const) {
    if (!(await holds())) return false;
    await removeAged(ports, rules, kind, counts, turn);
  }
  return true;
}

/** Throws where another process has to go on. */
type MayGoOn = () => Promise<void>;

/** Goes on with what a process that is gone was archiving. */
async function finishArchiving(ports: RetentionPorts, turn: Turn, mayGoOn: MayGoOn): Promise<void> {
  const { inHand = [] } = turn.run;
  if (inHand.length === 0) return;
  for (const { session, idleSince } of inHand) {
    if (ports.lifecycle.forgotten(session)?.status === 'forgetting') continue;
    if (ports.lifecycle.archived(session)?.importing !== undefined) continue;
    const { archived } = (await ports.reader.load(session)).folded.state.charter;
    if (archived?.reason?.startsWith(REASON)) await ports.archiver.settle(session, idleSince, { mayGoOn });
  }
  await turn.take([]);
}

/** What is still due of a session, or `undefined`: it has moved, or has another project now. */
async function stillDue(
  { reader, lifecycle, eraser }: RetentionPorts,
  { session, project, before }: DueSession,
): Promise<SessionState | undefined> {
  const { state } = (await reader.load(session)).folded;
  const moved = await eraser.lastMoved(session);
  if (state.sequence === 0 || moved.sequence !== state.sequence) return undefined;
  if (projectOf(state.charter.project) !== project) return undefined;
  const archived = lifecycle.archived(session);
  const isIdle = archived !== undefined && archived.at === state.charter.archived?.at;
  const last = (isIdle ? archived.idle_since : undefined) ?? moved.at ?? '';
  return last < iso(before) && (moved.dispatchedAt ?? '') < iso(before) ? state : undefined;
}

async function archiveIdle(ports: RetentionPorts, due: DueSession, mayGoOn: MayGoOn): Promise<boolean> {
  const { session, last, after } = due;
  const state = await stillDue(ports, due);
  if (state === undefined || state.charter.archived !== undefined) return false;
  await ports.archiver.requireRoom(session);
  let at = ports.clock();
  if (at < state.lastEventAt) at = state.lastEventAt;
  const reason = `${REASON} for ${after}`;
  const id = ports.newId();
  const event = { v: EVENT_VERSION, type: 'session.archived', at, id, data: { reason } } as const;
  const appended = await ports.log.append(session, event, { expectedSequence: state.sequence });
  if (appended.outcome === 'conflict') return false;
  await ports.archiver.settle(session, iso(last), { mayGoOn });
  ports.logger.info(told(due), 'a session was archived by a rule of retention');
  return true;
}

async function forgetIdle(ports: RetentionPorts, sessions: readonly DueSession[], turn: Turn): Promise<void> {
  const rewrite = new Set<RewrittenKind>();
  const forgotten: DueSession[] = [];
  const releases: (() => Promise<void>)[] = [];
  const names: Token[] = [];
  const by = ports.newId();
  const erasing = sessions.map(async (due) => {
    const { session, before } = due;
    const isGone = await tolerantly(ports, due, async () => {
      const state = await stillDue(ports, due);
      if (state === undefined) return false;
      const unlessMoved = { sequence: state.sequence, since: iso(before) };
      const erased = await eraseSession(ports, session, { by, unlessMoved });
      if (erased === undefined) return false;
      for (const kind of erased.rewrite) rewrite.add(kind);
      releases.push(erased.release);
      names.push(session);
      return true;
    });
    if (isGone) forgotten.push(due);
    else turn.add('spared');
  });
  const ended = await Promise.allSettled(erasing);
  if (forgotten.length > 0) {
    await finishForgetting(ports, names, rewrite, by).finally(() =>
      Promise.all(releases.map((release) => release())),
    );
    turn.add('forgotten', forgotten.length);
    for (const due of forgotten)
      ports.logger.info(told(due), 'a session was forgotten by a rule of retention');
  }
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

async function removeAged(
  ports: RetentionPorts,
  rules: RetentionRules,
  kind: AgedKind,
  counts: TermFilter,
  turn: Turn,
): Promise<void> {
  const look = await agedLook(ports, rules, kind, counts);
  if (look === undefined) return;
  const { stream } = look;
  if (stream.held !== undefined)
    ports.logger.warn({ kind, reason: stream.held }, 'results are kept for longer than their rule says');
  await throughCuts(look, ports.now(), async (before, session, after) => {
    const removed = await stream.remove(before, session);
    turn.add(kind, removed);
    if (removed > 0)
      ports.logger.info(
        { kind, removed, before, after, ...(session !== undefined && { session }) },
        'old results were removed by a rule of retention',
      );
    return removed;
  });
}

/** What fails for one session must not keep others from their turn; what fails for all ends it. */
async function tolerantly(
  { logger }: RetentionPorts,
  due: DueSession,
  work: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ThroughlineError) || FOR_ALL.has(error.code)) throw error;
    logger.warn(
      { ...told(due), code: codeOf(error), err: error },
      'a rule of retention could not be followed',
    );
    return false;
  }
}

const FOR_ALL: ReadonlySet<string> = new Set(['unavailable', 'permission_denied', 'store_full']);

/** What the log says of a session: what was done, by which rule. */
function told({ session, project, last, after, of }: DueSession) {
  return { session, project, last: iso(last), after, rule: of ?? 'installation' };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function* parts<Item>(all: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}
