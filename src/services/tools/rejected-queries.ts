import { z } from 'zod';
import { checkedRequest } from '../../contracts/checked.js';
import { parseDispatchBody } from '../../contracts/dispatch-body.js';
import { ThroughlineError, withRemedy } from '../../contracts/errors.js';
import { dispatchSubject, token } from '../../contracts/names.js';
import { cursorOf, readCursor } from '../../contracts/page-cursor.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { TOOLS } from '../../contracts/tool-requests.js';
import type { RejectedEntry, RejectedStore, WholeRejection } from '../../ports/rejected-store.js';
import { type RetryPorts, retryRejected } from '../extractor/retry-rejected.js';
import { bodyPart } from './body-part.js';

/** Answers the tools that look at rejected results, publish them again, and remove them. */
export interface RejectedQueriesOptions extends RetryPorts {
  readonly rejected: RejectedStore;
  /** Bytes of the largest body that can be read. */
  readonly maxBodyBytes: number;
  /** Bytes of the largest reply. */
  readonly maxReplyBytes: () => number;
}

type Answers = {
  readonly [Name in 'rejected-list' | 'rejected-show' | 'rejected-retry' | 'rejected-remove']: (
    request: unknown,
  ) => Promise<ToolReply<Name>>;
};

const PLACE = [z.literal('rejected'), z.int().positive()] as const;

export function createRejectedQueries(options: RejectedQueriesOptions): Answers {
  const { rejected, maxReplyBytes } = options;
  return {
    async 'rejected-list'(request) {
      const { session, role, limit, cursor } = checkedRequest(TOOLS['rejected-list'].request, request);
      const [, before] = cursor === undefined ? [] : readCursor(cursor, PLACE);
      const page = await rejected.page({
        limit,
        ...(session !== undefined && { session: token(session, 'session') }),
        ...(role !== undefined && { role }),
        ...(before !== undefined && { before }),
      });
      return {
        rejected: page.entries.map(shownOf),
        total: page.total,
        ...(page.next !== undefined && { next: cursorOf('rejected', page.next) }),
      };
    },
    async 'rejected-show'(request) {
      const { id, offset } = checkedRequest(TOOLS['rejected-show'].request, request);
      const entry = await found(rejected, id);
      return { rejected: shownOf(entry), ...bodyPart(entry.body, offset, maxReplyBytes()) };
    },
    async 'rejected-retry'(request) {
      const { id, ...asked } = checkedRequest(TOOLS['rejected-retry'].request, request);
      const entry = await found(rejected, id);
      const dispatch = await retryRejected(options, id, correction(entry, asked, options.maxBodyBytes));
      return { id, dispatch };
    },
    async 'rejected-remove'(request) {
      const { id } = checkedRequest(TOOLS['rejected-remove'].request, request);
      if (!(await rejected.remove(id))) throw await notRejected(rejected, id);
      return { id, removed: true };
    },
  };
}

function shownOf(entry: RejectedEntry): ToolReply<'rejected-show'>['rejected'] {
  const { id, at, session, role, subject, sequence, code, reason, fix, meant, bytes } = entry;
  return {
    ...{ id, at },
    ...(session !== undefined && { session }),
    ...(role !== undefined && { role }),
    ...{ subject, sequence, code, reason },
    ...(fix !== undefined && { fix }),
    ...(meant !== undefined && { meant }),
    bytes,
  };
}

async function found(rejected: RejectedStore, id: number): Promise<WholeRejection> {
  const entry = await rejected.get(id);
  if (entry === undefined) throw await notRejected(rejected, id);
  return entry;
}

/** Newest rejected results that are looked through for the one that was meant. */
const LOOKED_THROUGH = 200;

/** People take the number of the dispatch: where it is one of the newest, the error says its own number. */
async function notRejected(rejected: RejectedStore, id: number): Promise<ThroughlineError> {
  const { entries } = await rejected.page({ limit: LOOKED_THROUGH });
  const meant = entries.find(({ sequence }) => sequence === id);
  const listed =
    meant === undefined
      ? `${id}: "throughline rejected ls" lists their numbers`
      : `${id}; dispatch ${id} is number ${meant.id} in "throughline rejected ls"`;
  return new ThroughlineError('not_found', `no rejected result has the number ${listed}`, {
    details: { id, ...(meant !== undefined && { meant: meant.id }) },
  });
}

interface Correction {
  readonly role?: WholeRejection['role'];
  readonly toSession?: string | undefined;
  readonly body?: string | undefined;
}

/** What is published in its place; nothing where it is to go out as it came. Throws where that could not be read either. */
function correction(
  entry: WholeRejection,
  asked: Correction,
  maxBytes: number,
): { subject: string; body: Uint8Array } | undefined {
  if (Object.values(asked).every((given) => given === undefined)) return undefined;
  const role = asked.role ?? entry.role;
  const session = asked.toSession === undefined ? entry.session : token(asked.toSession, 'toSession');
  if (role === undefined || session === undefined) {
    const field = role === undefined ? 'role' : 'toSession';
    throw new ThroughlineError(
      'schema_invalid',
      `${field}: is missing, and the subject of ${entry.id}, ${entry.subject}, does not say it: give ${field}`,
      { details: { fields: [field] } },
    );
  }
  const body = asked.body === undefined ? entry.body : new TextEncoder().encode(asked.body);
  const parsed = parseDispatchBody(body, role, maxBytes);
  if (parsed.ok) return { subject: dispatchSubject(session, role), body };
  const { code, reason, fix, meant } = parsed;
  throw new ThroughlineError(
    code,
    withRemedy(`${entry.id} still cannot be read as the result of ${role}: ${reason}`, fix),
    { details: { id: entry.id, reason, ...(fix && { fix }), ...(meant && { meant }) } },
  );
}
