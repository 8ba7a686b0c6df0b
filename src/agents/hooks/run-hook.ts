import type { Config } from '../../config/config.js';
import { codeOf, messageOf } from '../../contracts/errors.js';
import { redacted } from '../../memory/redaction/redacted.js';
import type { ThroughlineClient } from '../../sdk/throughline-client.js';
import { oneLine } from '../../shared/text.js';
import { agentSession } from '../agent-session.js';
import { carryOut, type HookAnswer } from './carry-out.js';
import { type HookCall, readCall } from './hook-call.js';
import { countInjected, hookState } from './hook-state.js';
import { type HookClient, MAX_ANSWER } from './hook-table.js';
import { PASSING } from './send-waiting.js';

interface HookPlace {
  readonly config: Config;
  readonly stateDir: string;
  readonly url: string;
  /** Working directory of the process, and of the agent unless its client says otherwise. */
  readonly directory: string;
  readonly connect: () => Promise<ThroughlineClient>;
  readonly log: (line: string) => void;
  readonly leftMs: () => number;
  /** Allows more time: at the start of a session, or while a transcript is written; `late` makes the answer for when that is up. */
  readonly allowMore: (late?: (why: string) => string) => void;
}

/**
 * One hook: what a client wrote comes in, and what it should read goes out, empty for nothing. Never throws: what goes
 * wrong is a line of the log.
 */
export async function runHook(
  name: string,
  client: HookClient,
  payload: string,
  place: HookPlace,
): Promise<string> {
  const call = readCall(client, payload);
  if ('unused' in call) {
    place.log(`${name}: ${call.unused}`);
    return '';
  }
  const log = (line: string) => place.log(`${name} ${call.event.name}: ${line}`);
  const isStart = call.event.moment === 'session-start';
  const unreachable = (why: string) =>
    written(call, client, `Throughline: memory not reachable: ${why}`, log);
  if (isStart) place.allowMore(unreachable);
  else if (call.event.moment === 'stop' && call.transcript !== '') place.allowMore();
  try {
    const { config, stateDir, url, connect, leftMs } = place;
    const directory = call.directory || place.directory;
    const at = agentSession({ env: config.env, directory, keep: true });
    if (isStart && at.changed !== undefined) log(at.changed);
    const answer = await carryOut(
      { ...call, directory },
      {
        ...{ name, client, at, connect, log, leftMs },
        state: hookState(stateDir, url, log),
        redact: (value) => (config.redact ? redacted(value) : Promise.resolve(value)),
      },
    );
    const text = written(call, client, answer, log);
    if (call.event.answer !== 'again' && text !== '')
      countInjected(stateDir, injectedIn(call, answer), new Date(), log);
    return text;
  } catch (error) {
    log(`${codeOf(error)}: ${messageOf(error)}`);
    if (!isStart) return '';
    if (codeOf(error) === 'not_connected') return written(call, client, ASK_TO_CONNECT, log);
    // An internal fault, as of the disk, says nothing about the server.
    const isServer = codeOf(error) !== 'internal' && PASSING.has(codeOf(error));
    return isServer ? unreachable(oneLine(messageOf(error))) : '';
  }
}

/** Characters that an answer adds to what the agent reads. */
function injectedIn({ input }: HookCall, answer: HookAnswer): number {
  return Math.max(
    0,
    JSON.stringify(answer ?? '').length - JSON.stringify(typeof answer === 'string' ? '' : input).length,
  );
}

/** Names neither the session nor the folder: both come from a repository that nobody has looked at. */
const ASK_TO_CONNECT =
  'Throughline has no memory for this project yet: its user has not connected it. Ask the user to look at .throughline.json and to run "throughline connect" in this folder once.';

/** The answer as the client reads it; empty where the client would cut it, or move it into a file. */
function written(
  { event }: HookCall,
  { write, maxContext }: HookClient,
  answer: HookAnswer,
  log: (line: string) => void,
): string {
  if (answer === undefined || answer === '' || event.answer === undefined) return '';
  const text = JSON.stringify(write[event.answer](answer, event.name));
  const most = event.answer === 'context' ? maxContext : MAX_ANSWER;
  if (text.length <= most) return text;
  log(`the answer has ${text.length} characters, the client takes ${most}: it is left out`);
  return '';
}
