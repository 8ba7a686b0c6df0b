import './globals.js';
import { discoveredServer, tokenOfNamed } from './config/config.js';
import { addressOf } from './config/user-server.js';
import { checkOptions } from './contracts/errors.js';
import { silentLogger } from './engine/ports/logger-and-clock.js';
import { connectNats, type NatsConnection, setInboxPrefix } from './nats/connection/connect-nats.js';
import type { NatsAccess } from './nats/connection/nats-access.js';
import { natsTransport } from './nats/connection/nats-client-transport.js';
import { ThroughlineClient } from './sdk/throughline-client.js';

export type {
  CompileHints,
  CompileReplyTo,
  CompileRequestInput as CompileRequest,
} from './contracts/compile-request.js';
export { ERROR_CODES, type ErrorCode } from './contracts/error-codes.js';
export { ThroughlineError } from './contracts/errors.js';
export type { Role } from './contracts/kinds.js';
export type {
  LearningEvidence,
  LearningType,
  ProposalMethod,
  RelevanceMethod,
} from './contracts/learning-events.js';
export type { PlanTaskView, RunStatusReply } from './contracts/plan-requests.js';
export type {
  BudgetReport,
  CompiledFact,
  CompiledFile,
  CompiledLearning,
  CompileReply,
  Considered,
  ConsideredFact,
  ConsideredFile,
  DispatchReply,
  IterationReply,
  SectionReport,
  SessionStartReply,
} from './contracts/replies/compile-reply.js';
export type {
  ReplyTo,
  RequestInput,
  RequestName,
  ToolInput,
  ToolName,
  ToolReply,
} from './contracts/requests.js';
export type { DispatchResult } from './contracts/result-requests.js';
export type { TraceEntryInput as TraceEntry } from './contracts/trace-entry.js';
export type { ClientTransport } from './engine/ports/client-transport.js';
export type { Note } from './memory/facts/fact-types.js';
export type {
  Learning,
  Proposal,
  RankedLearning,
} from './memory/learnings/learnings-state.js';
export type { SessionOverview } from './memory/session/commands/lifecycle-commands.js';
export type { TaskView } from './memory/session/commands/task-commands.js';
export type { Iteration } from './memory/session/iterations.js';
export type { InboxMessage } from './memory/session/session-state.js';
export type { BoardCounts, TaskCounts } from './memory/session/task-board.js';
export type { NatsAccess } from './nats/connection/nats-access.js';
export type { Published, PublishedBy, PublishOptions } from './sdk/persistent-publish.js';
export type {
  Bound,
  Learnings,
  Proposals,
  Result,
  RunMethods,
  Session,
  Tools,
  TraceMethods,
} from './sdk/throughline-client.js';
export { type ClientOptions, ThroughlineClient } from './sdk/throughline-client.js';
export type { WatchedEvent, WatchInput } from './sdk/watch-session.js';

/**
 * Server and credentials. Credentials and TLS have the same names as in the configuration. Reads only `NATS_URL`, `NATS_TOKEN`
 * and `XDG_STATE_HOME` from the environment, the first two if no option names a server or credentials.
 */
export interface ConnectOptions extends NatsAccess {
  /**
   * `nats://host:port`, several separated by commas. Default: `NATS_URL`, else the server of `throughline team join`, else
   * your own server, which `throughline up` starts.
   */
  readonly url?: string;
  /** Timeout of requests, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number;
  /** Shown among the server's connections. Default `throughline client`. */
  readonly name?: string;
}

const SHARED_OPTIONS: Readonly<Record<keyof SharedConnectionOptions, true>> = {
  timeoutMs: true,
  inboxPrefix: true,
};

const CONNECT_OPTIONS: Readonly<Record<keyof ConnectOptions, true>> = {
  url: true,
  name: true,
  user: true,
  password: true,
  token: true,
  nkey: true,
  creds: true,
  ca: true,
  cert: true,
  key: true,
  tlsFirst: true,
  ...SHARED_OPTIONS,
};

/**
 * Connects to the NATS server that Throughline runs on.
 *
 * @throws ThroughlineError `unavailable` if no server answers, `auth_failed` if it rejects the credentials,
 * `tls_failed` if TLS fails, `schema_invalid` for an unknown option
 */
export async function connectThroughline(options: ConnectOptions = {}): Promise<ThroughlineClient> {
  checkOptions(options, CONNECT_OPTIONS, 'connectThroughline');
  const { url, name, timeoutMs = 10_000, ...given } = options;
  const { user, token, nkey, creds } = given;
  const isNamed = (url ?? user ?? token ?? nkey ?? creds) !== undefined;
  const connection = await connectNats({
    url: url ?? addressOf(discoveredServer()),
    name: name ?? 'throughline client',
    access: isNamed ? given : { ...given, token: tokenOfNamed() },
    logger: silentLogger,
    timeoutMs,
  });
  return new ThroughlineClient(natsTransport(connection, timeoutMs), { timeoutMs });
}

/** The use of an existing connection. */
export interface SharedConnectionOptions {
  /** Timeout of requests, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number;
  /** The `inboxPrefix` of the connection. Default: `_INBOX`. */
  readonly inboxPrefix?: string;
}

/** Creates a client on the caller's connection, which `close` leaves open. */
export function createThroughlineClient(
  connection: NatsConnection,
  options: SharedConnectionOptions = {},
): ThroughlineClient {
  checkOptions(options, SHARED_OPTIONS, 'createThroughlineClient');
  const { timeoutMs = 10_000, inboxPrefix } = options;
  if (inboxPrefix !== undefined) setInboxPrefix(connection, inboxPrefix);
  const transport = natsTransport(connection, timeoutMs, { closes: false });
  return new ThroughlineClient(transport, { timeoutMs });
}
