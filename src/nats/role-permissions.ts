import { ROLES } from '../contracts/kinds.js';
import {
  COMPILE_SUBJECT,
  COMPILER_SERVICE,
  compiledSubject,
  DISPATCH_REVIEWS,
  DISPATCH_STREAM,
  dispatchSubject,
  EXTRACTOR_CONSUMER,
  EXTRACTOR_SERVICE,
  healthSubject,
  INDEX_BUCKET,
  INSTALLATION_BUCKET,
  indexSubject,
  KEEPER_SERVICE,
  LAYOUT_SUBJECT,
  LEARNER_CONSUMER,
  LEARNING_SNAPSHOT_BUCKET,
  LEARNINGS_SERVICE,
  LEARNINGS_SUBJECTS,
  LEASE_BUCKET,
  LIFECYCLE_BUCKET,
  PAST_PROMPT_SUBJECT,
  PER_SESSION,
  PROBE_STREAM,
  PROBE_SUBJECT,
  PROMPTS_STREAM,
  PROMPTS_SUBJECTS,
  PUBLISHED_EVENTS,
  publishedOn,
  REJECTED_STREAM,
  rejectedSubjects,
  type SessionLayout,
  SNAPSHOT_BUCKET,
  sessionRequest,
  TELEMETRY_BUCKET,
  type Token,
  VECTOR_BUCKET,
  VOID_DISPATCHES,
} from '../contracts/names.js';
import {
  isWideTool,
  READING_LEARNINGS,
  READING_REQUESTS,
  READING_TOOLS,
  RUN_INIT_SUBJECT,
  RUN_STATUS_SUBJECT,
  TRACE_APPEND_SUBJECT,
  TRACE_COMPACT_SUBJECT,
  TRACE_GET_SUBJECT,
  TRACE_PIN_SUBJECT,
  TRACE_RECORD_SUBJECT,
  toolSubject,
} from '../contracts/request-names.js';
import { TOOLS_SERVICE } from '../contracts/tool-requests.js';

/**
 * Roles and their least privileges as NATS users. `publisher`: runs agents; `worker`: the services `extractor`, `tools`,
 * `learnings` and `keeper`; `compiler`: `prompt-compiler` alone; `reader`: only reads; `operator`: a person who also retries,
 * reviews; `backup`: only copies all streams.
 */
export const ACCESS_ROLES = ['publisher', 'worker', 'compiler', 'reader', 'operator', 'backup'] as const;
export type AccessRole = (typeof ACCESS_ROLES)[number];

export interface Permissions {
  readonly publish: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly subscribe: { readonly allow: readonly string[] };
  /** The part of `subscribe` that is pushed as it happens. */
  readonly events: readonly string[];
  /** May answer requests, each once. */
  readonly allowResponses: boolean;
}

interface PermissionOptions {
  readonly inboxPrefix: string;
  /** Restricts publishers and readers to these sessions. Default: all. Services work for all sessions. */
  readonly sessions?: readonly Token[];
  /** Default: `per-session`. */
  readonly layout?: SessionLayout;
}

/** Roles that can be restricted to sessions. */
export const SESSION_ROLES: ReadonlySet<AccessRole> = new Set(['publisher', 'reader']);

export function permissionsOf(role: AccessRole, options: PermissionOptions): Permissions {
  const { inboxPrefix, sessions, layout = PER_SESSION } = options;
  const { publish, events = [], requests = [], deny = [] } = GRANTS[role](sessions, layout);
  return {
    publish: { allow: [...new Set(publish)], deny },
    subscribe: { allow: [...new Set([`${inboxPrefix}.>`, ...requests, ...events])] },
    events,
    allowResponses: requests.length > 0,
  };
}

interface Grant {
  readonly publish: readonly string[];
  readonly deny?: readonly string[];
  /** Requests that it answers. */
  readonly requests?: readonly string[];
  /** Events that are pushed to it. */
  readonly events?: readonly string[];
}

type Granted = (sessions: readonly Token[] | undefined, layout: SessionLayout) => Grant;

