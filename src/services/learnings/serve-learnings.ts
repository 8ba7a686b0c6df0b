import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/config.js';
import { type WordVectorsLoader, wordVectorsLoader } from '../../config/load-word-vectors.js';
import { noSuchSession } from '../../contracts/errors.js';
import { DEFAULT_MAX_LEARNINGS, DEFAULT_MIN_SIMILARITY } from '../../contracts/learning-requests.js';
import { projectOf, SERVICE_NAMES, type Token, token } from '../../contracts/names.js';
import type { LearningRequest, ReplyTo } from '../../contracts/requests.js';
import { createCommander, inBackground } from '../../engine/folding/commander.js';
import {
  PROJECT_FOLDING,
  type ProjectCommander,
  type ProjectReader,
  type SessionReader,
} from '../../engine/folding/session-folding.js';
import { SnapshotWriter } from '../../engine/folding/snapshot-writer.js';
import { StateReader } from '../../engine/folding/state-reader.js';
import { type Logger, systemClock } from '../../engine/ports/clients.js';
import {
  decideLearning,
  LEARNING_COMMANDS,
  type LearningCommand,
} from '../../memory/learnings/decide-learning.js';
import { viewOf } from '../../memory/learnings/learnings-state.js';
import {
  type ActiveLearnings,
  type Relevant,
  relevantLearnings,
  type SearchLimits,
} from '../../memory/learnings/relevant-learnings.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import type { Serving } from '../common/service-context.js';
import { foldedMetrics } from '../common/service-metrics.js';
import { type Asked, endpointsOf, type Handlers, serveRequests } from '../common/service-shell.js';

/** Finds the learnings that are relevant to a query, by words and by meaning. */
export type Relevance = (
  learnings: ActiveLearnings,
  query: string,
  limits: SearchLimits,
) => Promise<Relevant>;

/** The learnings of projects, shared by the services of one process. */
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
  { config, logger, shutdown, monitoring }: Pick<Serving, 'config' | 'logger' | 'shutdown' | 'monitoring'>,
): Projects {
  const { reader, writer } = projectReader(nats, config, logger);
  monitoring.metrics.add(foldedMetrics('project', reader, writer));
  shutdown.add('the snapshot writer of projects', () => writer.stop());
  const ports = { log: nats.learnings, reader, clock: systemClock, newId: randomUUID, random: Math.random };
  const command = createCommander(ports);
  const wordVectors = wordVectorsLoader(logger);
  const relevance: Relevance = async (...search) => relevantLearnings(await wordVectors(), ...search);
  return { reader, command, inBackground: inBackground(command), relevance, wordVectors };
}

function projectReader(nats: NatsPorts, config: Config, logger: Logger) {
  const snapshots = nats.learningSnapshots;
  const folding = PROJECT_FOLDING;
  const writer = new SnapshotWriter({
    snapshots,
    folding,
    clock: systemClock,
    logger,
    every: config.snapshotEvery,
  });
  const reader = new StateReader({
    log: nats.learnings,
    snapshots,
    folding,
    logger,
    maxCached: config.maxCached,
    maxBytes: config.cacheMb * 1_000_000,
    onFolded: (folded) => writer.folded(folded),
  });
  return { reader, writer };
}

export async function serveLearnings(
  nats: NatsPorts,
  projects: Projects,
  sessions: SessionReader,
  serving: Serving,
): Promise<void> {
  const { reader, command, relevance } = projects;
  const handlers = createLearningsService({
    command,
    reader,
    projects: () => nats.learnings.projects(),
    sessions,
    relevance,
  });
  await serveRequests(nats.connection, serving, {
    name: SERVICE_NAMES.learnings,
    description: 'Learnings and proposals of projects',
    numbers: async () => ({ projectsInMemory: reader.size }),
    endpoints: endpointsOf(handlers),
  });
}

/** Answers requests on learnings and proposals: validate, decide on the project's state, append. */
interface LearningsServiceOptions {
  readonly command: ProjectCommander;
  readonly reader: ProjectReader;
  readonly projects: () => Promise<Token[]>;
  readonly sessions: SessionReader;
  readonly relevance: Relevance;
}

function createLearningsService(options: LearningsServiceOptions): Handlers<LearningRequest> {
  const decided = async <Name extends LearningCommand>(name: Name, request: Asked<Name>) => {
    const { reply } = await options.command(projectOf(request.project), name, (state) =>
      decideLearning(name, state, request),
    );
    return reply as ReplyTo<Name>;
  };
  return {
    ...(Object.fromEntries(
      LEARNING_COMMANDS.map((name) => [name, (request: Asked<typeof name>) => decided(name, request)]),
    ) as Handlers<LearningCommand>),
    'learning.search': (request) => search(request, options),
    async 'learning.propose'(request) {
      await requireSession(request.source.session, options);
      return decided('learning.propose', request);
    },
    async 'proposal.list'(request) {
      const reply = await decided('proposal.list', request);
      return request.projects ? { ...reply, projects: await countedProjects(options) } : reply;
    },
  };
}

const MAX_PROJECTS = 500;

async function countedProjects({ projects, reader }: LearningsServiceOptions) {
  const counted = (await projects()).slice(0, MAX_PROJECTS).map(async (project) => {
    const { active, pending } = viewOf((await reader.load(project)).folded.state);
    return { project, pending: pending.length, active: active.size };
  });
  return (await Promise.all(counted))
    .filter(({ pending, active }) => pending + active > 0)
    .sort((a, b) => b.pending - a.pending || a.project.localeCompare(b.project));
}

/** Requires that the session named as a proposal's source exists: a typo would become evidence. */
async function requireSession(
  name: string | undefined,
  { sessions }: LearningsServiceOptions,
): Promise<void> {
  if (name === undefined) return;
  const session = token(name, 'source.session');
  const { state } = (await sessions.load(session)).folded;
  if (state.sequence === 0) throw noSuchSession(session);
}

async function search(
  {
    query,
    maxResults = DEFAULT_MAX_LEARNINGS,
    minSimilarity = DEFAULT_MIN_SIMILARITY,
    ...of
  }: Asked<'learning.search'>,
  { reader, relevance }: LearningsServiceOptions,
): Promise<ReplyTo<'learning.search'>> {
  const project = projectOf(of.project);
  const { state } = (await reader.load(project)).folded;
  const { active } = viewOf(state);
  const { sequence } = state;
  const { method, ranked, vectors } = await relevance(active, query, {
    maxResults,
    minSimilarity,
  });
  return { project, method, ...(vectors && { vectors }), results: ranked, total: active.size, sequence };
}
