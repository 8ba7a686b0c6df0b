import type { CompileRequest } from '../../contracts/compile-request.js';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { DEFAULT_MIN_SIMILARITY, PROMPT_LEARNINGS } from '../../contracts/learning-requests.js';
import { projectOf } from '../../contracts/names.js';
import type { DispatchReply } from '../../contracts/replies/compile-reply.js';
import type { ProjectReader } from '../../engine/folding/session-folding.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import { limitedWarnings } from '../../engine/runtime/pacing.js';
import { type LearningsInPrompt, viewOf } from '../../memory/learnings/learnings-state.js';
import type { SessionState } from '../../memory/session/session-state.js';
import { placeholdersOf } from '../../prompt/iteration-template.js';
import { taskText, whatIsAhead } from '../../prompt/task-text.js';
import { LATE, withinDeadline } from '../../shared/deadlines.js';
import type { Relevance } from '../common/process-parts.js';

interface FoundLearnings {
  readonly learnings?: LearningsInPrompt | undefined;
  /** The reason why there are none, if the request did not require them. */
  readonly learningsError?: DispatchReply['learningsError'];
}

/** Finds the learnings for a prompt. Throws only if the request requires them: other prompts do without. */
export type PromptLearnings = (state: SessionState, request: CompileRequest) => Promise<FoundLearnings>;

interface PromptLearningsOptions {
  readonly reader: Pick<ProjectReader, 'load' | 'loadAsOf'>;
  readonly relevance: Relevance;
  readonly logger: Logger;
  /** Longest wait for optional learnings, in milliseconds. Default: 2,000. */
  readonly unaskedMs?: number;
}

export function createPromptLearnings(options: PromptLearningsOptions): PromptLearnings {
  const { reader, relevance, unaskedMs = 2000 } = options;
  const warn = limitedWarnings(options.logger, () => performance.now());

  async function find(session: SessionState, request: CompileRequest, maxResults: number) {
    const project = projectOf(request.project ?? session.charter.project);
    const { learningsAsOf } = request;
    const loaded = await (learningsAsOf === undefined
      ? reader.load(project)
      : reader.loadAsOf(project, learningsAsOf));
    const { active, pending, sequence } = viewOf(loaded.folded.state);
    const known = { total: active.size, pending, sequence };
    const none: LearningsInPrompt = { ...known, method: 'recency', ranked: [] };
    if (active.size === 0 || maxResults === 0) return none;
    const query =
      request.kind === 'dispatch' ? taskText(session, request) : (request.taskPrompt ?? whatIsAhead(session));
    const minSimilarity = request.minSimilarity ?? DEFAULT_MIN_SIMILARITY;
    const found = await relevance(active, query, { maxResults, minSimilarity });
    // Irrelevant learnings are useful only in a session start.
    const fits = found.method !== 'recency' || request.kind === 'session-start';
    return fits ? { ...known, ...found } : none;
  }

  return async (state, request) => {
    const maxResults = request.maxLearnings ?? PROMPT_LEARNINGS[request.kind];
    if (!needsLearnings(request, maxResults)) return {};
    const found = find(state, request, maxResults);
    if (asksForLearnings(request)) return { learnings: await found };
    try {
      const learnings = await withinDeadline(unaskedMs, found);
      if (learnings !== LATE) return { learnings };
      throw new ThroughlineError('unavailable', `reading the learnings timed out after ${unaskedMs} ms`);
    } catch (error) {
      const code = codeOf(error);
      warn({ session: state.session, code, err: error }, 'prompt compiled without learnings');
      return { learningsError: { code, message: error instanceof Error ? error.message : String(error) } };
    }
  };
}

/** A session start lists at least the proposals; a template without a placeholder needs learnings only if they are requested. */
function needsLearnings(request: CompileRequest, maxResults: number): boolean {
  if (request.kind === 'session-start') return true;
  if (maxResults === 0) return false;
  if (request.kind === 'dispatch' || request.template === undefined) return true;
  return asksForLearnings(request) || placeholdersOf(request.template).has('learnings');
}

function asksForLearnings({ kind, ...request }: CompileRequest): boolean {
  const { maxLearnings, minSimilarity, learningsAsOf, project } = request;
  const fields = [maxLearnings, minSimilarity, learningsAsOf, project];
  return kind === 'session-start' || fields.some((field) => field !== undefined);
}
