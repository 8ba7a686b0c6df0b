import { randomUUID } from 'node:crypto';
import type { JetStreamManager } from 'nats';
import { expect } from 'vitest';
import { type Config, loadConfig } from '../../src/config/config.js';
import { wordVectorsLoader } from '../../src/config/load-word-vectors.js';
import type { Fixed } from '../../src/config/settings.js';
import {
  DISPATCH_STREAM,
  DISPATCH_SUBJECTS,
  EXTRACTOR_CONSUMER,
  type ServiceName,
  type Token,
  token,
} from '../../src/contracts/names.js';
import type { ResultOf } from '../../src/contracts/results.js';
import { localTasksFile } from '../../src/engine/files/local-tasks-file.js';
import { waitLimit } from '../../src/engine/folding/caught-up.js';
import { createCommander } from '../../src/engine/folding/commander.js';
import type { SessionReader } from '../../src/engine/folding/session-folding.js';
import { type Logger, silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import type { SessionLog } from '../../src/engine/ports/session-log.js';
import { systemClock } from '../../src/engine/runtime/pacing.js';
import { Shutdown } from '../../src/engine/runtime/shutdown.js';
import { connectThroughline, type PublishedBy, type PublishOptions, type Role } from '../../src/index.js';
import { factsOf, type SessionState } from '../../src/memory/session/session-state.js';
import { API, apiCode } from '../../src/nats/connection/nats-errors.js';
import { type NatsPorts, openNats } from '../../src/nats/open-nats.js';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { sessionReader } from '../../src/services/common/process-parts.js';
import { ProgressTracker } from '../../src/services/common/progress-tracker.js';
import { natsOptions } from '../../src/services/common/service-context.js';
import { createPromptCompiler, type PromptCompiler } from '../../src/services/compiler/prompt-compiler.js';
import { serve } from '../../src/services/serve.js';
import { checkingReplies } from './checked-replies.js';
import { loggedWarnings } from './logged.js';
import { type PrivateNats, startPrivateNats, startTestNats, type TestNats } from './nats-server.js';
import { ofFile } from './of-file.js';
import { SOON_MS, soon } from './soon.js';

export { soon };

export interface SystemOptions {
  /** A server to run on, which stays the caller's. Default: an account of the shared one, stopped with the system. */
  readonly nats?: TestNats;
  /** Configuration, as environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Limits that are not settings. */
  readonly fixed?: Partial<Fixed>;
  /** Default: one that keeps its warnings, which are told where the system does not stop. */
  readonly logger?: Logger;
  /** Default: all services. An empty list: the ports and a client, without a service. */
  readonly only?: readonly ServiceName[];
}

/** Warnings that are told where a system does not stop. */
const MOST_SAID = 20;

/** The services in this process, on a real server, with everything that a test looks at them through. */
export interface System extends AsyncDisposable {
  readonly nats: TestNats;
  readonly url: string;
  readonly config: Config;
  readonly ports: NatsPorts;
  readonly client: ThroughlineClient;
  stop(): Promise<void>;
}

export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const config = loadConfig({ ...options.env }, options.fixed);
  const { logger: own, warnings } = loggedWarnings(MOST_SAID);
  const { logger = own } = options;
  const shutdown = new Shutdown();
  const nats = options.nats ?? (await startTestNats());
  if (options.nats === undefined) shutdown.add('the test server', () => nats.stop());
  const stop = () =>
    shutdown.release(SOON_MS).catch((error: unknown) => {
      // What did not stop can say what it waited for.
      for (const { fields, message } of warnings) console.error(message, fields);
      throw error;
    });
  try {
    const ports = await serve(nats.url, { config, logger, shutdown }, options.only);
    const client = checkingReplies(await connectThroughline({ url: nats.url }));
    shutdown.add('the client', () => client.close());
    return { nats, url: nats.url, config, ports, client, stop, [Symbol.asyncDispose]: stop };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

/** A system on a server that the test may kill, restart or look into: stopped with the system. */
export async function startPrivateSystem(
  options: Omit<SystemOptions, 'nats'> = {},
): Promise<System & { readonly nats: PrivateNats }> {
  const nats = await startPrivateNats();
  const system = await startSystem({ ...options, nats }).catch(async (fault: unknown) => {
    await nats.stop();
    throw fault;
  });
  const stop = async () => {
    await system.stop();
    await nats.stop();
  };
  return { ...system, nats, stop, [Symbol.asyncDispose]: stop };
}

/** A system for all tests of the file that calls it: stopped after the last of them. */
export function systemOfFile(options: SystemOptions = {}): Promise<System> {
  return ofFile(startSystem(options));
}

/** Ports of their own on a system's server, as another process would have them. */
export function openPorts(system: Pick<System, 'url' | 'config'>): Promise<NatsPorts> {
  return openNats(natsOptions(system.url, 'throughline test', system.config, silentLogger));
}

/** Writes the snapshot of a session, as services do after a hundred events or a minute without any. */
export async function writeSnapshot(url: string, session: string): Promise<void> {
  const config = loadConfig({});
  const ports = await openPorts({ url, config });
  const { reader, writer } = sessionReader(ports, config, silentLogger);
  await writer.write((await reader.load(token(session, 'session'))).folded);
  await writer.stop();
  await ports.close();
}

/** Returns the text of a session's newest snapshot. */
export async function storedSnapshot(url: string, session: string): Promise<string | undefined> {
  const ports = await openPorts({ url, config: loadConfig({}) });
  const stored = await ports.snapshots.load(token(session, 'session'));
  await ports.close();
  return stored?.text;
}

/**
 * Waits until every dispatch has been dealt with: none left to deliver, and none in anybody's hands.
 *
 * A consumer hears of a message a moment after its publisher has the PubAck, and until then has nothing pending: what
 * it has delivered must reach the newest that is there for it.
 */
export async function allDealtWith(
  { connection }: NatsPorts,
  consumer: string = EXTRACTOR_CONSUMER,
): Promise<void> {
  const jsm = await connection.jetstreamManager({ checkAPI: false });
  await soon(async () => {
    const info = await jsm.consumers.info(DISPATCH_STREAM, consumer);
    const newest = await newestDispatch(jsm, info.config.filter_subject ?? DISPATCH_SUBJECTS);
    const { num_pending: toDeliver, num_ack_pending: inHand, delivered } = info;
    const unheard = Math.max(0, newest - delivered.stream_seq);
    expect({ toDeliver, inHand, unheard }).toEqual({ toDeliver: 0, inHand: 0, unheard: 0 });
  });
}

/** Sequence of the newest dispatch of some subjects; 0 for none. */
async function newestDispatch(jsm: JetStreamManager, subjects: string): Promise<number> {
  try {
    return (await jsm.streams.getMessage(DISPATCH_STREAM, { last_by_subj: subjects })).seq;
  } catch (error) {
    if (apiCode(error) === API.messageNotFound) return 0;
    throw error;
  }
}

export async function freshState(
  system: Pick<System, 'config' | 'ports'>,
  session: string,
): Promise<SessionState> {
  const { reader, writer } = sessionReader(system.ports, system.config, silentLogger);
  const { folded } = await reader.load(token(session, 'session'));
  await writer.stop();
  return folded.state;
}

export async function eventsOf({ ports }: Pick<System, 'ports'>, session: string) {
  return (await ports.log.read(token(session, 'session'), { after: 0 })).events;
}

/** Sequences of a session's events, oldest first. They rise, and may leave numbers out. */
export async function sequencesOf(system: Pick<System, 'ports'>, session: string): Promise<number[]> {
  return (await eventsOf(system, session)).map(({ sequence }) => sequence);
}

/** Sequence of a session's newest event. */
export async function newestOf(system: Pick<System, 'ports'>, session: string): Promise<number> {
  return (await sequencesOf(system, session)).at(-1) ?? 0;
}

/**
 * What a state remembers, without what differs from one run to another: times are left out, and a dispatch is its
 * place among those published.
 */
export function remembered(state: SessionState, published: readonly number[]) {
  const place = (sequence: number | undefined) =>
    sequence === undefined ? 'open' : published.indexOf(sequence);
  return {
    counts: state.dispatches.current().counts,
    facts: factsOf(state)
      .all()
      .map(({ subject, relation, object, sourceTaskId, sourceSequence, closedBy }) => {
        const words = `${subject} ${relation} ${object} [${sourceTaskId}]`;
        return `${place(sourceSequence)}: ${words} ${place(closedBy)}`;
      }),
  };
}

export function newSession(name: string): Token {
  sessions += 1;
  return token(`${name}-${sessions}`, 'session');
}
let sessions = 0;

export function implemented(
  task_id: string,
  more: Partial<ResultOf<'implementer'>> = {},
): ResultOf<'implementer'> {
  return { task_id, status: 'completed', summary: `did ${task_id}`, ...more };
}

export function reviewed(
  task_id: string,
  assessment: ResultOf<'reviewer'>['assessment'],
  more: Partial<ResultOf<'reviewer'>> = {},
): ResultOf<'reviewer'> {
  return { task_id, assessment, ...more };
}

/** Publishes a result as it is on the wire, as an agent's runtime in any language does. */
export function publishWire<R extends Role, Options extends PublishOptions>(
  client: Pick<ThroughlineClient, 'publishText'>,
  role: R,
  session: string,
  result: ResultOf<R>,
  options?: Options,
): Promise<PublishedBy<Options>> {
  return client.publishText(session, role, JSON.stringify(result), options);
}

/** Publishes a result of an implementer. */
export function publishWork<Options extends PublishOptions>(
  client: Pick<ThroughlineClient, 'publishText'>,
  session: string,
  task: string,
  more: Partial<ResultOf<'implementer'>> = {},
  options?: Options,
): Promise<PublishedBy<Options>> {
  return publishWire(client, 'implementer', session, implemented(task, more), options);
}

/** Publishes the result of a review. */
export function publishReview<Options extends PublishOptions>(
  client: Pick<ThroughlineClient, 'publishText'>,
  session: string,
  task: string,
  assessment: ResultOf<'reviewer'>['assessment'],
  more: Partial<ResultOf<'reviewer'>> = {},
  options?: Options,
): Promise<PublishedBy<Options>> {
  return publishWire(client, 'reviewer', session, reviewed(task, assessment, more), options);
}

/** A run of results in which later ones close facts of earlier ones, of both roles. */
export function manyResults(count: number): { role: 'implementer' | 'reviewer'; body: string }[] {
  return Array.from({ length: count }, (_, index) => {
    const task = `t${index % 11}`;
    if (index % 3 !== 2) {
      const files_modified = [`src/f${index % 7}.ts`];
      const body = JSON.stringify(implemented(task, { summary: `step ${index}`, files_modified }));
      return { role: 'implementer', body };
    }
    const assessment = index % 2 === 0 ? 'approved' : 'needs_changes';
    const required_fixes = assessment === 'approved' ? [] : [`fix a ${index}`, `fix b ${index}`];
    return { role: 'reviewer', body: JSON.stringify(reviewed(task, assessment, { required_fixes })) };
  });
}

/** A compiler on this reader, which keeps no prompt. */
export function compilerOn(reader: SessionReader, log: SessionLog, afterTimeoutMs: number): PromptCompiler {
  const command = createCommander({
    log,
    reader,
    clock: systemClock,
    newId: randomUUID,
    random: Math.random,
  });
  const tracker = new ProgressTracker({ files: localTasksFile([]), command, logger: silentLogger });
  return createPromptCompiler({
    reader,
    log,
    tracker,
    keeper: { add: () => undefined },
    learnings: async () => ({}),
    wordVectors: wordVectorsLoader(silentLogger),
    waiters: waitLimit(),
    afterTimeoutMs,
  });
}
