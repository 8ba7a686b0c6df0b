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
  PROBE_STREAM,
  PROBE_SUBJECT,
  PROMPTS_STREAM,
  PROMPTS_SUBJECTS,
  PUBLISHED_EVENTS,
  REJECTED_STREAM,
  rejectedSubjects,
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
import { PER_SESSION, publishedOn, type SessionLayout } from '../contracts/session-layout.js';
import { TOOLS_SERVICE } from '../contracts/tool-requests.js';

/**
 * The least that each role needs of NATS, as permissions of a user. A publisher runs agents; a worker is the services
 * `extractor`, `tools`, `learnings` and `keeper`; a compiler is `prompt-compiler` alone; a reader looks, and writes
 * nothing; an operator is a person who also retries, reviews and writes snapshots; `backup` copies all streams whole, and
 * does nothing else.
 */
export const ACCESS_ROLES = ['publisher', 'worker', 'compiler', 'reader', 'operator', 'backup'] as const;
export type AccessRole = (typeof ACCESS_ROLES)[number];

export interface Permissions {
  readonly publish: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly subscribe: { readonly allow: readonly string[] };
  /** Of what it may subscribe to: what is told as it happens. */
  readonly events: readonly string[];
  /** Whether it may answer requests, each once. */
  readonly allowResponses: boolean;
}

interface PermissionOptions {
  /** What its reply subjects begin with. */
  readonly inboxPrefix: string;
  /** Only these sessions; all by default. For publishers and readers alone: services work for all sessions. */
  readonly sessions?: readonly Token[];
  /** How the installation lays out session logs. Default: a stream per session. */
  readonly layout?: SessionLayout;
}

/** Roles that can be held to some sessions. */
export const SESSION_ROLES: ReadonlySet<AccessRole> = new Set(['publisher', 'reader']);

/** The permissions of a role. */
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
  /** What it is told as it happens. */
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
      ...writingTo(SNAPSHOT_BUCKET),
      ...PROBING,
    ],
    deny: RAW,
    events: eventsOf(undefined, layout),
  }),
  backup: () => ({
    publish: [
      ...['$JS.API.STREAM.NAMES', '$JS.API.STREAM.SNAPSHOT.*', '$JS.SNAPSHOT.ACK.>'],
      ...CONSUMERS.map((consumer) => `$JS.API.CONSUMER.INFO.${DISPATCH_STREAM}.${consumer}`),
      // Reads whether sessions were imported, archived or forgotten while they were copied.
      ...[INSTALLATION_BUCKET, LIFECYCLE_BUCKET].map((bucket) => `$JS.API.STREAM.MSG.GET.KV_${bucket}`),
      `$JS.API.DIRECT.GET.KV_${LIFECYCLE_BUCKET}`,
    ],
  }),
  compiler: (_, { layout }) => ({
    publish: [
      ...RECORDING,
      ...['$JS.API.STREAM.INFO.*', '$JS.API.DIRECT.GET.*'],
      ...[SNAPSHOT_BUCKET, LEARNING_SNAPSHOT_BUCKET, TELEMETRY_BUCKET].flatMap(writingTo),
      ...[...BUCKETS, TELEMETRY_BUCKET].map((bucket) => `$JS.API.DIRECT.GET.KV_${bucket}.>`),
      // Tools append for it what its tasks file has come to.
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
      // Rejected results are published again for operators, and removed.
      ...ROLES.map((role) => `dispatch.*.${role}`),
      // Numbers are moved up beyond those that an imported session names.
      VOID_DISPATCHES,
      // What tells how all services and the server do.
      ...['$SRV.STATS.*', '$JS.API.INFO'],
      ...['$JS.API.STREAM.CREATE.*', '$JS.API.STREAM.INFO.*', '$JS.API.STREAM.NAMES'],
      // The newest events of sessions say where a dispatch stream that was lost or restored must go on.
      '$JS.API.STREAM.LIST',
      ...['$JS.API.STREAM.MSG.GET.*', '$JS.API.DIRECT.GET.*'],
      ...CONSUMERS.flatMap((consumer) => consuming(consumer)),
      ...[...BUCKETS, INDEX_BUCKET].flatMap((bucket) => [
        `$JS.API.DIRECT.GET.KV_${bucket}.>`,
        `$KV.${bucket}.>`,
      ]),
      ...[TELEMETRY_BUCKET, LIFECYCLE_BUCKET].map((bucket) => `$JS.API.DIRECT.GET.KV_${bucket}.>`),
      LIFECYCLE,
      `$KV.${LEASE_BUCKET}.>`,
      // What an archived session no longer needs is removed, and what is forgotten.
      ...(layout === 'per-session' ? [...ERASING, '$JS.API.STREAM.DELETE.*'] : ERASING),
    ],
    requests: [
      ...[EXTRACTOR_SERVICE, TOOLS_SERVICE, LEARNINGS_SERVICE, KEEPER_SERVICE].flatMap(discovery),
      // What moves, and what the index says of it.
      ...[PUBLISHED_EVENTS[layout], indexSubject('*')],
      ...['tool.*', 'run.*', 'trace.*'].flatMap(bothWays),
      ...['learning.*', 'proposal.*', LEARNINGS_SUBJECTS, LIFECYCLE],
    ],
  }),
};

