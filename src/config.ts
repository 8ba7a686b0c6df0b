import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import { z } from 'zod';
import { type CompactionRhythm, DEFAULT_RHYTHM } from './compaction/intent-trace.js';
import { DEFAULT_SUMMARY_TOKENS } from './compaction/summary.js';
import {
  address,
  decimal,
  flag,
  LOG_LEVELS,
  oneOf,
  optional,
  secret,
  thresholds,
  wholeNumber,
} from './config-values.js';
import type { EmbedderOptions } from './embedders/options.js';
import { ThroughlineError } from './errors.js';
import type { StallThresholds } from './ledger/stall.js';
import type { NatsAccess } from './nats/access.js';
import { cacheDirOf } from './server/cache.js';
import { TOKENIZERS, type TokenizerName } from './tokenizers/names.js';

/**
 * The only reader of the environment: raw variables become one frozen value with every default filled in. A wrong
 * value is refused with its name; it is never replaced by a default.
 */

const environment = z.object({
  /** Server to use, `nats://host:port`, several separated by commas. Unset: `throughline up` starts its own. */
  NATS_URL: optional,
  /** Who connects, in one of four ways. Files are named by their path. */
  NATS_USER: optional,
  NATS_PASSWORD: optional,
  NATS_TOKEN: optional,
  NATS_NKEY: optional,
  NATS_CREDS: optional,
  /** TLS: whom we trust, and who we are. */
  NATS_CA: optional,
  NATS_CERT: optional,
  NATS_KEY: optional,
  /** `1` where the server wants TLS before its greeting. */
  THROUGHLINE_TLS_FIRST: flag,
  /** What reply subjects begin with. With one for each user, nobody can listen to another's replies. */
  THROUGHLINE_INBOX_PREFIX: optional,
  /** Session that commands work on when they are given none. */
  THROUGHLINE_SESSION: optional,
  /** Project of commands on learnings that are given none. */
  THROUGHLINE_PROJECT: optional,
  /** `trace` to `silent`. Logs go to standard error as JSON lines. */
  THROUGHLINE_LOG_LEVEL: oneOf(LOG_LEVELS, 'info'),
  /** Copies of each stream and bucket that is made: 1, or 3 in a cluster. More copies survive more, and cost speed. */
  THROUGHLINE_REPLICAS: wholeNumber(1, 5, 1),
  /** Largest dispatch body in bytes. Its event must still fit one message of the server. */
  THROUGHLINE_MAX_BODY_BYTES: wholeNumber(1024, 8 * 1024 * 1024, 256 * 1024),
  /** Largest request to a service in bytes, and largest reply; what the server takes is a limit as well. */
  THROUGHLINE_MAX_REQUEST_BYTES: wholeNumber(1024, 64 * 1024 * 1024, 1024 * 1024),
  THROUGHLINE_MAX_REPLY_BYTES: wholeNumber(1024, 64 * 1024 * 1024, 1024 * 1024),
  /** Requests a second that one session may send to one service over time, and twice as many at once; 0: no limit. */
  THROUGHLINE_REQUESTS_PER_SECOND: wholeNumber(0, 1_000_000, 1000),
  /** `off` keeps secrets where agents wrote some: for a store that nobody else can read. */
  THROUGHLINE_REDACT: oneOf(['on', 'off'], 'on'),
  /** Deliveries after which a dispatch that keeps failing is rejected. */
  THROUGHLINE_MAX_DELIVERIES: wholeNumber(1, 1000, 20),
  /** Milliseconds after which an unacknowledged dispatch comes again: short finds a dead worker soon. */
  THROUGHLINE_ACK_WAIT_MS: wholeNumber(500, 3_600_000, 10_000),
  /** Tasks in which reviewers must have demanded the same before it is proposed as a learning. */
  THROUGHLINE_RECURRENCE: wholeNumber(2, 20, 2),
  /** Dispatches that all extractors together hold at a time: more is faster, and more to do again after a crash. */
  THROUGHLINE_MAX_IN_HAND: wholeNumber(1, 100_000, 500),
  /** Facts kept for a session: older ones go first. More cost memory and larger snapshots. */
  THROUGHLINE_MAX_FACTS: wholeNumber(10, 100_000, 500),
  /** Counts at which a task is taken to be stalled: one for all signals, or `ping_pong=3,same_files=5`. */
  THROUGHLINE_STALL_THRESHOLDS: thresholds,
  /** Tokens of an implementer's prompt and answer together. */
  THROUGHLINE_IMPLEMENTER_TOKENS: wholeNumber(100, 10_000_000, 4800),
  /** Tokens of a reviewer's prompt and answer together. */
  THROUGHLINE_REVIEWER_TOKENS: wholeNumber(100, 10_000_000, 4000),
  /** Tokens left for the answer. */
  THROUGHLINE_MAX_OUTPUT_TOKENS: wholeNumber(0, 1_000_000, 1200),
  /** `approximate`, four characters a token, or `o200k_base`, exact for many models and slower. */
  THROUGHLINE_TOKENIZER: oneOf(TOKENIZERS, 'approximate'),
  /** Trace entries of an intent that are compacted first, and then at a time: more keep the summary stable longer. */
  THROUGHLINE_COMPACTION_THRESHOLD: wholeNumber(2, 200, DEFAULT_RHYTHM.threshold),
  THROUGHLINE_COMPACTION_BLOCK: wholeNumber(2, 200, DEFAULT_RHYTHM.block),
  /** Most tokens of a compacted history. */
  THROUGHLINE_COMPACTION_TOKENS: wholeNumber(100, 1_000_000, DEFAULT_SUMMARY_TOKENS),
  /** Folders that task files may be read from, separated as in PATH. Default: where the service was started. */
  THROUGHLINE_TASKS_ROOTS: optional,
  /** Endpoint that speaks OpenAI's `/v1/embeddings`. Without it and a directory, learnings are found by words alone. */
  THROUGHLINE_EMBED_URL: address,
  /** Model that the endpoint is asked for. */
  THROUGHLINE_EMBED_MODEL: optional,
  /** Sent as a bearer token where it is set. */
  THROUGHLINE_EMBED_KEY: secret,
  /** Directory with a sentence model to run in the process, in place of an endpoint. */
  THROUGHLINE_EMBED_DIR: optional,
  /** Milliseconds that a prompt waits for its query's vector: long finds more by meaning, short answers sooner. */
  THROUGHLINE_EMBED_DEADLINE_MS: wholeNumber(1, 60_000, 150),
  /** Milliseconds that one request to the endpoint may take. */
  THROUGHLINE_EMBED_TIMEOUT_MS: wholeNumber(100, 600_000, 10_000),
  /** Learnings that are embedded in one request. */
  THROUGHLINE_EMBED_BATCH: wholeNumber(1, 2048, 64),
  /** Least cosine of a learning found by meaning: high shows few that fit well, low many that may not. */
  THROUGHLINE_MIN_SIMILARITY: decimal(0, 1, 0.2),
  /** Most learnings in a prompt. */
  THROUGHLINE_MAX_LEARNINGS: wholeNumber(0, 100, 5),
  /** Folded events after which a session's snapshot is written: fewer make loads short, and writes many. */
  THROUGHLINE_SNAPSHOT_EVERY: wholeNumber(1, 100_000, 100),
  /** Most folded sessions that a compiler keeps in memory. */
  THROUGHLINE_MAX_SESSIONS: wholeNumber(1, 1_000_000, 500),
  /** Megabytes that they may take together, about. */
  THROUGHLINE_CACHE_MB: wholeNumber(1, 100_000, 24),
  /** Longest wait in milliseconds for the dispatch named in `after`. */
  THROUGHLINE_AFTER_TIMEOUT_MS: wholeNumber(0, 600_000, 5000),
  /** Longest wait in milliseconds for one answer of the server. */
  THROUGHLINE_REQUEST_TIMEOUT_MS: wholeNumber(100, 600_000, 5000),
  /** Milliseconds that a shutdown may take before it is forced. */
  THROUGHLINE_SHUTDOWN_MS: wholeNumber(100, 600_000, 10_000),
});

