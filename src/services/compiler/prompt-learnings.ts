import { LRUCache } from 'lru-cache';
import type { CompileRequest } from '../../contracts/compile-request.js';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { DEFAULT_MIN_SIMILARITY, PROMPT_LEARNINGS } from '../../contracts/learning-requests.js';
import { projectOf, type Token } from '../../contracts/names.js';
import type { DispatchReply } from '../../contracts/replies/compile-reply.js';
import type { Relevance } from '../../engine/embedding/relevance.js';
import type { ProjectReader } from '../../engine/folding/project-folding.js';
import type { Logger } from '../../engine/ports/logger.js';
import { limitedWarnings } from '../../engine/runtime/limited-warnings.js';
import type { LearningsInPrompt } from '../../memory/learnings/learning-text.js';
import { viewOf } from '../../memory/learnings/learnings-state.js';
import { redactText } from '../../memory/redaction/redactor.js';
import { NO_SCANNER, type SecretScanner } from '../../memory/redaction/secret-scanner.js';
import type { SessionState } from '../../memory/session/session-state.js';
import { hasPlaceholder } from '../../prompt/iteration-template.js';
import { whatIsAhead } from '../../prompt/what-is-ahead.js';
import { LATE, withinDeadline } from '../../shared/deadline.js';

/** The learnings that a prompt may show; `undefined` where it shows none. */
interface FoundLearnings {
  readonly learnings?: LearningsInPrompt | undefined;
  /** Why there are none, of a request that asked for none. */
  readonly learningsError?: DispatchReply['learningsError'];
}

/**
 * Finds the learnings that a prompt may show: called as the request comes, and then with the session's state. It fails
 * only where the request asks for learnings, by any of their fields or as a session start: other prompts are worth having
 * without them.
 */
export type PromptLearnings = (
  session: Token,
  request: CompileRequest,
) => (state: SessionState) => Promise<FoundLearnings>;

interface PromptLearningsOptions {
  readonly reader: ProjectReader;
  readonly relevance: Relevance;
  readonly logger: Logger;
  /** Finds secrets in a query. */
  readonly secrets?: SecretScanner;
  /** Longest wait of a prompt that did not ask for learnings, in milliseconds. Default: 2,000. */
  readonly unaskedMs?: number;
}

/** Sessions whose project is remembered. */
const MAX_SESSIONS = 10_000;

export function createPromptLearnings(options: PromptLearningsOptions): PromptLearnings {
  const { reader, relevance, secrets = NO_SCANNER, unaskedMs = 2000 } = options;
  const warn = limitedWarnings(options.logger, () => performance.now());

  /** Project of each session at its last prompt: its learnings can be read while the session is. */
  const projects = new LRUCache<string, Token>({ max: MAX_SESSIONS });

  /** Begins to read, where the project is likely known; not before a wait, after which the learnings may be others. */
  function readAhead(session: Token, { project, after, learningsAsOf }: CompileRequest) {
    const likely = projects.get(session);
    if (likely === undefined || project !== undefined) return undefined;
    if (after !== undefined || learningsAsOf !== undefined) return undefined;
    const loaded = reader.load(likely);
    // The one that awaits it sees the error; it may be that nobody does.
    loaded.catch(() => undefined);
    return { project: likely, loaded };
  }

  async function find(
    session: SessionState,
    request: CompileRequest,
    maxResults: number,
    ahead: ReturnType<typeof readAhead>,
  ) {
    const own = projectOf(session.charter.project);
    projects.set(session.session, own);
    const project = request.project === undefined ? own : projectOf(request.project);
    const asked = request.taskPrompt ?? whatIsAhead(session);
    const { learningsAsOf } = request;
    const read = ahead?.project === project ? ahead.loaded : reader.load(project);
    const loaded = await (learningsAsOf === undefined ? read : reader.loadAsOf(project, learningsAsOf));
    const { active, pending, sequence } = viewOf(loaded.folded.state);
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

  return (session, request) => {
    const maxResults = request.maxLearnings ?? PROMPT_LEARNINGS[request.kind];
    if (!needsLearnings(request, maxResults)) return async () => ({});
    let ahead = readAhead(session, request);
    return async (state) => {
      const found = find(state, request, maxResults, ahead);
      // Where it is called again, time has passed.
      ahead = undefined;
      if (asksForLearnings(request)) return { learnings: await found };
      try {
        const learnings = await withinDeadline(unaskedMs, found);
        if (learnings !== LATE) return { learnings };
        throw new ThroughlineError('unavailable', `the learnings could not be read within ${unaskedMs} ms`);
      } catch (error) {
        const code = codeOf(error);
        warn({ session, code, err: error }, 'prompt compiled without learnings');
        return { learningsError: { code, message: error instanceof Error ? error.message : String(error) } };
      }
    };
  };
}

/** A session start needs the proposals at least; a template may show no learnings, and then only an explicit wish counts. */
function needsLearnings(request: CompileRequest, maxResults: number): boolean {
  if (request.kind === 'session-start') return true;
  if (maxResults === 0) return false;
  if (request.kind === 'dispatch' || request.template === undefined) return true;
  return asksForLearnings(request) || hasPlaceholder(request.template, 'learnings');
}

function asksForLearnings({ kind, ...request }: CompileRequest): boolean {
  const { maxLearnings, minSimilarity, learningsAsOf, project } = request;
  const fields = [maxLearnings, minSimilarity, learningsAsOf, project];
  return kind === 'session-start' || fields.some((field) => field !== undefined);
}
