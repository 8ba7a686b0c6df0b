import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseDispatchBody } from '../../contracts/dispatch-body.js';
import { ThroughlineError, withRemedy } from '../../contracts/errors.js';
import type { Role } from '../../contracts/kinds.js';
import { cursorOf, readCursor } from '../../contracts/list-limits.js';
import { dispatchMessageId, dispatchSubject, parseDispatchSubject, token } from '../../contracts/names.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { DispatchSource } from '../../engine/ports/dispatch-source.js';
import type { RejectedStore, WholeRejection } from '../../engine/ports/rejected-store.js';
import { rejectionsOf } from '../../memory/session/session-state.js';
import type { Handlers } from '../common/service-shell.js';

/** Answers the tools that list, show, retry and remove rejected results. */
interface RejectedQueriesOptions extends RetryPorts {
  readonly rejected: RejectedStore;
  readonly maxBodyBytes: number;
  readonly maxReplyBytes: () => number;
}

const PLACE = [z.literal('rejected'), z.int().positive()] as const;

export function createRejectedQueries(
  options: RejectedQueriesOptions,
): Handlers<'tool.rejected-list' | 'tool.rejected-show' | 'tool.rejected-retry' | 'tool.rejected-remove'> {
  const { rejected, maxReplyBytes } = options;
  return {
    async 'tool.rejected-list'({ session, role, limit, cursor }) {
      const [, before] = cursor === undefined ? [] : readCursor(cursor, PLACE);
      const page = await rejected.page({
        limit,
        ...(session !== undefined && { session: token(session, 'session') }),
        ...(role !== undefined && { role }),
        ...(before !== undefined && { before }),
      });
      return {
        rejected: page.entries,
        total: page.total,
        ...(page.next !== undefined && { next: cursorOf('rejected', page.next) }),
      };
    },
    async 'tool.rejected-show'({ id, offset }) {
      const { body, retryId: _, ...entry } = await found(rejected, id);
      return { rejected: entry, ...bodyPart(body, offset, maxReplyBytes()) };
    },
    async 'tool.rejected-retry'({ id, ...asked }) {
      const entry = await found(rejected, id);
      const dispatch = await retryRejected(options, id, correction(entry, asked, options.maxBodyBytes));
      return { id, dispatch };
    },
    async 'tool.rejected-remove'({ id }) {
      if (!(await rejected.remove(id))) throw notRejected(id);
      return { id, removed: true };
    },
  };
}

async function found(rejected: RejectedStore, id: number): Promise<WholeRejection> {
  const entry = await rejected.get(id);
  if (entry === undefined) throw notRejected(id);
  return entry;
}

function notRejected(id: number): ThroughlineError {
  const why = `no rejected result has the number ${id}: "throughline result ls" lists their numbers`;
  return new ThroughlineError('not_found', why, { details: { id } });
}

interface Correction {
  readonly role?: Role | undefined;
  readonly body?: string | undefined;
}

/** Returns the corrected result, or nothing if it is retried unchanged. Throws if the correction is not readable either. */
function correction(
  entry: WholeRejection,
  { role = entry.role, body: text }: Correction,
  maxBytes: number,
): { subject: string; body: Uint8Array } | undefined {
  if (role === entry.role && text === undefined) return undefined;
  const { id, session, subject } = entry;
  if (role === undefined || session === undefined)
    throw new ThroughlineError(
      'schema_invalid',
      `the subject of ${id}, ${subject}, names no ${session === undefined ? 'session' : 'role'}: publish the result as a new one, and remove ${id}`,
      { details: { id } },
    );
  const body = text === undefined ? entry.body : new TextEncoder().encode(text);
  const parsed = parseDispatchBody(body, role, maxBytes);
  if (parsed.ok) return { subject: dispatchSubject(session, role), body };
  const { code, reason, fix, meant } = parsed;
  throw new ThroughlineError(
    code,
    withRemedy(`${id} still cannot be read as the result of ${role}: ${reason}`, fix),
    { details: { id, reason, ...(fix && { fix }), ...(meant && { meant }) } },
  );
}

