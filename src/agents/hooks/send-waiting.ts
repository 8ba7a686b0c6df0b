import { codeOf, messageOf, withRemedy } from '../../contracts/errors.js';
import { kindOf } from '../../contracts/kinds.js';
import type { TraceEntryInput } from '../../contracts/trace-entry.js';
import type { ThroughlineClient } from '../../sdk/throughline-client.js';
import type { HookTools } from './hook-call.js';
import { withTime } from './hook-results.js';
import type { Waiting } from './spool.js';

/** Keeping what a hook has to say, and sending it: with this hook, or with a later one. */

/** Entries of one request: fewer than it may hold. */
const AT_ONCE = 200;
/** A result that waits longer is published with the time when the agent returned it. */
const LONG_MS = 60_000;

/** Keeps it without secrets, or returns it if the disk does not take it: then it is sent at once. A late call throws instead. */
export async function keepOrGive(
  waiting: Waiting,
  { spool, redact, log, isLate, now }: Pick<HookTools, 'spool' | 'redact' | 'log' | 'isLate' | 'now'>,
): Promise<Waiting[]> {
  const safe = await redact(waiting.kind === 'result' ? { ...waiting, at: now } : waiting);
  try {
    spool.keep(safe);
    return [];
  } catch (error) {
    if (isLate) throw error;
    log(`${codeOf(error)}: it could not be kept: ${messageOf(error)}`);
    return [safe];
  }
}

export async function flushBeside(
  tools: HookTools,
  client: ThroughlineClient,
  unkept: readonly Waiting[] = [],
): Promise<void> {
  try {
    await flush(tools, client, unkept);
  } catch (error) {
    tools.log(`${codeOf(error)}: not sent yet: ${messageOf(error)}`);
  }
}

/**
 * Sends what waits, and what could not be kept, oldest first. What fails for now stays; what is refused for good is set aside.
 * Returns the message ids of results that the agent has to correct: their session is told by a later hook.
 */
export async function flush(
  { state, spool, log, leftMs }: Pick<HookTools, 'state' | 'spool' | 'log' | 'leftMs'>,
  client: ThroughlineClient,
  unkept: readonly Waiting[] = [],
): Promise<readonly string[]> {
  const refused: string[] = [];
  for (const { name, what } of [...spool.waiting(), ...unkept.map((item) => ({ name: '', what: item }))]) {
    try {
      await send(what);
      if (name !== '') spool.forget(name);
    } catch (error) {
      const code = codeOf(error);
      if (UNREACHABLE.has(code)) throw error;
      // One item must not hold up the others.
      if (code === 'internal' || code === 'conflict') log(`${code}: not sent yet: ${messageOf(error)}`);
      else {
        const reason = `${code}: not sent: ${messageOf(error)}`;
        if (name === '') log(reason);
        else spool.setAside(name, reason);
        // The agent cannot change what it may do, and has written neither a trace nor a turn.
        if (code === 'permission_denied' || what.kind !== 'result') continue;
        refused.push(what.messageId);
        const fix = code === 'too_large' ? 'shorten it: name files in place of their content' : undefined;
        const why = withRemedy(messageOf(error), fix);
        if (kindOf(what.role).part !== 'note')
          state.remember(refusalKey(what.session), `The result of your ${what.role} was not stored: ${why}`);
      }
    }
  }
  return refused;

  async function send(what: Waiting): Promise<void> {
    if (what.kind === 'trace') return append(what.session, what.entries);
    if (what.kind === 'raw') return;
    const options = { messageId: what.messageId, timeoutMs: Math.max(1, leftMs()) };
    const { at = '', text } = what;
    const isLong = Date.now() - Date.parse(at) > LONG_MS;
    const dated = isLong ? withTime(text, at) : text;
    const { sequence } = await client.publishText(what.session, what.role, dated, options);
    state.remember(`published ${what.session}`, String(sequence));
  }

  async function append(session: string, entries: readonly TraceEntryInput[]): Promise<void> {
    const half = Math.ceil(entries.length / 2);
    try {
      if (entries.length <= AT_ONCE)
        return void (await client.traces.append({ session, entries: [...entries] }));
    } catch (error) {
      if (codeOf(error) !== 'too_large' || half === entries.length) throw error;
    }
    await append(session, entries.slice(0, half));
    await append(session, entries.slice(half));
  }
}

/** Names what an agent of a session has yet to be told of a result that was refused. */
export function refusalKey(session: string): string {
  return JSON.stringify(['refused', session]);
}

/**
 * Compiles a prompt that shows the last result that a hook of this machine published in its session. If that takes more than half
 * of the time, or the result was rejected, the prompt goes without it.
 */
export async function caughtUp<Reply>(
  { state, at, leftMs }: Pick<HookTools, 'state' | 'at' | 'leftMs'>,
  compile: (waiting: { readonly after?: number; readonly afterTimeoutMs?: number }) => Promise<Reply>,
): Promise<Reply> {
  const key = `published ${at.session}`;
  const last = state.peek(key);
  if (last === undefined) return compile({});
  try {
    return await compile({ after: Number(last), afterTimeoutMs: Math.max(0, Math.floor(leftMs() / 2)) });
  } catch (error) {
    if (!['not_caught_up', 'dispatch_rejected'].includes(codeOf(error))) throw error;
    // It may never come, as after a restore: waiting again would delay each prompt.
    state.recall(key);
    return compile({});
  }
}

/** The server takes nothing now, and may the next time. */
export const UNREACHABLE: ReadonlySet<string> = new Set([
  ...['unavailable', 'tls_failed', 'rate_limited', 'auth_failed', 'not_caught_up', 'store_full'],
]);
