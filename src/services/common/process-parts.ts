import { randomUUID } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { fileVersion } from '../../config/ask-git.js';
import { type Config, connectedRoots } from '../../config/config.js';
import { type WordVectorsLoader, wordVectorsLoader } from '../../config/load-word-vectors.js';
import { beingForgotten } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import { localTasksFile } from '../../engine/files/local-tasks-file.js';
import { createCommander, inBackground } from '../../engine/folding/commander.js';
import {
  createSessionReader,
  createSnapshotWriter,
  PROJECT_FOLDING,
  type ProjectCommander,
  type ProjectReader,
} from '../../engine/folding/session-folding.js';
import { SnapshotWriter, StateReader } from '../../engine/folding/state-reader.js';
import type { Clock, Logger } from '../../engine/ports/logger-and-clock.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import { systemClock } from '../../engine/runtime/pacing.js';
import {
  type ActiveLearnings,
  type Relevant,
  relevantLearnings,
  type SearchLimits,
} from '../../memory/learnings/relevant-learnings.js';
import { scannerFor } from '../../memory/redaction/redactor.js';
import { onReconnect } from '../../nats/connection/connect-nats.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import { generationOf } from '../../nats/stores/nats-session-lifecycle.js';
import { ProgressTracker } from './progress-tracker.js';
import type { Serving, Sessions } from './service-context.js';
import { SessionFeed, SessionTable } from './session-table.js';

/** After a command, results are taken in small turns for this long: a caller's next command follows soon. */
const AWAITED_MS = 1000;

/**
 * Opens the sessions that services share. `isAwaited` is true during a command and shortly after: the next often follows.
 * `clock` is the server's: commands and results are compared by their time.
 */
export function openSessions(
  nats: NatsPorts,
  config: Config,
  logger: Logger,
  clock: Clock,
  lifecycle?: Forgetting,
): Sessions & { isAwaited(): boolean } {
  const { reader, writer } = sessionReader(nats, config, logger, lifecycle);
  const command = createCommander({
    log: nats.log,
    reader,
    clock,
    newId: randomUUID,
    random: Math.random,
  });
  const tracker = new ProgressTracker({
    files: localTasksFile(config.tasksRoots, () => connectedRoots(config)),
    command,
    logger,
    secrets: scannerFor(config),
    // A service finds a relative path below its first root.
    version: (path) => (isAbsolute(path) ? fileVersion(path) : undefined),
  });
  let commands = 0;
  let awaitedUntil = 0;
  return {
    reader,
    writer,
    tracker,
    async command(...given) {
      commands += 1;
      try {
        return await command(...given);
      } finally {
        commands -= 1;
        awaitedUntil = performance.now() + AWAITED_MS;
      }
    },
    isAwaited: () => commands > 0 || performance.now() < awaitedUntil,
  };
}

export function sessionReader(nats: NatsPorts, config: Config, logger: Logger, lifecycle?: Forgetting) {
  const { log, snapshots } = nats;
  const every = config.snapshotEvery;
  const writer = createSnapshotWriter({ snapshots, clock: systemClock, logger, every });
  const reader = createSessionReader({
    log,
    snapshots,
    logger,
    maxCached: config.maxCached,
    maxBytes: config.cacheMb * 1_000_000,
    onFolded: (folded) => writer.folded(folded),
    ...(lifecycle !== undefined && { generationOf: (session: Token) => generationOf(lifecycle, session) }),
  });
  return { reader, writer };
}

/** Finds the learnings that are relevant to a query, by words and by meaning. */
export type Relevance = (
  learnings: ActiveLearnings,
  query: string,
  limits: SearchLimits,
) => Promise<Relevant>;

export interface Projects {
  readonly reader: ProjectReader;
  readonly command: ProjectCommander;
  /** For proposals by rule, which no caller waits for. */
  readonly inBackground: ProjectCommander;
  readonly relevance: Relevance;
  readonly wordVectors: WordVectorsLoader;
}

