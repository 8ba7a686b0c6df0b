import { existsSync } from 'node:fs';
import type { Config } from '../../config/config.js';
import { codeOf, messageOf, systemCode } from '../../contracts/errors.js';
import { redacted } from '../../memory/redaction/redactor.js';
import type { ThroughlineClient } from '../../sdk/throughline-client.js';
import { oneLine } from '../../shared/text.js';
import { agentSession } from '../agent-session.js';
import { recordEvent } from './carry-out.js';
import { conversationKey, type HookAnswer, type HookCall, type HookTools, readCall } from './hook-call.js';
import { givenKey, type HookState, hookState } from './hook-state.js';
import { type HookClient, hookClient, MAX_ANSWER } from './hook-table.js';
import { agentOf, noteShown } from './hook-turn.js';
import { UNREACHABLE } from './send-waiting.js';
import type { Spool } from './spool.js';

export interface HookPlace {
  readonly config: Config;
  readonly stateDir: string;
  readonly spool: Spool;
  /** Working directory of the process, and of the agent unless its client says otherwise. */
  readonly directory: string;
  readonly connect: () => Promise<ThroughlineClient>;
  readonly person: HookTools['person'];
  readonly log: (line: string) => void;
  readonly leftMs: () => number;
  /** Takes what makes the answer for when the time is up. */
  readonly onLate: (answer: (why: string) => string) => void;
  /** Allows more time while a transcript is written. */
  readonly awaitTranscript: () => void;
  /** Called once the event is on the disk: from then on it is not lost. */
  readonly onRecorded: () => void;
}

/** Runs one hook: takes what a client wrote, and returns what it should read. Never throws: errors are lines of the log. */
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
  let session: string | undefined;
  const unreachable = (why: string) => {
    const text = (session && lastStart(session, why, place)) ?? `Throughline: memory not reachable: ${why}`;
    noteShown(text, agentOf(name, call.conversation), hookState(place.stateDir, log));
    return written(call, client, text, log);
  };
  if (isStart) place.onLate(unreachable);
  else if (call.event.moment === 'stop' && client.writesLate) place.awaitTranscript();
  try {
    await recordRaw(place).catch((error) => log(`${codeOf(error)}: ${messageOf(error)}`));
    const given = { name, client, directory: place.directory, now: new Date().toISOString() };
    const { at, answering } = await recorded(given, call, { ...place, log });
    place.onRecorded();
    session = at.session;
    if (isStart && at.changed !== undefined) log(at.changed);
    return await answering();
  } catch (error) {
    log(`${codeOf(error)}: ${messageOf(error)}`);
    if (!isStart) return '';
    if (codeOf(error) === 'not_connected') return written(call, client, ASK_TO_CONNECT, log);
    if (!['unavailable', 'tls_failed'].includes(codeOf(error))) session = undefined;
    return REFUSING.has(codeOf(error)) ? unreachable(oneLine(messageOf(error))) : '';
  }
}

/** Returns what the session began with when the server answered last; undefined if it never did. */
function lastStart(session: string, why: string, { spool }: HookPlace): string | undefined {
  const last = spool.lastStart(session);
  if (last === undefined) return undefined;
  const isToday = last.at.toDateString() === new Date().toDateString();
  // The Swedish way to write a day is that of ISO 8601.
  const day = isToday ? '' : `${last.at.toLocaleDateString('sv')} `;
  const time = last.at.toTimeString().slice(0, 5);
  return `Throughline: as of ${day}${time}, the server does not answer (${why})\n\n${last.prompt}`;
}

/** Faults of the server, or of the way to it; not of this machine. */
const REFUSING: ReadonlySet<string> = new Set([
  ...UNREACHABLE,
  'permission_denied',
  'conflict',
  'config_invalid',
]);

type RecordingPlace = Pick<
  HookPlace,
  'config' | 'stateDir' | 'spool' | 'connect' | 'person' | 'log' | 'leftMs'
> &
  Pick<HookTools, 'isLate'>;

async function recorded(
  { name, client, now, ...given }: Pick<HookTools, 'name' | 'client' | 'now'> & Pick<HookCall, 'directory'>,
  call: HookCall,
  place: RecordingPlace,
) {
  const { config, stateDir, log } = place;
  const state = hookState(stateDir, log);
  const directory = call.directory || given.directory;
  const at = sessionAt(directory, conversationKey('session', call, { name }), config.env, state);
  const redact = <T>(value: T) => (config.redact ? redacted(value) : Promise.resolve(value));
  const tools = { ...place, name, client, at, now, state, redact };
  const agent = agentOf(name, call.conversation);
  noteShown(call.prompt, agent, state);
  const answering = await recordEvent({ ...call, directory }, tools);
  const noted = async () => {
    const answer = await answering();
    const output = written(call, client, answer, log);
    const given = typeof answer === 'object' ? Object.values(answer).join('\n') : answer;
    const text = (output && given) ?? '';
    for (const reader of [agent, at.session]) noteShown(text, reader, state);
    // Sending an agent back, and a compaction, give it no prompt.
    if (text !== '' && call.event.answer !== 'again' && call.event.moment !== 'before-compaction')
      state.remember(
        givenKey(place.spool.installation, at.session),
        JSON.stringify({ at: new Date().toISOString(), text }),
      );
    return output;
  };
  return { at, answering: noted };
}

/** Returns the session of a folder. In one that is gone by now, it is the one that the conversation had before. */
function sessionAt(directory: string, key: string, env: Config['env'], state: HookState) {
  if (env.THROUGHLINE_SESSION) return agentSession({ env, directory });
  const before = state.peek(key);
  if (before !== undefined && !existsSync(directory)) return JSON.parse(before);
  const at = agentSession({ env, directory, keep: true });
  // The branch may be that of a work tree which goes.
  const { branch: _, changed: __, ...kept } = at;
  const text = JSON.stringify(kept);
  if (text !== before) state.remember(key, text);
  return at;
}

/** Records the calls of hooks that gave up, as far as there is time and the disk takes it. No agent waits for their answers. */
export async function recordRaw(place: RecordingPlace): Promise<void> {
  const { spool, config, leftMs } = place;
  for (const { name, what } of spool.waiting(true)) {
    if (what.kind !== 'raw') continue;
    if (leftMs() < OWN_MS) return;
    const taken = spool.take(name);
    if (taken === undefined) continue;
    const client = hookClient(what.client);
    try {
      if (client === undefined) throw new Error('not a client of this version');
      const call = readCall(client, what.payload);
      if ('unused' in call) throw new Error(call.unused);
      const given = { name: what.client, client, directory: what.directory, now: what.at };
      const late = { ...place, isLate: true, config: { ...config, env: { ...config.env, ...what.env } } };
      await recorded(given, { ...call, again: true }, late);
      spool.forget(taken);
    } catch (error) {
      if (DISK_FAULTS.has(systemCode(error))) {
        spool.giveBack(taken);
        return place.log(`not recorded yet: ${messageOf(error)}`);
      }
      if (codeOf(error) === 'not_connected') spool.forget(taken);
      else spool.setAside(taken, messageOf(error));
    }
  }
}

const DISK_FAULTS: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);

const OWN_MS = 100;

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
