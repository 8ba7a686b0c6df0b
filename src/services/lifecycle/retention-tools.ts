import { checkedRequest } from '../../contracts/checked.js';
import { ThroughlineError } from '../../contracts/errors.js';
import type { RetentionRules } from '../../contracts/lifecycle-record.js';
import { RETENTION_TOOLS } from '../../contracts/lifecycle-requests.js';
import { projectOf } from '../../contracts/names.js';
import type { RetentionOutlook } from '../../contracts/replies/lifecycle-replies.js';
import type { Clock, Logger } from '../../engine/ports/clients.js';
import type { RetentionStore } from '../../engine/ports/session-lifecycle.js';
import { withRule } from '../../memory/session/retention-rules.js';
import { dueSessions, type LookPorts } from './follow-retention.js';

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
