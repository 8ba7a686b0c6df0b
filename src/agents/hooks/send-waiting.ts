import { codeOf, messageOf, withRemedy } from '../../contracts/errors.js';
import { kindOf } from '../../contracts/kinds.js';
import type { TraceEntryInput } from '../../contracts/trace-entry.js';
import type { ThroughlineClient } from '../../sdk/throughline-client.js';
import type { HookTools } from './hook-call.js';
import type { Waiting } from './spool.js';

/** Keeping what a hook has to say, and sending it: with this hook, or with a later one. */

/** Entries of one request: fewer than it may hold. The rest goes with the next hook. */
const AT_ONCE = 200;

/**
 * Keeps it without secrets. What the disk does not take is given back, to be sent at once.
 *
 * @throws file system errors where nothing is sent at once
 */
export async function keepOrGive(
  waiting: Waiting,
  { spool, redact, log, isLate }: Pick<HookTools, 'spool' | 'redact' | 'log' | 'isLate'>,
): Promise<Waiting | undefined> {
  const safe = await redact(waiting);
  try {
    spool.keep(safe);
    return undefined;
  } catch (error) {
    if (isLate) throw error;
    log(`${codeOf(error)}: it could not be kept: ${messageOf(error)}`);
    return safe;
  }
}

/** Sends what waits, for a hook whose answer does not depend on it. */
export async function flushBeside(
  tools: HookTools,
  client: ThroughlineClient,
  unkept?: Waiting,
): Promise<void> {
  try {
    await flush(tools, client, unkept);
  } catch (error) {
    tools.log(`${codeOf(error)}: not sent yet: ${messageOf(error)}`);
  }
}

/** An entry with the name that it is kept under; empty for one that is not. */
interface KeptEntry {
  readonly name: string;
  readonly entry: TraceEntryInput;
}

/**
 * Sends what waits, and what could not be kept: results first, then the entries of each session at once. What fails for now
 * stays; what is refused for good is set aside.
 *
 * @returns the message ids of results that the agent has to correct: their session is told by a later hook
 */
export async function flush(
  { state, spool, log, leftMs }: Pick<HookTools, 'state' | 'spool' | 'log' | 'leftMs'>,
  client: ThroughlineClient,
  unkept?: Waiting,
): Promise<readonly string[]> {
  const refused: string[] = [];
  const entries = new Map<string, KeptEntry[]>();
  for (const { name, what } of [...spool.waiting(), ...(unkept ? [{ name: '', what: unkept }] : [])]) {
    if (what.kind === 'raw') continue;
    if (what.kind === 'trace') {
      entries.set(what.session, [...(entries.get(what.session) ?? []), { name, entry: what.entry }]);
      continue;
    }
    const { session, role, text, messageId } = what;
    const options = { messageId, timeoutMs: Math.max(1, leftMs()) };
    const onRefused = (error: unknown) => {
      refused.push(messageId);
      // No agent has written a turn.
      if (kindOf(role).part !== 'note')
        state.remember(refusalKey(session), `The result of your ${role} was not stored: ${why(error)}`);
    };
    await settled(() => client.publishText(session, role, text, options), [name], { onRefused });
  }
  for (const [session, all] of entries) await append(session, all.slice(0, AT_ONCE));
  return refused;

  async function append(session: string, some: readonly KeptEntry[]): Promise<void> {
    const send = () => client.traces.append({ session, entries: some.map(({ entry }) => entry) });
    const half = Math.ceil(some.length / 2);
    const inTwo = async () => {
      await append(session, some.slice(0, half));
      await append(session, some.slice(half));
    };
    await settled(
      send,
      some.map(({ name }) => name),
      some.length > 1 ? { smaller: inTwo } : {},
    );
  }

  /**
   * @param smaller sends the same in smaller messages, where it can be parted
   * @param onRefused is told of what would be refused the next time as well
   */
  async function settled(
    send: () => Promise<unknown>,
    names: readonly string[],
    {
      smaller,
      onRefused,
    }: { readonly smaller?: () => Promise<void>; readonly onRefused?: (error: unknown) => void },
  ): Promise<void> {
    const kept = names.filter((name) => name !== '');
    try {
      await send();
      for (const name of kept) spool.forget(name);
    } catch (error) {
      const code = codeOf(error);
      if (code === 'too_large' && smaller !== undefined) return smaller();
      if (UNREACHABLE.has(code)) throw error;
      // One item must not hold up the others.
      if (code === 'internal' || code === 'conflict') log(`${code}: not sent yet: ${messageOf(error)}`);
      else {
        const reason = `${code}: not sent: ${messageOf(error)}`;
        if (kept.length === 0) log(reason);
        for (const name of kept) spool.setAside(name, reason);
        // The agent cannot change what it may do.
        if (code !== 'permission_denied') onRefused?.(error);
      }
    }
  }
}

/** Names what an agent of a session has yet to be told of a result that was refused. */
export function refusalKey(session: string): string {
  return JSON.stringify(['refused', session]);
}

function why(error: unknown): string {
  const fix = codeOf(error) === 'too_large' ? 'shorten it: name files in place of their content' : undefined;
  return withRemedy(messageOf(error), fix);
}

/** The server takes nothing now, and may the next time. */
export const UNREACHABLE: ReadonlySet<string> = new Set([
  ...['unavailable', 'rate_limited', 'auth_failed', 'not_caught_up', 'store_full'],
]);
