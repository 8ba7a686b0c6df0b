import { codeOf } from '../../contracts/errors.js';
import { parseDispatchSubject } from '../../contracts/names.js';
import type { DispatchDelivery, DispatchSource } from '../../engine/ports/dispatch-source.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import { limitedWarnings } from '../../engine/runtime/pacing.js';
import type { Disposition, Job, OpenCircuit, SessionLanes } from './session-lanes.js';

/** The outcome of a dispatch; `rejectedWithoutEvent`: rejected, but its session's log did not accept the note. */
export type WorkOutcome =
  | Disposition
  | { readonly kind: 'rejectedWithoutEvent'; readonly rejected: Disposition };

interface TurnsOptions {
  readonly lanes: SessionLanes;
  readonly logger: Logger;
  /** Ack deadline in milliseconds. */
  readonly ackWaitMs: number;
  readonly now: () => number;
  readonly onFailure: () => void;
  /** Returns true while a caller waits for this process: fewer dispatches are started per turn then. Default: never. */
  readonly isAwaited?: () => boolean;
}

const NO_SESSION = '';
const AT_ONCE_MS = 1;
/** Dispatches started per turn of the event loop, by number and time: reading has priority, to get past a session's burst. */
const MOST_A_TURN = 128;
const TURN_MS = 2;
const LOOK_EVERY = 8;
/** Dispatches in work while a caller waits: the answers to all of them may come before its own. */
const MOST_BESIDE = 8;
/** Interval of the warnings during shutdown, and the number of sessions that one names. */
const WAITS_MS = 5000;
const MOST_NAMED = 10;

/** Processes dispatches in the order of the lanes and settles each as it ends. Work that throws is retried later. */
export async function processRoundRobin(
  source: DispatchSource,
  work: (job: Job) => Promise<WorkOutcome>,
  { lanes, logger, ackWaitMs, now, onFailure, isAwaited = () => false }: TurnsOptions,
): Promise<{ stop(): Promise<void> }> {
  const warnOfSession = limitedWarnings(logger, now);
  let stopped = false;
  let inWork = 0;
  let whenIdle = () => {};
  let begunThisTurn = 0;
  let turnBeganAt = 0;

  function arrived(delivery: DispatchDelivery): void {
    if (stopped) {
      answer(delivery, { kind: 'retry', delayMs: AT_ONCE_MS });
      return;
    }
    const { session = NO_SESSION } = parseDispatchSubject(delivery.subject);
    const delayMs = lanes.arrived(session, delivery);
    if (delayMs !== undefined) answer(delivery, { kind: 'retry', delayMs });
    beginNext();
  }

  // Callbacks instead of async functions: thousands are in progress at a time.
  function beginNext(): void {
    while (isTurnLeft()) {
      const job = lanes.next();
      if (job === undefined) break;
      if (begunThisTurn === 0) {
        turnBeganAt = now();
        setImmediate(beginTurn);
      }
      begunThisTurn += 1;
      inWork += 1;
      const fail = (error: unknown) => end(job, () => failed(job, error));
      try {
        work(job).then((outcome) => end(job, () => succeeded(job, outcome)), fail);
      } catch (error) {
        fail(error);
      }
    }
  }

  function isTurnLeft(): boolean {
    if (isAwaited()) return inWork < MOST_BESIDE && begunThisTurn < LOOK_EVERY;
    if (begunThisTurn === 0) return true;
    if (begunThisTurn >= MOST_A_TURN) return false;
    return begunThisTurn % LOOK_EVERY !== 0 || now() - turnBeganAt < TURN_MS;
  }

  function beginTurn(): void {
    begunThisTurn = 0;
    beginNext();
  }

  /** An error after the work is not a failure of it: an unsettled dispatch is redelivered, and counts once. */
  function end({ delivery }: Job, settle: () => void): void {
    try {
      settle();
    } catch (error) {
      logger.error({ ...about(delivery), code: codeOf(error), err: error }, 'dispatch could not be settled');
    } finally {
      inWork -= 1;
      if (inWork === 0) whenIdle();
      beginNext();
    }
  }

  function succeeded(job: Job, outcome: WorkOutcome): void {
    // The lanes first, so that there is capacity when the source asks.
    if (outcome.kind === 'rejectedWithoutEvent') lanes.rejected(job);
    else reportRecovery(lanes.succeeded(job));
    answer(job.delivery, outcome.kind === 'rejectedWithoutEvent' ? outcome.rejected : outcome);
  }

  function reportRecovery(closed: OpenCircuit | undefined): void {
    if (closed === undefined) return;
    const { session, code, since } = closed;
    logger.info({ session, since, code }, "the session's log accepts writes again");
  }

  function failed(job: Job, error: unknown): void {
    const { delivery, session } = job;
    const { delayMs: retryInMs, openCircuit, putBack } = lanes.failed(job, error);
    onFailure();
    const fault = { code: codeOf(error), retryInMs, err: error };
    const fields = { ...about(delivery), ...fault, delivery: delivery.delivery };
    warnOfSession(fields, 'dispatch failed and will be delivered again', `failed ${session}`);
    if (openCircuit !== undefined) {
      const message = "the session's log rejects writes: its dispatches are set aside";
      warnOfSession({ session, since: openCircuit.since, ...fault }, message, `set aside ${session}`);
    }
    answer(delivery, { kind: 'retry', delayMs: retryInMs });
    for (const released of putBack)
      answer(released.job.delivery, { kind: 'retry', delayMs: released.delayMs });
  }

  function answer(delivery: DispatchDelivery, disposition: Disposition): void {
    try {
      if (disposition.kind === 'done') delivery.ack();
      else if (disposition.kind === 'retry') delivery.nak(disposition.delayMs);
      else delivery.term(disposition.reason);
    } catch (error) {
      // The connection is closed. The dispatch is redelivered, and counts once.
      const fields = { ...about(delivery), code: 'unavailable', err: error };
      logger.warn(fields, 'dispatch could not be acknowledged');
    }
  }

  function extendAckDeadlines(): void {
    try {
      for (const { delivery } of lanes.waiting()) delivery.working();
    } catch {
      // The connection is closed: all of them are redelivered.
    }
  }

  const consumption = await source.consume(arrived, () => lanes.hasCapacity());
  // After `consume`: if it throws, no timer may be left behind.
  const extending = setInterval(extendAckDeadlines, ackWaitMs / 3);
  return {
    async stop() {
      stopped = true;
      await consumption.close();
      for (const { job } of lanes.releaseWaiting())
        answer(job.delivery, { kind: 'retry', delayMs: AT_ONCE_MS });
      clearInterval(extending);
      if (inWork === 0) return;
      const waits = setInterval(() => {
        const sessions = lanes.inWork().slice(0, MOST_NAMED);
        const fields = { code: 'unavailable', dispatches: inWork, sessions };
        logger.warn(fields, 'cannot stop yet: dispatches are still in work');
      }, WAITS_MS);
      await new Promise<void>((resolve) => {
        whenIdle = resolve;
      });
      clearInterval(waits);
    },
  };
}

function about({ subject, sequence }: DispatchDelivery) {
  return { session: parseDispatchSubject(subject).session, dispatch: sequence };
}