interface BodyPart {
  readonly body: string;
  readonly encoding: 'utf8' | 'base64';
  readonly truncated?: true;
  /** Offset of the rest. */
  readonly next?: number;
}

/** Longest JSON encoding of one byte: `\u0000`. */
const MOST_PER_BYTE = 6;
/** Size of the rest of the reply. */
const AROUND = 16_384;
const MOST_BYTES = 128_000;

/** Returns the body from an offset: as text if all of it is UTF-8, cut between two characters. */
export function bodyPart(whole: Uint8Array, offset: number, maxReplyBytes: number): BodyPart {
  const most = Math.max(64, Math.min(MOST_BYTES, Math.floor((maxReplyBytes - AROUND) / MOST_PER_BYTE)));
  const from = Math.min(offset, whole.length);
  let to = Math.min(whole.length, from + most);
  while (to < whole.length && to > from && isContinuation(whole[to])) to -= 1;
  const part = whole.subarray(from, to);
  const isPart = from > 0 || to < whole.length;
  const text = textOf(whole) === undefined ? undefined : textOf(part);
  return {
    body: text ?? Buffer.from(part).toString('base64'),
    encoding: text === undefined ? 'base64' : 'utf8',
    ...(isPart && { truncated: true as const }),
    ...(to < whole.length && { next: to }),
  };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export interface RetryPorts {
  readonly reader: Pick<SessionReader, 'load'>;
  readonly source: Pick<DispatchSource, 'publish'>;
  readonly rejected: Pick<RejectedStore, 'get' | 'remove'>;
}

/**
 * Publishes a rejected dispatch again, to its own subject, and then removes it from the store.
 *
 * A crash in between leaves it in both. Retrying within the dedupe window of two minutes publishes nothing new; later it is
 * another dispatch with the same result, which counts once.
 *
 * @param corrected replaces body and subject
 * @returns the sequence of the new dispatch
 * @throws ThroughlineError `not_found`, `duplicate` if its session has counted this dispatch, `stored_reply`
 */
export async function retryRejected(
  ports: RetryPorts,
  id: number,
  corrected?: { readonly subject: string; readonly body: Uint8Array },
): Promise<number> {
  const { source, rejected } = ports;
  const entry = await rejected.get(id);
  if (entry === undefined) throw notRejected(id);
  if (entry.code === 'stored_reply')
    throw new ThroughlineError(
      'stored_reply',
      `${id} was not published as a result, and nothing is published: remove it with "throughline result rm ${id}"`,
      { details: { id } },
    );
  const { subject, body } = corrected ?? entry;
  await requireUncounted(ports, entry, subject);
  // A different correction is a different result.
  const retryId = corrected === undefined ? entry.retryId : `${entry.retryId}:${correctionOf(corrected)}`;
  const { sequence } = await source.publish(subject, body, dispatchMessageId(entry.session, retryId));
  await rejected.remove(id);
  return sequence;
}

/** Throws if a result would count twice in its session. */
async function requireUncounted(
  ports: RetryPorts,
  { id, session, sequence }: WholeRejection,
  subject: string,
): Promise<void> {
  if (session === undefined || parseDispatchSubject(subject).session !== session) return;
  const { state } = (await ports.reader.load(session)).folded;
  const isRejected = rejectionsOf(state).some((each) => each.sequence === sequence);
  if (isRejected || !state.dispatches.has(sequence)) return;
  throw new ThroughlineError(
    'duplicate',
    `${id} has counted as dispatch ${sequence} of session ${session}, and nothing was published: remove it with "throughline result rm ${id}"`,
    { details: { id, dispatch: sequence } },
  );
}

function correctionOf({ subject, body }: { readonly subject: string; readonly body: Uint8Array }): string {
  return createHash('sha256').update(`${subject}\n`).update(body).digest('hex');
}
