import { ROLES } from '../../contracts/kinds.js';
import * as names from '../../contracts/names.js';
import { REQUEST_NAMES, type RequestName, rowOf } from '../../contracts/requests.js';

/**
 * Roles and their least privileges as NATS users. `publisher`: runs agents; `reader`: only reads, by requests and pushed
 * events; `member`: a person of a team and their agents, who do both; `services`: the services; `operator`: a person who also
 * manages results and sessions, and makes backups.
 *
 * NATS does not check the reply subject of a request: a user who may read a stream can have the answer sent to JetStream as a
 * request, and any stream of the account deleted. So only services and operators get something of `$JS.API`, and are trusted.
 */
export const ACCESS_ROLES = ['publisher', 'reader', 'member', 'services', 'operator'] as const;
export type AccessRole = (typeof ACCESS_ROLES)[number];

export interface Permissions {
  readonly publish: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly subscribe: { readonly allow: readonly string[] };
  /** May answer requests, each once. */
  readonly allowResponses: boolean;
}

interface PermissionOptions {
  readonly inboxPrefix: string;
  /** Restricts publishers, readers and members to these sessions. Default: all. */
  readonly sessions?: readonly names.Token[] | undefined;
}

export function permissionsOf(role: AccessRole, { inboxPrefix, sessions }: PermissionOptions): Permissions {
  const { publish, subscribe = [], deny = [] } = GRANTS[role](sessions);
  return {
    publish: { allow: [...new Set(publish)], deny },
    subscribe: { allow: [...new Set([`${inboxPrefix}.>`, ...subscribe])] },
    allowResponses: role === 'services',
  };
}

export function permissionsBlock({ publish, subscribe, allowResponses }: Permissions): object {
  return {
    publish: { allow: publish.allow, ...(publish.deny.length > 0 && { deny: publish.deny }) },
    subscribe: { allow: subscribe.allow },
    ...(allowResponses && { allow_responses: { max: 1, expires: '1m' } }),
  };
}

interface Grant {
  readonly publish: readonly string[];
  readonly deny?: readonly string[];
  readonly subscribe?: readonly string[];
}

const GRANTS: Readonly<Record<AccessRole, (sessions: readonly names.Token[] | undefined) => Grant>> = {
  publisher: (sessions) => ({ publish: publishing(sessions), deny: notForAgents(sessions) }),
  reader: (sessions) => ({ publish: reading(sessions), subscribe: eventsOf(sessions) }),
  member: (sessions) => ({
    publish: [...publishing(sessions), ...reading(sessions)],
    deny: notForAgents(sessions),
    subscribe: eventsOf(sessions),
  }),
  services: () => ({
    publish: [
      ...[...EVENTS, names.LEARNINGS_SUBJECTS, names.PROMPTS_SUBJECTS, REJECTED],
      // Retries rejected results for operators.
      ...DISPATCHES,
      ...BUCKETS.map((bucket) => `$KV.${bucket}.>`),
      // The health of all services and the server.
      ...['$SRV.STATS.*', '$JS.API.INFO'],
      ...['CREATE.*', 'INFO.*', 'NAMES', 'LIST', 'MSG.GET.*'].map((verb) => `$JS.API.STREAM.${verb}`),
      // Compacts archived sessions, erases forgotten ones and removes rejected results.
      ...['DELETE', 'PURGE', 'MSG.DELETE'].map((verb) => `$JS.API.STREAM.${verb}.*`),
      '$JS.API.DIRECT.GET.>',
      ...CONSUMING,
    ],
    subscribe: [
      ...Object.values(names.SERVICE_NAMES).flatMap(discovery),
      ...['prompt.compile', 'prompt.past', 'tool.*', 'run.*', 'trace.*'].flatMap(bothWays),
      ...['learning.*', 'proposal.*'],
      // Hints about events, the index and lifecycle records.
      ...[...EVENTS, names.LEARNINGS_SUBJECTS],
      ...[names.INDEX_BUCKET, names.LIFECYCLE_BUCKET].map((bucket) => `$KV.${bucket}.>`),
    ],
  }),
  operator: () => ({
    publish: [
      ...[...publishing(undefined), ...reading(undefined), 'learning.*', 'proposal.*'],
      // The doctor, and the plain `nats` CLI.
      ...['$JS.API.INFO', `$JS.API.CONSUMER.INFO.${names.DISPATCH_STREAM}.*`, '$JS.API.DIRECT.GET.>'],
      ...['NAMES', 'LIST', 'INFO.*', 'MSG.GET.*'].map((verb) => `$JS.API.STREAM.${verb}`),
      ...['CREATE', 'DELETE'].map((verb) => `$JS.API.STREAM.${verb}.${names.PROBE_STREAM}`),
      names.PROBE_SUBJECT,
      // A backup copies all streams.
      ...['$JS.API.STREAM.SNAPSHOT.*', '$JS.SNAPSHOT.ACK.>'],
    ],
    subscribe: eventsOf(undefined),
  }),
};

