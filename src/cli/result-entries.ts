import { InvalidArgumentError } from 'commander';
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
  return changes.reduce<unknown>((changed, { path, value }) => changedAt(changed, path, value, []), json);
}

function changedAt(at: unknown, path: readonly string[], value: unknown, passed: readonly string[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const here = [...passed, key];
  if (Array.isArray(at)) {
    const index = Number(key);
    if (!/^\d+$/.test(key) || index > at.length)
      throw unusable(here, `${passed.join('.')} has ${at.length} items, numbered from 0`);
    const changed = changedAt(at[index], rest, value, here);
    return changed === null ? at.toSpliced(index, 1) : at.toSpliced(index, 1, changed);
  }
  if (at !== undefined && (typeof at !== 'object' || at === null))
    throw unusable(here, `${passed.join('.')} is neither an object nor a list`);
  const fields = new Map<string, unknown>(Object.entries(at ?? {}));
  const changed = changedAt(fields.get(key), rest, value, here);
  if (changed === null) fields.delete(key);
  else fields.set(key, changed);
  return Object.fromEntries(fields);
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

function unusable(path: readonly string[], why: string): ThroughlineError {
  return new ThroughlineError('usage', `--set ${path.join('.')}: ${why}`);
}
