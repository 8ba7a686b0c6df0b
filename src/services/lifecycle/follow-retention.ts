import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import type { RetentionCounts, RetentionRules, RetentionTerm } from '../../contracts/lifecycle-record.js';
import { projectOf, type Token } from '../../contracts/names.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { HeldLease, LeaseStore } from '../../engine/ports/lease-store.js';
import type {
  AgedKind,
  AgedMessages,
  AgedStream,
  RetentionStore,
  SessionLifecycle,
} from '../../engine/ports/session-lifecycle.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import type { Jobs } from '../../engine/runtime/jobs.js';
import { type Cuts, cutsOf, type DueByRule, dueOf } from '../../memory/session/retention-rules.js';
import type { SessionState } from '../../memory/session/session-state.js';
import { spanMs } from '../../shared/text.js';
import type { SessionTable } from '../common/session-table.js';
import type { Archiver } from './archive-session.js';
import { beginForgetting, FORGET_JOB, type ForgetPorts } from './forget-session.js';

/** Evaluates retention rules without changing anything. */
export interface LookPorts {
  readonly table: SessionTable;
  /** Resolves once the table is complete. */
  readonly caughtUp: () => Promise<void>;
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'forgotten'>;
  readonly aged: AgedMessages;
}

export interface DueSession extends DueByRule {
  readonly session: Token;
  readonly project: Token;
}

interface DueSessions {
  readonly archive: readonly DueSession[];
  readonly forget: readonly DueSession[];
  /** Number of sessions of unknown project, which are left alone. */
  readonly unknown: number;
}

/** Returns the sessions due at a time in milliseconds since 1970, least recently moved first. */
export async function dueSessions(
  { table, caughtUp, lifecycle }: LookPorts,
  rules: RetentionRules,
  now: number,
): Promise<DueSessions> {
  if (rules.rules.length === 0) return { archive: [], forget: [], unknown: 0 };
  await caughtUp();
  const due: DueSession[] = [];
  let unknown = 0;
  for (const { session, at, known } of table.rows()) {
    const record = lifecycle.archived(session);
    if (lifecycle.forgotten(session)?.status === 'forgetting' || record?.importing !== undefined) continue;
    if (known === undefined) {
      unknown += 1;
      continue;
    }
    const project = projectOf(known.project);
    const archived = record && { idleSince: record.idle_since };
    const found = dueOf(rules, { project, at, archived }, now);
    if (found !== undefined) due.push({ ...found, session, project });
  }
  due.sort((one, other) => one.last - other.last);
  const of = (what: DueByRule['what']) => due.filter((each) => each.what === what);
  return { archive: of('archive'), forget: of('forget'), unknown };
}

const AGED_TERMS = {
  dispatches: 'dispatchesAfter',
  rejected: 'rejectedAfter',
} as const satisfies Readonly<Record<AgedKind, RetentionTerm>>;

const AT_ONCE = 8;

interface AgedLook {
  readonly stream: AgedStream;
  readonly cuts: Cuts;
}

export async function agedLook(
  { table, lifecycle, aged }: LookPorts,
  rules: RetentionRules,
  kind: AgedKind,
): Promise<AgedLook | undefined> {
  const which = AGED_TERMS[kind];
  if (!rules.rules.some((rule) => rule[which] !== undefined)) return undefined;
  const stream = await aged.look(kind);
  // Rules without projects need no list of sessions.
  const isSame = rules.rules.every(({ project }) => project === undefined);
  const names = isSame ? [] : await stream.sessions();
  const known = names.flatMap((session) => {
    const figures = table.get(session)?.known;
    const isLeaving = lifecycle.forgotten(session)?.status === 'forgetting';
    return figures === undefined || isLeaving ? [] : [[session, projectOf(figures.project)] as const];
  });
  return { stream, cuts: cutsOf(rules, known, which) };
}

/** Calls `work` for the whole stream, then for single sessions, and returns the sum. */
export async function throughCuts(
  { cuts }: AgedLook,
  now: number,
  work: (before: string, session: Token | undefined, after: string) => Promise<number>,
): Promise<number> {
  const before = (after: string) => new Date(now - spanMs(after)).toISOString();
  const { all, each } = cuts;
  const whole = all === undefined ? 0 : await work(before(all), undefined, all);
  const turns = new Semaphore(AT_ONCE);
  const rest = each.map(({ session, after }) => turns.run(() => work(before(after), session, after)));
  return (await Promise.all(rest)).reduce((sum, one) => sum + one, whole);
}

/** Counts the messages that the rules would remove. */
export function countedCuts({ stream, cuts }: AgedLook, now: number): Promise<number> {
  const { all } = cuts;
  return throughCuts({ stream, cuts }, now, async (before, session) => {
    const count = await stream.count(before, session);
    if (session === undefined || all === undefined || count === 0) return count;
    // Messages covered by the rule for all are counted there.
    return count - (await stream.count(new Date(now - spanMs(all)).toISOString(), session));
  });
}

/**
 * Applies the retention rules and logs each action with its rule. Each session is checked again at its turn; one that has
 * moved is left alone.
 *
 * Archiving is appended with optimistic concurrency. Forgetting is recorded first, which blocks results and requests, and is
 * cancelled if the session moved before that.
 */
