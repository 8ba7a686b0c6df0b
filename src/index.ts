import { ThroughlineClient } from './client/client.js';
import type { NatsAccess } from './nats/access.js';
import { natsTransport } from './nats/client-transport.js';
import { connectNats } from './nats/connection.js';
import { silentLogger } from './ports/logger.js';

export {
  type ClientOptions,
  type Published,
  type PublishOptions,
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
export type { NatsAccess } from './nats/access.js';

/** Where and how to connect. Who connects and TLS are said as in the configuration, but the environment is not read. */
export interface ConnectOptions extends NatsAccess {
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
 * @throws ThroughlineError `unavailable` when nobody answers there, `auth_failed` or `tls_failed` when the server does
 * not let us in
 */
export async function connectThroughline(options: ConnectOptions = {}): Promise<ThroughlineClient> {
  const { url, name, timeoutMs = 10_000, ...access } = options;
  const connection = await connectNats({
    url: url ?? 'nats://127.0.0.1:4222',
    name: name ?? 'throughline client',
    access,
    logger: silentLogger,
    timeoutMs,
  });
  return new ThroughlineClient(natsTransport(connection, timeoutMs), { timeoutMs });
}
