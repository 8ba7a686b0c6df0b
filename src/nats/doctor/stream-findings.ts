import { type JetStreamManager, type NatsConnection, StorageType, type StreamInfo } from 'nats';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  DISPATCH_STREAM,
  DISPATCH_SUBJECTS,
  EXTRACTOR_CONSUMER,
  INDEX_BUCKET,
  LEARNINGS_SUBJECTS,
  LIFECYCLE_BUCKET,
  PROMPTS_STREAM,
  REJECTED_STREAM,
  REJECTED_SUBJECTS,
} from '../../contracts/names.js';
import { counted, named } from '../../shared/text.js';
import { ifExists, KEEP_APART } from '../connection/nats-errors.js';
import { listedStreams, START_HOLDERS } from '../jetstream/list-streams.js';
import {
  isSessionLog,
  MANY_STREAMS,
  MOVE_TO_SHARDS,
  STREAMS,
  strangersOn,
  subjectsOf,
} from '../jetstream/topology.js';
import { type Finding, fail, ok, warn } from './server-findings.js';

const MUCH_TO_DO = 1000;

/** Names what creates a stream. Any other one is created when the services start. */
const MADE_BY: Readonly<Record<string, string>> = {
  [`KV_${INDEX_BUCKET}`]: 'the keeper, once a session is quiet,',
  [`KV_${LIFECYCLE_BUCKET}`]: 'the first session that is archived or forgotten',
  [PROMPTS_STREAM]: 'the next prompt',
};

const SHOWN = 10;

export async function streamFindings(jsm: JetStreamManager, replicas: number): Promise<Finding[]> {
  const { found, leaderless } = await listedStreams(jsm, '>');
  const infos = new Map(found.map((info) => [info.config.name, info]));
  const expected = [...STREAMS.keys()].reverse().flatMap((name) => {
    const check = `stream ${name}`;
    if (leaderless.includes(name)) return [fail(check, 'has no leader in the cluster', NO_LEADER)];
    const info = infos.get(name);
    if (info === undefined) return [missing(check, MADE_BY[name])];
    const faults = streamFaults(info, name, replicas);
    if (faults.length > 0) return faults;
    return [ok(check, `${counted(info.state.messages, 'message')}, ${counted(info.state.bytes, 'byte')}`)];
  });
  const logs = found.filter(({ config: { name } }) => isSessionLog(name));
  const faults = logs.flatMap((info) => streamFaults(info, info.config.name, replicas));
  return [...expected, ...logFindings(logs.length, leaderless.filter(isSessionLog).sort(), faults)];
}

const NO_LEADER = `${START_HOLDERS}: nats server report jetstream`;

function missing(check: string, madeBy: string | undefined): Finding {
  if (madeBy !== undefined) return ok(check, `not there yet: ${madeBy} creates it`);
  return fail(check, 'is missing', 'start or restart the services, which create it: throughline admin serve');
}

function logFindings(count: number, leaderless: readonly string[], faults: readonly Finding[]): Finding[] {
  const found = faults.slice(0, SHOWN);
  if (leaderless.length > 0) {
    const message = `${counted(leaderless.length, 'stream has', 'streams have')} no leader in the cluster (${named(leaderless)}): events can be neither stored nor read`;
    found.unshift(fail('sessions', message, NO_LEADER));
  }
  const hidden = counted(faults.length - SHOWN, 'further finding');
  if (faults.length > SHOWN) found.push(warn('sessions', hidden, 'fix these first, then check again'));
  if (count > MANY_STREAMS)
    found.push(warn('sessions', `each of the ${count} has a stream: a start takes seconds`, MOVE_TO_SHARDS));
  return found.length > 0 ? found : [ok('sessions', `${counted(count, 'stream')} of events`)];
}