export function openProjects(
  nats: NatsPorts,
  { config, logger, shutdown }: Pick<Serving, 'config' | 'logger' | 'shutdown'>,
  clock: Clock,
): Projects {
  const stored = { snapshots: nats.learningSnapshots, folding: PROJECT_FOLDING, logger };
  const writer = new SnapshotWriter({ ...stored, clock: systemClock, every: config.snapshotEvery });
  const reader = new StateReader({
    ...stored,
    log: nats.learnings,
    maxCached: config.maxCached,
    maxBytes: config.cacheMb * 1_000_000,
    onFolded: (folded) => writer.folded(folded),
  });
  shutdown.add('the snapshot writer of projects', () => writer.stop());
  const ports = { log: nats.learnings, reader, clock, newId: randomUUID, random: Math.random };
  const command = createCommander(ports);
  const wordVectors = wordVectorsLoader(logger);
  const relevance: Relevance = async (...search) => relevantLearnings(await wordVectors(), ...search);
  return { reader, command, inBackground: inBackground(command), relevance, wordVectors };
}

/** The sessions of the installation: one table per process, and the feed that updates it. */
export interface KnownSessions {
  readonly table: SessionTable;
  readonly feed: SessionFeed;
  /** The server's clock in milliseconds since 1970; decisions on erasing use no other. */
  readonly now: () => number;
}

/**
 * Opens the table of sessions. The caller must call `feed.start()` after adding its listeners.
 *
 * @param feedPorts ports on a separate connection: requests must not queue behind the stream of all events
 */
export function knownSessions(
  nats: NatsPorts,
  feedPorts: NatsPorts,
  { logger, shutdown, lifecycle }: Pick<Serving, 'logger' | 'shutdown' | 'lifecycle'>,
  now: () => number,
): KnownSessions {
  const table = new SessionTable(now);
  const feed = new SessionFeed({
    table,
    log: { activity: () => nats.log.activity(), follow: (onMoved) => feedPorts.log.follow(onMoved) },
    index: nats.index,
    logger,
    now,
    onReconnect: (listener) => onReconnect(feedPorts.connection, listener),
  });
  shutdown.add('the feed of sessions', () => feed.stop());
  const unwatch = lifecycle.onForgotten((session) => {
    // Hints that arrived meanwhile are stale; a new session of the same name is found again.
    table.removed(session);
    if (lifecycle.forgotten(session)?.status === 'forgotten') void feed.compare();
  });
  shutdown.add('the lifecycle of known sessions', async () => unwatch());
  return { table, feed, now };
}

export interface Process extends Serving {
  readonly nats: NatsPorts;
  readonly sessions: ReturnType<typeof openSessions>;
  readonly projects: Projects;
  readonly known: () => Promise<KnownSessions>;
}

export type Forgetting = Pick<SessionLifecycle, 'archived' | 'forgotten' | 'refreshed'>;

/** Redelivery delay for a result of a session that is being forgotten, in milliseconds. */
export const HELD_BACK_MS = 1000;

/** Decides if a result may become an event: never if it was stored before its session was forgotten, and later during that. */
export function admission(
  lifecycle: Forgetting | undefined,
  session: Token,
  dispatch: number,
): 'counts' | 'forgotten' | 'later' {
  const record = lifecycle?.forgotten(session);
  if (record === undefined) return 'counts';
  if (dispatch <= record.dispatches) return 'forgotten';
  return record.status === 'forgetting' ? 'later' : 'counts';
}

/** Returns a guard to call right before a write that derives from a session: throws `session_forgotten` if it was. */
export async function generationGuard(
  lifecycle: Forgetting | undefined,
  session: Token,
): Promise<() => Promise<void>> {
  await lifecycle?.refreshed();
  const generation = lifecycle && generationOf(lifecycle, session);
  return async () => {
    await lifecycle?.refreshed();
    if ((lifecycle && generationOf(lifecycle, session)) !== generation) throw beingForgotten(session);
  };
}
