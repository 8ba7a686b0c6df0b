import type { CompileRequest } from '../contracts/compile.js';
import { projectOf } from '../contracts/names.js';
import type { LearningsInPrompt } from '../learnings/format.js';
import { pendingProposals } from '../learnings/state.js';
import { whatIsAhead } from '../prompt/query.js';
import type { SessionState } from '../session/state.js';
import type { ProjectReader } from './project-reader.js';
import type { Relevance } from './relevance.js';

/** Finds what a prompt may show of a project's learnings; `undefined` where the request asks for none. */
export type PromptLearnings = (
  state: SessionState,
  request: CompileRequest,
) => Promise<LearningsInPrompt | undefined>;

export interface PromptLearningsOptions {
  readonly reader: ProjectReader;
  readonly relevance: Relevance;
  /** Learnings of a session start that names no number. */
  readonly maxResults: number;
  readonly minSimilarity: number;
}

export function createPromptLearnings(options: PromptLearningsOptions): PromptLearnings {
  const { reader, relevance } = options;
  return async (session, request) => {
    const starts = request.kind === 'session-start';
    const maxResults = request.maxLearnings ?? (starts ? options.maxResults : 0);
    if (maxResults === 0 && !starts) return undefined;
    const project = projectOf(request.project ?? session.charter.project);
    const query = request.taskPrompt ?? whatIsAhead(session);
    const { state } = (await reader.load(project)).folded;
    // The state goes on changing while relevance is looked for.
    const active = new Map(state.active);
    const found = { total: active.size, pending: pendingProposals(state), sequence: state.sequence };
    const minSimilarity = request.minSimilarity ?? options.minSimilarity;
    return { ...found, ...(await relevance.find(project, active, query, { maxResults, minSimilarity })) };
  };
}
