import type { ThroughlineClient } from '../client/throughline-client.js';
import type { Role } from '../contracts/kinds.js';
import type { RejectedShown } from '../contracts/replies/rejected-reply.js';

/** Rejected results as the services show them. */

const PAGE = 200;

export interface RejectedAsked {
  readonly session?: string;
  readonly role?: Role;
}

export interface RejectedFound {
  readonly entries: readonly RejectedShown[];
  readonly hasMore: boolean;
}

/** Rejected results, the newest first: at most so many, and whether there are more. */
export async function rejectedEntries(
  client: ThroughlineClient,
  asked: RejectedAsked,
  most = Number.POSITIVE_INFINITY,
): Promise<RejectedFound> {
  const entries: RejectedShown[] = [];
  for (let cursor: string | undefined; ; ) {
    const limit = Math.min(PAGE, most - entries.length);
    const page = await client.tools.rejectedList({
      ...asked,
      limit,
      ...(cursor !== undefined && { cursor }),
    });
    entries.push(...page.rejected);
    cursor = page.next;
    if (cursor === undefined) return { entries, hasMore: false };
    if (entries.length >= most) return { entries, hasMore: true };
  }
}

/** A rejected result with its whole body. */
export async function wholeRejected(
  client: ThroughlineClient,
  id: number,
): Promise<{ readonly entry: RejectedShown; readonly body: Uint8Array }> {
  const parts: Uint8Array[] = [];
  for (let offset = 0; ; ) {
    const { rejected: entry, body, encoding, next } = await client.tools.rejectedShow({ id, offset });
    parts.push(Buffer.from(body, encoding));
    if (next === undefined) return { entry, body: Buffer.concat(parts) };
    offset = next;
  }
}
