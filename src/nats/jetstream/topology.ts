import {
  DiscardPolicy,
  type JetStreamManager,
  nanos,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamConfig,
  type StreamInfo,
} from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { readEvent } from '../../contracts/event.js';
import {
  DISPATCH_STREAM,
  DISPATCH_SUBJECTS,
  HEADERS,
  LEARNING_SNAPSHOT_BUCKET,
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  PROMPTS_STREAM,
  PROMPTS_SUBJECTS,
  REJECTED_STREAM,
  REJECTED_SUBJECTS,
  SNAPSHOT_BUCKET,
  sessionOfStream,
  sessionStream,
  sessionSubject,
  sessionSubjects,
  type Token,
  token,
} from '../../contracts/names.js';
import { SESSION_EVENTS, type SessionEvent } from '../../contracts/session-events.js';
import { RING_SIZE } from '../../ports/prompt-traces.js';
import { API, apiCode, takenByAnother } from '../connection/nats-errors.js';
import { snapshotSequence } from '../stores/snapshot-sequence.js';
import { newestOf } from './newest-message.js';

/**
 * The streams, made where they are missing and otherwise left as their owner has set them: retention, replicas and
 * limits of an existing stream are never changed.
 */
export interface TopologyOptions {
  /** Copies of each stream that is made: 1, or 3 in a cluster. */
  readonly replicas: number;
}

/** A stream that is made again continues well after the old one's numbers. */
const SEQUENCE_MARGIN = 100_000;

/** A stream that was made, or found, and the sequence of the newest snapshot, 0 for none: it is ahead of that. */
export interface MadeStream {
  readonly info: StreamInfo;
  readonly snapshot: number;
}

export async function ensureDispatchStream(jsm: JetStreamManager, options: TopologyOptions): Promise<void> {
  const config = fileStream(
    DISPATCH_STREAM,
    DISPATCH_SUBJECTS,
    'Results as agent runtimes published them',
    options,
  );
  if (await exists(jsm, DISPATCH_STREAM, DISPATCH_SUBJECTS)) return;
  // The fold tells dispatches apart by their sequence. Should the stream have been deleted, numbers that sessions
  // have seen must not come again: their dispatches would pass for repetitions.
  const seen = await highestDispatchSeen(jsm);
  await create(jsm, seen === 0 ? config : { ...config, first_seq: seen + SEQUENCE_MARGIN });
}

/** Says whether it had to be made. */
export async function ensureRejectedStream(
  jsm: JetStreamManager,
  options: TopologyOptions,
): Promise<boolean> {
  if (await exists(jsm, REJECTED_STREAM, REJECTED_SUBJECTS)) return false;
  await create(
    jsm,
    fileStream(REJECTED_STREAM, REJECTED_SUBJECTS, 'Results that could not be used', options),
  );
  return true;
}

/** How long a compiled prompt is kept at most: what no one looks at must not fill the disk. */
const PROMPTS_MAX_AGE_DAYS = 30;

/** Says whether it had to be made. */
export async function ensurePromptsStream(jsm: JetStreamManager, options: TopologyOptions): Promise<boolean> {
  if (await exists(jsm, PROMPTS_STREAM, PROMPTS_SUBJECTS)) return false;
  await create(jsm, {
    ...fileStream(PROMPTS_STREAM, PROMPTS_SUBJECTS, 'Traces of the prompts compiled last', options),
    max_msgs_per_subject: RING_SIZE,
    max_age: nanos(PROMPTS_MAX_AGE_DAYS * 86_400_000),
  });
  return true;
}

export async function ensureLearningsStream(jsm: JetStreamManager, options: TopologyOptions): Promise<void> {
  if (!(await exists(jsm, LEARNINGS_STREAM, LEARNINGS_SUBJECTS)))
    await createLearningsStream(jsm, 0, options);
}

/** Makes the stream of learnings, or finds it made by another process; as with sessions, no sequence comes again. */
export async function createLearningsStream(
  jsm: JetStreamManager,
  highest: number,
  options: TopologyOptions,
): Promise<MadeStream> {
  const config = fileStream(
    LEARNINGS_STREAM,
    LEARNINGS_SUBJECTS,
    'Learnings and proposals of each project',
    options,
  );
  return createBeyond(jsm, config, highest, await newestLearningSnapshot(jsm));
}

/**
 * Makes the stream of a session, or finds it made by another process.
 *
 * If there was one before, its sequences must not come again: a snapshot, or a state in the memory of a process, counts
 * as newer than events with lower ones.
 *
 * @param highest highest sequence that the caller has seen of the session
 * @throws ThroughlineError `config_invalid` when there is one that is behind its snapshot
 */
export async function createSessionStream(
  jsm: JetStreamManager,
  session: Token,
  highest: number,
  options: TopologyOptions,
): Promise<MadeStream> {
  const description = `Events of session ${session}`;
  const name = sessionStream(session);
  const config = fileStream(name, sessionSubjects(session), description, options);
  return createBeyond(jsm, config, highest, await newestSnapshot(jsm, session));
}