/** What it takes to erase a session that is forgotten, and to write again the files that held values of it. */
const ERASING = [
  ...['$JS.API.STREAM.MSG.DELETE.*', '$JS.API.STREAM.PURGE.*'],
  ...[`$KV.${TELEMETRY_BUCKET}.*`, PROMPTS_SUBJECTS],
];

/** What is recorded of sessions beside their events, as it is written. */
const LIFECYCLE = `$KV.${LIFECYCLE_BUCKET}.>`;

const BUCKETS = [SNAPSHOT_BUCKET, LEARNING_SNAPSHOT_BUCKET, VECTOR_BUCKET];
const CONSUMERS = [EXTRACTOR_CONSUMER, LEARNER_CONSUMER];
/** What holds results as they came, whole: not even a reader needs them by direct get. */
const RAW = [DISPATCH_STREAM, REJECTED_STREAM].flatMap((stream) => [
  `$JS.API.DIRECT.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}.>`,
]);

/** Results in, prompts out, and the tools. A user bound to sessions has no learnings: those belong to a project. */
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

/** What takes events from the log of a session or puts some in, lets it take results again, or erases it. */
const OF_SESSIONS = (['session-archive', 'session-reopen', 'session-forget', 'session-import'] as const).map(
  toolSubject,
);

/** Gives events as they are stored: for those who look, not for those who run agents. */
const EXPORT = toolSubject('session-export');

/** Tools on results whole as they came, of all sessions, and those that erase, or say what will be erased: not for those who run agents. */
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

/** What is looked at: by requests, and for those who see all sessions by what `throughline doctor` reads itself, too. */
function reading(sessions: readonly Token[] | undefined): string[] {
  if (sessions !== undefined)
    return sessions.flatMap((session) => LOOKS.map((subject) => sessionRequest(subject, session)));
  return [
    READ_LAYOUT,
    `$JS.API.DIRECT.GET.KV_${LIFECYCLE_BUCKET}.$KV.${LIFECYCLE_BUCKET}.raised`,
    ...LOOKS.flatMap(bothWays),
    ...WIDE_LOOKS,
    ...['$JS.API.INFO', '$JS.API.STREAM.NAMES', '$JS.API.STREAM.LIST', '$JS.API.STREAM.INFO.*'],
    ...[`$JS.API.CONSUMER.INFO.${DISPATCH_STREAM}.*`, `$JS.API.STREAM.MSG.GET.${REJECTED_STREAM}`],
    '$JS.API.DIRECT.GET.*',
    ...[SNAPSHOT_BUCKET, TELEMETRY_BUCKET, LEARNING_SNAPSHOT_BUCKET].map((bucket) => `${newestIn(bucket)}.*`),
    ...['$SRV.*', '$SRV.*.*', healthSubject('*'), ...READING_LEARNINGS],
  ];
}

/** The layout of the installation, which every process that opens streams reads; the first service records it. */
const READ_LAYOUT = `$JS.API.DIRECT.GET.KV_${INSTALLATION_BUCKET}.${LAYOUT_SUBJECT}`;
const RECORDING = [
  ...[READ_LAYOUT, `$JS.API.STREAM.CREATE.KV_${INSTALLATION_BUCKET}`, LAYOUT_SUBJECT],
  // Where nothing is recorded, the streams that are there show it.
  '$JS.API.STREAM.NAMES',
];

/** What is asked about one session without changing it. */
const LOOKS = [
  ...READING_TOOLS.filter((name) => !isWideTool(name)).map(toolSubject),
  ...READING_REQUESTS,
  PAST_PROMPT_SUBJECT,
];
/** The same about all of them. */
const WIDE_LOOKS = READING_TOOLS.filter(isWideTool).map(toolSubject);

/** Events of sessions, prompts that were compiled, and rejected results, as they come. */
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

/** What the doctor sees by whether anything can be stored. */
const PROBING = [
  ...['CREATE', 'DELETE'].map((verb) => `$JS.API.STREAM.${verb}.${PROBE_STREAM}`),
  PROBE_SUBJECT,
];

/** Where the newest value of a key is read, without the key. */
function newestIn(bucket: string): string {
  return `$JS.API.DIRECT.GET.KV_${bucket}.$KV.${bucket}`;
}

/** Writing into a bucket that is made where it is missing. */
function writingTo(bucket: string): string[] {
  return [`$JS.API.STREAM.CREATE.KV_${bucket}`, `$KV.${bucket}.*`];
}

function consuming(consumer: string): string[] {
  const of = `${DISPATCH_STREAM}.${consumer}`;
  const requests = ['INFO', 'CREATE', 'MSG.NEXT'].map((verb) => `$JS.API.CONSUMER.${verb}.${of}`);
  // A consumer with a filter is made under a subject that ends with it.
  const filtered = consumer === LEARNER_CONSUMER ? [`$JS.API.CONSUMER.CREATE.${of}.${DISPATCH_REVIEWS}`] : [];
  return [...requests, ...filtered, `$JS.ACK.${of}.>`];
}

/** Where a micro service is asked who it is and how it does. */
function discovery(service: string): string[] {
  return ['$SRV.*', `$SRV.*.${service}`, `$SRV.*.${service}.*`, healthSubject(service)];
}

/** A request as such, and of one session. */
function bothWays(subject: string): string[] {
  return [subject, `${subject}.*`];
}
