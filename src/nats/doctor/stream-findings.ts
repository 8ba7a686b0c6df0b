import { AckPolicy, type ConsumerInfo, type JetStreamManager, StorageType } from 'nats';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  DISPATCH_REVIEWS,
  DISPATCH_STREAM,
  DISPATCH_SUBJECTS,
  EXTRACTOR_CONSUMER,
  INDEX_BUCKET,
  LEARNER_CONSUMER,
  LEARNING_SNAPSHOT_BUCKET,
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  LIFECYCLE_BUCKET,
  PROMPTS_STREAM,
  PROMPTS_SUBJECTS,
  REJECTED_STREAM,
  REJECTED_SUBJECTS,
  SNAPSHOT_BUCKET,
  sessionOfStream,
  shardOfStream,
  TELEMETRY_BUCKET,
} from '../../contracts/names.js';
import { counted } from '../../shared/text.js';
import { ifExists, KEEP_APART, toThroughlineError } from '../connection/nats-errors.js';
import { strangersOn } from '../jetstream/topology.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** Backlog of dispatches that is not worrying. */
const MUCH_TO_DO = 1000;

interface ExpectedStream {
  readonly name: string;
  readonly subjects: string;
  readonly replicas: number;
  /** Describes when it is created, if not at the start. */
  readonly madeBy?: string;
}

export function expectedStreams(replicas: number): readonly ExpectedStream[] {
  const bucket = (name: string, madeBy?: string) => ({
    ...{ name: `KV_${name}`, subjects: `$KV.${name}.>`, replicas },
    ...(madeBy !== undefined && { madeBy }),
  });
  return [
    { name: DISPATCH_STREAM, subjects: DISPATCH_SUBJECTS, replicas },
    { name: REJECTED_STREAM, subjects: REJECTED_SUBJECTS, replicas },
    { name: LEARNINGS_STREAM, subjects: LEARNINGS_SUBJECTS, replicas },
    bucket(SNAPSHOT_BUCKET),
    bucket(LEARNING_SNAPSHOT_BUCKET),
    bucket(TELEMETRY_BUCKET, 'the first prompt of a session'),
    bucket(INDEX_BUCKET, 'the keeper, once a session is quiet,'),
    bucket(LIFECYCLE_BUCKET, 'the first session that is archived or forgotten'),
    {
      name: PROMPTS_STREAM,
      subjects: PROMPTS_SUBJECTS,
      replicas,
      madeBy: 'the next start of the services, or the next prompt,',
    },
  ];
}

const RESTART = 'start or restart the services, which create it';

export async function streamFindings(jsm: JetStreamManager, expected: ExpectedStream): Promise<Finding[]> {
  const check = `stream ${expected.name}`;
  const info = await ifExists(jsm.streams.info(expected.name), check);
  if (info === undefined) {
    if (expected.madeBy !== undefined) return [ok(check, `not there yet: ${expected.madeBy} creates it`)];
    return [fail(check, 'is missing', `${RESTART}: throughline admin serve`)];
  }
  const faults = streamFaults(info, expected);
  const { messages, bytes } = info.state;
  return faults.length > 0
    ? faults
    : [ok(check, `${counted(messages, 'message')}, ${counted(bytes, 'byte')}`)];
}

export interface SeenStream {
  readonly config: {
    readonly subjects: readonly string[];
    readonly allow_direct: boolean;
    readonly storage: StorageType;
    readonly num_replicas: number;
    readonly max_bytes: number;
  };
  readonly state: { readonly bytes: number };
  readonly cluster?: {
    readonly leader?: string;
    readonly replicas?: readonly { readonly current: boolean; readonly offline?: boolean }[];
  };
}

export function streamFaults({ config, state, cluster }: SeenStream, expected: ExpectedStream): Finding[] {
  const check = `stream ${expected.name}`;
  const edit = `nats stream edit ${expected.name}`;
  const found: Finding[] = [];
  if (!config.subjects.includes(expected.subjects)) {
    const message = `takes ${config.subjects.join(', ')}, not ${expected.subjects}`;
    found.push(fail(check, message, `${edit} --subjects '${expected.subjects}'`));
  }
  if (!config.allow_direct) {
    found.push(fail(check, 'does not allow direct get, which readers need', `${edit} --allow-direct`));
  }
  if (config.storage !== StorageType.File) {
    found.push(
      warn(
        check,
        'is kept in memory: a restart of the server loses it',
        'delete it and make it again on file storage',
      ),
    );
  }
  if (config.num_replicas !== expected.replicas) {
    const message = `has ${config.num_replicas} replicas, THROUGHLINE_REPLICAS says ${expected.replicas}`;
    found.push(warn(check, message, `${edit} --replicas ${expected.replicas}`));
  }
  if (config.max_bytes > 0 && state.bytes >= config.max_bytes * 0.8) {
    const message = `holds ${state.bytes} of ${config.max_bytes} bytes`;
    found.push(warn(check, message, `${edit} --max-bytes, before old messages go or new ones are refused`));
  }
  if (cluster !== undefined && !cluster.leader) {
    found.push(fail(check, 'has no leader: too few of its servers are up', 'nats server report jetstream'));
  }
  const late = (cluster?.replicas ?? []).filter((peer) => peer.offline === true || !peer.current);
  if (late.length > 0) {
    const message = `${late.length} of its replicas are offline or behind`;
    found.push(warn(check, message, 'nats server report jetstream'));
  }
  return found;
}