const GRANTS: Readonly<Record<AccessRole, Granted>> = {
  publisher: (sessions) => ({
    publish: publishing(sessions),
    deny:
      sessions === undefined
        ? [...FOR_OPERATORS, EXPORT].flatMap(bothWays)
        : sessions.flatMap((session) =>
            [...OF_SESSIONS, EXPORT].map((subject) => sessionRequest(subject, session)),
          ),
  }),
  reader: (sessions, layout) => ({
    publish: reading(sessions),
    deny: sessions === undefined ? RAW : [],
    events: eventsOf(sessions, layout),
  }),
  operator: (_, layout) => ({
    publish: [
      ...publishing(undefined),
      ...reading(undefined),
      ...['learning.*', 'proposal.*'],
      `$JS.API.STREAM.MSG.DELETE.${REJECTED_STREAM}`,
      ...PROBING,
    ],
    deny: RAW,
    events: eventsOf(undefined, layout),
  }),
  backup: () => ({
    publish: [
      ...['$JS.API.STREAM.NAMES', '$JS.API.STREAM.SNAPSHOT.*', '$JS.SNAPSHOT.ACK.>'],
      ...CONSUMERS.map((consumer) => `$JS.API.CONSUMER.INFO.${DISPATCH_STREAM}.${consumer}`),
      `$JS.API.STREAM.MSG.GET.KV_${INSTALLATION_BUCKET}`,
    ],
  }),
  compiler: (_, { layout }) => ({
    publish: [
      ...RECORDING,
      ...['$JS.API.STREAM.INFO.*', '$JS.API.DIRECT.GET.*'],
      ...[SNAPSHOT_BUCKET, LEARNING_SNAPSHOT_BUCKET, TELEMETRY_BUCKET].flatMap(writingTo),
      ...[...BUCKETS, TELEMETRY_BUCKET].map((bucket) => `$JS.API.DIRECT.GET.KV_${bucket}.>`),
      // The tools append the rebuilt progress for it.
      `${RUN_STATUS_SUBJECT}.*`,
      ...[PROMPTS_SUBJECTS, `$JS.API.STREAM.CREATE.${PROMPTS_STREAM}`],
    ],
    deny: RAW,
    requests: [
      ...discovery(COMPILER_SERVICE),
      ...bothWays(COMPILE_SUBJECT),
      ...bothWays(PAST_PROMPT_SUBJECT),
      PUBLISHED_EVENTS[layout],
      LEARNINGS_SUBJECTS,
      LIFECYCLE,
    ],
  }),
  worker: (_, { layout }) => ({
    publish: [
      ...RECORDING,
      ...[PUBLISHED_EVENTS[layout], 'rejected.*.*', LEARNINGS_SUBJECTS],
      // Retries rejected results for operators, and removes them.
      ...ROLES.map((role) => `dispatch.*.${role}`),
      // Raises numbers beyond those in imported sessions.
      VOID_DISPATCHES,
      // The health of all services and the server.
      ...['$SRV.STATS.*', '$JS.API.INFO'],
      ...['CREATE.*', 'INFO.*', 'NAMES', 'LIST'].map((request) => `$JS.API.STREAM.${request}`),
      ...['$JS.API.STREAM.MSG.GET.*', '$JS.API.DIRECT.GET.*'],
      ...CONSUMERS.flatMap((consumer) => consuming(consumer)),
      ...[...BUCKETS, INDEX_BUCKET].flatMap((bucket) => [
        `$JS.API.DIRECT.GET.KV_${bucket}.>`,
        `$KV.${bucket}.>`,
      ]),
      ...[TELEMETRY_BUCKET, LIFECYCLE_BUCKET].map((bucket) => `$JS.API.DIRECT.GET.KV_${bucket}.>`),
      LIFECYCLE,
      `$KV.${LEASE_BUCKET}.>`,
      // Compacts archived sessions and erases forgotten ones.
      ...(layout === 'per-session' ? [...ERASING, '$JS.API.STREAM.DELETE.*'] : ERASING),
    ],
    requests: [
      ...[EXTRACTOR_SERVICE, TOOLS_SERVICE, LEARNINGS_SERVICE, KEEPER_SERVICE].flatMap(discovery),
      // Hints about events and the index.
      ...[PUBLISHED_EVENTS[layout], indexSubject('*')],
      ...['tool.*', 'run.*', 'trace.*'].flatMap(bothWays),
      ...['learning.*', 'proposal.*', LEARNINGS_SUBJECTS, LIFECYCLE],
    ],
  }),
};

/** Erases forgotten sessions and rewrites files. */
const ERASING = [
  ...['$JS.API.STREAM.MSG.DELETE.*', '$JS.API.STREAM.PURGE.*'],
  ...[`$KV.${TELEMETRY_BUCKET}.*`, PROMPTS_SUBJECTS],
];

const LIFECYCLE = `$KV.${LIFECYCLE_BUCKET}.>`;

const BUCKETS = [SNAPSHOT_BUCKET, LEARNING_SNAPSHOT_BUCKET, VECTOR_BUCKET];
const CONSUMERS = [EXTRACTOR_CONSUMER, LEARNER_CONSUMER];
/** Unredacted results: even readers need no direct get. */
const RAW = [DISPATCH_STREAM, REJECTED_STREAM].flatMap((stream) => [
  `$JS.API.DIRECT.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}.>`,
]);

/** Publishing results, compiling prompts and tools. A user bound to sessions has no learnings, which belong to projects. */
function publishing(sessions: readonly Token[] | undefined): string[] {
  if (sessions === undefined) {
    return [
      ...ROLES.map((role) => `dispatch.*.${role}`),
      ...REQUESTS.flatMap(bothWays),
      'learning.propose',
      'learning.list',
      'learning.search',
    ];
  }
  return sessions.flatMap((session) => [
    ...ROLES.map((role) => dispatchSubject(session, role)),
    ...REQUESTS.map((subject) => sessionRequest(subject, session)),
  ]);
}

/** Tools that remove or add events of a session, reopen it or erase it. */
const OF_SESSIONS = (['session-archive', 'session-reopen', 'session-forget', 'session-import'] as const).map(
  toolSubject,
);

