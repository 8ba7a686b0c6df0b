import { ErrorCode, headers, type Msg, type MsgHdrs, type NatsConnection, NatsError } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { newInbox } from '../connection/connect-nats.js';
import { type Denial, onDenied } from '../connection/denials.js';
import { type KeptSubscription, keepSubscribed } from '../connection/kept-subscription.js';
import { API, refusal, takenByAnother } from '../connection/nats-errors.js';
import { plainSequence } from './plain-pub-ack.js';
import { askWhetherStuck, isStuckAnswer, stuckFault } from './stuck-stream.js';

/**
 * Publishes to JetStream with many publishes in flight: all PubAcks come to one inbox of our own and are matched by
 * its last token. The client's own `js.publish` goes through its request machinery, which costs four times as much.
 *
 * One timer serves all publishes: each has the same deadline, so they time out in the order in which they were sent.
 */
export interface AckedPublishOptions {
  readonly messageId?: string;
  readonly expectedLastSequence?: number;
  /** The last sequence among some of the stream's subjects. */
  readonly expectedLastOfSubjects?: { readonly sequence: number; readonly subjects: string };
  readonly headers?: Readonly<Record<string, string>>;
  /** The stream that must have stored it: any other one with the subject would acknowledge it just as well. */
  readonly stream?: string;
}

export type PubOutcome =
  | { readonly outcome: 'stored'; readonly sequence: number; readonly duplicate: boolean }
  /** What was expected was not the last sequence. */
  | { readonly outcome: 'wrong_sequence' }
  /** No stream takes this subject. */
  | { readonly outcome: 'no_stream' };

interface InFlight {
  readonly resolve: (outcome: PubOutcome) => void;
  readonly reject: (error: ThroughlineError) => void;
  readonly deadline: number;
  readonly subject: string;
  readonly stream: string | undefined;
  /** What the server had said of itself when it was sent: with each connection it says so again. */
  readonly info: NatsConnection['info'];
  /** Whether its stream was asked. */
  asked: boolean;
}

interface Question {
  readonly subject: string;
  readonly info: NatsConnection['info'];
}

interface PubAckJson {
  readonly stream?: string;
  readonly seq?: number;
  readonly duplicate?: boolean;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

/** Of the numbers in reply subjects. */
const RADIX = 36;
const SWEEP_MS = 250;
/** How long a PubAck may take until we ask whether the stream stores anything. */
const ASK_AFTER_MS = 1000;
/** Subjects that are asked about in one sweep. */
const ASKED_AT_ONCE = 100;

export class AckedPublisher {
  readonly #connection: NatsConnection;
  readonly #timeoutMs: number;
  readonly #prefix: string;
  readonly #acks: KeptSubscription;
  readonly #listening: () => void;
  /** By their numbers, which are counted over publishes and questions. */
  readonly #inFlight = new Map<number, InFlight>();
  readonly #questions = new Map<number, Question>();
  #sweeper: NodeJS.Timeout | undefined;
  #next = 0;

  constructor(connection: NatsConnection, timeoutMs: number) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
    this.#prefix = `${newInbox(connection)}.`;
    this.#acks = keepSubscribed(connection, `${this.#prefix}*`, (message) => this.#acked(message));
    this.#listening = onDenied(connection, (denial) => this.#denied(denial));
  }