export interface Config {
  readonly natsUrl: string | undefined;
  readonly access: NatsAccess;
  readonly session: string | undefined;
  readonly project: string | undefined;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly replicas: number;
  readonly maxBodyBytes: number;
  readonly maxRequestBytes: number;
  readonly maxReplyBytes: number;
  readonly requestsPerSecond: number;
  readonly redact: boolean;
  readonly maxDeliveries: number;
  readonly ackWaitMs: number;
  readonly recurrence: number;
  readonly maxInHand: number;
  readonly maxFacts: number;
  readonly stallThresholds: StallThresholds;
  readonly implementerTokens: number;
  readonly reviewerTokens: number;
  readonly maxOutputTokens: number;
  readonly tokenizer: TokenizerName;
  readonly compaction: CompactionRhythm;
  readonly maxSummaryTokens: number;
  readonly tasksRoots: readonly string[];
  /** Unset: learnings are found by words alone. */
  readonly embedder: EmbedderOptions | undefined;
  readonly embedDeadlineMs: number;
  readonly embedBatch: number;
  readonly minSimilarity: number;
  readonly maxLearnings: number;
  readonly snapshotEvery: number;
  readonly maxSessions: number;
  readonly cacheMb: number;
  readonly afterTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly shutdownMs: number;
  /** Where an installed nats-server is kept. */
  readonly cacheDir: string;
  /** The raw variables, for the search of nats-server. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the configuration.
 *
 * @throws ThroughlineError `config_invalid` that names each wrong variable
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
    throw new ThroughlineError('config_invalid', wrong.join('; '));
  }
  const values = parsed.data;
  return Object.freeze({
    natsUrl: values.NATS_URL,
    access: {
      user: values.NATS_USER,
      password: values.NATS_PASSWORD,
      token: values.NATS_TOKEN,
      nkey: values.NATS_NKEY,
      creds: values.NATS_CREDS,
      ca: values.NATS_CA,
      cert: values.NATS_CERT,
      key: values.NATS_KEY,
      tlsFirst: values.THROUGHLINE_TLS_FIRST,
      inboxPrefix: values.THROUGHLINE_INBOX_PREFIX,
    },
    session: values.THROUGHLINE_SESSION,
    project: values.THROUGHLINE_PROJECT,
    logLevel: values.THROUGHLINE_LOG_LEVEL,
    replicas: values.THROUGHLINE_REPLICAS,
    maxBodyBytes: values.THROUGHLINE_MAX_BODY_BYTES,
    maxRequestBytes: values.THROUGHLINE_MAX_REQUEST_BYTES,
    maxReplyBytes: values.THROUGHLINE_MAX_REPLY_BYTES,
    requestsPerSecond: values.THROUGHLINE_REQUESTS_PER_SECOND,
    redact: values.THROUGHLINE_REDACT === 'on',
    maxDeliveries: values.THROUGHLINE_MAX_DELIVERIES,
    ackWaitMs: values.THROUGHLINE_ACK_WAIT_MS,
    recurrence: values.THROUGHLINE_RECURRENCE,
    maxInHand: values.THROUGHLINE_MAX_IN_HAND,
    maxFacts: values.THROUGHLINE_MAX_FACTS,
    stallThresholds: values.THROUGHLINE_STALL_THRESHOLDS,
    implementerTokens: values.THROUGHLINE_IMPLEMENTER_TOKENS,
    reviewerTokens: values.THROUGHLINE_REVIEWER_TOKENS,
    maxOutputTokens: values.THROUGHLINE_MAX_OUTPUT_TOKENS,
    tokenizer: values.THROUGHLINE_TOKENIZER,
    compaction: {
      threshold: values.THROUGHLINE_COMPACTION_THRESHOLD,
      block: values.THROUGHLINE_COMPACTION_BLOCK,
    },
    maxSummaryTokens: values.THROUGHLINE_COMPACTION_TOKENS,
    tasksRoots: values.THROUGHLINE_TASKS_ROOTS?.split(delimiter).filter((root) => root !== '') ?? [
      process.cwd(),
    ],
    embedder: embedderOf(values),
    embedDeadlineMs: values.THROUGHLINE_EMBED_DEADLINE_MS,
    embedBatch: values.THROUGHLINE_EMBED_BATCH,
    minSimilarity: values.THROUGHLINE_MIN_SIMILARITY,
    maxLearnings: values.THROUGHLINE_MAX_LEARNINGS,
    snapshotEvery: values.THROUGHLINE_SNAPSHOT_EVERY,
    maxSessions: values.THROUGHLINE_MAX_SESSIONS,
    cacheMb: values.THROUGHLINE_CACHE_MB,
    afterTimeoutMs: values.THROUGHLINE_AFTER_TIMEOUT_MS,
    requestTimeoutMs: values.THROUGHLINE_REQUEST_TIMEOUT_MS,
    shutdownMs: values.THROUGHLINE_SHUTDOWN_MS,
    cacheDir: cacheDirOf(env, homedir()),
    env,
  });
}

function embedderOf(values: z.output<typeof environment>): EmbedderOptions | undefined {
  const { THROUGHLINE_EMBED_URL: url, THROUGHLINE_EMBED_MODEL: model, THROUGHLINE_EMBED_DIR: dir } = values;
  if (url !== undefined && dir !== undefined) {
    throw new ThroughlineError(
      'config_invalid',
      'THROUGHLINE_EMBED_URL and THROUGHLINE_EMBED_DIR are both set: use one of them',
    );
  }
  if (dir !== undefined) return Object.freeze({ kind: 'local', dir });
  if (url === undefined) return undefined;
  if (model === undefined) {
    throw new ThroughlineError(
      'config_invalid',
      'THROUGHLINE_EMBED_URL is set without THROUGHLINE_EMBED_MODEL: name the model that the endpoint has',
    );
  }
  return Object.freeze({
    kind: 'http',
    url,
    model,
    key: values.THROUGHLINE_EMBED_KEY,
    timeoutMs: values.THROUGHLINE_EMBED_TIMEOUT_MS,
    batch: values.THROUGHLINE_EMBED_BATCH,
  });
}
