import { type DispatchFault, parseDispatchBody } from '../contracts/dispatch-body.js';
import { EVENT_VERSION } from '../contracts/event.js';
import { parseDispatchSubject, type Role, type Token } from '../contracts/names.js';
import { outcomeOf } from '../contracts/outcome.js';
import type { RoleResult } from '../contracts/results.js';
import type { DispatchRejected, FactRecorded } from '../contracts/session-events.js';
import { codeOf, ThroughlineError } from '../errors.js';
import { RuleBasedFactExtractor } from '../facts/extractor.js';
import type { DispatchDelivery, DispatchSource } from '../ports/dispatch-source.js';
import type { Logger } from '../ports/logger.js';
import type { RejectedStore } from '../ports/rejected-store.js';
import type { SessionLog } from '../ports/session-log.js';
import type { SnapshotStore } from '../ports/snapshot-store.js';
import { addCounts, redactJson, type SecretCounts } from '../redaction/redactor.js';
import { NO_SCANNER, type SecretScanner } from '../redaction/scanner.js';
import { type Disposition, dispose, retryDelay } from './disposition.js';
import { LateGuard } from './late-guard.js';

/**
 * The extractor worker: pull a dispatch, validate it, extract its facts, append ONE event, then acknowledge.
 *
 * Nothing is acknowledged before an event is stored by which it counts, so a crash at any point leads to a redelivery
 * and at worst to a second event of the same dispatch, which the fold counts once. What cannot be used is kept whole in the rejected
 * store, noted on its session, and terminated. What fails for a passing reason comes back after a delay; when it has
 * failed too often it is rejected as well.
 */
export interface ExtractorPorts {
  readonly source: DispatchSource;
  readonly log: SessionLog;
  readonly rejected: RejectedStore;
  /** Where to begin when a log must be looked through. Default: at its first event. */
  readonly snapshots?: Pick<SnapshotStore, 'loadAtOrBefore'>;
  readonly logger: Logger;
}

export interface ExtractorOptions {
  /** Largest body, in bytes. */
  readonly maxBodyBytes: number;
  /** Deliveries after which a dispatch that keeps failing is rejected. */
  readonly maxDeliveries: number;
  /** 0 to 1, for the jitter of retries. */
  readonly random: () => number;
  /** Finds the secrets that no event may hold. Default: none. */
  readonly secrets?: SecretScanner;
}

/** Counts since the worker started. */
export interface ExtractorStats {
  recorded: number;
  rejected: number;
  retried: number;
  /** Secrets taken out of results, by rule. */
  readonly redacted: SecretCounts;
}

export interface Extractor {
  readonly stats: Readonly<ExtractorStats>;
  /** Dispatches in this worker's hands now. */
  inHand(): number;
  /** Takes no further dispatches and waits for those in hand. */
  stop(): Promise<void>;
}

const DONE: Disposition = { kind: 'done' };

