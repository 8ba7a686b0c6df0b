import { randomUUID } from 'node:crypto';
import type { Config } from './config.js';
import { COMPILE_SUBJECT, COMPILER_SERVICE, type Token } from './contracts/names.js';
import { RUN_INIT_SUBJECT, RUN_STATUS_SUBJECT } from './contracts/run.js';
import { TOOL_NAMES, TOOLS, TOOLS_SERVICE, toolSubject } from './contracts/tools.js';
import { TRACE_APPEND_SUBJECT, TRACE_COMPACT_SUBJECT, TRACE_RECORD_SUBJECT } from './contracts/trace.js';
import { localTasksFile } from './files/tasks-file.js';
import { type NatsPorts, openNats } from './nats/open.js';
import { startService } from './nats/service.js';
import { systemClock } from './ports/clock.js';
import type { Logger } from './ports/logger.js';
import type { PromptBudget } from './prompt/budget.js';
import type { Context } from './services/context.js';
import { openProjects, type Projects, serveLearnings } from './services/learnings.js';
import { loadTokenizer } from './tokenizers/load.js';
import { VERSION } from './version.js';
import { createCommander } from './workers/commander.js';
import { startExtractor } from './workers/extractor.js';
import { NoteHarvester } from './workers/note-harvester.js';
import { ProgressTracker } from './workers/progress-tracker.js';
import { createPromptCompiler } from './workers/prompt-compiler.js';
import { createPromptLearnings } from './workers/prompt-learnings.js';
import { createRunService } from './workers/run-service.js';
import {
  createSessionReader,
  createSnapshotWriter,
  type SessionCommander,
  type SessionReader,
  type SessionSnapshotWriter,
} from './workers/session-reader.js';
import { createSessionTools } from './workers/session-tools.js';
import { Telemetry } from './workers/telemetry.js';
import { createTraceService } from './workers/trace-service.js';

/** The composition root: each service with the ports it needs, on one NATS connection. */

export const SERVICES = ['extractor', 'compiler', 'tools', 'learnings'] as const;
export type ServiceName = (typeof SERVICES)[number];

export type { Context };

/** Connects to NATS and starts the services; `releasers` stops them again. */
export async function serve(
  url: string,
  { config, logger, releasers }: Context,
  only: readonly ServiceName[] = SERVICES,
): Promise<NatsPorts> {
  const nats = await openNats(natsOptions(url, `throughline ${only.join('+')}`, config, logger));
  releasers.add('the NATS connection', () => nats.close());
  if (only.includes('extractor')) await serveExtractor(nats, { config, logger, releasers });
  if (only.every((name) => name === 'extractor')) return nats;
  const sessions = openSessions(nats, config, logger);
  releasers.add('the snapshot writer', () => sessions.writer.stop());
  const projects = await openProjects(nats, { config, logger, releasers });
  if (only.includes('compiler')) await serveCompiler(nats, sessions, projects, { config, logger, releasers });
  if (only.includes('tools')) await serveTools(nats, sessions, projects, { config, logger, releasers });
  if (only.includes('learnings')) {
    await serveLearnings(nats, sessions.reader, projects, { config, logger, releasers });
  }
  return nats;
}

/** How this configuration connects. */
export function natsOptions(url: string, name: string, config: Config, logger: Logger) {
  const { replicas, requestTimeoutMs, ackWaitMs, maxInHand } = config;
  const maxAckPending = Math.max(20_000, maxInHand * 2);
  return { url, name, logger, replicas, requestTimeoutMs, ackWaitMs, maxInHand, maxAckPending };
}

/** A reader of sessions, together with the writer of their snapshots. */
export function sessionReader(nats: NatsPorts, config: Config, logger: Logger) {
  const writer = createSnapshotWriter({
    snapshots: nats.snapshots,
    clock: systemClock,
    logger,
    every: config.snapshotEvery,
  });
  const reader = createSessionReader({
    log: nats.log,
    snapshots: nats.snapshots,
    limits: { maxFacts: config.maxFacts, stall: config.stallThresholds, compaction: config.compaction },
    logger,
    maxSessions: config.maxSessions,
    onFolded: (folded) => writer.folded(folded),
  });
  return { reader, writer };
}

async function serveExtractor(nats: NatsPorts, { config, logger, releasers }: Context): Promise<void> {
  const extractor = await startExtractor(
    { source: nats.source, log: nats.log, rejected: nats.rejected, logger },
    { maxBodyBytes: config.maxBodyBytes, maxDeliveries: config.maxDeliveries, random: Math.random },
  );
  releasers.add('the extractor', () => extractor.stop());
}