async function createBeyond(
  jsm: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
  highest: number,
  snapshot: number,
): Promise<MadeStream> {
  const seen = Math.max(highest, snapshot);
  const beyond = seen === 0 ? config : { ...config, first_seq: seen + SEQUENCE_MARGIN };
  const made = await create(jsm, beyond);
  const info = made ?? (await jsm.streams.info(config.name));
  const { last_seq: last } = info.state;
  if (made !== undefined || last >= snapshot) return { info, snapshot };
  throw new ThroughlineError(
    'config_invalid',
    `stream ${config.name} is at ${last}, but its snapshot at ${snapshot}: it was restored from an earlier backup, and new events would not count: run "throughline repair"`,
  );
}

/** Sequence of a session's newest snapshot, 0 for none. */
export async function newestSnapshot(jsm: JetStreamManager, session: Token): Promise<number> {
  const subject = `$KV.${SNAPSHOT_BUCKET}.${session}`;
  return (await newestOf(jsm, `KV_${SNAPSHOT_BUCKET}`, subject, snapshotAt)) ?? 0;
}

/** Highest sequence that a project's newest snapshot stands at, 0 without any. */
export async function newestLearningSnapshot(jsm: JetStreamManager): Promise<number> {
  const stream = `KV_${LEARNING_SNAPSHOT_BUCKET}`;
  let highest = 0;
  try {
    const { state } = await jsm.streams.info(stream, { subjects_filter: '>' });
    for (const subject of Object.keys(state.subjects ?? {})) {
      highest = Math.max(highest, (await newestOf(jsm, stream, subject, snapshotAt)) ?? 0);
    }
  } catch (error) {
    if (apiCode(error) !== API.streamNotFound) throw error;
  }
  return highest;
}

/** The sequence of the snapshot in a message. */
function snapshotAt(message: StoredMsg): number | undefined {
  return snapshotSequence(message.string()) || undefined;
}

function fileStream(
  name: string,
  subjects: string,
  description: string,
  options: TopologyOptions,
): Partial<StreamConfig> & { name: string } {
  return {
    name,
    subjects: [subjects],
    description,
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    allow_direct: true,
    num_replicas: options.replicas,
  };
}

async function exists(jsm: JetStreamManager, name: string, subjects: string): Promise<boolean> {
  try {
    const { config } = await jsm.streams.info(name);
    if (config.subjects.includes(subjects) && config.allow_direct) return true;
    throw new ThroughlineError(
      'config_invalid',
      `stream ${name} exists, but must take ${subjects} and allow direct get: see "nats stream edit ${name}"`,
    );
  } catch (error) {
    if (apiCode(error) === API.streamNotFound) return false;
    throw error;
  }
}

async function create(
  jsm: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<StreamInfo | undefined> {
  try {
    return await jsm.streams.add(config);
  } catch (error) {
    // Another worker made it a moment before, with other settings perhaps: theirs stand.
    if (apiCode(error) === API.streamNameInUse) return undefined;
    if (apiCode(error) !== API.subjectsOverlap) throw error;
    const subjects = config.subjects?.join(', ') ?? '';
    const owners = await strangersOn(jsm, subjects, (name) => name === config.name);
    throw takenByAnother(subjects, owners.join(', ') || 'unknown', config.name);
  }
}

/** The streams that are not ours and take some of these subjects. */
export async function strangersOn(
  jsm: JetStreamManager,
  subjects: string,
  isOurs: (stream: string) => boolean,
): Promise<string[]> {
  const strangers: string[] = [];
  for await (const name of jsm.streams.names(subjects)) if (!isOurs(name)) strangers.push(name);
  return strangers;
}

/**
 * Refuses to begin where another application's stream takes the events of all sessions: no session could get a stream.
 *
 * One session stands for all, so that an account with thousands of them is not listed; the doctor looks at each.
 */
export async function refuseStrangersOnSessions(jsm: JetStreamManager): Promise<void> {
  const any = sessionSubject(token('any', 'session'), 'fact.recorded');
  const owners = await strangersOn(jsm, any, (name) => sessionOfStream(name) !== undefined);
  if (owners.length > 0)
    throw takenByAnother(ALL_SESSIONS, owners.join(', '), sessionStream(token('NAME', 'session')));
}

export const ALL_SESSIONS = 'session.>';

/** Highest dispatch that a session or the rejected store knows of, by the newest message of each kind. */
async function highestDispatchSeen(jsm: JetStreamManager): Promise<number> {
  const ofRejected = ({ header }: StoredMsg) => Number(header.get(HEADERS.dispatchSequence)) || undefined;
  let highest = (await newestOf(jsm, REJECTED_STREAM, REJECTED_SUBJECTS, ofRejected)) ?? 0;
  for await (const name of jsm.streams.names(ALL_SESSIONS)) {
    const session = sessionOfStream(name);
    if (session === undefined) continue;
    for (const type of DISPATCH_EVENTS) {
      const ofEvent = ({ data }: StoredMsg) => {
        const event = readEvent(SESSION_EVENTS, session, data)?.event;
        const named = event?.type === 'fact.recorded' || event?.type === 'dispatch.rejected';
        return named ? event.data.dispatch.sequence : undefined;
      };
      const seen = await newestOf(jsm, name, sessionSubject(session, type), ofEvent);
      highest = Math.max(highest, seen ?? 0);
    }
  }
  return highest;
}

/** Types of the events that name a dispatch. */
const DISPATCH_EVENTS = ['fact.recorded', 'dispatch.rejected'] satisfies SessionEvent['type'][];
