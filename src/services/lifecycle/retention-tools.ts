import { checkedRequest } from '../../contracts/checked.js';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import type { RetentionOutlook } from '../../contracts/replies/retention-reply.js';
import { RETENTION_TERMS, type RetentionRules, type RetentionRun } from '../../contracts/retention-record.js';
import { RETENTION_TOOLS } from '../../contracts/retention-requests.js';
import type { AgedKind } from '../../ports/aged-messages.js';
import { ALL_TERMS, contradiction, enforcedRules, withRule } from '../../session/retention-rules.js';
import { spanMs } from '../../shared/age.js';
import { withinDeadline } from '../../shared/deadline.js';
import { followRules, type RetentionPorts } from './follow-retention.js';
import { agedLook, countedCuts, type DueSession, dueSessions } from './retention-look.js';
import { isRunning, Turn } from './retention-turn.js';

/** Answers the tools that say how long things are kept. */
type RetentionTool = keyof typeof RETENTION_TOOLS;
type Answers = {
  readonly [Name in RetentionTool]: (request: unknown) => Promise<ToolReply<Name>>;
};

export interface RetentionTools {
  readonly answers: Answers;
  /** Ends what is under way soon; another process goes on with what has to be gone on with. */
  stop(): Promise<void>;
}

/** Sessions that are named. */
const MAX_NAMED = 100;
/** Before clients give up on an answer. */
const ANSWER_MS = 3000;

export function createRetentionTools(ports: RetentionPorts): RetentionTools {
  const { store, clock, logger } = ports;
  let isStopping = false;
  let running: Promise<void> = Promise.resolve();

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
      at: new Date(now).toISOString(),
      archive: named(sessions.archive),
      forget: named(sessions.forget),
      ...{ dispatches, rejected },
      unknown: sessions.unknown,
      ...(run && { lastRun: shown(run) }),
    };
  }

  async function begin(version: number): Promise<RetentionRun> {
    const rules = await seen(store.rules(), version);
    const turn = await Turn.take(ports, () => true);
    if (!(turn instanceof Turn)) {
      const since = turn === undefined ? '' : ` since ${turn.startedAt}`;
      throw new ThroughlineError(
        'conflict',
        `the rules are being followed${since} already: try again when that has ended`,
      );
    }
    running = followed(turn, rules);
    await withinDeadline(ANSWER_MS, running);
    return turn.run;
  }

  async function followed(turn: Turn, rules: RetentionRules): Promise<void> {
    try {
      const isDone = await followRules(ports, rules, ALL_TERMS, turn, () => isStopping);
      if (isDone || !isStopping) await turn.end(isDone ? undefined : 'the rules were changed');
      else await turn.leave();
    } catch (error) {
      if (isStopping) return turn.leave();
      logger.error({ code: codeOf(error), err: error }, 'the rules of retention could not be followed');
      await turn.end((error as Error).message).catch(() => turn.leave());
    }
  }

  const answers: Answers = {
    async 'retention-show'(request) {
      const { ahead } = checkedRequest(RETENTION_TOOLS['retention-show'].request, request);
      return outlook(await store.rules(), ahead === undefined ? 0 : spanMs(ahead));
    },
    async 'retention-set'(request) {
      const given = checkedRequest(RETENTION_TOOLS['retention-set'].request, request);
      const terms = RETENTION_TERMS.filter((term) => given[term] !== undefined);
      if (given.remove === terms.length > 0)
        throw invalid(
          given.remove ? 'remove' : 'archiveAfter',
          given.remove
            ? `remove: it takes the whole rule away: leave ${terms.join(', ')} out, or remove`
            : `name what is to be limited: ${RETENTION_TERMS.join(', ')}, each in days such as 90d, or never`,
        );
      const rules = await store.changeRules((before) => {
        const next = withRule(before, clock(), given);
        if (given.remove && next.rules.length === before.rules.length)
          throw new ThroughlineError(
            'not_found',
            `there is no rule of ${given.project === undefined ? 'the installation' : `project ${given.project}`}: "throughline retention" lists the rules`,
          );
        refuseContradiction(next);
        return next;
      });
      logger.info({ ...given, version: rules.version }, 'a rule of retention was changed');
      return outlook(rules);
    },
    async 'retention-enforce'(request) {
      const { version } = checkedRequest(RETENTION_TOOLS['retention-enforce'].request, request);
      const rules = await store.changeRules((before) => {
        requireSeen(before, version);
        return enforcedRules(before, clock());
      });
      logger.info({ version: rules.version }, 'rules of retention are enforced');
      return outlook(rules);
    },
    async 'retention-apply'(request) {
      const { version, run: id } = checkedRequest(RETENTION_TOOLS['retention-apply'].request, request);
      const run = id === undefined ? await begin(version) : await store.run();
      if (run === undefined || (id !== undefined && run.id !== id))
        throw new ThroughlineError(
          'not_found',
          `run: ${JSON.stringify(id)} is not the last one: "throughline retention" shows what the last one has done`,
          { details: { fields: ['run'] } },
        );
      return { state: stateOf(run, clock()), run: shown(run) };
    },
  };
  return {
    answers,
    async stop() {
      isStopping = true;
      await running;
    },
  };
}

async function dueMessages(ports: RetentionPorts, rules: RetentionRules, kind: AgedKind, now: number) {
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
    sessions: due.slice(0, MAX_NAMED).map(({ session, project, last, after, of, enforced }) => ({
      ...{ session, project, last: new Date(last).toISOString(), after, enforced },
      ...(of !== undefined && { of }),
    })),
  };
}

function shown({ v: _, beatAt: __, inHand: ___, ...run }: RetentionRun) {
  return run;
}

function stateOf(run: RetentionRun, now: string): 'running' | 'done' | 'failed' | 'stopped' {
  if (run.error !== undefined) return 'failed';
  if (run.endedAt !== undefined) return 'done';
  return isRunning(run, now) ? 'running' : 'stopped';
}

async function seen(reading: Promise<RetentionRules>, version: number): Promise<RetentionRules> {
  const rules = await reading;
  requireSeen(rules, version);
  return rules;
}

function requireSeen({ version: there, rules }: RetentionRules, version: number): void {
  if (there !== version)
    throw new ThroughlineError(
      'conflict',
      `version: ${version} was looked at, but the rules have version ${there}: look at them again with "throughline retention"`,
      { details: { fields: ['version'] } },
    );
  if (rules.length === 0)
    throw new ThroughlineError(
      'not_found',
      'there are no rules: set one with "throughline retention set --archive-after 90d"',
    );
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
