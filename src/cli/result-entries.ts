import { InvalidArgumentError } from 'commander';
import { applyEdits, modify } from 'jsonc-parser';
import { ThroughlineError } from '../contracts/errors.js';
import type { Role } from '../contracts/kinds.js';
import type { RejectedShown } from '../contracts/replies/rejected-reply.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';

/** Rejected results as the services show them. */

const PAGE = 200;

interface RejectedAsked {
  readonly session?: string;
  readonly role?: Role;
}

interface RejectedFound {
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

/** Fields of a result that are set on the command line. */
export interface FieldChange {
  /** `task_id`, or `issues`, `0`, `severity`. */
  readonly path: readonly string[];
  /** `null` takes the field out. */
  readonly value: unknown;
}

/** Takes one `field=value` to the changes so far. A value is text, unless it can only be meant as JSON. */
export function fieldChange(pair: string, before: readonly FieldChange[] = []): FieldChange[] {
  const at = pair.indexOf('=');
  if (at < 1)
    throw new InvalidArgumentError('Use field=value, such as task_id=2.1 or issues.0.severity=minor.');
  return [...before, { path: pair.slice(0, at).split('.'), value: settableOf(pair.slice(at + 1)) }];
}

/**
 * The JSON object with the changes made.
 *
 * @throws ThroughlineError `usage` where a path leads into something that is neither an object nor a list
 */
export function withFields(json: unknown, changes: readonly FieldChange[]): unknown {
  let text = JSON.stringify(json);
  for (const { path, value } of changes) {
    const segments = path.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
    try {
      text = applyEdits(text, modify(text, segments, value ?? undefined, {}));
    } catch (cause) {
      throw new ThroughlineError(
        'usage',
        `--set ${path.join('.')}: the result has no such place: name a field of an object, or an item of a list by its number from 0`,
        { cause },
      );
    }
  }
  return JSON.parse(text);
}

/** A number stays text: ids look like numbers, and are none. */
function settableOf(raw: string): unknown {
  if (!/^(?:[[{"]|(?:true|false|null)$)/.test(raw)) return raw;
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}
