import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { SERVICE_NAMES, type Token } from '../../contracts/names.js';
import type { LearningRequest, RequestName, ToolArguments } from '../../contracts/requests.js';
import type { SessionEvent } from '../../contracts/session-events.js';
import { waitLimit } from '../../engine/folding/caught-up.js';
import type {
  SessionCommander,
  SessionReader,
  SessionSnapshotWriter,
} from '../../engine/folding/session-folding.js';
import { type Clock, clockBy, type Logger, systemClock } from '../../engine/ports/clients.js';
import { COMMAND_NAMES, type CommandName, decide } from '../../memory/session/commands/decide-session.js';
import { answer } from '../../memory/session/commands/session-decision.js';
import { candidates } from '../../memory/session/commands/task-commands.js';
import { seenState } from '../../memory/session/session-state.js';
import { examine } from '../../nats/doctor/examine.js';
import { healthOfServices } from '../../nats/micro/service-health.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import type { KvLease } from '../../nats/stores/kv-stores.js';
import { VERSION } from '../../version.js';
import type { KnownSessions } from '../common/open-sessions.js';
import { numbersOf, type Serving, type Sessions, type ToolPorts } from '../common/service-context.js';
import { type Asked, endpointsOf, type Handlers, serveRequests } from '../common/service-shell.js';
import { NoteHarvester } from '../learnings/harvesters.js';
import type { Projects } from '../learnings/serve-learnings.js';
import { type Archiver, openArchiver } from '../lifecycle/archive-session.js';
import { createRetentionTools } from '../lifecycle/follow-retention.js';
import { createForgetTool } from '../lifecycle/forget-session.js';
import { createSessionExport, createSessionImport } from '../lifecycle/session-transfer.js';
import { createHealthQuery } from './health-query.js';
import { createPromptQueries, createTelemetryQuery } from './prompt-queries.js';
import { createDispatchResults, createRejectedQueries } from './result-queries.js';
import { createRunClaim, createRunService, runLease } from './run-service.js';
import { SessionList } from './session-list.js';
import { createSessionQueries } from './session-queries.js';
import { createTimelineService } from './timeline-service.js';
import { createTraceService } from './trace-service.js';

const HEALTH_PART_MS = 1500;
/** Used if the server does not announce its maximum payload. */
const USUAL_PAYLOAD = 1024 * 1024;

export async function serveTools(
  nats: NatsPorts,
  sessions: Sessions,
  projects: Projects,
  known: KnownSessions,
  serving: Serving,
): Promise<void> {
  const { config, logger, shutdown, lifecycle } = serving;
  const harvester = new NoteHarvester({
    sessions: sessions.reader,
    projects: projects.reader,
    command: projects.inBackground,
    lifecycle,
    logger,
  });
  shutdown.add('the note harvester', () => harvester.stop());
  const onNotes = (session: Token) => harvester.schedule(session);
  const clock = clockBy(known.now);
  const archiver = openArchiver(nats, sessions.reader, lifecycle);
  const caughtUp = () => known.feed.ready;
  const ports: ToolPorts = {
    ...nats,
    ...sessions,
    ...{ lifecycle, clock, waiters: waitLimit() },
    ...{ afterTimeoutMs: config.afterTimeoutMs, maxBodyBytes: config.maxBodyBytes },
    maxReplyBytes: () => nats.connection.info?.max_payload ?? USUAL_PAYLOAD,
  };
  const list = new SessionList({
    ...{ table: known.table, now: known.now, caughtUp, reader: sessions.reader, lifecycle, logger },
  });
  const trace = createTraceService(ports);
  const handlers: Handlers<Exclude<RequestName, LearningRequest | 'prompt.compile' | 'prompt.past'>> = {
    ...createSessionTools({ ...sessions, archiver, logger, onNotes, clock, leases: nats.leases }),
    ...createRunService(ports),
    ...trace,
    // Nobody gets its refusal, so it is logged.
    'trace.record': async (request) => {
      await trace['trace.append'](request).catch((error: unknown) => {
        logger.warn({ err: error, code: codeOf(error) }, 'trace.record refused');
        throw error;
      });
    },
    ...createSessionQueries(ports),
    'tool.dispatch-show': createDispatchResults(ports),
    'tool.session-list': (request) => list.list(request),
    'tool.timeline-list': createTimelineService(nats),
    'tool.session-forget': createForgetTool(
      { ...nats, lifecycle, clock, projects: projects.reader, command: projects.inBackground },
      async () =>
        (await healthOfServices(nats.connection, [SERVICE_NAMES.keeper], HEALTH_PART_MS)).length > 0,
    ),
    ...createRetentionTools({
      ...{ table: known.table, now: known.now, lifecycle, store: nats.retention, clock, logger, caughtUp },
    }),
    'tool.session-export': createSessionExport(ports),
    'tool.session-import': createSessionImport({ ...nats, ...sessions, lifecycle, archiver }),
    ...createRejectedQueries(ports),
    ...createPromptQueries(ports),
    'tool.telemetry-show': createTelemetryQuery(ports),
    'tool.run-claim': createRunClaim(nats.leases, ports),
    'tool.health-show': createHealthQuery({
      parts: {
        services: () => healthOfServices(nats.connection, Object.values(SERVICE_NAMES), HEALTH_PART_MS - 300),
        async results() {
          const [{ stored, waiting, inHand }, { total: rejected }] = await Promise.all([
            nats.source.backlog(),
            nats.rejected.page({ limit: 0 }),
          ]);
          return { stored, waiting: waiting + inHand, rejected };
        },
      },
      partMs: HEALTH_PART_MS,
      clock: systemClock,
      quickCheck: () => examine(nats.connection, { ...config, version: VERSION, now: Date.now }, true),
    }),
  };
  await serveRequests(nats.connection, serving, {
    name: SERVICE_NAMES.tools,
    description: 'Tasks, notes, inbox, iterations and runs of sessions',
    numbers: () => numbersOf(sessions),
    endpoints: endpointsOf(handlers),
  });
}