const CONSUMER = `${names.DISPATCH_STREAM}.${names.EXTRACTOR_CONSUMER}`;
const CONSUMING = [
  ...['INFO', 'CREATE', 'MSG.NEXT'].map((verb) => `$JS.API.CONSUMER.${verb}.${CONSUMER}`),
  `$JS.ACK.${CONSUMER}.>`,
];
const BUCKETS = [
  ...[names.INSTALLATION_BUCKET, names.SNAPSHOT_BUCKET],
  ...[names.INDEX_BUCKET, names.LIFECYCLE_BUCKET, names.LEASE_BUCKET],
];
/** Events as they are published in each layout of session logs. */
const EVENTS = Object.values(names.PUBLISHED_EVENTS);
const REJECTED = names.rejectedSubjects(undefined, undefined);
const DISPATCHES = ROLES.map((role) => `dispatch.*.${role}`);

/** Publishing results, and requests. A user bound to sessions has no learnings, which belong to projects. */
function publishing(sessions: readonly names.Token[] | undefined): string[] {
  if (sessions === undefined) {
    const learnings = REQUEST_NAMES.filter((name) => rowOf(name).scope === 'project' && rowOf(name).agents);
    return [...DISPATCHES, ...REQUESTS.flatMap(bothWays), ...learnings];
  }
  const results = sessions.flatMap((session) => ROLES.map((role) => names.dispatchSubject(session, role)));
  return [...results, ...requestsOf(sessions, REQUESTS)];
}

const isTool = (name: RequestName) => name.startsWith('tool.');
const isOfSession = (name: RequestName) => rowOf(name).scope === 'session';
const isWide = (name: RequestName) => rowOf(name).scope === 'no session';

/** Tools that erase, or show stored events and unredacted results. */
const NOT_FOR_AGENTS = REQUEST_NAMES.filter((name) => isTool(name) && !rowOf(name).agents);

function notForAgents(sessions: readonly names.Token[] | undefined): string[] {
  if (sessions === undefined) return NOT_FOR_AGENTS.flatMap(bothWays);
  return requestsOf(sessions, NOT_FOR_AGENTS.filter(isOfSession));
}

const REQUESTS = [...REQUEST_NAMES.filter((name) => isOfSession(name) && !isTool(name)), 'tool.*'];

function reading(sessions: readonly names.Token[] | undefined): string[] {
  const reads = REQUEST_NAMES.filter((name) => rowOf(name).reads);
  const ofProject = reads.filter((name) => rowOf(name).scope === 'project');
  const ofSession = reads.filter((name) => !isWide(name) && !ofProject.includes(name));
  if (sessions !== undefined) return requestsOf(sessions, ofSession);
  const health = ['$SRV.*', '$SRV.*.*', names.healthSubject('*')];
  return [...ofSession.flatMap(bothWays), ...reads.filter(isWide), ...health, ...ofProject];
}

/** Events of sessions, compiled prompts and rejected results, as they happen. */
function eventsOf(sessions: readonly names.Token[] | undefined): string[] {
  if (sessions === undefined) return [...EVENTS, names.PROMPTS_SUBJECTS, REJECTED, names.LEARNINGS_SUBJECTS];
  return sessions.flatMap((session) => [
    ...names.announcedOn(session),
    names.compiledSubject(session),
    names.rejectedSubjects(session, undefined),
  ]);
}

function discovery(service: string): string[] {
  return ['$SRV.*', `$SRV.*.${service}`, `$SRV.*.${service}.*`, names.healthSubject(service)];
}

function bothWays(subject: string): string[] {
  return [subject, `${subject}.*`];
}

function requestsOf(sessions: readonly names.Token[], subjects: readonly string[]): string[] {
  return sessions.flatMap((session) => subjects.map((subject) => names.sessionRequest(subject, session)));
}