  /**
   * Publishes one message and waits for its PubAck.
   *
   * @throws ThroughlineError `unavailable` without an answer in time (the message may still be stored),
   * `permission_denied` when the user may not, `too_large` for more than the server takes, `store_full` where it has no
   * room, `config_invalid` when another stream than the expected one stored it, and `internal` for any other refusal
   */
  publish(
    subject: string,
    data: Uint8Array | string,
    options: AckedPublishOptions = {},
  ): Promise<PubOutcome> {
    return new Promise((resolve, reject) => {
      this.#next += 1;
      const number = this.#next;
      const deadline = performance.now() + this.#timeoutMs;
      const { info } = this.#connection;
      const { stream } = options;
      this.#inFlight.set(number, { resolve, reject, deadline, subject, stream, info, asked: false });
      this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS);
      try {
        const reply = this.#prefix + tokenOf(number);
        const head = publishHeaders(options);
        this.#connection.publish(subject, data, head === undefined ? { reply } : { reply, headers: head });
      } catch (cause) {
        this.#take(number);
        reject(notSent(subject, cause, this.#connection.info?.max_payload));
      }
    });
  }

  /** Gives up what is in flight and stops listening. */
  close(): void {
    this.#listening();
    this.#acks.close();
    for (const number of [...this.#inFlight.keys()]) this.#timeOut(number);
  }

  #acked(message: Msg): void {
    const number = Number.parseInt(message.subject.slice(this.#prefix.length), RADIX);
    const question = this.#questions.get(number);
    if (question !== undefined) {
      this.#answered(number, question, message);
      return;
    }
    const entry = this.#take(number);
    if (entry === undefined) return;
    const outcome = outcomeOf(message, entry);
    if (outcome instanceof ThroughlineError) entry.reject(outcome);
    else entry.resolve(outcome);
  }

  /** A publish that is not permitted gets no answer; nor does any, where the acks may not be listened to. */
  #denied({ operation, subject, fault }: Denial): void {
    const deaf = operation === 'subscription' && subject === `${this.#prefix}*`;
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
      this.#questions.clear();
    }
    return entry;
  }

  #sweep(): void {
    const now = performance.now();
    const slow = new Set<string>();
    const slowBefore = now + this.#timeoutMs - Math.min(ASK_AFTER_MS, this.#timeoutMs / 2);
    for (const [number, entry] of this.#inFlight) {
      if (entry.deadline <= now) this.#timeOut(number);
      else if (entry.deadline > slowBefore || slow.size === ASKED_AT_ONCE) break;
      else if (!entry.asked) {
        entry.asked = true;
        slow.add(entry.subject);
      }
    }
    for (const subject of slow) this.#ask(subject);
  }

  #ask(subject: string): void {
    // In a cluster a stream may answer for long before its servers agree on what is stored.
    const { info } = this.#connection;
    if (info === undefined || info.cluster !== undefined) return;
    this.#next += 1;
    const number = this.#next;
    this.#questions.set(number, { subject, info });
    try {
      askWhetherStuck(this.#connection, subject, this.#prefix + tokenOf(number));
    } catch {
      // The connection is closing: the publishes end by their deadline.
    }
  }

  /** A stream deals with messages in the order in which they come: what was sent before is not stored. */
  #answered(number: number, question: Question, answer: Msg): void {
    this.#questions.delete(number);
    if (!isStuckAnswer(answer)) return;
    for (const [each, { subject, info, reject }] of [...this.#inFlight]) {
      if (each > number || subject !== question.subject) continue;
      // A connection that was lost in between may have lost the message, and the question not.
      if (info !== question.info || info !== this.#connection.info) continue;
      this.#take(each);
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

function tokenOf(number: number): string {
  return number.toString(RADIX);
}

function notSent(subject: string, cause: unknown, limit: number | undefined): ThroughlineError {
  if (cause instanceof NatsError && cause.code === ErrorCode.MaxPayloadExceeded) {
    return new ThroughlineError(
      'too_large',
      `${subject}: more than the ${limit} bytes that the server takes`,
      {
        cause,
      },
    );
  }
  return new ThroughlineError('unavailable', `cannot publish to ${subject}: the connection is closed`, {
    cause,
    details: { closed: true },
  });
}

function outcomeOf(message: Msg, { subject, stream }: InFlight): PubOutcome | ThroughlineError {
  const plain = stream === undefined ? undefined : plainSequence(message.data, stream);
  if (plain !== undefined) return { outcome: 'stored', sequence: plain, duplicate: false };
  if (message.headers?.code === 503) return { outcome: 'no_stream' };
  const ack = parseAck(message);
  if (ack?.error?.err_code === API.wrongLastSequence) return { outcome: 'wrong_sequence' };
  if (ack?.error !== undefined) {
    const { err_code: code, description: text = 'no reason given' } = ack.error;
    return refusal(`${subject} was not stored`, { code, text });
  }
  if (ack?.seq === undefined)
    return new ThroughlineError('internal', `${subject}: the answer is not a PubAck`);
  if (stream !== undefined && ack.stream !== stream) return takenByAnother(subject, ack.stream ?? '', stream);
  return { outcome: 'stored', sequence: ack.seq, duplicate: ack.duplicate === true };
}

function parseAck(message: Msg): PubAckJson | undefined {
  try {
    return message.json<PubAckJson>();
  } catch {
    return undefined;
  }
}

/** What may stand in a header as it is. */
const IN_A_HEADER = /^[!-~]+$/;

/**
 * The header of most publishes. The client's own takes much longer to make. Of `MsgHdrs` the client calls `encode` alone, which
 * its type does not have.
 */
function idAlone(messageId: string): MsgHdrs {
  const head = { encode: () => Buffer.from(`NATS/1.0\r\nNats-Msg-Id: ${messageId}\r\n\r\n`, 'latin1') };
  return head as unknown as MsgHdrs;
}

function publishHeaders(options: AckedPublishOptions): MsgHdrs | undefined {
  const { messageId, expectedLastSequence, expectedLastOfSubjects, headers: more } = options;
  const expects = expectedLastSequence !== undefined || expectedLastOfSubjects !== undefined;
  if (!expects && more === undefined) {
    if (messageId === undefined) return undefined;
    if (IN_A_HEADER.test(messageId)) return idAlone(messageId);
  }
  const head = headers();
  if (messageId !== undefined) head.set('Nats-Msg-Id', messageId);
  if (expectedLastSequence !== undefined)
    head.set('Nats-Expected-Last-Sequence', String(expectedLastSequence));
  if (expectedLastOfSubjects !== undefined) {
    head.set('Nats-Expected-Last-Subject-Sequence', String(expectedLastOfSubjects.sequence));
    head.set('Nats-Expected-Last-Subject-Sequence-Subject', expectedLastOfSubjects.subjects);
  }
  for (const [name, value] of Object.entries(more ?? {})) head.set(name, value);
  return head;
}
