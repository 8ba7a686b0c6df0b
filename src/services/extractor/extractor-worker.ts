import { compiledResult, resultKey, withPlainPaths } from '../../contracts/accepted-result.js';
import { type DispatchFault, type ParsedBody, parseDispatchBody } from '../../contracts/dispatch-body.js';
import type { ErrorCode } from '../../contracts/error-codes.js';
import { codeOf, messageOf, ThroughlineError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import { ROLES, type Role } from '../../contracts/kinds.js';
import { parseDispatchSubject, type Token } from '../../contracts/names.js';
import { outcomeOf } from '../../contracts/outcome.js';
import { countByKind, type Repair, repairInWords } from '../../contracts/reading/repairs.js';
import type { RoleResult } from '../../contracts/results.js';
import type { DispatchRejected, FactRecorded } from '../../contracts/session-events.js';
import { takeSpan } from '../../engine/monitoring/message-spans.js';
import type { DispatchDelivery, DispatchSource } from '../../engine/ports/dispatch-source.js';
import type { Logger } from '../../engine/ports/logger.js';
import type { RejectedStore } from '../../engine/ports/rejected-store.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import type { SnapshotStore } from '../../engine/ports/snapshot-store.js';
import { noTracing, type Tracing } from '../../engine/ports/tracing.js';
import { factsBeyond } from '../../memory/facts/event-facts.js';
import { RuleBasedFactExtractor } from '../../memory/facts/fact-extractor.js';
import { addCounts, redactJson, type SecretCounts } from '../../memory/redaction/redactor.js';
import { NO_SCANNER, type SecretScanner } from '../../memory/redaction/secret-scanner.js';
import { recordOf } from '../../shared/is-object.js';
import { type Forgetting, HELD_BACK_MS, sameLife, standingOf } from '../common/forgotten-results.js';
import { archivedResult } from '../lifecycle/archived-faults.js';
import { LateGuard } from './late-guard.js';
import { type Held, isRefusal, type SetAside, setAsideOf } from './session-lane.js';
import { SessionLanes } from './session-lanes.js';
import { type WorkOutcome, workInTurns } from './session-turns.js';

/**
 * The extractor worker: pull a dispatch, wait for its session's turn, validate it, extract its facts, append ONE event,
 * then acknowledge.
 *
 * Nothing is acknowledged before an event is stored by which it counts, so a crash at any point leads to a redelivery
 * and at worst to a second event of the same dispatch, which the fold counts once. What cannot be used is kept whole in
 * the rejected store, noted on its session, and terminated. What fails for a passing reason comes back after a delay;
 * when it has failed too often it is rejected as well. A session whose log takes nothing keeps no other from being
 * served: what it has is set aside meanwhile.
 */
export interface ExtractorPorts {
  readonly source: DispatchSource;
  readonly log: SessionLog;
  readonly rejected: RejectedStore;
  /** Where to begin when a log must be looked through. Default: at its first event. */
  readonly snapshots?: Pick<SnapshotStore, 'loadAtOrBefore'>;
  readonly logger: Logger;
  /** Default: no session was ever forgotten or archived. */
  readonly lifecycle?: Forgetting & Pick<SessionLifecycle, 'archived'>;
  /** Default: no spans. */
  readonly tracing?: Tracing;
}

interface ExtractorOptions {
  /** Largest body, in bytes. */
  readonly maxBodyBytes: number;
  /** Failed attempts after which a dispatch is rejected; being set aside does not count. */
  readonly maxDeliveries: number;
  /** Dispatches in work at a time. Default: 500. */
  readonly maxInHand?: number;
  /** A dispatch that is not acknowledged comes again after this many milliseconds. Default: 10,000. */
  readonly ackWaitMs?: number;
  /** 0 to 1, for the jitter of retries. */
  readonly random: () => number;
  /** Milliseconds since 1970, never going backwards. Default: as the process counts them. */
  readonly now?: () => number;
  /** Finds the secrets that no event may hold. Default: none. */
  readonly secrets?: SecretScanner;
  /** Whether the process has something to do for which a caller waits. Default: never. */
  readonly isAwaited?: () => boolean;
}

/** Counts since the worker started. */
interface ExtractorStats {
  recorded: number;
  rejected: number;
  retried: number;
  /** The recorded ones by role, and the rejected ones by code. */
  readonly recordedBy: Partial<Record<Role, number>>;
  readonly rejectedFor: Partial<Record<ErrorCode, number>>;
  /** Secrets taken out of results, by rule. */
  readonly redacted: SecretCounts;
  /** Repairs of results, by kind. */
  readonly repaired: Record<string, number>;
}

export interface Extractor {
  readonly stats: Readonly<ExtractorStats>;
  /** Dispatches in this worker's hands now, in work or waiting for their turn. */
  inHand(): number;
  /** Sessions whose logs take nothing. */
  setAside(): SetAside;
  /** Takes no further dispatches, puts back those that wait for their turn, and waits for those in progress. */
  stop(): Promise<void>;
}

type Accepted = Extract<ParsedBody, { ok: true }>;

const DONE: WorkOutcome = { kind: 'done' };
const HELD_BACK: WorkOutcome = { kind: 'retry', delayMs: HELD_BACK_MS };

export async function startExtractor(ports: ExtractorPorts, options: ExtractorOptions): Promise<Extractor> {
  const { source, logger, tracing = noTracing } = ports;
  const { secrets = NO_SCANNER, maxInHand: maxActive = 500, ackWaitMs = 10_000, random } = options;
  const { now = () => performance.timeOrigin + performance.now() } = options;
  const lanes = new SessionLanes({ maxActive, now, random });
  const stats: ExtractorStats = {
    ...{ recorded: 0, rejected: 0, retried: 0 },
    ...{ recordedBy: {}, rejectedFor: {}, redacted: {}, repaired: {} },
  };
  const guard = new LateGuard(ports);
  const rulesFor = (session: Token, { sequence: dispatch }: DispatchDelivery) =>
    new RuleBasedFactExtractor({
      onRuleFailure: (rule, error) =>
        logger.warn({ session, dispatch, code: codeOf(error), rule, err: error }, 'extraction rule failed'),
    });

  // Made once: nothing of its own is kept for a dispatch whose PubAck is pending.
  const recorded = recordOf(ROLES, (role) => (): WorkOutcome => {
    stats.recorded += 1;
    stats.recordedBy[role] = (stats.recordedBy[role] ?? 0) + 1;
    return DONE;
  });

  // Not async in the usual case: while its PubAck is pending, nothing of a parsed dispatch should be kept.
  function process(held: Held): Promise<WorkOutcome> {
    const { delivery } = held;
    const { session, role } = parseDispatchSubject(delivery.subject);
    if (session === undefined || role === undefined) {
      const reason = `the subject must be dispatch.<session>.<role>, role one of ${ROLES.join(', ')}`;
      const fix = 'publish it with the name of its session and its role in the subject';
      return reject(held, session, role, { code: 'subject_invalid', reason, fix });
    }
    const refreshing = ports.lifecycle?.refreshed();
    if (refreshing !== undefined) return refreshing.then(() => process(held));
    const standing = standingOf(ports.lifecycle, session, delivery.sequence);
    if (standing !== 'counts') return Promise.resolve(standing === 'forgotten' ? DONE : HELD_BACK);
    const { foreign } = delivery;
    if (foreign !== undefined) {
      const reason = `${foreign}, stored here as the reply to a request`;
      return reject(held, session, role, { code: 'stored_reply', reason });
    }
    const archived = ports.lifecycle?.archived(session);
    if (archived !== undefined) return reject(held, session, role, archivedResult(session, archived));
    const parsed = parse(delivery, session, role, true);
    if (!parsed.ok) return reject(held, session, role, parsed);
    noteRepaired(delivery, session, parsed.repairs);
    const task = parsed.value.result.task_id;
    const again = () => eventAgain(delivery, session, role);
    // Most often there is no debug line, and nothing is built for it.
    const stored = logger.debug === undefined ? recorded[role] : () => recordedAs(session, role, delivery);
    return guard
      .record(session, eventOf(delivery, session, parsed), again, held.isNew)
      .then(stored, (error: unknown) => {
        const triedTooOften = lanes.failures(held) + 1 >= options.maxDeliveries;
        if (!triedTooOften && !(isRefusal(error) && isGivenUp(held))) throw error;
        // While nothing can be stored it cannot be rejected either: an outage, however long, loses no dispatch.
        const reason = `still failing after ${options.maxDeliveries} deliveries`;
        const fix = 'see with "throughline doctor" why nothing could be stored, then send it again unchanged';
        return reject(held, session, role, { code: 'deliveries_exhausted', reason, fix, task });
      });
  }

  function parse(delivery: DispatchDelivery, session: Token, role: Role, isFirst: boolean): ParsedBody {
    const clean = (json: unknown, text: string) => {
      const { value, found } = redactJson(json, secrets, { source: text });
      if (isFirst) noteRedacted(delivery, session, found);
      return value;
    };
    return parseDispatchBody(delivery.body, role, options.maxBodyBytes, clean, compiledResult);
  }

  function eventOf(delivery: DispatchDelivery, session: Token, read: Accepted): FactRecorded {
    return recordedEvent(delivery, read.value, rulesFor(session, delivery), read);
  }

  function eventAgain(delivery: DispatchDelivery, session: Token, role: Role): FactRecorded {
    const same = parse(delivery, session, role, false);
    if (!same.ok) throw new ThroughlineError(same.code, same.reason);
    return eventOf(delivery, session, same);
  }

  /** Whether the log of its session, now failing once more, has refused as many events in a row as one may fail. */
  function isGivenUp(held: Held): boolean {
    return lanes.refusals(held) + 1 >= options.maxDeliveries;
  }

  function recordedAs(session: Token, role: Role, { sequence }: DispatchDelivery): WorkOutcome {
    logger.debug?.({ session, dispatch: sequence }, 'dispatch recorded');
    return recorded[role]();
  }

  function noteRedacted(
    { sequence, delivery }: DispatchDelivery,
    session: Token,
    found: Readonly<SecretCounts>,
  ): void {
    if (Object.keys(found).length === 0) return;
    // One that comes again is the same one.
    if (delivery === 1) addCounts(stats.redacted, found);
    logger.info({ session, dispatch: sequence, redacted: found }, 'secrets taken out of a dispatch');
  }

  function noteRepaired(
    { sequence, delivery }: DispatchDelivery,
    session: Token,
    repairs: readonly Repair[],
  ): void {
    if (repairs.length === 0 || delivery !== 1) return;
    addCounts(stats.repaired, countByKind(repairs));
    const fields = { session, dispatch: sequence, repairs: repairs.map(repairInWords) };
    logger.info(fields, 'dispatch read with repairs');
  }

  async function reject(
    held: Held,
    session: Token | undefined,
    role: Role | undefined,
    fault: DispatchFault,
  ): Promise<WorkOutcome> {
    const { code, reason, fix, meant } = fault;
    const { sequence, at, subject, body, isBare = false } = held.delivery;
    // Anyone who may send a request could have had it stored.
    const noted = isBare || code === 'stored_reply' ? undefined : session;
    const isSame = noted && (await sameLife(ports.lifecycle, noted));
    // The note first: the fold takes it once however often it comes, the rejected store only for a while. But a log
    // that is given up keeps no dispatch from being rejected: then `after` does not hear of it.
    const refused = noted && (await noteRejected(held, noted, role, fault));
    // It was stored before, and not acknowledged: kept here as well it could be retried, and count twice.
    if (refused === 'counted') return DONE;
    const told = refused === undefined ? reason : `${reason}; not noted on its session: ${refused.because}`;
    const why = { code, reason: told, ...(fix !== undefined && { fix }), ...(meant && { meant }) };
    await isSame?.();
    await ports.rejected.put({ session, role, subject, sequence, at, ...why, body });
    stats.rejected += 1;
    stats.rejectedFor[code] = (stats.rejectedFor[code] ?? 0) + 1;
    logger.warn({ session, dispatch: sequence, code, reason: told }, 'dispatch rejected');
    const rejected = { kind: 'rejected', code, reason: `${code}: ${reason}` } as const;
    return refused === undefined ? rejected : { kind: 'unnoted', rejected };
  }

  /** Notes a rejection on its session, unless the dispatch has counted. If the log refuses it and is given up, says why. */
  async function noteRejected(
    held: Held,
    session: Token,
    role: Role | undefined,
    { code, reason, task, fix, meant }: DispatchFault,
  ): Promise<'counted' | { readonly because: string } | undefined> {
    const { sequence, at } = held.delivery;
    const event: DispatchRejected = {
      v: EVENT_VERSION,
      type: 'dispatch.rejected',
      at,
      data: {
        dispatch: { sequence, ...(role && { role }), ...(task !== undefined && { task }), at },
        error: { code, reason, ...(fix !== undefined && { fix }), ...(meant && { meant }) },
      },
    };
    try {
      const counts = await guard.record(session, event, () => event, held.isNew);
      return counts === 'fact.recorded' ? 'counted' : undefined;
    } catch (fault) {
      if (isRefusal(fault) && isGivenUp(held)) return { because: messageOf(fault) };
      throw fault;
    }
  }

  const onFailure = () => {
    stats.retried += 1;
  };
  const turns = await workInTurns(source, inSpan(tracing, process), {
    ...{ lanes, logger, ackWaitMs, now, onFailure },
    ...(options.isAwaited !== undefined && { isAwaited: options.isAwaited }),
  });
  return {
    stats,
    inHand: () => lanes.held,
    setAside: () => setAsideOf(lanes.setAside()),
    stop: () => turns.stop(),
  };
}

/** The one event of a dispatch: its outcome, the facts that do not follow from it, and what was repaired. */
export function recordedEvent(
  { sequence, at, messageId }: Pick<DispatchDelivery, 'sequence' | 'at' | 'messageId'>,
  returned: RoleResult,
  rules: RuleBasedFactExtractor,
  { repairs, repairsOmitted = 0 }: Pick<Accepted, 'repairs' | 'repairsOmitted'> = { repairs: [] },
): FactRecorded {
  const task = returned.result.task_id;
  const key = resultKey(returned, messageId);
  const told = withPlainPaths(returned);
  const dispatch = outcomeOf(told, { sequence, task, at });
  if (key !== undefined) dispatch.result_key = key;
  const beyond = factsBeyond(told.result, dispatch.outcome);
  const { facts, omitted } = beyond === undefined ? rules.extract(told, task) : { facts: beyond, omitted: 0 };
  const data: FactRecorded['data'] = { dispatch, facts };
  if (beyond === undefined) data.facts_complete = true;
  if (omitted > 0) data.facts_omitted = omitted;
  if (repairs.length > 0) data.repairs = repairs;
  if (repairsOmitted > 0) data.repairs_omitted = repairsOmitted;
  return { v: EVENT_VERSION, type: 'fact.recorded', at, data };
}

type Work = (held: Held) => Promise<WorkOutcome>;

/** The same work, in a span of the trace that published the dispatch, where spans are recorded. */
export function inSpan(tracing: Tracing, work: Work): Work {
  return (held) => {
    const spans = tracing();
    if (spans === undefined) return work(held);
    const { subject, body, trace, delivery } = held.delivery;
    return spans.run(takeSpan('extract', subject, body.length, trace), async (span) => {
      if (delivery > 1) span.set({ 'throughline.delivery': delivery });
      const outcome = await work(held);
      const rejected = outcome.kind === 'unnoted' ? outcome.rejected : outcome;
      if (rejected.kind === 'rejected') span.failed(rejected.code);
      return outcome;
    });
  };
}
