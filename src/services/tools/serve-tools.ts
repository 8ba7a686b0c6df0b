import { codeOf } from '../../contracts/errors.js';
import { SERVICE_NAMES, type Token } from '../../contracts/names.js';
import type { LearningRequest, RequestName, ToolArguments } from '../../contracts/requests.js';
import type { SessionEvent } from '../../contracts/session-events.js';
import { waitLimit } from '../../engine/folding/caught-up.js';
import type {
  SessionCommander,
  SessionReader,
  SessionSnapshotWriter,
} from '../../engine/folding/session-folding.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import { systemClock } from '../../engine/runtime/pacing.js';
import { COMMAND_NAMES, type CommandName, decide } from '../../memory/session/commands/decide-session.js';
import { maxPayload } from '../../nats/connection/connect-nats.js';
import { healthOfServices } from '../../nats/doctor/service-findings.js';
import type { Process } from '../common/process-parts.js';
import { numbersOf } from '../common/service-context.js';
import { endpointsOf, type Handlers, type Service, type Values } from '../common/service-shell.js';
import { noteHarvester } from '../learnings/harvesters.js';
import { type Archiver, lifecyclePorts } from '../lifecycle/archive-session.js';
import { createEraseTool } from '../lifecycle/erase-statement.js';
import { createRetentionTools } from '../lifecycle/follow-retention.js';
import { createForgetTool } from '../lifecycle/forget-session.js';
import { createSessionExport, createSessionImport } from '../lifecycle/session-transfer.js';
import { createHealthQuery } from './health-query.js';
import { createRunService } from './plan-tools.js';
import { createPromptQueries, createTelemetryQuery } from './prompt-queries.js';
import { createDispatchResults, createRejectedQueries } from './result-queries.js';
import { createRecall, SessionList } from './session-list.js';
import { createSessionQueries } from './session-queries.js';
import { createTaskNext, endingLeases } from './task-claims.js';
import { createTimelineService } from './timeline-query.js';
import { createTraceService } from './trace-tools.js';

const HEALTH_PART_MS = 1500;

export async function openTools(parts: Process): Promise<Service> {
  const { config, shutdown, nats, sessions, projects } = parts;
  const given = lifecyclePorts(parts, await parts.known());
  const harvester = noteHarvester(given);
  shutdown.add('the note harvester', () => harvester.stop());
  const ports = {
    ...given,
    command: endingLeases(given),
    waiters: waitLimit(),
    afterTimeoutMs: config.afterTimeoutMs,
    maxBodyBytes: config.maxBodyBytes,
    maxReplyBytes: () => maxPayload(nats.connection),
    onNotes: (session: Token) => harvester.schedule(session),
  };
  const list = new SessionList(ports);
  const handlers: Handlers<Exclude<RequestName, LearningRequest | 'prompt.compile' | 'prompt.past'>> = {
    ...createSessionTools(ports),
    'tool.task-next': createTaskNext(ports),
    ...createRunService(ports),
    ...createTraceService(ports),
    ...createSessionQueries(ports),
    'tool.fact-erase': createEraseTool(given),
    'tool.dispatch-show': createDispatchResults(ports),
    'tool.session-list': (request) => list.list(request),
    'tool.recall': createRecall(sessions.reader, list, projects.wordVectors),
    'tool.timeline-list': createTimelineService(nats),
    'tool.session-forget': createForgetTool(
      ports,
      async () =>
        (await healthOfServices(nats.connection, [SERVICE_NAMES.keeper], HEALTH_PART_MS)).length > 0,
    ),
    ...createRetentionTools(ports),
    'tool.session-export': createSessionExport(ports),
    'tool.session-import': createSessionImport(ports),
    ...createRejectedQueries(ports),
    ...createPromptQueries(ports),
    'tool.telemetry-show': createTelemetryQuery(ports),
    'tool.health-show': createHealthQuery({
      services: () => healthOfServices(nats.connection, Object.values(SERVICE_NAMES), HEALTH_PART_MS - 300),
      async results() {
        const [{ stored, waiting, inHand }, { total: rejected }] = await Promise.all([
          nats.source.backlog(),
          nats.rejected.page({ limit: 0 }),
        ]);
        return { stored, waiting: waiting + inHand, rejected };
      },
      partMs: HEALTH_PART_MS,
      clock: systemClock,
    }),
  };
  return { numbers: () => numbersOf(sessions), endpoints: endpointsOf(handlers) };
}

/** Answers the commands of `session-tools`: validate, execute, write a snapshot if one is due. */
interface SessionToolsOptions {
  readonly command: SessionCommander;
  readonly reader: SessionReader;
  readonly writer: SessionSnapshotWriter;
  readonly logger: Logger;
  /** Applies archiving and reopening beyond their events. Default: nothing. */
  readonly archiver?: Pick<Archiver, 'requireCheckpointFits' | 'settle'>;
  readonly onNotes?: (session: Token) => void;
}

/** Events after which notes may differ from their proposals; the end of an iteration makes up for missed ones. */
const TELLS_NOTES: ReadonlySet<string> = new Set([
  'note.added',
  'note.edited',
  'note.deleted',
  'session.opened',
  'iteration.completed',
] satisfies SessionEvent['type'][]);

/** Commands that begin a session, and say so: its name may be misspelled. */
const ADDS: ReadonlySet<string> = new Set(['task-add', 'note-add', 'inbox-add'] satisfies CommandName[]);

export function createSessionTools(options: SessionToolsOptions): Handlers<`tool.${CommandName}`> {
  const handlers = COMMAND_NAMES.map((name) => [
    `tool.${name}`,
    ({ session, ...args }: Values<`tool.${typeof name}`>) => carriedOut(options, session, name, args),
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
      return decide(name, state, args);
    });
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
