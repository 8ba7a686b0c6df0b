import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { cursorOf, readCursor } from '../../contracts/checked.js';
import { parseDispatchBody } from '../../contracts/dispatch-body.js';
import { ThroughlineError, withRemedy } from '../../contracts/errors.js';
import type { Role } from '../../contracts/kinds.js';
import { dispatchMessageId, dispatchSubject, parseDispatchSubject, token } from '../../contracts/names.js';
import type { ToolReply } from '../../contracts/requests.js';
import type { DispatchResult } from '../../contracts/result-requests.js';
import type { SessionEvent } from '../../contracts/session-events.js';
import { caughtUp } from '../../engine/folding/caught-up.js';
import type { RejectedStore, WholeRejection } from '../../engine/ports/dispatch-source.js';
import { factsOfEvent } from '../../memory/facts/statements.js';
import { factsOf, rejectionsOf, type SessionState } from '../../memory/session/session-state.js';
import { defined } from '../../shared/collections.js';
import type { ToolPorts } from '../common/service-context.js';
import type { Handlers, Values } from '../common/service-shell.js';

/** Answers `dispatch-show`: waits until the session has folded a dispatch, then shows its event. */
export function createDispatchResults({
  reader,
  log,
  waiters,
  afterTimeoutMs,
}: Pick<ToolPorts, 'reader' | 'log' | 'waiters' | 'afterTimeoutMs'>) {
  return async ({ session, dispatch, timeoutMs }: Values<'tool.dispatch-show'>): Promise<DispatchResult> => {
    const waitMs = Math.min(afterTimeoutMs, timeoutMs ?? Number.POSITIVE_INFINITY);
    const { state } = (await caughtUp({ reader, log, waiters }, session, dispatch, waitMs)).folded;
    const { sequence } = state;
    const isIt = ({ sequence }: { readonly sequence: number }) => sequence === dispatch;
    const event =
      state.dispatches.recent().find(isIt)?.event ??
      rejectionsOf(state).find(isIt)?.event ??
      factsOf(state)
        .all()
        .find(({ sourceSequence }) => sourceSequence === dispatch)?.eventSequence;
    if (event === undefined) return { dispatch, sequence, status: 'counted' };
    const repeats = isRepetition(state, dispatch);
    const { events } = await log.read(session, { after: event - 1, through: event });
    return { dispatch, sequence, ...resultIn(dispatch, events[0]?.event, repeats) };
  };
}

/** Returns true if an earlier dispatch with the same result counted; known until the dispatch is settled. */
function isRepetition({ dispatches }: SessionState, sequence: number): boolean {
  const recorded = dispatches.recent().filter((entry) => entry.kind === 'recorded');
  const key = recorded.find((entry) => entry.sequence === sequence)?.result;
  if (key === undefined) return false;
  const isEarlier = recorded.some((entry) => entry.sequence < sequence && entry.result === key);
  return isEarlier || dispatches.settled().results.has(key);
}

type Bare<Result> = Result extends DispatchResult ? Omit<Result, 'dispatch' | 'sequence'> : never;

function resultIn(sequence: number, event: SessionEvent | undefined, repeats: boolean): Bare<DispatchResult> {
  if (event?.type === 'fact.recorded' && event.data.dispatch.sequence === sequence) {
    const { dispatch, repairs } = event.data;
    const { facts_omitted: factsOmitted, repairs_omitted: repairsOmitted } = event.data;
    const { role, task } = dispatch;
    if (repeats) return { status: 'repeated', role, task };
    const facts = factsOfEvent(event);
    return { status: 'recorded', role, task, facts, ...defined({ factsOmitted, repairs, repairsOmitted }) };
  }
  if (event?.type === 'dispatch.rejected' && event.data.dispatch.sequence === sequence) {
    const { role, task } = event.data.dispatch;
    return { status: 'rejected', ...defined({ role, task, ...event.data.error }) };
  }
  // The log was replaced meanwhile.
  return { status: 'counted' };
}

const PLACE = [z.literal('rejected'), z.int().positive()] as const;