/** Answers the commands of `session-tools`: validate, execute, write a snapshot if one is due. */
interface SessionToolsOptions {
  readonly command: SessionCommander;
  readonly reader: SessionReader;
  readonly writer: SessionSnapshotWriter;
  readonly logger: Logger;
  /** Default: the time of the newest event. */
  readonly clock?: Clock;
  /** Leases of runs of a plan. Default: there are no runs. */
  readonly leases?: Pick<KvLease, 'read'>;
  /** Applies archiving and reopening beyond their events. Default: nothing. */
  readonly archiver?: Pick<Archiver, 'requireCheckpointFits' | 'settle'>;
  /** Called for each session whose notes or project changed. */
  readonly onNotes?: (session: Token) => void;
}

/** Events after which notes may be proposed; the end of an iteration makes up for missed ones. */
const TELLS_NOTES: ReadonlySet<string> = new Set([
  'note.added',
  'note.edited',
  'session.opened',
  'iteration.completed',
] satisfies SessionEvent['type'][]);

/** Commands that begin a session, and say so: its name may be misspelled. */
const ADDS: ReadonlySet<string> = new Set(['task-add', 'note-add', 'inbox-add'] satisfies CommandName[]);

export type SessionTools = Handlers<`tool.${CommandName}`>;

export function createSessionTools(options: SessionToolsOptions): SessionTools {
  const handlers = COMMAND_NAMES.map((name) => [
    `tool.${name}`,
    ({ session, ...args }: Asked<`tool.${typeof name}`>) => carriedOut(options, session, name, args),
  ]);
  return Object.fromEntries(handlers);
}

async function carriedOut<Name extends CommandName>(
  options: SessionToolsOptions,
  session: Token,
  name: Name,
  args: ToolArguments<Name>,
): Promise<object> {
  if (name === 'session-archive') await options.archiver?.requireCheckpointFits(session);
  let isNew = false;
  const carryOut = () =>
    options.command(session, name, (state) => {
      isNew = state.sequence === 0;
      return decide(name, state, args, options.clock?.());
    });
  if (name === 'task-next' && options.leases !== undefined) {
    const { claim, id } = args as ToolArguments<'task-next'>;
    if (claim !== undefined) return claimTask(options, options.leases, session, { claim, ...(id && { id }) });
  }
  const { reply, appended } = await carryOut();
  if (appended !== undefined && TELLS_NOTES.has(appended)) options.onNotes?.(session);
  if (appended === 'iteration.completed' || appended === 'iteration.started')
    await snapshot(options, session);
  if (ADDS.has(name) && isNew) return { ...reply, created: true };
  if (name !== 'session-archive' && name !== 'session-reopen') return reply;
  // Also if it was done before, which resumes interrupted work. The reply shows the session afterwards.
  await options.archiver?.settle(session);
  return (await carryOut()).reply;
}

/**
 * Claims a task that no run of the plan works on. The claim comes first and the look at the run's lease second; a run takes its
 * lease first and looks for claims second. So one of the two always sees the other, and steps back.
 */
async function claimTask(
  { command, reader, clock = systemClock }: SessionToolsOptions,
  leases: Pick<KvLease, 'read'>,
  session: Token,
  { claim: holder, id: given }: { readonly claim: string; readonly id?: string },
): Promise<object> {
  const claimed = (id: string | undefined) =>
    command(session, 'task-next', (now) =>
      decide('task-next', now, { claim: holder, ...(id !== undefined && { id }) }, clock()),
    );
  /** Undefined if the task stays with the agent; else what says who works on it. */
  const givenBack = async (id: string): Promise<ThroughlineError | undefined> => {
    const lease = await leases.read(runLease(session, id));
    if (lease === undefined) return undefined;
    await command(session, 'task-release', (now) =>
      decide('task-release', now, { id, claim: holder }, clock()),
    );
    const since = `${id} is being worked on by ${lease.holder} since ${lease.since}`;
    return new ThroughlineError('conflict', since);
  };
  const first = (await claimed(given)).reply;
  const id = idIn(first);
  const taken = id === undefined ? undefined : await givenBack(id);
  if (taken === undefined) return first;
  if (given !== undefined) throw taken;
  const { state } = (await reader.load(session)).folded;
  for (const other of candidates(seenState(state, clock()), holder)) {
    if (other === id) continue;
    try {
      const { reply } = await claimed(other);
      if ((await givenBack(other)) === undefined) return reply;
    } catch (error) {
      if (codeOf(error) !== 'conflict') throw error;
    }
  }
  return (await command(session, 'task-next', () => answer(() => ({ task: null })))).reply;
}

function idIn(reply: object): string | undefined {
  const { task, plan }: { task?: { id: string } | null; plan?: { id: string } } = reply;
  return task?.id ?? plan?.id;
}

/** Writes a snapshot at the end of an iteration, because a fresh agent is about to load the session. */
async function snapshot({ reader, writer, logger }: SessionToolsOptions, session: Token): Promise<void> {
  try {
    const { folded } = await reader.load(session);
    // Starting an iteration ends the previous one.
    if (folded.state.history.iterations.some((iteration) => iteration.ended_at !== undefined)) {
      await writer.write(folded);
    }
  } catch (error) {
    logger.warn(
      { session, code: codeOf(error), err: error },
      'snapshot not written: the next load replays more events',
    );
  }
}
