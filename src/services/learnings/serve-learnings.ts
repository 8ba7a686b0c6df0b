import { noSuchSession } from '../../contracts/errors.js';
import { DEFAULT_MAX_LEARNINGS, DEFAULT_MIN_SIMILARITY } from '../../contracts/learning-requests.js';
import { projectOf, token } from '../../contracts/names.js';
import type { LearningRequest, ReplyTo } from '../../contracts/requests.js';
import {
  decideLearning,
  LEARNING_COMMANDS,
  type LearningCommand,
} from '../../memory/learnings/decide-learning.js';
import { type LearningState, viewOf } from '../../memory/learnings/learnings-state.js';
import type { Process } from '../common/process-parts.js';
import { endpointsOf, type Handlers, type Service, type Values } from '../common/service-shell.js';

const MAX_PROJECTS = 500;

/** Answers requests on learnings and proposals: validate, decide on the project's state, append. */
export function openLearnings({
  nats,
  projects: { reader, command, relevance },
  sessions,
}: Process): Service {
  const decided = async <Name extends LearningCommand>(name: Name, request: Values<Name>) => {
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
      LEARNING_COMMANDS.map((name) => [name, (request: Values<typeof name>) => decided(name, request)]),
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
      if (session !== undefined && (await sessions.reader.load(session)).folded.state.sequence === 0)
        throw noSuchSession(session);
      return decided('learning.propose', request);
    },
    async 'proposal.list'(request) {
      const reply = await decided('proposal.list', request);
      return request.projects ? { ...reply, projects: await countedProjects() } : reply;
    },
  };
  return { numbers: () => ({ projectsInMemory: reader.size }), endpoints: endpointsOf(handlers) };
}
