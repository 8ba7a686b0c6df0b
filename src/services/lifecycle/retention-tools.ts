import { checkedRequest } from '../../contracts/checked.js';
import { ThroughlineError } from '../../contracts/errors.js';
import { RETENTION_TERMS, type RetentionRules, type RetentionRun } from '../../contracts/lifecycle-record.js';
import { RETENTION_TOOLS } from '../../contracts/lifecycle-requests.js';
import type { RetentionOutlook } from '../../contracts/replies/lifecycle-replies.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import type { Clock, Logger } from '../../engine/ports/clients.js';
import type { AgedKind, RetentionStore } from '../../engine/ports/session-lifecycle.js';
import { contradiction, withRule } from '../../memory/session/retention-rules.js';
import { spanMs } from '../../shared/text.js';
import { agedLook, countedCuts, type DueSession, dueSessions, type LookPorts } from './follow-retention.js';

type RetentionTool = keyof typeof RETENTION_TOOLS;
type Answers = {
  readonly [Name in RetentionTool]: (request: unknown) => Promise<ToolReply<Name>>;
};

interface RetentionToolsPorts extends LookPorts {
  readonly store: RetentionStore;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly now: () => number;
}

/** Sessions listed by name. */
const MAX_NAMED = 100;

export function createRetentionTools(ports: RetentionToolsPorts): Answers {
  const { store, clock, logger } = ports;

  async function outlook(rules: RetentionRules, aheadMs = 0): Promise<RetentionOutlook> {
    const now = ports.now() + aheadMs;
    const [sessions, dispatches, rejected, run] = await Promise.all([
      dueSessions(ports, rules, now),
      dueMessages(ports, rules, 'dispatches', now),
      dueMessages(ports, rules, 'rejected', now),
      store.run(),
    ]);
    return {
      version: rules.version,
      rules: rules.rules,
      ...(rules.paused && { paused: rules.paused }),
      at: new Date(now).toISOString(),
      archive: named(sessions.archive),
      forget: named(sessions.forget),
      ...{ dispatches, rejected },
      unknown: sessions.unknown,
      ...(run && { lastRun: lastRunOf(run) }),
    };
  }

  return {
    async 'retention-show'(request) {
      const { ahead } = checkedRequest(RETENTION_TOOLS['retention-show'].request, request);
      return outlook(await store.rules(), ahead === undefined ? 0 : spanMs(ahead));
    },
    async 'retention-set'(request) {
      const { dryRun, ...given } = checkedRequest(RETENTION_TOOLS['retention-set'].request, request);
      const terms = RETENTION_TERMS.filter((term) => given[term] !== undefined);
      if (given.remove === terms.length > 0)
        throw invalid(
          given.remove ? 'remove' : 'archiveAfter',
          given.remove
            ? `remove: it takes the whole rule away: leave ${terms.join(', ')} out, or remove`
            : `name what is to be limited: ${RETENTION_TERMS.join(', ')}, each in days such as 90d, or never`,
        );
      const change = (before: RetentionRules) => {
        const next = withRule(before, clock(), given);
        if (given.remove && next.rules.length === before.rules.length)
          throw new ThroughlineError(
            'not_found',
            `there is no rule of ${given.project === undefined ? 'the installation' : `project ${given.project}`}: "throughline admin retention" lists the rules`,
          );
        refuseContradiction(next);
        return next;
      };
      if (dryRun) return outlook(change(await store.rules()));
      const rules = await store.changeRules(change);
      logger.info({ ...given, version: rules.version }, 'a rule of retention was changed');
      return outlook(rules);
    },
  };
}

async function dueMessages(ports: LookPorts, rules: RetentionRules, kind: AgedKind, now: number) {
  const look = await agedLook(ports, rules, kind);
  if (look === undefined) return { total: 0 };
  const { oldest, held } = look.stream;
  return {
    total: await countedCuts(look, now),
    ...(oldest !== undefined && { oldest }),
    ...(held !== undefined && { held }),
  };
}

function named(due: readonly DueSession[]) {
  return {
    total: due.length,
    sessions: due.slice(0, MAX_NAMED).map(({ session, project, last, after, of }) => ({
      ...{ session, project, last: new Date(last).toISOString(), after },
      ...(of !== undefined && { of }),
    })),
  };
}

function refuseContradiction(rules: RetentionRules): void {
  const found = contradiction(rules);
  if (found === undefined) return;
  const { project, archive, forget } = found;
  const whose = project === undefined ? '' : ` of project ${project}`;
  throw invalid(
    'forgetAfter',
    `forgetAfter: ${forget}${whose} is shorter than archiveAfter, ${archive}: sessions would be forgotten before they are archived; use ${archive} or more, or archiveAfter never`,
  );
}

function invalid(field: string, message: string): ThroughlineError {
  return new ThroughlineError('schema_invalid', message, { details: { fields: [field] } });
}

function lastRunOf({ v: _, ...run }: RetentionRun) {
  return run;
}
