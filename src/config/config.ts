import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import { ThroughlineError } from '../contracts/errors.js';
import type { EmbedderOptions } from '../embedding/embedder-options.js';
import type { StallThresholds } from '../ledger/stall.js';
import type { NatsAccess } from '../nats/connection/nats-access.js';
import { cacheDirOf } from '../nats-server/binary-cache.js';
import type { TokenizerName } from '../tokenizers/tokenizer-names.js';
import type { CompactionRhythm } from '../traces/intent-trace.js';
import type { LOG_LEVELS } from './config-values.js';
import { type Environment, readVariables, VARIABLES, type VariableName } from './environment.js';

/**
 * The only reader of the environment: raw variables become one frozen value with every default filled in. A wrong
 * value is refused with its name; it is never replaced by a default.
 */
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
  readonly requestKbPerSecond: number;
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
  const values = readVariables(env);
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
    requestKbPerSecond: values.THROUGHLINE_REQUEST_KB_PER_SECOND,
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

/**
 * The configuration of services inside another program: these settings alone. What else is in the environment says
 * where programs and folders are.
 *
 * @throws ThroughlineError `config_invalid` that names each wrong setting
 */
export function embeddedConfig(
  settings: Readonly<Partial<Record<VariableName, string>>>,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const unknown = Object.keys(settings).filter((name) => !Object.hasOwn(VARIABLES, name));
  if (unknown.length > 0) {
    throw new ThroughlineError('config_invalid', `settings: ${unknown.join(', ')} is not a setting`);
  }
  const around = Object.entries(env).filter(([name]) => !Object.hasOwn(VARIABLES, name));
  return loadConfig({ ...Object.fromEntries(around), ...settings });
}

/** Other names with our prefix: tests have variables of their own, and Kubernetes sets some for each service. */
const OF_OTHERS = /^THROUGHLINE_(CACHE_DIR$|TEST_|(.+_)?(SERVICE_(HOST|PORT)|PORT)(_|$))/;

/** Variables with our prefix that nothing reads: most likely misspelt. They are named, not refused. */
export function strangeVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith('THROUGHLINE_') && !Object.hasOwn(VARIABLES, name) && !OF_OTHERS.test(name),
  );
}

function embedderOf(values: Environment): EmbedderOptions | undefined {
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