/** Returns stored events: for readers, not for those who run agents. */
const EXPORT = toolSubject('session-export');

/** Tools with unredacted results of all sessions, and tools that erase: not for those who run agents. */
const FOR_OPERATORS = [
  ...(['rejected-show', 'rejected-retry', 'rejected-remove', 'project-forget'] as const).map(toolSubject),
  toolSubject('retention-set'),
  ...OF_SESSIONS,
];

const REQUESTS = [
  ...[COMPILE_SUBJECT, PAST_PROMPT_SUBJECT],
  'tool.*',
  ...[RUN_INIT_SUBJECT, RUN_STATUS_SUBJECT],
  ...[TRACE_APPEND_SUBJECT, TRACE_RECORD_SUBJECT, TRACE_COMPACT_SUBJECT],
  ...[TRACE_GET_SUBJECT, TRACE_PIN_SUBJECT],
];

/** Reading: by requests, and for all sessions also by the direct reads of `throughline doctor`. */
function reading(sessions: readonly Token[] | undefined): string[] {
  if (sessions !== undefined)
    return sessions.flatMap((session) => LOOKS.map((subject) => sessionRequest(subject, session)));
  return [
    READ_LAYOUT,
    `$JS.API.DIRECT.GET.KV_${LIFECYCLE_BUCKET}.$KV.${LIFECYCLE_BUCKET}.dispatches`,
    ...LOOKS.flatMap(bothWays),
    ...WIDE_LOOKS,
    ...['$JS.API.INFO', '$JS.API.STREAM.NAMES', '$JS.API.STREAM.LIST', '$JS.API.STREAM.INFO.*'],
    ...[`$JS.API.CONSUMER.INFO.${DISPATCH_STREAM}.*`, `$JS.API.STREAM.MSG.GET.${REJECTED_STREAM}`],
    '$JS.API.DIRECT.GET.*',
    ...[SNAPSHOT_BUCKET, TELEMETRY_BUCKET, LEARNING_SNAPSHOT_BUCKET].map((bucket) => `${newestIn(bucket)}.*`),
    ...['$SRV.*', '$SRV.*.*', healthSubject('*'), ...READING_LEARNINGS],
  ];
}

/** Read by every process that opens streams; the first service records it. */
const READ_LAYOUT = `$JS.API.DIRECT.GET.KV_${INSTALLATION_BUCKET}.${LAYOUT_SUBJECT}`;
const RECORDING = [
  ...[READ_LAYOUT, `$JS.API.STREAM.CREATE.KV_${INSTALLATION_BUCKET}`, LAYOUT_SUBJECT],
  // Without a record the layout is inferred from the streams.
  '$JS.API.STREAM.NAMES',
];

/** Read-only requests about one session. */
const LOOKS = [
  ...READING_TOOLS.filter((name) => !isWideTool(name)).map(toolSubject),
  ...READING_REQUESTS,
  PAST_PROMPT_SUBJECT,
];
/** Read-only requests about all sessions. */
const WIDE_LOOKS = READING_TOOLS.filter(isWideTool).map(toolSubject);

/** Events of sessions, compiled prompts and rejected results, as they happen. */
function eventsOf(sessions: readonly Token[] | undefined, layout: SessionLayout): string[] {
  if (sessions === undefined)
    return [
      PUBLISHED_EVENTS[layout.layout],
      ...[PROMPTS_SUBJECTS, rejectedSubjects(undefined, undefined), LEARNINGS_SUBJECTS],
    ];
  return sessions.flatMap((session) => [
    publishedOn(layout, session, '>'),
    compiledSubject(session),
    rejectedSubjects(session, undefined),
  ]);
}

/** The doctor's check of writes. */
const PROBING = [
  ...['CREATE', 'DELETE'].map((verb) => `$JS.API.STREAM.${verb}.${PROBE_STREAM}`),
  PROBE_SUBJECT,
];

/** Subject of reading a bucket's newest value, without the key. */
function newestIn(bucket: string): string {
  return `$JS.API.DIRECT.GET.KV_${bucket}.$KV.${bucket}`;
}

/** Writing to a bucket that is created if missing. */
function writingTo(bucket: string): string[] {
  return [`$JS.API.STREAM.CREATE.KV_${bucket}`, `$KV.${bucket}.*`];
}

function consuming(consumer: string): string[] {
  const of = `${DISPATCH_STREAM}.${consumer}`;
  const requests = ['INFO', 'CREATE', 'MSG.NEXT'].map((verb) => `$JS.API.CONSUMER.${verb}.${of}`);
  // The create subject of a filtered consumer ends with its filter.
  const filtered = consumer === LEARNER_CONSUMER ? [`$JS.API.CONSUMER.CREATE.${of}.${DISPATCH_REVIEWS}`] : [];
  return [...requests, ...filtered, `$JS.ACK.${of}.>`];
}

/** Discovery and statistics of a micro service. */
function discovery(service: string): string[] {
  return ['$SRV.*', `$SRV.*.${service}`, `$SRV.*.${service}.*`, healthSubject(service)];
}

/** A request with and without the session in its subject. */
function bothWays(subject: string): string[] {
  return [subject, `${subject}.*`];
}