/** The consumers of dispatches, with the service of `throughline admin serve --only` and their subjects. */
export const CONSUMERS: Readonly<Record<string, { readonly service: string; readonly subjects: string }>> = {
  [EXTRACTOR_CONSUMER]: { service: 'extractor', subjects: DISPATCH_SUBJECTS },
  [LEARNER_CONSUMER]: { service: 'learnings', subjects: DISPATCH_REVIEWS },
};

/** Checks a shared consumer and its backlog. */
export async function consumerFindings(
  jsm: JetStreamManager,
  consumer: string,
  ackWaitMs: number,
): Promise<Finding[]> {
  const check = `consumer ${consumer}`;
  const { service, subjects = DISPATCH_SUBJECTS } = CONSUMERS[consumer] ?? {};
  const start = `throughline admin serve --only ${service}`;
  const info = await ifExists(jsm.consumers.info(DISPATCH_STREAM, consumer), check);
  return info === undefined
    ? [fail(check, 'is missing', `start its service, which creates it: ${start}`)]
    : judged(check, info, { ackWaitMs, consumer, subjects, start });
}

function judged(
  check: string,
  info: ConsumerInfo,
  expected: { ackWaitMs: number; consumer: string; subjects: string; start: string },
): Finding[] {
  const { ackWaitMs, consumer, subjects, start } = expected;
  const { config, num_pending: waiting, num_ack_pending: inHand, num_redelivered: again } = info;
  const remake = `nats consumer rm ${DISPATCH_STREAM} ${consumer}; its service creates it again`;
  const found: Finding[] = [];
  const taken = config.filter_subjects ?? [config.filter_subject ?? DISPATCH_SUBJECTS];
  if (!taken.includes(subjects)) {
    found.push(fail(check, `takes ${taken.join(', ')}, not ${subjects}`, remake));
  }
  if (config.ack_policy !== AckPolicy.Explicit) {
    found.push(fail(check, `acknowledges by ${config.ack_policy}: results may be lost`, remake));
  }
  if ((config.max_deliver ?? -1) > 0) {
    const message = `gives up after ${config.max_deliver} deliveries: such results are neither facts nor rejected`;
    found.push(fail(check, message, remake));
  }
  const ackWait = (config.ack_wait ?? 0) / 1_000_000;
  if (ackWait !== ackWaitMs) {
    const message = `delivers again after ${ackWait} ms, ackWaitMs of THROUGHLINE_TUNING is ${ackWaitMs}`;
    found.push(warn(check, message, `start its service again, which sets it: ${start}`));
  }
  // With a backlog every pull is answered at once: a service that holds dispatches is working.
  if (info.num_waiting === 0 && inHand === 0 && waiting > 0) {
    const message = `${counted(waiting, 'dispatch waits', 'dispatches wait')}, and no service fetches them`;
    found.push(fail(check, message, `start its service: ${start}`));
  } else if (waiting > MUCH_TO_DO) {
    found.push(warn(check, `${waiting} dispatches wait`, `start more of it, or look at the logs: ${start}`));
  }
  if (again > 0) {
    const message = `${counted(again, 'dispatch in hand was', 'dispatches in hand were')} delivered before`;
    found.push(warn(check, message, 'read the log of its service: it says why they fail'));
  }
  const waits = counted(waiting, 'dispatch waits', 'dispatches wait');
  return found.length > 0
    ? found
    : [ok(check, `${waits}, ${counted(inHand, 'is', 'are')} in hand or set aside`)];
}

export async function rejectedFindings(jsm: JetStreamManager): Promise<Finding[]> {
  const info = await ifExists(jsm.streams.info(REJECTED_STREAM), 'counting rejected results');
  // A missing stream is reported elsewhere.
  if (info === undefined) return [];
  const { messages } = info.state;
  if (messages === 0) return [ok('rejected', 'none')];
  const fix = '"throughline result ls" says why; "result fix", "result retry" and "result rm" deal with them';
  return [warn('rejected', `${counted(messages, 'result')} could not be used`, fix)];
}

const OURS: readonly (readonly [subjects: string, isOurs: (stream: string) => boolean])[] = [
  [DISPATCH_SUBJECTS, (name) => name === DISPATCH_STREAM],
  [REJECTED_SUBJECTS, (name) => name === REJECTED_STREAM],
  [LEARNINGS_SUBJECTS, (name) => name === LEARNINGS_STREAM],
  [ALL_SESSIONS, (name) => sessionOfStream(name) !== undefined],
  [ALL_SHARDS, (name) => shardOfStream(name) !== undefined],
];

/** Finds streams of other applications on our subjects: they take our results or block our streams. */
export async function strangerFindings(jsm: JetStreamManager): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [subjects, isOurs] of OURS) {
    try {
      const strangers = await strangersOn(jsm, subjects, isOurs);
      if (strangers.length === 0) continue;
      const message = `${subjects} is taken in whole or in part by ${counted(strangers.length, 'stream')} of another application: ${strangers.slice(0, 10).join(', ')}`;
      found.push(fail('subjects', message, KEEP_APART));
    } catch (error) {
      throw toThroughlineError(error, `looking who takes ${subjects}`);
    }
  }
  return found.length > 0 ? found : [ok('subjects', 'no other stream takes subjects of Throughline')];
}
