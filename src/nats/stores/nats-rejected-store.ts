import { randomUUID } from 'node:crypto';
import { type MsgHdrs, headers as newHeaders, type StoredMsg } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { isRole } from '../../contracts/kinds.js';
import {
  DISPATCH_SUBJECTS,
  HEADERS,
  isToken,
  REJECTED_STREAM,
  rejectedSubject,
  rejectedSubjects,
} from '../../contracts/names.js';
import type {
  RejectedEntry,
  RejectedPage,
  RejectedPageAsked,
  RejectedStore,
  Rejection,
  WholeRejection,
} from '../../engine/ports/rejected-store.js';
import { clipText, oneLine } from '../../shared/text.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { publishCreating } from '../jetstream/acked-publisher.js';
import type { StreamMessage } from '../jetstream/direct-get.js';
import { firstMessage, newestPage } from '../jetstream/newest-page.js';
import { foreignBy } from '../jetstream/stored-replies.js';
import { ensureRejectedStream, type StorePorts } from '../jetstream/topology.js';

/** Size of subject and headers: a body of the largest size does not fit one message together with its rejection. */
const HEADER_ROOM = 8192;
const MAX_REASON = 500;
/** Used if the server does not announce its maximum payload. */
const USUAL_PAYLOAD = 1024 * 1024;

/**
 * Rejected dispatches in the stream `DISPATCH_REJECTED`: the body as it was, the reason in headers. A body that does not fit one
 * message is stored in numbered parts.
 */
export class NatsRejectedStore implements RejectedStore {
  readonly #ports: StorePorts;

  constructor(ports: StorePorts) {
    this.#ports = ports;
  }

  async put(rejected: Rejection): Promise<void> {
    const limit = this.#maxPayload;
    const room = Math.max(limit - HEADER_ROOM, Math.floor(limit / 2));
    const parts = Math.max(1, Math.ceil(rejected.body.length / room));
    for (let part = 1; part <= parts; part += 1) {
      await this.#putPart(rejected, rejected.body.subarray((part - 1) * room, part * room), part, parts);
    }
  }