export function createRejectedQueries(
  options: Pick<ToolPorts, 'rejected' | 'reader' | 'source' | 'maxBodyBytes' | 'maxReplyBytes'>,
): Handlers<'tool.rejected-list' | 'tool.rejected-show' | 'tool.rejected-retry' | 'tool.rejected-remove'> {
  const { rejected, maxReplyBytes } = options;
  return {
    async 'tool.rejected-list'({ session, role, limit, cursor }) {
      const [, before] = cursor === undefined ? [] : readCursor(cursor, PLACE);
      const of = session === undefined ? undefined : token(session, 'session');
      const { entries, total, next } = await rejected.page(defined({ limit, session: of, role, before }));
      const more = next === undefined ? next : cursorOf('rejected', next);
      return defined({ rejected: entries, total, next: more });
    },
    async 'tool.rejected-show'({ id }) {
      const { body, retryId: _, ...entry } = await found(rejected, id);
      return { rejected: entry, ...shownBody(body, maxReplyBytes()) };
    },
    async 'tool.rejected-retry'({ id, ...changes }) {
      return { id, dispatch: await retryRejected(options, id, changes) };
    },
    async 'tool.rejected-remove'({ id }) {
      if (!(await rejected.remove(id))) throw notRejected(id);
      return { id, removed: true };
    },
  };
}

async function found(rejected: Pick<RejectedStore, 'get'>, id: number): Promise<WholeRejection> {
  const entry = await rejected.get(id);
  if (entry === undefined) throw notRejected(id);
  return entry;
}

function notRejected(id: number): ThroughlineError {
  const shows = `"throughline result show ${id} -s SESSION" shows a result that counted`;
  const why = `no rejected result has the number ${id}: "throughline result ls" lists their numbers; ${shows}`;
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
  maxBytes = Number.POSITIVE_INFINITY,
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
    { details: defined({ id, reason, fix, meant }) },
  );
}

/** Size of the rest of the reply. */
const AROUND = 16_384;

/** Returns the body: as text if it is UTF-8 and fits a reply as JSON, else in base64, of a large one the beginning. */
export function shownBody(
  whole: Uint8Array,
  maxReplyBytes: number,
): Omit<ToolReply<'rejected-show'>, 'rejected'> {
  const most = maxReplyBytes - AROUND;
  const text = isUtf8(whole) ? Buffer.from(whole).toString('utf8') : undefined;
  if (text !== undefined && Buffer.byteLength(JSON.stringify(text)) <= most)
    return { body: text, encoding: 'utf8' };
  const part = Buffer.from(whole.subarray(0, Math.floor(most / 4) * 3));
  const isPart = part.length < whole.length;
  return { body: part.toString('base64'), encoding: 'base64', ...(isPart && { truncated: true }) };
}

type RetryPorts = Pick<ToolPorts, 'source' | 'reader' | 'rejected'> &
  Partial<Pick<ToolPorts, 'maxBodyBytes'>>;

/**
 * Publishes a rejected dispatch again, to its own subject, and then removes it from the store.
 *
 * A crash in between leaves it in both. Retrying within the dedupe window of two minutes publishes nothing new; later it is
 * another dispatch with the same result, which counts once.
 *
 * @param changes the corrected body or role
 * @returns the sequence of the new dispatch
 * @throws ThroughlineError `not_found`, `duplicate` if its session has counted this dispatch, `stored_reply`
 */
export async function retryRejected(
  ports: RetryPorts,
  id: number,
  changes: Correction = {},
): Promise<number> {
  const { source, rejected } = ports;
  const entry = await found(rejected, id);
  if (entry.code === 'stored_reply')
    throw new ThroughlineError(
      'stored_reply',
      `${id} was not published as a result, and nothing is published: remove it with "throughline result rm ${id}"`,
      { details: { id } },
    );
  const corrected = correction(entry, changes, ports.maxBodyBytes);
  const { subject, body } = corrected ?? entry;
  await requireUncounted(ports, entry, subject);
  // A different correction is a different result.
  const hash = createHash('sha256').update(`${subject}\n`).update(body).digest('hex');
  const retryId = corrected === undefined ? entry.retryId : `${entry.retryId}:${hash}`;
  const { sequence } = await source.publish(subject, body, dispatchMessageId(entry.session, retryId));
  await rejected.remove(id);
  return sequence;
}

async function requireUncounted(
  ports: RetryPorts,
  { id, session, sequence }: WholeRejection,
  subject: string,
): Promise<void> {
  if (session === undefined || parseDispatchSubject(subject).session !== session) return;
  const { state } = (await ports.reader.load(session)).folded;
  const isRejected = rejectionsOf(state).some((rejection) => rejection.sequence === sequence);
  if (isRejected || !state.dispatches.has(sequence)) return;
  throw new ThroughlineError(
    'duplicate',
    `${id} has counted as result ${sequence} of session ${session}, and nothing was published: remove it with "throughline result rm ${id}"`,
    { details: { id, dispatch: sequence } },
  );
}
