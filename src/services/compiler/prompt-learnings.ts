import type { CompileRequest, DispatchReply } from '../../contracts/compile-request.js';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { DEFAULT_MIN_SIMILARITY, PROMPT_LEARNINGS } from '../../contracts/learning-requests.js';
import { projectOf } from '../../contracts/names.js';
import type { Relevance } from '../../embedding/relevance.js';
import type { ProjectReader } from '../../folding/project-folding.js';
import type { LearningsInPrompt } from '../../learnings/format-learnings.js';
import { viewOf } from '../../learnings/learnings-state.js';
import type { Logger } from '../../ports/logger.js';
import { hasPlaceholder } from '../../prompt/render-template.js';
import { whatIsAhead } from '../../prompt/what-is-ahead.js';
import { redactText } from '../../redaction/redactor.js';
import { NO_SCANNER, type SecretScanner } from '../../redaction/secret-scanner.js';
import { limitedWarnings } from '../../runtime/limited-warnings.js';
import type { SessionState } from '../../session/session-state.js';
import { LATE, withinDeadline } from '../../shared/deadline.js';

/** The learnings that a prompt may show; `undefined` where it shows none. */
export interface FoundLearnings {
  readonly learnings?: LearningsInPrompt | undefined;
  /** Why there are none, of a request that asked for none. */
  readonly learningsError?: DispatchReply['learningsError'];
}

/**
 * Finds the learnings that a prompt may show. It fails only where the request asks for learnings, by any of their
 * fields or as a session start: other prompts are worth having without them.
 */
export type PromptLearnings = (state: SessionState, request: CompileRequest) => Promise<FoundLearnings>;

export interface PromptLearningsOptions {
  readonly reader: ProjectReader;
  readonly relevance: Relevance;
  readonly logger: Logger;
  /** Finds secrets in a query. */
  readonly secrets?: SecretScanner;
  /** Longest wait of a prompt that did not ask for learnings, in milliseconds. Default: 2,000. */
  readonly unaskedMs?: number;
}

export function createPromptLearnings(options: PromptLearningsOptions): PromptLearnings {
  const { reader, relevance, secrets = NO_SCANNER, unaskedMs = 2000 } = options;
  const warn = limitedWarnings(options.logger, () => performance.now());

  async function find(session: SessionState, request: CompileRequest, maxResults: number) {
    const project = projectOf(request.project ?? session.charter.project);
    const asked = request.taskPrompt ?? whatIsAhead(session);
    const { learningsAsOf } = request;
    const loaded =
      learningsAsOf === undefined ? reader.load(project) : reader.loadAsOf(project, learningsAsOf);
    const { active, pending, sequence } = viewOf((await loaded).folded.state);
    const known = { total: active.size, pending, sequence };
    const none: LearningsInPrompt = { ...known, method: 'recency', ranked: [] };
    if (active.size === 0 || maxResults === 0) return none;
    // The query may go to an endpoint of embeddings: secrets must not be kept, and must not be sent either.
    const query = redactText(asked, secrets).value;
    const minSimilarity = request.minSimilarity ?? DEFAULT_MIN_SIMILARITY;
    const found = await relevance.find(project, active, query, { maxResults, minSimilarity });
    // What has nothing to do with the task only fills a session start.
    const fits = found.method !== 'recency' || request.kind === 'session-start';
    return fits ? { ...known, ...found } : none;
  }

  return async (session, request) => {
    const maxResults = request.maxLearnings ?? PROMPT_LEARNINGS[request.kind];
    if (request.kind === 'session-start') return { learnings: await find(session, request, maxResults) };
    if (maxResults === 0) return {};
    if (asksForLearnings(request)) return { learnings: await find(session, request, maxResults) };
    if (request.kind === 'iteration' && !showsLearnings(request.template)) return {};
    try {
      const learnings = await withinDeadline(unaskedMs, find(session, request, maxResults));
      if (learnings !== LATE) return { learnings };
      throw new ThroughlineError('unavailable', `the learnings could not be read within ${unaskedMs} ms`);
    } catch (error) {
      const code = codeOf(error);
      warn({ session: session.session, code, err: error }, 'prompt compiled without learnings');
      return { learningsError: { code, message: error instanceof Error ? error.message : String(error) } };
    }
  };
}

function asksForLearnings({ maxLearnings, minSimilarity, learningsAsOf, project }: CompileRequest): boolean {
  return [maxLearnings, minSimilarity, learningsAsOf, project].some((field) => field !== undefined);
}

function showsLearnings(template: string | undefined): boolean {
  return template === undefined || hasPlaceholder(template, 'learnings');
}
