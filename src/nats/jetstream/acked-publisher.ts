import { ErrorCode, headers, type Msg, type MsgHdrs, type NatsConnection, NatsError } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../shared/text.js';
import {
  type Denial,
  newInbox,
  onDenied,
  type ResilientSubscription,
  subscribeResiliently,
} from '../connection/connect-nats.js';
import { failedWhile } from '../connection/failed-while.js';
import { refusal, takenByAnother, WRONG_SEQUENCE } from '../connection/nats-errors.js';
import { isStuckAnswer, probeStuck, stuckFault } from './list-streams.js';

/**
 * Publishes to JetStream with many publishes in flight. All PubAcks arrive on one inbox and are matched by the token behind
 * it; `js.publish` of the client goes through its request machinery, which costs four times as much. One timer serves all
 * publishes, because equal deadlines expire in order.
 */
export interface AckedPublishOptions {
  readonly messageId?: string;
  /** Compare-and-set: the sequence of the newest message on these subjects; 0 for none. All writers must use one filter. */
  readonly expectedLastOfSubjects?: { readonly sequence: number; readonly subjects: string };
  readonly headers?: Readonly<Record<string, string>>;
  /** Expected stream: any other one with the subject would acknowledge as well. */
  readonly stream?: string;
}

export type PubOutcome =
  | { readonly outcome: 'stored'; readonly sequence: number; readonly duplicate: boolean }
  | { readonly outcome: 'wrong_sequence' }
  | { readonly outcome: 'no_stream' };

interface InFlight {
  readonly resolve: (outcome: PubOutcome) => void;
  readonly stream: string | undefined;
  readonly reject: (error: ThroughlineError) => void;
  readonly deadline: number;
  readonly subject: string;
  /** The server's INFO at the time of sending: it changes with each connection. */
  readonly info: NatsConnection['info'];
  probed: boolean;
}

interface Probe {
  readonly subject: string;
  readonly info: NatsConnection['info'];
}

const RADIX = 36;
const SWEEP_MS = 250;
const PROBE_AFTER_MS = 1000;
const PROBED_AT_ONCE = 100;

export class AckedPublisher {
  readonly #connection: NatsConnection;
  readonly #timeoutMs: number;
  readonly #prefix: string;
  readonly #acks: ResilientSubscription;
  readonly #unwatchDenials: () => void;
  /** By number; publishes and probes share the counter. */
  readonly #inFlight = new Map<number, InFlight>();
  readonly #probes = new Map<number, Probe>();
  #sweeper: NodeJS.Timeout | undefined;
  #next = 0;

  constructor(connection: NatsConnection, timeoutMs: number) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
    this.#prefix = `${newInbox(connection)}.`;
    this.#acks = subscribeResiliently(connection, `${this.#prefix}>`, (message) => this.#acked(message));
    this.#unwatchDenials = onDenied(connection, (denial) => this.#denied(denial));
  }

  /**
   * Publishes one message and waits for its PubAck.
   *
   * @throws ThroughlineError `unavailable` without a PubAck in time (the message may be stored), `permission_denied`,
   * `too_large`, `store_full`, `config_invalid` if an unexpected stream stored it, `internal` for any other refusal
   */
  publish(
    subject: string,
    data: Uint8Array | string,
    options: AckedPublishOptions = {},
  ): Promise<PubOutcome> {
    return new Promise((resolve, reject) => {
      const { stream } = options;
      const deadline = performance.now() + this.#timeoutMs;
      const { info } = this.#connection;
      this.#next += 1;
      this.#inFlight.set(this.#next, { resolve, reject, subject, stream, deadline, info, probed: false });
      this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS);
      const number = this.#next;
      try {
        const reply = this.#prefix + number.toString(RADIX);
        const head = publishHeaders(subject, options);
        this.#connection.publish(subject, data, head === undefined ? { reply } : { reply, headers: head });
      } catch (cause) {
        this.#take(number);
        reject(notSent(subject, cause, info?.max_payload));
      }
    });
  }

  close(): void {
    this.#unwatchDenials();
    this.#acks.close();
    for (const number of [...this.#inFlight.keys()]) this.#timeOut(number);
  }

  #acked(message: Msg): void {
    const number = Number.parseInt(message.subject.slice(this.#prefix.length), RADIX);
    const probe = this.#probes.get(number);
    if (probe !== undefined) {
      this.#probeAnswered(number, probe, message);
      return;
    }
    const entry = this.#inFlight.get(number);
    if (entry === undefined) return;
    this.#take(number);
    const outcome = outcomeIn(message, entry);
    if (outcome instanceof ThroughlineError) entry.reject(outcome);
    else entry.resolve(outcome);
  }

  /** Rejects denied publishes, and all of them if the inbox is denied: neither would get an answer. */
  #denied({ operation, subject, fault }: Denial): void {
    const deaf = operation === 'subscription' && subject === `${this.#prefix}>`;
    for (const [number, entry] of [...this.#inFlight]) {
      if (deaf || (operation === 'publish' && entry.subject === subject)) {
        this.#take(number);
        entry.reject(fault);
      }
    }
  }

  #take(number: number): InFlight | undefined {
    const entry = this.#inFlight.get(number);
    this.#inFlight.delete(number);
    if (this.#inFlight.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
      this.#probes.clear();
    }
    return entry;
  }

  #sweep(): void {
    const now = performance.now();
    const slow = new Set<string>();
    const slowBefore = now + this.#timeoutMs - Math.min(PROBE_AFTER_MS, this.#timeoutMs / 2);
    for (const [number, entry] of this.#inFlight) {
      if (entry.deadline <= now) this.#timeOut(number);
      else if (entry.deadline > slowBefore || slow.size === PROBED_AT_ONCE) break;
      else if (!entry.probed) {
        entry.probed = true;
        slow.add(entry.subject);
      }
    }
    for (const subject of slow) this.#probe(subject);
  }

  #probe(subject: string): void {
    // In a cluster a slow quorum also delays PubAcks.
    const { info } = this.#connection;
    if (info === undefined || info.cluster !== undefined) return;
    this.#next += 1;
    const number = this.#next;
    this.#probes.set(number, { subject, info });
    try {
      probeStuck(this.#connection, subject, this.#prefix + number.toString(RADIX));
    } catch {
      // The connection is closing: the publishes time out.
    }
  }

  /** A stream handles messages in order, so publishes sent before the probe were not stored. */
  #probeAnswered(number: number, probe: Probe, answer: Msg): void {
    this.#probes.delete(number);
    if (!isStuckAnswer(answer)) return;
    for (const [sent, entry] of [...this.#inFlight]) {
      const { subject, info, reject } = entry;
      if (sent > number || subject !== probe.subject) continue;
      // A connection lost in between may have lost the message but not the probe.
      if (info !== probe.info || info !== this.#connection.info) continue;
      this.#take(sent);
      reject(stuckFault(subject));
    }
  }

  #timeOut(number: number): void {
    const entry = this.#take(number);
    entry?.reject(
      new ThroughlineError('unavailable', `${entry.subject}: no PubAck within ${this.#timeoutMs} ms`),
    );
  }
}