/** What the services that fold sessions share: one cache of states, one queue of commands, one view of task files. */
interface Sessions {
  readonly reader: SessionReader;
  readonly writer: SessionSnapshotWriter;
  readonly command: SessionCommander;
  readonly tracker: ProgressTracker;
}

function openSessions(nats: NatsPorts, config: Config, logger: Logger): Sessions {
  const { reader, writer } = sessionReader(nats, config, logger);
  const command = createCommander({
    log: nats.log,
    reader,
    clock: systemClock,
    newId: randomUUID,
    random: Math.random,
  });
  const tracker = new ProgressTracker({ files: localTasksFile(config.tasksRoots), command, logger });
  return { reader, writer, command, tracker };
}

async function serveTools(
  nats: NatsPorts,
  sessions: Sessions,
  projects: Projects,
  { config, logger, releasers }: Context,
): Promise<void> {
  const harvester = new NoteHarvester({
    ...{ sessions: sessions.reader, projects: projects.reader, command: projects.command, logger },
  });
  releasers.add('the note harvester', () => harvester.stop());
  const onNotes = (session: Token) => harvester.schedule(session);
  const tools = createSessionTools({ ...sessions, logger, onNotes });
  const run = createRunService(sessions);
  const trace = createTraceService({
    log: nats.log,
    reader: sessions.reader,
    clock: systemClock,
    newId: randomUUID,
    tokenizer: await loadTokenizer(config.tokenizer),
    maxTokens: config.maxSummaryTokens,
  });
  const service = await startService(nats.connection, {
    name: TOOLS_SERVICE,
    version: VERSION,
    description: 'Tasks, notes, inbox, iterations and runs of sessions',
    logger,
    endpoints: [
      ...TOOL_NAMES.map((name) => ({
        name,
        subject: toolSubject(name),
        description: TOOLS[name].summary,
        handle: (request: unknown) => tools(name, request),
      })),
      {
        name: 'run-init',
        subject: RUN_INIT_SUBJECT,
        description: 'make a tasks.md the progress of a session',
        handle: (request) => run.init(request),
      },
      {
        name: 'run-status',
        subject: RUN_STATUS_SUBJECT,
        description: 'progress of a run, and what each task needs next',
        handle: (request) => run.status(request),
      },
      {
        name: 'trace-append',
        subject: TRACE_APPEND_SUBJECT,
        description: 'add entries to the trace of an intent',
        handle: (request) => trace.append(request),
      },
      {
        name: 'trace-record',
        subject: TRACE_RECORD_SUBJECT,
        description: 'the same without an answer, for volume',
        handle: (request) => trace.append(request),
      },
      {
        name: 'trace-compact',
        subject: TRACE_COMPACT_SUBJECT,
        description: 'the compacted history of an intent',
        handle: (request) => trace.compact(request),
      },
    ],
  });
  releasers.add('the session tools', () => service.stop());
}

async function serveCompiler(
  nats: NatsPorts,
  sessions: Sessions,
  projects: Projects,
  { config, logger, releasers }: Context,
): Promise<void> {
  const telemetry = new Telemetry();
  const compile = createPromptCompiler({
    ...sessions,
    log: nats.log,
    telemetry,
    learnings: createPromptLearnings({
      ...{ reader: projects.reader, relevance: projects.relevance },
      ...{ maxResults: config.maxLearnings, minSimilarity: config.minSimilarity },
    }),
    budget: await promptBudget(config),
    afterTimeoutMs: config.afterTimeoutMs,
  });
  const service = await startService(nats.connection, {
    name: COMPILER_SERVICE,
    version: VERSION,
    description: 'Compiles the next prompt from what a session remembers',
    logger,
    endpoints: [
      {
        name: 'compile',
        subject: COMPILE_SUBJECT,
        description: 'session, taskId, taskPrompt in; prompt out',
        handle: compile,
        stats: () => telemetry.toJSON(),
      },
    ],
  });
  releasers.add('the prompt compiler', () => service.stop());
}

/** The budget that the configuration asks for. */
async function promptBudget(config: Config): Promise<PromptBudget> {
  const {
    implementerTokens: implementer,
    reviewerTokens: reviewer,
    maxOutputTokens,
    maxSummaryTokens,
  } = config;
  return {
    caps: { implementer, reviewer },
    maxOutputTokens,
    maxSummaryTokens,
    tokenizer: await loadTokenizer(config.tokenizer),
  };
}
