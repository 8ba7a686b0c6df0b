import type { CompileRequest } from '../../contracts/compile-request.js';
import { DEFAULT_MAX_LEARNINGS, DEFAULT_MIN_SIMILARITY } from '../../contracts/learning-requests.js';
import { projectOf } from '../../contracts/names.js';
import type { Relevance } from '../../embedding/relevance.js';
import type { ProjectReader } from '../../folding/project-folding.js';
import type { LearningsInPrompt } from '../../learnings/format-learnings.js';
import { viewOf } from '../../learnings/learnings-state.js';
import { whatIsAhead } from '../../prompt/what-is-ahead.js';
import { redactText } from '../../redaction/redactor.js';
import { NO_SCANNER, type SecretScanner } from '../../redaction/secret-scanner.js';
import type { SessionState } from '../../session/session-state.js';

/** Finds the learnings that a prompt may show; `undefined` if the request asks for none. */
export type PromptLearnings = (
  state: SessionState,
  request: CompileRequest,
) => Promise<LearningsInPrompt | undefined>;

export interface PromptLearningsOptions {
  readonly reader: ProjectReader;
  readonly relevance: Relevance;
  /** Finds secrets in a query. */
  readonly secrets?: SecretScanner;
}

export function createPromptLearnings(options: PromptLearningsOptions): PromptLearnings {
  const { reader, relevance, secrets = NO_SCANNER } = options;
  return async (session, request) => {
    const starts = request.kind === 'session-start';
    const maxResults = request.maxLearnings ?? (starts ? DEFAULT_MAX_LEARNINGS : 0);
    if (maxResults === 0 && !starts) return undefined;
    const project = projectOf(request.project ?? session.charter.project);
    // The query may go to an endpoint of embeddings: secrets must not be kept, and must not be sent either.
    const query = redactText(request.taskPrompt ?? whatIsAhead(session), secrets).value;
    const { learningsAsOf } = request;
    const loaded =
      learningsAsOf === undefined ? reader.load(project) : reader.loadAsOf(project, learningsAsOf);
    const { active, pending, sequence } = viewOf((await loaded).folded.state);
    const minSimilarity = request.minSimilarity ?? DEFAULT_MIN_SIMILARITY;
    const found = await relevance.find(project, active, query, { maxResults, minSimilarity });
    return { total: active.size, pending, sequence, ...found };
  };
}