export interface RetentionPorts extends LookPorts, Omit<ForgetPorts, 'lifecycle'> {
  readonly lifecycle: ForgetPorts['lifecycle'];
  readonly store: RetentionStore;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly log: Pick<SessionLog, 'append'>;
  readonly archiver: Pick<Archiver, 'requireCheckpointFits' | 'settle'>;
  readonly leases: LeaseStore;
  readonly newId: () => string;
  readonly now: () => number;
}

/** Batch sizes; before each batch the rules are read again. */
const ARCHIVED_AT_ONCE = 8;
const FORGOTTEN_AT_ONCE = 64;

/** Prefix of the reasons of archiving by rule. */
const REASON = 'retention: no activity';

/**
 * Applies the rules once and counts the actions in `done`.
 *
 * @param forgets the job that erases sessions recorded as being forgotten
 * @returns false if the rules changed meanwhile
 * @throws ThroughlineError `unavailable`, `permission_denied`, `conflict`
 */
export async function followRules(
  ports: RetentionPorts,
  rules: RetentionRules,
  lease: HeldLease,
  forgets: Pick<Jobs, 'finish'>,
  done: Record<keyof RetentionCounts, number>,
): Promise<boolean> {
  const holds = async () => {
    await lease.confirm();
    // A change of the rules must stop what the old ones started.
    return (await ports.store.rules()).version === rules.version;
  };
  if (!(await holds())) return false;
  await ports.eraser.check();
  const { archive, forget } = await dueSessions(ports, rules, ports.now());
  for (const some of parts(archive, ARCHIVED_AT_ONCE)) {
    if (!(await holds())) return false;
    const archived = await Promise.all(
      some.map((due) => tolerantly(ports, due, () => archiveIdle(ports, due))),
    );
    for (const isDone of archived) done[isDone ? 'archived' : 'spared'] += 1;
  }
  for (const some of parts(forget, FORGOTTEN_AT_ONCE)) {
    if (!(await holds())) return false;
    const gone = await forgetIdle(ports, some, forgets);
    done.forgotten += gone.length;
    done.spared += some.length - gone.length;
  }
  for (const kind of ['dispatches', 'rejected'] as const) {
    if (!(await holds())) return false;
    await removeAged(ports, rules, kind, done);
  }
  return true;
}

/** Returns the state of a session that is still due; `undefined` if it has moved or belongs to another project. */
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

async function archiveIdle(ports: RetentionPorts, due: DueSession): Promise<boolean> {
  const { session, last, after } = due;
  const state = await stillDue(ports, due);
  if (state === undefined || state.charter.archived !== undefined) return false;
  await ports.archiver.requireCheckpointFits(session);
  let at = ports.clock();
  if (at < state.lastEventAt) at = state.lastEventAt;
  const reason = `${REASON} for ${after}`;
  const id = ports.newId();
  const data = { reason, idle_since: iso(last) };
  const event = { v: EVENT_VERSION, type: 'session.archived', at, id, data } as const;
  const appended = await ports.log.append(session, event, { expectedSequence: state.sequence });
  if (appended.outcome === 'conflict') return false;
  await ports.archiver.settle(session);
  ports.logger.info(told(due), 'a session was archived by a rule of retention');
  return true;
}

/** Forgets idle sessions and returns them; the others have moved. */
async function forgetIdle(
  ports: RetentionPorts,
  sessions: readonly DueSession[],
  forgets: Pick<Jobs, 'finish'>,
): Promise<DueSession[]> {
  const { lifecycle, clock, logger } = ports;
  const begunAt = clock();
  const begun: DueSession[] = [];
  const begin = async (due: DueSession) => {
    const state = await stillDue(ports, due);
    if (state === undefined) return false;
    const unlessMoved = { sequence: state.sequence, since: iso(due.before) };
    await beginForgetting(ports, due.session, { unlessMoved });
    begun.push(due);
    return true;
  };
  await Promise.all(sessions.map((due) => tolerantly(ports, due, () => begin(due))));
  const recordOf = ({ session }: DueSession) => lifecycle.forgotten(session);
  const isDone = async () => begun.every((due) => recordOf(due)?.status !== 'forgetting');
  await forgets.finish(FORGET_JOB, isDone);
  const forgotten = begun.filter((due) => {
    const record = recordOf(due);
    return record?.status === 'forgotten' && record.at >= begunAt;
  });
  for (const due of forgotten) logger.info(told(due), 'a session was forgotten by a rule of retention');
  return forgotten;
}

async function removeAged(
  ports: RetentionPorts,
  rules: RetentionRules,
  kind: AgedKind,
  done: Record<AgedKind, number>,
): Promise<void> {
  const look = await agedLook(ports, rules, kind);
  if (look === undefined) return;
  const { stream } = look;
  if (stream.held !== undefined)
    ports.logger.warn({ kind, reason: stream.held }, 'results are kept for longer than their rule says');
  await throughCuts(look, ports.now(), async (before, session, after) => {
    const removed = await stream.remove(before, session);
    done[kind] += removed;
    if (removed > 0)
      ports.logger.info(
        { kind, removed, before, after, ...(session !== undefined && { session }) },
        'old results were removed by a rule of retention',
      );
    return removed;
  });
}

/** Logs the failure of one session and continues; rethrows what fails for all. */
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

function told({ session, project, last, after, of }: DueSession) {
  return { session, project, last: iso(last), after, rule: of ?? 'installation' };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function* parts<Item>(all: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}
