import { randomUUID } from 'node:crypto';
import { headers as newHeaders } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { isRole } from '../../contracts/kinds.js';
import {
  DISPATCH_STREAM,
  DISPATCH_SUBJECTS,
  HEADERS,
  isToken,
  REJECTED_STREAM,
  rejectedSubject,
  rejectedSubjects,
} from '../../contracts/names.js';
import type { RejectedEntry, RejectedStore } from '../../engine/ports/dispatch-source.js';
import { defined } from '../../shared/collections.js';
import { clipText, oneLine } from '../../shared/text.js';
import { maxPayload } from '../connection/connect-nats.js';
import { failedWhile } from '../connection/failed-while.js';
import { publishCreating } from '../jetstream/acked-publisher.js';
import { readStream, type StreamMessage } from '../jetstream/direct-get.js';
import { newestPage } from '../jetstream/newest-page.js';
import { ensureRejectedStream, type StorePorts } from '../jetstream/topology.js';

/** Size of subject and headers. */
const HEADER_ROOM = 8192;
const MAX_REASON = 500;

/**
 * Rejected dispatches in the stream `DISPATCH_REJECTED`: the body as it was, the reason in headers. Of a body that does not fit
 * one message together with its reason the beginning is stored, and the rest is read from `DISPATCH`.
 */
export function rejectedStore(ports: StorePorts): RejectedStore {
  const { connection, jsm, publisher, timeoutMs } = ports;

  async function messageAt(stream: string, sequence: number): Promise<StreamMessage | undefined> {
    if (sequence <= 0) return undefined;
    const range = { from: sequence, through: sequence };
    const reading = readStream({ connection, stream, timeoutMs }, '>', range);
    return (await reading.catch(failedWhile(`reading message ${sequence} of ${stream}`)))[0];
  }

  return {
    async put(rejected) {
      const { session, role, sequence, at, body, fix, meant } = rejected;
      const limit = maxPayload(connection);
      const stored = body.subarray(0, Math.max(limit - HEADER_ROOM, Math.floor(limit / 2)));
      const subject = rejectedSubject(session, role);
      const options = {
        stream: REJECTED_STREAM,
        // With the arrival time, which is equal for each delivery: a stream that was created again counts from 1.
        messageId: `rejected:${sequence}:${at}`,
        headers: {
          [HEADERS.errorCode]: rejected.code,
          [HEADERS.errorReason]: headerText(rejected.reason),
          ...defined({ [HEADERS.errorFix]: fix && headerText(fix), [HEADERS.errorMeant]: meant }),
          [HEADERS.dispatchSequence]: String(sequence),
          [HEADERS.dispatchSubject]: headerText(rejected.subject),
          [HEADERS.dispatchTime]: at,
          ...(stored.length < body.length && { [HEADERS.dispatchBytes]: String(body.length) }),
          [HEADERS.retryId]: randomUUID(),
        },
      };
      const make = () => ensureRejectedStream(jsm, ports);
      await publishCreating(publisher, { subject, body: stored, options, make });
    },

    async page({ session, role, before, limit }) {
      const filter = rejectedSubjects(session, role);
      const query = { connection, stream: REJECTED_STREAM, timeoutMs, filter, before, limit };
      const reading = newestPage(query).catch(failedWhile('reading rejected dispatches'));
      const { messages, total, next } = await reading;
      return defined({ entries: messages.map(describe), total, next });
    },

    async get(id) {
      const stored = await messageAt(REJECTED_STREAM, id);
      if (stored === undefined) return undefined;
      const entry = describe(stored);
      const retryId = stored.headers?.get(HEADERS.retryId) ?? '';
      if (stored.data.length === entry.bytes) return { ...entry, body: stored.data, retryId };
      const whole = await messageAt(DISPATCH_STREAM, entry.sequence);
      // The numbers of a stream that was created again are others.
      if (whole !== undefined && timeOf(whole) === entry.at) return { ...entry, body: whole.data, retryId };
      throw new ThroughlineError(
        'not_found',
        `the rest of rejected dispatch ${id} is gone: ${DISPATCH_STREAM} does not hold ${entry.sequence} any more`,
      );
    },

    async remove(id) {
      if ((await messageAt(REJECTED_STREAM, id)) === undefined) return false;
      // Secure delete: it may be removed because of its content.
      await jsm.streams.deleteMessage(REJECTED_STREAM, id, true);
      return true;
    },
  };
}

function timeOf({ headers }: StreamMessage): string {
  return new Date(headers?.last('Nats-Time-Stamp') ?? 0).toISOString();
}

function describe(message: StreamMessage): RejectedEntry {
  const { sequence: id, subject, data, headers = newHeaders() } = message;
  const [, session, role] = subject.split('.');
  const publishedBy = {
    ...(session !== '_' && isToken(session) && { session }),
    ...(isRole(role) && { role }),
  };
  const reason = foreignIn(message);
  if (reason !== undefined) {
    const fields = { subject: headerText(subject), sequence: 0, at: timeOf(message), code: 'stored_reply' };
    return { id, bytes: data.length, ...publishedBy, ...fields, reason };
  }
  const fix = headers.get(HEADERS.errorFix);
  const meant = headers.get(HEADERS.errorMeant);
  return {
    id,
    bytes: Number(headers.get(HEADERS.dispatchBytes) || data.length),
    ...publishedBy,
    subject: headers.get(HEADERS.dispatchSubject),
    sequence: Number(headers.get(HEADERS.dispatchSequence)),
    at: headers.get(HEADERS.dispatchTime),
    code: headers.get(HEADERS.errorCode),
    reason: headers.get(HEADERS.errorReason),
    ...(fix !== '' && { fix }),
    ...(isRole(meant) && { meant }),
  };
}

const DISPATCHES = DISPATCH_SUBJECTS.slice(0, -1);

/** Describes a message that nobody rejected. */
function foreignIn({ headers, foreign }: StreamMessage): string | undefined {
  if (foreign !== undefined) return `${foreign}, stored here as the reply to a request`;
  const isRejection =
    headers?.get(HEADERS.dispatchSubject).startsWith(DISPATCHES) &&
    Number.isSafeInteger(Number(headers.get(HEADERS.dispatchSequence) || Number.NaN)) &&
    headers.has(HEADERS.errorCode);
  return isRejection
    ? undefined
    : 'not a rejected result: the reply to a request, or published by someone else';
}

function headerText(text: string): string {
  return clipText(oneLine(text), MAX_REASON);
}