interface PubAckJson {
  readonly stream?: string;
  readonly seq?: number;
  readonly duplicate?: boolean;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

function notSent(subject: string, cause: unknown, limit: number | undefined): ThroughlineError {
  if (cause instanceof NatsError && cause.code === ErrorCode.MaxPayloadExceeded) {
    const why = `${subject}: more than the ${limit} bytes that the server takes`;
    return new ThroughlineError('too_large', why, { cause });
  }
  return new ThroughlineError('unavailable', `cannot publish to ${subject}: the connection is closed`, {
    cause,
    details: { closed: true },
  });
}

function outcomeIn(message: Msg, { subject, stream }: InFlight): PubOutcome | ThroughlineError {
  if (message.headers?.code === 503) return { outcome: 'no_stream' };
  const ack = jsonOf(message.data) as PubAckJson | undefined;
  if (WRONG_SEQUENCE.has(ack?.error?.err_code)) return { outcome: 'wrong_sequence' };
  if (ack?.error !== undefined) {
    const { err_code: code, description: text = 'no reason given' } = ack.error;
    return refusal(`${subject} was not stored`, { code, text });
  }
  if (ack?.seq === undefined)
    return new ThroughlineError('internal', `${subject}: the answer is not a PubAck`);
  if (stream !== undefined && ack.stream !== stream) return takenByAnother(subject, ack.stream ?? '', stream);
  return { outcome: 'stored', sequence: ack.seq, duplicate: ack.duplicate === true };
}

function publishHeaders(subject: string, options: AckedPublishOptions): MsgHdrs | undefined {
  const { messageId, expectedLastOfSubjects } = options;
  const more = Object.entries(options.headers ?? {});
  if (messageId === undefined && expectedLastOfSubjects === undefined && more.length === 0) return undefined;
  const head = headers();
  // To append takes half the time of setting, which first removes what there is.
  if (messageId !== undefined) head.append('Nats-Msg-Id', messageId);
  if (expectedLastOfSubjects !== undefined) {
    head.append('Nats-Expected-Last-Subject-Sequence', String(expectedLastOfSubjects.sequence));
    // Default: its own subject.
    if (expectedLastOfSubjects.subjects !== subject)
      head.append('Nats-Expected-Last-Subject-Sequence-Subject', expectedLastOfSubjects.subjects);
  }
  for (const [name, value] of more) head.append(name, value);
  return head;
}

interface MadeFor {
  readonly subject: string;
  readonly body: Uint8Array | string;
  readonly options: AckedPublishOptions;
  /** Creates the stream; resolves to false if it existed. */
  readonly make: () => Promise<boolean>;
}

/**
 * Publishes; if the stream is missing, creates it and publishes again.
 *
 * The server reports a missing stream only if the subject has no subscriber. With a subscriber the publish times out, as
 * with a slow stream, and the stream is looked up then. Nothing is stored twice, because only a missing stream is retried.
 *
 * @throws ThroughlineError as the publisher, or the error of creating the stream; `unavailable` if it lacks the subject
 */
export async function publishCreating(
  publisher: Pick<AckedPublisher, 'publish'>,
  { subject, body, options, make }: MadeFor,
): Promise<void> {
  try {
    const published = await publisher.publish(subject, body, options);
    if (published.outcome !== 'no_stream') return;
    await make().catch(failedWhile(`making the stream for ${subject}`));
  } catch (error) {
    const mayBeMissing = error instanceof ThroughlineError && error.code === 'unavailable';
    if (!mayBeMissing || error.details?.closed === true) throw error;
    // If the lookup fails too, the first error says more.
    const made = await make().catch(() => false);
    if (!made) throw error;
  }
  const { outcome } = await publisher.publish(subject, body, options);
  if (outcome !== 'stored') throw new ThroughlineError('unavailable', `no stream takes ${subject}`);
}
