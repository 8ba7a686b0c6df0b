import { type CompileReply, type CompileRequest, compileRequest } from '../contracts/compile.js';
import { explainIssues } from '../contracts/explain-issues.js';
import { type Token, token } from '../contracts/names.js';
import { ThroughlineError } from '../errors.js';
import type { SessionLog } from '../ports/session-log.js';
import { compilePrompt } from '../prompt/compile.js';
import { caughtUp } from './caught-up.js';
import type { LoadedSession, SessionReader } from './session-reader.js';

/**
 * Answers `prompt.compile`: check the request, load the session, wait for the dispatch named in `after`, compile.
 */
export interface PromptCompilerOptions {
  readonly reader: SessionReader;
  readonly log: SessionLog;
  /** Longest wait for the dispatch named in `after`, in milliseconds. */
  readonly afterTimeoutMs: number;
}

/** From a request's JSON to its reply. Throws a ThroughlineError for what cannot be answered. */
export type PromptCompiler = (request: unknown) => Promise<CompileReply>;

export function createPromptCompiler(options: PromptCompilerOptions): PromptCompiler {
  return async (input) => {
    const request = checked(input);
    const session = token(request.session, 'session');
    const { folded, replayed } = await loadFor(session, request, options);
    // Nothing is awaited from here on: the next load of the session would change the state.
    return {
      ...compilePrompt(folded.state, request),
      sequence: folded.state.sequence,
      snapshotSequence: folded.snapshotSequence,
      replayed,
    };
  };
}

function checked(input: unknown): CompileRequest {
  const parsed = compileRequest.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new ThroughlineError('schema_invalid', explainIssues(parsed.error, input), {
    details: { fields: parsed.error.issues.map((issue) => issue.path.map(String).join('.')) },
  });
}

function loadFor(
  session: Token,
  request: CompileRequest,
  options: PromptCompilerOptions,
): Promise<LoadedSession> {
  const { reader, log, afterTimeoutMs } = options;
  if (request.asOf !== undefined) return reader.loadAsOf(session, request.asOf);
  if (request.after !== undefined) return caughtUp({ reader, log }, session, request.after, afterTimeoutMs);
  return reader.load(session);
}