export function streamFaults(
  { config, state, cluster }: Pick<StreamInfo, 'config' | 'state' | 'cluster'>,
  name: string,
  replicas: number,
): Finding[] {
  const subjects = subjectsOf(name) ?? '';
  const check = `stream ${name}`;
  const edit = `nats stream edit ${name}`;
  const { storage, num_replicas: copies, max_bytes: most } = config;
  const late = (cluster?.replicas ?? []).filter((peer) => peer.offline === true || !peer.current).length;
  return [
    !config.subjects.includes(subjects) &&
      fail(check, `takes ${config.subjects.join(', ')}, not ${subjects}`, `${edit} --subjects '${subjects}'`),
    !config.allow_direct &&
      fail(check, 'does not allow direct get, which readers need', `${edit} --allow-direct`),
    storage !== StorageType.File &&
      warn(check, 'is kept in memory: a restart of the server loses it', 'make it again on file storage'),
    copies !== replicas &&
      warn(
        check,
        `has ${copies} replicas, THROUGHLINE_REPLICAS says ${replicas}`,
        `${edit} --replicas ${replicas}`,
      ),
    most > 0 &&
      state.bytes >= most * 0.8 &&
      warn(
        check,
        `holds ${state.bytes} of ${most} bytes`,
        `${edit} --max-bytes, before new messages are refused`,
      ),
    late > 0 && warn(check, `${late} of its replicas are offline or behind`, 'nats server report jetstream'),
  ].filter((finding) => finding !== false);
}

export async function consumerFindings(jsm: JetStreamManager, ackWaitMs: number): Promise<Finding[]> {
  const check = `consumer ${EXTRACTOR_CONSUMER}`;
  const start = 'throughline admin serve --only extractor';
  const info = await ifExists(jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER), check);
  if (info === undefined) return [fail(check, 'is missing', `start its service, which creates it: ${start}`)];
  const { config, num_pending: waiting, num_ack_pending: inHand, num_redelivered: again } = info;
  const ackWait = (config.ack_wait ?? 0) / 1_000_000;
  const waits = counted(waiting, 'result waits', 'results wait');
  // With a backlog every pull is answered at once: a service that holds dispatches is working.
  const isIdle = info.num_waiting === 0 && inHand === 0 && waiting > 0;
  const other = `delivers again after ${ackWait} ms, ackWaitMs of THROUGHLINE_TUNING is ${ackWaitMs}`;
  const repeated = `${counted(again, 'result in hand was', 'results in hand were')} delivered before`;
  const found = [
    ackWait !== ackWaitMs && warn(check, other, `start its service again, which sets it: ${start}`),
    isIdle && fail(check, `${waits}, and no service fetches them`, `start its service: ${start}`),
    !isIdle && waiting > MUCH_TO_DO && warn(check, waits, `start more of it, or look at the logs: ${start}`),
    again > 0 && warn(check, repeated, 'read the log of its service: it says why they fail'),
  ].filter((finding) => finding !== false);
  if (found.length > 0) return found;
  return [ok(check, `${waits}, ${counted(inHand, 'is', 'are')} in hand or set aside`)];
}

export async function rejectedFindings(jsm: JetStreamManager): Promise<Finding[]> {
  const info = await ifExists(jsm.streams.info(REJECTED_STREAM), 'counting rejected results');
  // A missing stream is reported elsewhere.
  if (info === undefined) return [];
  const { messages } = info.state;
  if (messages === 0) return [ok('rejected', 'none')];
  const fix = '"throughline result ls" says why; "result retry" and "result rm" deal with them';
  return [warn('rejected', `${counted(messages, 'result')} could not be used`, fix)];
}

const OURS = [DISPATCH_SUBJECTS, REJECTED_SUBJECTS, LEARNINGS_SUBJECTS, ALL_SESSIONS, ALL_SHARDS];

/** Finds streams of other applications on our subjects: they take our results or block our streams. */
export async function strangerFindings(jsm: JetStreamManager): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const subjects of OURS) {
    const strangers = await strangersOn(jsm, subjects);
    if (strangers.length === 0) continue;
    const who = `${counted(strangers.length, 'stream')} of another application: ${named(strangers)}`;
    found.push(fail('subjects', `${subjects} is taken in whole or in part by ${who}`, KEEP_APART));
  }
  return found.length > 0 ? found : [ok('subjects', 'no other stream takes subjects of Throughline')];
}

/** Returns the messages and bytes of each stream of the account. */
export async function streamSizes(connection: NatsConnection) {
  const jsm = await connection.jetstreamManager({ checkAPI: false });
  const sizes: { readonly stream: string; readonly messages: number; readonly bytes: number }[] = [];
  for await (const { config, state } of jsm.streams.list())
    sizes.push({ stream: config.name, messages: state.messages, bytes: state.bytes });
  return sizes;
}
