import { randomUUID } from 'node:crypto';
import { codeOf } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import type { RetentionRules } from '../../contracts/lifecycle-record.js';
import { projectOf, type Token } from '../../contracts/names.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { Clock, Logger } from '../../engine/ports/clients.js';
import type { HeldLease } from '../../engine/ports/lease-store.js';
import type {
  RetentionStore,
  SessionEraser,
  SessionLifecycle,
} from '../../engine/ports/session-lifecycle.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import { type DueByRule, dueOf } from '../../memory/session/retention-rules.js';
import type { SessionTable } from '../common/session-table.js';
import type { Archiver } from './archive-session.js';
import { beginForgetting } from './forget-session.js';

/** Evaluates retention rules without changing anything. */
export interface LookPorts {
  readonly table: SessionTable;
  /** Resolves once the table is complete. */
  readonly caughtUp: () => Promise<void>;
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'forgotten'>;
  /** The server's clock. */
  readonly now: () => number;
}

export interface DueSession extends DueByRule {
  readonly session: Token;
  readonly project: Token;
}

interface DueSessions {
  /** Least recently active first. */
  readonly due: readonly DueSession[];
  /** Number of sessions of unknown project, which are left alone. */
  readonly unknown: number;
}

export async function dueSessions(ports: LookPorts, rules: RetentionRules): Promise<DueSessions> {
  if (rules.rules.length === 0) return { due: [], unknown: 0 };
  await ports.caughtUp();
  const rows = [...ports.table.rows()];
  const due = rows.flatMap(({ session }) => dueSession(ports, rules, session) ?? []);
  due.sort((one, other) => one.last - other.last);
  return { due, unknown: rows.filter(({ known }) => known === undefined).length };
}

function dueSession(
  { table, lifecycle, now }: LookPorts,
  rules: RetentionRules,
  session: Token,
): DueSession | undefined {
  const { at, known } = table.get(session) ?? {};
  const record = lifecycle.archived(session);
  const isLeaving = lifecycle.forgotten(session)?.status === 'forgetting';
  if (at === undefined || known === undefined || isLeaving) return undefined;
  const project = projectOf(known.project);
  const archived = record && {
    at: Date.parse(record.at),
    ...(record.idle_since !== undefined && { idleSince: Date.parse(record.idle_since) }),
  };
  const found = dueOf(rules, { project, at, archived }, now());
  return found && { ...found, session, project };
}

export interface RetentionPorts extends LookPorts {
  readonly lifecycle: SessionLifecycle;
  readonly store: Pick<RetentionStore, 'rules'>;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly log: Pick<SessionLog, 'append'>;
  readonly archiver: Pick<Archiver, 'requireCheckpointFits' | 'settle'>;
  readonly eraser: Pick<SessionEraser, 'lastResultAt'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Applies the rules once, session by session, and logs each action. The rules are read again for each session, so that a change
 * of them stops what the old ones started. A session that has moved is left alone.
 *
 * @throws ThroughlineError `unavailable`, `permission_denied`, `conflict` if the lease is lost
 */
export async function followRules(ports: RetentionPorts, lease: HeldLease): Promise<void> {
  const { store, logger, lifecycle } = ports;
  const { due } = await dueSessions(ports, await store.rules());
  for (const { session } of due) {
    await lease.confirm();
    const still = dueSession(ports, await store.rules(), session);
    if (still === undefined) continue;
    const fields = { ...still, last: new Date(still.last).toISOString() };
    try {
      if (still.action === 'archive' && (await archiveIdle(ports, still)))
        logger.info(fields, 'a session was archived by a rule of retention');
      if (still.action === 'forget' && (await isArchived(ports, session))) {
        await beginForgetting({ lifecycle, clock: ports.clock }, session);
        logger.info(fields, 'a session is forgotten by a rule of retention');
      }
    } catch (error) {
      if (FOR_ALL.has(codeOf(error))) throw error;
      logger.warn(
        { ...fields, code: codeOf(error), err: error },
        'a rule of retention could not be followed',
      );
    }
  }
}

const FOR_ALL: ReadonlySet<string> = new Set(['unavailable', 'permission_denied', 'store_full', 'conflict']);

async function isArchived({ reader }: RetentionPorts, session: Token): Promise<boolean> {
  return (await reader.load(session)).folded.state.charter.archived !== undefined;
}

/** Archives a session unless an event or a result has come in. */
async function archiveIdle(ports: RetentionPorts, due: DueSession): Promise<boolean> {
  const { table, reader, log, archiver, eraser, clock } = ports;
  const { session, last, before, after } = due;
  const { state } = (await reader.load(session)).folded;
  const resultAt = await eraser.lastResultAt(session);
  const hasMoved =
    table.get(session)?.sequence !== state.sequence ||
    (resultAt !== undefined && Date.parse(resultAt) >= before);
  if (hasMoved || state.sequence === 0 || state.charter.archived !== undefined) return false;
  await archiver.requireCheckpointFits(session);
  let at = clock();
  if (at < state.lastEventAt) at = state.lastEventAt;
  const event = {
    v: EVENT_VERSION,
    type: 'session.archived',
    at,
    id: randomUUID(),
    data: { reason: `retention: no activity for ${after}`, idle_since: new Date(last).toISOString() },
  } as const;
  const appended = await log.append(session, event, { expectedSequence: state.sequence });
  if (appended.outcome === 'conflict') return false;
  await archiver.settle(session);
  return true;
}
