import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import type { RetentionRules } from '../../contracts/lifecycle-record.js';
import { projectOf, type Token } from '../../contracts/names.js';
import type { ToolReply } from '../../contracts/requests.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { HeldLease } from '../../engine/ports/lease-store.js';
import type { Clock, Logger } from '../../engine/ports/logger-and-clock.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import { spanMs } from '../../shared/text.js';
import type { Handlers } from '../common/service-shell.js';
import type { Row, SessionTable } from '../common/session-table.js';
import type { Archiver } from './archive-session.js';
import { type BoundaryPorts, beginForgetting } from './forget-session.js';

/**
 * Applies the retention rules: an age and an action for each project, or for all. A session without an event for that time is
 * archived. The action `forget` also erases archived sessions once the same time has passed again: they take no results, so none
 * can be lost.
 */
interface DuePorts {
  readonly table: SessionTable;
  /** Resolves once the table is complete. */
  readonly caughtUp: () => Promise<void>;
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'forgotten'>;
  readonly now: () => number;
}

interface DueSession {
  readonly session: Token;
  readonly action: 'archive' | 'forget';
  readonly after: string;
}

async function dueSessions(ports: DuePorts, rules: RetentionRules): Promise<DueSession[]> {
  if (rules.rules.length === 0) return [];
  await ports.caughtUp();
  return [...ports.table.rows()].flatMap((row) => dueSession(ports, rules, row) ?? []);
}

/** Returns what is due for a session, by the rule of its project or of the installation. An unknown project has none. */
function dueSession(
  { lifecycle, now }: DuePorts,
  { rules }: RetentionRules,
  { session, at, known }: Row,
): DueSession | undefined {
  if (known === undefined || lifecycle.forgotten(session)?.status === 'forgetting') return undefined;
  const projectRule = rules.find(({ project }) => project === projectOf(known.project));
  const { action, after } = projectRule ?? rules.find(({ project }) => project === undefined) ?? {};
  if (after === undefined || at >= now() - spanMs(after)) return undefined;
  if (lifecycle.archived(session) === undefined) return { session, action: 'archive', after };
  return action === 'forget' ? { session, action, after } : undefined;
}

export interface RetentionPorts extends DuePorts, BoundaryPorts {
  readonly lifecycle: SessionLifecycle;
  readonly store: Pick<NatsPorts['retention'], 'rules'>;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly archiver: Pick<Archiver, 'archive'>;
  readonly logger: Logger;
}

/** Applies the rules once to sessions that rest. Throws `unavailable`, `permission_denied`, `conflict` if it loses the lease. */
export async function followRules(
  ports: RetentionPorts,
  rules: RetentionRules,
  lease: HeldLease,
): Promise<void> {
  const { logger, table, archiver, reader } = ports;
  for (const { session } of await dueSessions(ports, rules)) {
    await lease.confirm();
    const row = table.get(session);
    const due = row && dueSession(ports, rules, row);
    if (row === undefined || due === undefined) continue;
    try {
      // The log may say something else than the table.
      if (due.action === 'archive') {
        const reason = `retention: no activity for ${due.after}`;
        if (row.sequence === 0 || !(await archiver.archive(session, row.sequence, reason))) continue;
      } else {
        if ((await reader.load(session)).folded.state.charter.archived === undefined) continue;
        await beginForgetting(ports, session);
      }
      logger.info(due, `a session was handled by a rule of retention: ${due.action}`);
    } catch (error) {
      if (FOR_ALL.has(codeOf(error))) throw error;
      logger.warn({ ...due, code: codeOf(error), err: error }, 'a rule of retention could not be followed');
    }
  }
}

const FOR_ALL: ReadonlySet<string> = new Set(['unavailable', 'permission_denied', 'store_full', 'conflict']);

interface RetentionToolsPorts extends DuePorts {
  readonly store: NatsPorts['retention'];
  readonly logger: Logger;
  readonly clock: Clock;
}

export function createRetentionTools(
  ports: RetentionToolsPorts,
): Handlers<'tool.retention-show' | 'tool.retention-set'> {
  const { store, clock, logger } = ports;
  const reply = async (rules: RetentionRules): Promise<ToolReply<'retention-show'>> => {
    const due = await dueSessions(ports, rules);
    const forget = due.filter(({ action }) => action === 'forget').length;
    return { rules: rules.rules, archive: due.length - forget, forget };
  };
  return {
    async 'tool.retention-show'() {
      return reply(await store.rules());
    },
    async 'tool.retention-set'({ dryRun, action, after, project }) {
      const needsAge = action === 'archive' || action === 'forget';
      if (needsAge !== (after !== undefined)) {
        const fault = needsAge ? `give an age to ${action} sessions, such as 90d` : `${action} takes no age`;
        throw new ThroughlineError('schema_invalid', `after: ${fault}`, { details: { fields: ['after'] } });
      }
      const of = project === undefined ? {} : { project: projectOf(project) };
      const change = ({ rules }: RetentionRules): RetentionRules => {
        const others = rules.filter((rule) => rule.project !== of.project);
        if (action === 'remove') return { v: 1, rules: others };
        return { v: 1, rules: [...others, { ...of, action, ...(after && { after }), at: clock() }] };
      };
      if (dryRun) return reply(change(await store.rules()));
      const rules = await store.changeRules(change);
      logger.info({ action, after, project }, 'a rule of retention was changed');
      return reply(rules);
    },
  };
}
