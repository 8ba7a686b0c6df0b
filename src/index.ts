import { ThroughlineClient } from './client/client.js';
import { natsTransport } from './nats/client-transport.js';
import { connectNats } from './nats/connection.js';
import { silentLogger } from './ports/logger.js';

export {
  type ClientOptions,
  type Published,
  ThroughlineClient,
  type TraceAppended,
  type TraceCompacted,
} from './client/client.js';
export type { LearningReply, ProposalView } from './client/learning-replies.js';
export type { Learnings, Proposals } from './client/learnings.js';
export type { TaskView, ToolReply } from './client/tool-replies.js';
export type { Tools } from './client/tools.js';
export type { ClientTransport } from './client/transport.js';
export {
  type CompactionSource,
  HookEngine,
  PreCompactHook,
  type PreLlmHook,
} from './compaction/hook-engine.js';
export {
  type PreLlmOptions,
  type PreparedPrompt,
  preparePrompt,
  withPreLlmCompaction,
} from './compaction/pre-llm.js';
export type {
  CompiledFact,
  CompileReply,
  CompileRequestInput as CompileRequest,
  ExplainedFact,
} from './contracts/compile.js';
export { ERROR_CODES, type ErrorCode } from './contracts/error-codes.js';
export type { LearningEvidence, LearningType, ProposalMethod } from './contracts/learning-events.js';
export type { LearningInput, LearningRequest } from './contracts/learning-requests.js';
export type { Role } from './contracts/names.js';
export type {
  ImplementerResultInput as ImplementerResult,
  ReviewerResultInput as ReviewerResult,
} from './contracts/results.js';
export type { ToolInput, ToolName } from './contracts/tools.js';
export type { TraceEntryInput as TraceEntry } from './contracts/trace.js';
export { ThroughlineError } from './errors.js';
export type { Learning, Proposal, RankedLearning, RelevanceMethod } from './learnings/types.js';

/** Where and how to connect. */
export interface ConnectOptions {
  /** `nats://host:port`, several separated by commas. Default: `nats://127.0.0.1:4222`. */
  readonly url?: string;
  /** Longest wait for an answer, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number;
  /** Shown among the server's connections. Default `throughline client`. */
  readonly name?: string;
}

/**
 * Connects to the NATS server that Throughline runs on.
 *
 * @throws ThroughlineError `unavailable` when nobody answers there
 */
export async function connectThroughline(options: ConnectOptions = {}): Promise<ThroughlineClient> {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const connection = await connectNats({
    url: options.url ?? 'nats://127.0.0.1:4222',
    name: options.name ?? 'throughline client',
    logger: silentLogger,
    timeoutMs,
  });
  return new ThroughlineClient(natsTransport(connection, timeoutMs), { timeoutMs });
}
