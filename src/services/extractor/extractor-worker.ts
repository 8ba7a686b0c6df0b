import {
  type DispatchFault,
  outcomeOf,
  type ParsedBody,
  parseDispatchBody,
} from '../../contracts/dispatch-body.js';
import { type ErrorCode, isErrorCode } from '../../contracts/error-codes.js';
import { codeOf, messageOf, ThroughlineError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import { ROLES, type Role } from '../../contracts/kinds.js';
import { parseDispatchSubject, type Token } from '../../contracts/names.js';
import { type Repair, repairInWords } from '../../contracts/reading/repairs.js';
import {
  type AnyResult,
  compiledResult,
  type RoleResult,
  resultKey,
  withPlainPaths,
} from '../../contracts/results.js';
import type { DispatchOutcome, DispatchRejected, FactRecorded } from '../../contracts/session-events.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { DispatchDelivery, DispatchSource, RejectedStore } from '../../engine/ports/dispatch-source.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { NewestResults, SessionLog } from '../../engine/ports/session-log.js';
import { factsToStore } from '../../memory/facts/event-facts.js';
import { RuleBasedFactExtractor, withShortSummary } from '../../memory/facts/fact-extractor.js';
import {
  addCounts,
  NO_SCANNER,
  redactJson,
  type SecretCounts,
  type SecretScanner,
  scannerFor,
} from '../../memory/redaction/redactor.js';
import { archivedResult } from '../../memory/session/charter.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import { defined } from '../../shared/collections.js';
import { admission, type Forgetting, HELD_BACK_MS, type Process } from '../common/process-parts.js';
import type { Service } from '../common/service-shell.js';
import { type ReviewHarvest, reviewHarvest } from '../learnings/harvesters.js';
import { type Counted, ResultWriter, StatementWriter } from './result-writer.js';
import { isRefusal, type Job, retryDelay, SessionLanes } from './session-lanes.js';
import { processRoundRobin, type WorkOutcome } from './session-turns.js';

/**
 * The extractor: fetch a dispatch, wait for its session's turn, validate it, extract its facts, append ONE event, then
 * acknowledge. A stored review is handed to the harvest of learnings before it is acknowledged.
 *
 * Nothing is acknowledged before its event is stored. A crash therefore leads to a redelivery, whose event the log refuses.
 * Unusable results are stored whole in the rejected store, noted on their session, and terminated. Transient failures are
 * retried with a delay, and rejected after too many deliveries. If a session's log rejects writes, its dispatches are set aside
 * (circuit breaker) so that other sessions are served.
 */
export interface ExtractorPorts {
  readonly source: DispatchSource;
  readonly log: SessionLog & NewestResults;
  readonly rejected: RejectedStore;
  readonly logger: Logger;
  readonly reader: Pick<SessionReader, 'load'>;
  /** Default: no session is forgotten or archived. */
  readonly lifecycle?: Forgetting & Pick<SessionLifecycle, 'archived'>;
}

interface ExtractorOptions {
  readonly maxBodyBytes: number;
  /** Failed attempts before a dispatch is rejected; being set aside does not count. */
  readonly maxDeliveries: number;
  /** Maximum number of dispatches in progress. Default: 500. */
  readonly maxInHand?: number;
  /** Ack deadline in milliseconds. Default: 10,000. */
  readonly ackWaitMs?: number;
  readonly random: () => number;
  /** Milliseconds since 1970, monotonic. Default: the process' clock. */
  readonly now?: () => number;
  readonly secrets?: SecretScanner;
  /** Returns true while a caller waits for this process. Default: never. */
  readonly isAwaited?: () => boolean;
  /** Learns from each stored review before it is acknowledged. Default: nothing is learned. */
  readonly harvest?: ReviewHarvest;
}

interface ExtractorStats {
  recorded: number;
  rejected: number;
  retried: number;
  readonly recordedBy: Partial<Record<Role, number>>;
  readonly rejectedFor: Partial<Record<ErrorCode, number>>;
  readonly redacted: SecretCounts;
  readonly repaired: Record<string, number>;
}

export type Extractor = Awaited<ReturnType<typeof startExtractor>>;

type Accepted = Extract<ParsedBody, { ok: true }>;
const DONE: WorkOutcome = { kind: 'done' };
const HELD_BACK: WorkOutcome = { kind: 'retry', delayMs: HELD_BACK_MS };

export async function startExtractor(ports: ExtractorPorts, options: ExtractorOptions) {
  const { source, logger } = ports;
  const { secrets = NO_SCANNER, maxInHand: maxActive = 500, ackWaitMs = 10_000, random } = options;
  const { now = () => performance.timeOrigin + performance.now() } = options;
  const lanes = new SessionLanes({ maxActive, now, random });
  const stats: ExtractorStats = {
    recorded: 0,
    rejected: 0,
    retried: 0,
    recordedBy: {},
    rejectedFor: {},
    redacted: {},
    repaired: {},
  };
  const results = new ResultWriter(ports);
  const statements = new StatementWriter(ports.log, ports.reader);
  // Not async in the usual case: while its PubAck is pending, nothing of a parsed dispatch should be kept.
  function process(job: Job): Promise<WorkOutcome> {
    const { delivery } = job;
    const { session, role } = parseDispatchSubject(delivery.subject);
    if (session === undefined || role === undefined) {
      const reason = `the subject must be dispatch.<session>.<role>, role one of ${ROLES.join(', ')}`;
      const fix = 'publish it with the name of its session and its role in the subject';
      return reject(job, { code: 'subject_invalid', reason, fix });
    }
    const refreshing = ports.lifecycle?.refreshed();
    if (refreshing !== undefined) return refreshing.then(() => process(job));
    const admitted = admission(ports.lifecycle, session, delivery.sequence);
    if (admitted !== 'counts') return Promise.resolve(admitted === 'forgotten' ? DONE : HELD_BACK);
    const { foreign } = delivery;
    if (foreign !== undefined) {
      const reason = `${foreign}, stored here as the reply to a request`;
      return reject(job, { code: 'stored_reply', reason });
    }
    const archived = ports.lifecycle?.archived(session);
    if (archived !== undefined) return reject(job, archivedResult(session, archived));
    const parsed = parse(delivery, session, role, true);
    if (!parsed.ok) return reject(job, parsed);
    noteRepaired(delivery, session, parsed.repairs);
    const task = parsed.value.result.task_id;
    const again = () => {
      const same = parse(delivery, session, role, false);
      if (!same.ok) throw new ThroughlineError(same.code, same.reason);
      return eventOf(delivery, session, same);
    };
    const review = isHarvested(parsed.value.result) ? parsed.value : undefined;
    const done = (): WorkOutcome => {
      stats.recorded += 1;
      stats.recordedBy[role] = (stats.recordedBy[role] ?? 0) + 1;
      return DONE;
    };
    const counted = ({ rejected }: Counted): WorkOutcome | Promise<WorkOutcome> => {
      // Noted before it was delivered again; what cannot be used is not read again under other circumstances.
      if (rejected !== undefined) return setAside(job, rejected);
      logger.debug?.({ session, dispatch: delivery.sequence }, 'dispatch recorded');
      if (review === undefined) return done();
      return learn(delivery, session, review).then((outcome) => (outcome.kind === 'done' ? done() : outcome));
    };
    return statements
      .record(session, eventOf(delivery, session, parsed), (event, amend) =>
        results.record(session, event, () => amend(again())),
      )
      .then(counted, (error: unknown) => {
        const triedTooOften = lanes.failures(job) + 1 >= options.maxDeliveries;
        if (!triedTooOften && !(isRefusal(error) && isGivenUp(job))) throw error;
        // While nothing can be stored, rejecting fails too: no outage loses a dispatch.
        const reason = `still failing after ${options.maxDeliveries} deliveries`;
        const fix = 'see with "throughline doctor" why nothing could be stored, then send it again unchanged';
        return reject(job, { code: 'deliveries_exhausted', reason, fix, task });
      });
  }

  /** Hands a stored review to the harvest. A failure delays only this review: its session's log is not at fault. */
  async function learn(
    delivery: DispatchDelivery,
    session: Token,
    returned: RoleResult,
  ): Promise<WorkOutcome> {
    try {
      await options.harvest?.({ session, returned, delivery });
      return DONE;
    } catch (error) {
      const fields = { session, dispatch: delivery.sequence, delivery: delivery.delivery, err: error };
      if (delivery.delivery >= options.maxDeliveries) {
        const message = 'review stored, but not learned from: that keeps failing';
        logger.error({ ...fields, code: 'deliveries_exhausted' }, message);
        return DONE;
      }
      const delayMs = retryDelay(delivery.delivery, random());
      const message = 'review stored, but not learned from: it will be delivered again';
      logger.warn({ ...fields, code: codeOf(error), retryInMs: delayMs }, message);
      return { kind: 'retry', delayMs };
    }
  }

  function parse(delivery: DispatchDelivery, session: Token, role: Role, isFirst: boolean): ParsedBody {
    const clean = (json: unknown, text: string) => {
      const { value, found } = redactJson(json, secrets, { source: text });
      if (isFirst) noteRedacted(delivery, session, found);
      return value;
    };
    const parsed = parseDispatchBody(delivery.body, role, options.maxBodyBytes, clean, compiledResult);
    // A repair names the field that no result has.
    if (parsed.ok) redactJson(parsed.repairs, secrets);
    return parsed;
  }

  function eventOf(delivery: DispatchDelivery, session: Token, read: Accepted): FactRecorded {
    const { sequence: dispatch } = delivery;
    const onRuleFailure = (rule: string, error: unknown) =>
      logger.warn({ session, dispatch, code: codeOf(error), rule, err: error }, 'extraction rule failed');
    return recordedEvent(delivery, read.value, new RuleBasedFactExtractor({ onRuleFailure }), read);
  }

  /** Returns true if the log of its session has refused as many events in a row as one dispatch may fail. */
  function isGivenUp(job: Job): boolean {
    return lanes.refusals(job) + 1 >= options.maxDeliveries;
  }

  function noteRedacted(
    { sequence, delivery }: DispatchDelivery,
    session: Token,
    found: Readonly<SecretCounts>,
  ): void {
    if (Object.keys(found).length === 0) return;
    // Count a redelivered dispatch once.
    if (delivery === 1) addCounts(stats.redacted, found);
    logger.info({ session, dispatch: sequence, redacted: found }, 'secrets taken out of a dispatch');
  }

  function noteRepaired(
    { sequence, delivery }: DispatchDelivery,
    session: Token,
    repairs: readonly Repair[],
  ): void {
    if (repairs.length === 0 || delivery !== 1) return;
    for (const { kind, count = 1 } of repairs) addCounts(stats.repaired, { [kind]: count });
    const fields = { session, dispatch: sequence, repairs: repairs.map(repairInWords) };
    logger.info(fields, 'dispatch read with repairs');
  }

  async function reject(job: Job, fault: DispatchFault): Promise<WorkOutcome> {
    const { session } = parseDispatchSubject(job.delivery.subject);
    // Anyone who may send a request could have had it stored.
    const noted = job.delivery.isBare || fault.code === 'stored_reply' ? undefined : session;
    // The session first: its log has a dispatch once, the rejected store only within its dedupe window. If the log refuses the
    // note for good, the dispatch is rejected without it; `after` does not hear of it then.
    const refused = noted && (await noteRejected(job, noted, fault));
    // Its event was stored but not acknowledged: a retry of the rejection would count twice.
    return refused === 'counted' ? DONE : setAside(job, fault, refused?.because);
  }

  /** Stores a dispatch that counts as rejected, whole. @param because why it is not noted on its session */
  async function setAside(
    job: Job,
    { code: given, reason, ...more }: NonNullable<Counted['rejected']>,
    because?: string,
  ): Promise<WorkOutcome> {
    const { sequence, at, subject, body } = job.delivery;
    const { session, role } = parseDispatchSubject(subject);
    const code = isErrorCode(given) ? given : 'internal';
    const fullReason = because === undefined ? reason : `${reason}; not noted on its session: ${because}`;
    const why = { code, reason: fullReason, ...defined({ fix: more.fix, meant: more.meant }) };
    await ports.rejected.put({ session, role, subject, sequence, at, ...why, body });
    stats.rejected += 1;
    stats.rejectedFor[code] = (stats.rejectedFor[code] ?? 0) + 1;
    logger.warn({ session, dispatch: sequence, code, reason: fullReason }, 'dispatch rejected');
    const rejected = { kind: 'rejected', code, reason: `${code}: ${reason}` } as const;
    return because === undefined ? rejected : { kind: 'rejectedWithoutEvent', rejected };
  }

  /** Appends a rejection to its session, unless the dispatch has counted. Returns the reason if the log refuses it for good. */
  async function noteRejected(
    job: Job,
    session: Token,
    { code, reason, task, fix, meant }: DispatchFault,
  ): Promise<'counted' | { readonly because: string } | undefined> {
    const { sequence, at, subject } = job.delivery;
    const data = {
      dispatch: defined({ sequence, role: parseDispatchSubject(subject).role, task, at }),
      error: defined({ code, reason, fix, meant }),
    };
    const event: DispatchRejected = { v: EVENT_VERSION, type: 'dispatch.rejected', at, data };
    try {
      const { rejected } = await results.record(session, event, () => event);
      return rejected === undefined ? 'counted' : undefined;
    } catch (fault) {
      if (isRefusal(fault) && isGivenUp(job)) return { because: messageOf(fault) };
      throw fault;
    }
  }

  const onFailure = () => {
    stats.retried += 1;
  };
  const turns = await processRoundRobin(source, process, {
    lanes,
    logger,
    ackWaitMs,
    now,
    onFailure,
    ...(options.isAwaited !== undefined && { isAwaited: options.isAwaited }),
  });
  return {
    stats: stats as Readonly<ExtractorStats>,
    inHand: () => lanes.size,
    setAside: () => lanes.setAside(),
    /** Stops fetching, puts waiting dispatches back, and waits for those in progress. */
    stop: () => turns.stop(),
  };
}

/** Returns true if the harvest may learn from the result; work from before the session is skipped. */
function isHarvested({ history, issues, required_fixes }: AnyResult): boolean {
  return history !== true && (issues ?? []).length + (required_fixes ?? []).length > 0;
}

/** Builds the one event of a dispatch: its outcome, facts that do not follow from it, and repairs. */
export function recordedEvent(
  { sequence, at, messageId }: Pick<DispatchDelivery, 'sequence' | 'at' | 'messageId'>,
  returned: RoleResult,
  rules: RuleBasedFactExtractor,
  { repairs, repairsOmitted = 0 }: Pick<Accepted, 'repairs' | 'repairsOmitted'> = { repairs: [] },
): FactRecorded {
  const task = returned.result.task_id;
  const key = resultKey(returned, messageId);
  const plain = withShortSummary(withPlainPaths(returned));
  const outcome = outcomeOf(plain.result, at);
  const dispatch: DispatchOutcome = { sequence, task, at, role: plain.role, outcome };
  if (key !== undefined) dispatch.result_key = key;
  const { facts, omitted, isComplete } = factsToStore(plain, outcome, rules);
  const data: FactRecorded['data'] = { dispatch, facts };
  if (isComplete) data.facts_complete = true;
  if (omitted > 0) data.facts_omitted = omitted;
  if (repairs.length > 0) data.repairs = repairs;
  if (repairsOmitted > 0) data.repairs_omitted = repairsOmitted;
  return { v: EVENT_VERSION, type: 'fact.recorded', at, data };
}

/** @param dispatchPorts ports on a separate connection, unless the process has no other service */
export async function openExtractor(parts: Process, dispatchPorts: NatsPorts): Promise<Service> {
  const { config, logger, shutdown, lifecycle, sessions, projects, nats } = parts;
  const { reader, isAwaited } = sessions;
  const harvest = reviewHarvest({
    learnings: nats.learnings,
    projects: projects.reader,
    inBackground: projects.inBackground,
    lifecycle,
    reader,
    recurrence: config.recurrence,
  });
  const extractor = await startExtractor(
    { ...dispatchPorts, logger, lifecycle, reader },
    { ...config, random: Math.random, secrets: scannerFor(config), isAwaited, harvest },
  );
  shutdown.add('the extractor', () => extractor.stop());
  return {
    numbers: async () => ({
      ...extractor.stats,
      inHand: extractor.inHand(),
      setAside: extractor.setAside(),
      backlog: await dispatchPorts.source.backlog(),
    }),
  };
}
