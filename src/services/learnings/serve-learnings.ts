import { randomUUID } from 'node:crypto';
import { type WordVectorsLoader, wordVectorsLoader } from '../../config/load-language-data.js';
import { noSuchSession } from '../../contracts/errors.js';
import { DEFAULT_MAX_LEARNINGS, DEFAULT_MIN_SIMILARITY } from '../../contracts/learning-requests.js';
import { projectOf, SERVICE_NAMES, token } from '../../contracts/names.js';
import type { LearningRequest, ReplyTo } from '../../contracts/requests.js';
import { createCommander, inBackground } from '../../engine/folding/commander.js';
import {
  PROJECT_FOLDING,
  type ProjectCommander,
  type ProjectReader,
  type SessionReader,
} from '../../engine/folding/session-folding.js';
import { SnapshotWriter, StateReader } from '../../engine/folding/state-reader.js';
import { systemClock } from '../../engine/ports/logger-and-clock.js';
import {
  decideLearning,
  LEARNING_COMMANDS,
  type LearningCommand,
} from '../../memory/learnings/decide-learning.js';
import { type LearningState, viewOf } from '../../memory/learnings/learnings-state.js';
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
  const stored = { snapshots: nats.learningSnapshots, folding: PROJECT_FOLDING, logger };
  const writer = new SnapshotWriter({ ...stored, clock: systemClock, every: config.snapshotEvery });
  const reader = new StateReader({
    ...stored,
    log: nats.learnings,
    maxCached: config.maxCached,
    maxBytes: config.cacheMb * 1_000_000,
    onFolded: (folded) => writer.folded(folded),
  });
  monitoring.metrics.add(foldedMetrics('project', reader, writer));
  shutdown.add('the snapshot writer of projects', () => writer.stop());
  const ports = { log: nats.learnings, reader, clock: systemClock, newId: randomUUID, random: Math.random };
  const command = createCommander(ports);
  const wordVectors = wordVectorsLoader(logger);
  const relevance: Relevance = async (...search) => relevantLearnings(await wordVectors(), ...search);
  return { reader, command, inBackground: inBackground(command), relevance, wordVectors };
}

const MAX_PROJECTS = 500;

/** Answers requests on learnings and proposals: validate, decide on the project's state, append. */
export async function serveLearnings(
  nats: NatsPorts,
  { reader, command, relevance }: Projects,
  sessions: SessionReader,
  serving: Serving,
): Promise<void> {
  const decided = async <Name extends LearningCommand>(name: Name, request: Asked<Name>) => {
    const decide = (state: LearningState) => decideLearning(name, state, request);
    const { reply } = await command(projectOf(request.project), name, decide);
    return reply as ReplyTo<Name>;
  };
  const countedProjects = async () => {
    const projects = (await nats.learnings.projects()).slice(0, MAX_PROJECTS);
    const counted = projects.map(async (project) => {
      const { active, pending } = viewOf((await reader.load(project)).folded.state);
      return { project, pending: pending.length, active: active.size };
    });
    return (await Promise.all(counted))
      .filter(({ pending, active }) => pending + active > 0)
      .sort((a, b) => b.pending - a.pending || a.project.localeCompare(b.project));
  };
  const handlers: Handlers<LearningRequest> = {
    ...(Object.fromEntries(
      LEARNING_COMMANDS.map((name) => [name, (request: Asked<typeof name>) => decided(name, request)]),
    ) as Handlers<LearningCommand>),
    async 'learning.search'({ query, maxResults, minSimilarity, ...of }) {
      const project = projectOf(of.project);
      const { active, sequence } = viewOf((await reader.load(project)).folded.state);
      const limits = {
        maxResults: maxResults ?? DEFAULT_MAX_LEARNINGS,
        minSimilarity: minSimilarity ?? DEFAULT_MIN_SIMILARITY,
      };
      const { ranked: results, ...found } = await relevance(active, query, limits);
      return { project, ...found, results, total: active.size, sequence };
    },
    async 'learning.propose'(request) {
      const { session: name } = request.source;
      // A session that does not exist is a typo, and would become evidence.
      const session = name === undefined ? undefined : token(name, 'source.session');
      if (session !== undefined && (await sessions.load(session)).folded.state.sequence === 0)
        throw noSuchSession(session);
      return decided('learning.propose', request);
    },
    async 'proposal.list'(request) {
      const reply = await decided('proposal.list', request);
      return request.projects ? { ...reply, projects: await countedProjects() } : reply;
    },
  };
  await serveRequests(nats.connection, serving, {
    name: SERVICE_NAMES.learnings,
    description: 'Learnings and proposals of projects',
    numbers: async () => ({ projectsInMemory: reader.size }),
    endpoints: endpointsOf(handlers),
  });
}
