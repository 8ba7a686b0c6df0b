import { randomUUID } from 'node:crypto';
import { checkedRequest } from '../../contracts/checked.js';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import type { RetentionRules } from '../../contracts/lifecycle-record.js';
import { RETENTION_TOOLS } from '../../contracts/lifecycle-requests.js';
import { projectOf, type Token } from '../../contracts/names.js';
import type { RetentionOutlook } from '../../contracts/replies/lifecycle-replies.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { Clock, Logger } from '../../engine/ports/clients.js';
import type { HeldLease } from '../../engine/ports/lease-store.js';
import type {
  RetentionStore,
  SessionEraser,
  SessionLifecycle,
} from '../../engine/ports/session-lifecycle.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import { type DueByRule, dueOf, withRule } from '../../memory/session/retention-rules.js';
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

type Answers = {
  readonly [Name in keyof typeof RETENTION_TOOLS]: (request: unknown) => Promise<RetentionOutlook>;
};

interface RetentionToolsPorts extends LookPorts {
  readonly store: RetentionStore;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Sessions listed by name. */
const MAX_NAMED = 100;

export function createRetentionTools(ports: RetentionToolsPorts): Answers {
  const { store, clock, logger } = ports;

  async function outlook(rules: RetentionRules): Promise<RetentionOutlook> {
    const { due, unknown } = await dueSessions(ports, rules);
    const shown = (action: 'archive' | 'forget') => {
      const all = due.filter((each) => each.action === action);
      const sessions = all.slice(0, MAX_NAMED).map(({ session, project, last }) => ({
        ...{ session, project, last: new Date(last).toISOString() },
      }));
      return { total: all.length, sessions };
    };
    const { rules: all, paused } = rules;
    return {
      rules: all,
      ...(paused && { paused }),
      archive: shown('archive'),
      forget: shown('forget'),
      unknown,
    };
  }

  return {
    async 'retention-show'(request) {
      checkedRequest(RETENTION_TOOLS['retention-show'].request, request);
      return outlook(await store.rules());
    },
    async 'retention-set'(request) {
      const { dryRun, action, after, ...of } = checkedRequest(
        RETENTION_TOOLS['retention-set'].request,
        request,
      );
      const needsAge = action === 'archive' || action === 'forget';
      if (needsAge !== (after !== undefined))
        throw new ThroughlineError(
          'schema_invalid',
          needsAge
            ? `after: give an age to ${action} sessions, such as 90d`
            : `after: ${action} takes no age`,
          { details: { fields: ['after'] } },
        );
      const project = of.project === undefined ? undefined : projectOf(of.project);
      const change = (before: RetentionRules) => {
        if (action !== 'remove')
          return withRule(before, project, { action, ...(after !== undefined && { after }), at: clock() });
        const next = withRule(before, project, undefined);
        if (next.rules.length < before.rules.length) return next;
        const whose = project === undefined ? 'the installation' : `project ${project}`;
        throw new ThroughlineError(
          'not_found',
          `there is no rule of ${whose}: "throughline admin retention" lists the rules`,
        );
      };
      if (dryRun) return outlook(change(await store.rules()));
      const rules = await store.changeRules(change);
      logger.info({ action, after, project }, 'a rule of retention was changed');
      return outlook(rules);
    },
  };
}