  async page({ session, role, before, limit }: RejectedPageAsked): Promise<RejectedPage> {
    const filter = rejectedSubjects(session, role);
    const asked = { stream: REJECTED_STREAM, filter, before, limit };
    try {
      const found = await newestPage(this.#ports.connection, asked, this.#ports.timeoutMs);
      const entries = [];
      for (const each of found.messages.map(readDirectly).filter(isFirst))
        entries.push(describe(each, sizeOf(await this.#parts(each))));
      return { entries, total: found.total, ...(found.next !== undefined && { next: found.next }) };
    } catch (error) {
      throw toThroughlineError(error, 'reading rejected dispatches');
    }
  }

  async get(id: number): Promise<WholeRejection | undefined> {
    const first = await this.#first(id);
    if (first === undefined) return undefined;
    const parts = await this.#parts(first);
    const body = Buffer.concat(parts.map((part) => part.data));
    return { ...describe(first, body.length), body, retryId: first.header.get(HEADERS.retryId) };
  }

  async remove(id: number): Promise<boolean> {
    const first = await this.#first(id);
    if (first === undefined) return false;
    // Secure delete: it may be removed because of its content.
    for (const part of await this.#parts(first))
      await this.#ports.jsm.streams.deleteMessage(REJECTED_STREAM, part.seq, true);
    return true;
  }

  get #maxPayload(): number {
    return this.#ports.connection.info?.max_payload ?? USUAL_PAYLOAD;
  }

  async #putPart(rejected: Rejection, body: Uint8Array, part: number, parts: number): Promise<void> {
    const { session, role, sequence, at } = rejected;
    const subject = rejectedSubject(session, role);
    const options = {
      stream: REJECTED_STREAM,
      // With the arrival time, which is equal for each delivery: a stream that was created again counts from 1.
      messageId: `rejected:${sequence}:${part}:${at}`,
      headers: {
        [HEADERS.errorCode]: rejected.code,
        [HEADERS.errorReason]: headerText(rejected.reason),
        ...(rejected.fix !== undefined && { [HEADERS.errorFix]: headerText(rejected.fix) }),
        ...(rejected.meant !== undefined && { [HEADERS.errorMeant]: rejected.meant }),
        [HEADERS.dispatchSequence]: String(sequence),
        [HEADERS.dispatchSubject]: headerText(rejected.subject),
        [HEADERS.dispatchTime]: at,
        [HEADERS.retryId]: randomUUID(),
        ...(parts > 1 && { [HEADERS.part]: String(part), [HEADERS.parts]: String(parts) }),
      },
    };
    const make = () => ensureRejectedStream(this.#ports.jsm, this.#ports);
    const published = await publishCreating(this.#ports.publisher, { subject, body, options, make });
    if (published.outcome !== 'stored') {
      throw new ThroughlineError(
        'unavailable',
        `stream ${REJECTED_STREAM} has no subject for rejected dispatches`,
      );
    }
  }

  /** Returns all parts of a rejection, in order; other rejections may lie in between. */
  async #parts(first: Stored): Promise<Stored[]> {
    const found = [first];
    const wanted = partsOf(first);
    for (let from = first.seq + 1; found.length < wanted; ) {
      const next = await firstMessage(this.#ports.jsm, REJECTED_STREAM, first.subject, from);
      if (next === undefined) break;
      from = next.seq + 1;
      const part = readStored(next);
      if (isPart(part, found.length + 1, first)) found.push(part);
    }
    return found;
  }

  /** Returns the first part of a rejection; `undefined` for any other message. */
  async #first(id: number): Promise<Stored | undefined> {
    const message = id > 0 ? await this.#message(id) : undefined;
    return message && isFirst(message) ? message : undefined;
  }

  async #message(id: number): Promise<Stored | undefined> {
    const asked = this.#ports.jsm.streams.getMessage(REJECTED_STREAM, { seq: id });
    const message = await ifExists(asked, `reading rejected dispatch ${id}`);
    return message && readStored(message);
  }
}

function isRejection(header: MsgHdrs): boolean {
  return (
    header.get(HEADERS.dispatchSubject).startsWith(DISPATCHES) &&
    Number.isSafeInteger(Number(header.get(HEADERS.dispatchSequence) || Number.NaN)) &&
    header.has(HEADERS.errorCode)
  );
}

interface Stored extends Pick<StoredMsg, 'header' | 'seq' | 'subject' | 'data'> {
  readonly at: string;
  /** Describes a message that nobody rejected. */
  readonly foreign?: string;
}

function storedOf(message: Omit<Stored, 'foreign'>, foreign: string | undefined): Stored {
  if (foreign !== undefined)
    return { ...message, foreign: `${foreign}, stored here as the reply to a request` };
  if (isRejection(message.header)) return message;
  return {
    ...message,
    foreign: 'not a rejected result: the reply to a request, or published by someone else',
  };
}

function readStored({ seq, subject, data, header, time }: StoredMsg): Stored {
  return storedOf({ seq, subject, data, header, at: time.toISOString() }, foreignBy(header, 'as_stored'));
}

function sizeOf(parts: readonly Stored[]): number {
  return parts.reduce((sum, { data }) => sum + data.length, 0);
}

function readDirectly({ headers = newHeaders(), sequence, subject, data, foreign }: StreamMessage): Stored {
  return storedOf(
    { header: headers, seq: sequence, subject, data, at: headers.last('Nats-Time-Stamp') },
    foreign,
  );
}

function isFirst({ header, foreign }: Stored): boolean {
  return foreign !== undefined || partOf(header) === 1;
}

function partsOf({ header, foreign }: Stored): number {
  return foreign === undefined ? Number(header.get(HEADERS.parts) || 1) : 1;
}

function isPart({ header, foreign }: Stored, part: number, first: Stored): boolean {
  return foreign === undefined && dispatchOf(header) === dispatchOf(first.header) && partOf(header) === part;
}

const DISPATCHES = DISPATCH_SUBJECTS.slice(0, -1);

function describe(message: Stored, bytes: number): RejectedEntry {
  const { header, seq, subject, at, foreign } = message;
  if (foreign !== undefined) {
    const own = { subject: headerText(subject), sequence: 0, at, code: 'stored_reply', reason: foreign };
    return { id: seq, bytes, ...publishedBy(message), ...own };
  }
  const fix = header.get(HEADERS.errorFix);
  const meant = header.get(HEADERS.errorMeant);
  return {
    id: seq,
    bytes,
    ...publishedBy(message),
    subject: header.get(HEADERS.dispatchSubject),
    sequence: Number(header.get(HEADERS.dispatchSequence)),
    at: header.get(HEADERS.dispatchTime),
    code: header.get(HEADERS.errorCode),
    reason: header.get(HEADERS.errorReason),
    ...(fix !== '' && { fix }),
    ...(isRole(meant) && { meant }),
  };
}

/** Returns the publisher's session and role according to the subject. */
function publishedBy({ subject }: Stored): Pick<RejectedEntry, 'session' | 'role'> {
  const [, session, role] = subject.split('.');
  return {
    ...(session !== '_' && isToken(session) && { session }),
    ...(isRole(role) && { role }),
  };
}

/** Identifies a dispatch; the time distinguishes those of a stream that was created again. */
function dispatchOf(header: MsgHdrs): string {
  return `${header.get(HEADERS.dispatchSequence)} ${header.get(HEADERS.dispatchTime)}`;
}

function partOf(header: MsgHdrs): number {
  return Number(header.get(HEADERS.part) || 1);
}

/** Headers are single lines. */
function headerText(text: string): string {
  return clipText(oneLine(text), MAX_REASON);
}