export async function startExtractor(ports: ExtractorPorts, options: ExtractorOptions): Promise<Extractor> {
  const { source, logger } = ports;
  const { secrets = NO_SCANNER } = options;
  const stats: ExtractorStats = { recorded: 0, rejected: 0, retried: 0, redacted: {} };
  const inHand = new Set<Promise<void>>();
  const guard = new LateGuard(ports);
  const rulesFor = (session: Token, { sequence: dispatch }: DispatchDelivery) =>
    new RuleBasedFactExtractor({
      onRuleFailure: (rule, error) =>
        logger.warn({ session, dispatch, code: codeOf(error), rule, err: error }, 'extraction rule failed'),
    });

  const consumption = await source.consume((delivery) => {
    const handled = handle(delivery).finally(() => inHand.delete(handled));
    inHand.add(handled);
  });

  async function handle(delivery: DispatchDelivery): Promise<void> {
    let disposition: Disposition;
    try {
      disposition = await process(delivery);
    } catch (error) {
      disposition = { kind: 'retry', delayMs: retryDelay(delivery.delivery, options.random()) };
      stats.retried += 1;
      logger.warn(
        {
          ...about(delivery),
          code: codeOf(error),
          delivery: delivery.delivery,
          retryInMs: disposition.delayMs,
          err: error,
        },
        'dispatch failed and will be delivered again',
      );
    }
    try {
      dispose(delivery, disposition);
    } catch (error) {
      // The connection is closed. What was not acknowledged comes again, and counts once.
      logger.warn(
        { ...about(delivery), code: 'unavailable', err: error },
        'dispatch could not be acknowledged',
      );
    }
  }

  // Not async for what is fine: while its PubAck is out, nothing of a parsed dispatch shall be kept.
  function process(delivery: DispatchDelivery): Promise<Disposition> {
    const { session, role } = parseDispatchSubject(delivery.subject);
    if (session === undefined || role === undefined) {
      const reason = 'the subject must be dispatch.<session>.<role>, role implementer or reviewer';
      return reject(delivery, session, role, { code: 'subject_invalid', reason });
    }
    const parse = (isFirst: boolean) =>
      parseDispatchBody(delivery.body, role, options.maxBodyBytes, (json, text) => {
        const { value, found } = redactJson(json, secrets, { source: text });
        if (isFirst) noteRedacted(delivery, session, found);
        return value;
      });
    const parsed = parse(true);
    if (!parsed.ok) return reject(delivery, session, role, parsed);
    const eventOf = (result: RoleResult) => recordedEvent(delivery, result, rulesFor(session, delivery));
    const again = () => {
      const same = parse(false);
      if (!same.ok) throw new ThroughlineError(same.code, same.reason);
      return eventOf(same.value);
    };
    return guard.record(session, eventOf(parsed.value), again).then(recorded, (error: unknown) => {
      if (delivery.delivery < options.maxDeliveries) throw error;
      // While nothing can be stored it cannot be rejected either: an outage, however long, costs no dispatch.
      const reason = `still failing after ${options.maxDeliveries} deliveries`;
      return reject(delivery, session, role, { code: 'deliveries_exhausted', reason });
    });
  }

  function recorded(): Disposition {
    stats.recorded += 1;
    return DONE;
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

  async function reject(
    delivery: DispatchDelivery,
    session: Token | undefined,
    role: Role | undefined,
    { code, reason }: DispatchFault,
  ): Promise<Disposition> {
    const { sequence, at, subject, body } = delivery;
    // The note first: the fold takes it once however often it comes, the rejected store does not for ever.
    if (session !== undefined) {
      const event: DispatchRejected = {
        v: EVENT_VERSION,
        type: 'dispatch.rejected',
        at,
        data: { dispatch: { sequence, ...(role && { role }), at }, error: { code, reason } },
      };
      await guard.record(session, event, () => event);
    }
    await ports.rejected.put({ session, role, subject, sequence, at, code, reason, body });
    stats.rejected += 1;
    logger.warn({ session, dispatch: sequence, code, reason }, 'dispatch rejected');
    return { kind: 'rejected', reason: `${code}: ${reason}` };
  }

  return {
    stats,
    inHand: () => inHand.size,
    async stop() {
      await consumption.close();
      await Promise.all(inHand);
    },
  };
}

/** What every log line about a delivery says. */
function about({ subject, sequence }: DispatchDelivery) {
  return { session: parseDispatchSubject(subject).session, dispatch: sequence };
}

/** The one event of a dispatch: its outcome and all its facts. */
export function recordedEvent(
  delivery: Pick<DispatchDelivery, 'sequence' | 'at'>,
  returned: RoleResult,
  rules: RuleBasedFactExtractor,
): FactRecorded {
  const task = returned.result.task_id;
  const { facts, omitted } = rules.extract(returned, task);
  const dispatch = outcomeOf(returned, { sequence: delivery.sequence, task, at: delivery.at });
  return {
    v: EVENT_VERSION,
    type: 'fact.recorded',
    at: delivery.at,
    data: omitted > 0 ? { dispatch, facts, facts_omitted: omitted } : { dispatch, facts },
  };
}
