import { checkedRequest } from '../../contracts/checked.js';
import { noSuchSession, ThroughlineError } from '../../contracts/errors.js';
import {
  DEFAULT_MAX_LEARNINGS,
  DEFAULT_MIN_SIMILARITY,
  LEARNING_REQUESTS,
  type LearningArguments,
  type LearningRequest,
} from '../../contracts/learning-requests.js';
import { projectOf, type Token, token } from '../../contracts/names.js';
import type { Relevance } from '../../embedding/relevance.js';
import type { ProjectCommander, ProjectReader } from '../../folding/project-folding.js';
import type { SessionReader } from '../../folding/session-folding.js';
import { decideLearning, type LearningCommand } from '../../learnings/commands/decide-learning.js';
import { viewOf } from '../../learnings/learnings-state.js';

/** Answers the requests on learnings and proposals: check, decide on the project's state, append. */
export interface LearningsServiceOptions {
  readonly command: ProjectCommander;
  readonly reader: ProjectReader;
  readonly sessions: SessionReader;
  readonly relevance: Relevance;
  /** Told after each command that changed a project. */
  readonly onChanged: (project: Token) => void;
}

/** From a request's subject and JSON to the reply. Throws a ThroughlineError for a refused request. */
export type LearningsService = (subject: LearningRequest, request: unknown) => Promise<object>;

export function createLearningsService(options: LearningsServiceOptions): LearningsService {
  return async (subject, request) => {
    // The schema of a request gives the arguments of that request; the index type cannot say so.
    const args = checkedRequest(LEARNING_REQUESTS[subject].arguments, request);
    const project = projectOf(args.project);
    if (subject === 'learning.search') {
      return search(project, args as LearningArguments<'learning.search'>, options);
    }
    if (subject === 'learning.propose')
      await requireSession((args as LearningArguments<'learning.propose'>).source.session, options);
    const { reply, appended } = await options.command(project, subject, (state) =>
      decideLearning(subject, state, args as LearningArguments<LearningCommand>),
    );
    if (appended !== undefined) options.onChanged(project);
    return reply;
  };
}

/** A session that a proposal is said to come from must be there: a misspelt one would stand in its evidence. */
async function requireSession(
  name: string | undefined,
  { sessions }: LearningsServiceOptions,
): Promise<void> {
  if (name === undefined) return;
  const session = token(name, 'source.session');
  const { state } = (await sessions.load(session)).folded;
  if (state.sequence === 0) throw new ThroughlineError('not_found', noSuchSession(session));
}

async function search(
  project: Token,
  args: LearningArguments<'learning.search'>,
  { reader, relevance }: LearningsServiceOptions,
): Promise<object> {
  const { state } = (await reader.load(project)).folded;
  const { active } = viewOf(state);
  const { sequence } = state;
  const { method, ranked } = await relevance.find(project, active, args.query, {
    maxResults: args.maxResults ?? DEFAULT_MAX_LEARNINGS,
    minSimilarity: args.minSimilarity ?? DEFAULT_MIN_SIMILARITY,
  });
  return { project, method, results: ranked, total: active.size, sequence };
}
