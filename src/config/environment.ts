import { ThroughlineError } from '../contracts/errors.js';
import { TOKENIZERS } from '../tokenizers/tokenizer-names.js';
import { DEFAULT_RHYTHM } from '../traces/intent-trace.js';
import { DEFAULT_SUMMARY_TOKENS } from '../traces/trace-summary.js';
import {
  address,
  decimal,
  flag,
  LOG_LEVELS,
  oneOf,
  optional,
  secret,
  thresholds,
  type VariableReader,
  WrongVariable,
  wholeNumber,
} from './config-values.js';

/** Every variable of the environment that means something: how it is read, and its default. */
export const VARIABLES = {
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
  /** KiB of requests a second that one session, or one caller, may send over time, and twice as much at once; 0: no limit. */
  THROUGHLINE_REQUEST_KB_PER_SECOND: wholeNumber(0, 1_000_000, 8192),
  /** `off` keeps secrets where agents wrote some: for a store that nobody else can read. */
  THROUGHLINE_REDACT: oneOf(['on', 'off'], 'on'),
  /** Failed attempts after which a dispatch is rejected; that it was put back for a while does not count. */
  THROUGHLINE_MAX_DELIVERIES: wholeNumber(1, 1000, 20),
  /** Milliseconds after which an unacknowledged dispatch comes again: short finds a dead worker soon. */
  THROUGHLINE_ACK_WAIT_MS: wholeNumber(500, 3_600_000, 10_000),
  /** Tasks in which reviewers must have demanded the same before it is proposed as a learning. */
  THROUGHLINE_RECURRENCE: wholeNumber(2, 20, 2),
  /** Dispatches that an extractor works on at a time: more is faster, and more to do again after a crash. */
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
  /** Longest wait in milliseconds for the dispatch named in `after`: most clients give up on any answer after 5000. */
  THROUGHLINE_AFTER_TIMEOUT_MS: wholeNumber(0, 600_000, 4500),
  /** Longest wait in milliseconds for one answer of the server. */
  THROUGHLINE_REQUEST_TIMEOUT_MS: wholeNumber(100, 600_000, 5000),
  /** Milliseconds that a shutdown may take before it is forced. */
  THROUGHLINE_SHUTDOWN_MS: wholeNumber(100, 600_000, 10_000),
} as const satisfies Readonly<Record<string, VariableReader<unknown>>>;

export type VariableName = keyof typeof VARIABLES;

/** What the variables say. */
export type Environment = { readonly [Name in keyof typeof VARIABLES]: ReturnType<(typeof VARIABLES)[Name]> };

/** @throws ThroughlineError `config_invalid` that names each wrong variable */
export function readVariables(env: Readonly<Record<string, string | undefined>>): Environment {
  const wrong: string[] = [];
  const values = Object.entries(VARIABLES).map(([name, read]) => {
    try {
      // One that is set to nothing counts as unset.
      return [name, read(env[name] || undefined)];
    } catch (error) {
      if (!(error instanceof WrongVariable)) throw error;
      wrong.push(`${name} ${error.message}`);
      return [name, undefined];
    }
  });
  if (wrong.length > 0) throw new ThroughlineError('config_invalid', wrong.join('; '));
  return Object.fromEntries(values) as Environment;
}
