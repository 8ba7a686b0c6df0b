import { ROLES } from '../../src/contracts/kinds.js';
import {
  compiledSubject,
  DISPATCH_STREAM,
  dispatchSubject,
  EXTRACTOR_CONSUMER,
  healthSubject,
  INDEX_BUCKET,
  INSTALLATION_BUCKET,
  LAYOUT_SUBJECT,
  LEARNINGS_STREAM,
  LIFECYCLE_BUCKET,
  learningSubject,
  lifecycleKey,
  PER_SESSION,
  PROJECT_KEY,
  PROMPTS_STREAM,
  publishedOn,
  REJECTED_STREAM,
  rejectedSubject,
  SERVICE_NAMES,
  type SessionLayout,
  SNAPSHOT_BUCKET,
  sessionRequest,
  sessionSubject,
  sessionSubjects,
  streamOf,
  type Token,
} from '../../src/contracts/names.js';
import { REQUEST_NAMES, rowOf } from '../../src/contracts/requests.js';
import type { Permissions } from '../../src/nats/server/role-permissions.js';

/** Everything that a user could try against a session and a project, made from the names and the verbs of NATS. */

/** One publish. */
export interface Attempt {
  readonly subject: string;
  readonly body: string;
  /** Whether it is a change of the victim, for a user who may publish there: no attack then, but a use of the grant. */
  readonly changesVictim: boolean;
}

export interface Names {
  readonly session: Token;
  readonly project: Token;
  /** Default: a stream per session. */
  readonly layout?: SessionLayout;
}

const RESULT = JSON.stringify({
  task_id: '1',
  status: 'completed',
  summary: 'forged',
  assessment: 'approved',
});

/** The verbs of the JetStream API that name a stream: those that change it, and those that only read. */
const STREAM_VERBS = {
  changing: [
    ...['CREATE', 'UPDATE', 'DELETE', 'PURGE', 'RESTORE', 'MSG.DELETE'].map((verb) => `STREAM.${verb}`),
    ...['STREAM.PEER.REMOVE', 'STREAM.LEADER.STEPDOWN', 'CONSUMER.CREATE'],
  ],
  reading: [
    'STREAM.INFO',
    'STREAM.MSG.GET',
    'STREAM.SNAPSHOT',
    'CONSUMER.NAMES',
    'CONSUMER.LIST',
    'DIRECT.GET',
  ],
};
const CONSUMER_VERBS = {
  changing: ['CREATE', 'DURABLE.CREATE', 'DELETE', 'PAUSE', 'UNPIN', 'LEADER.STEPDOWN', 'MSG.NEXT'],
  reading: ['INFO'],
};
/** Requests that change nothing. */
const LOOKING =
  /-list$|-show$|^learning\.(list|search)$|^proposal\.(list|show)$|^run\.status|^trace\.(compact|get)|^prompt\./;

/** What may be tried as a publish: on the victim, and on what is the attacker's own. */
export function attemptsOn(victim: Names, own: Names): Attempt[] {
  return [
    ...publishes(victim, own),
    ...[victim, own].flatMap((named) => requests(named, own, named === victim)),
    ...jetStream(victim, own),
    ...discovery(),
  ];
}

function publishes(victim: Names, own: Names): Attempt[] {
  return [victim, own].flatMap(({ session, project, layout = PER_SESSION }) => {
    const changesVictim = session === victim.session;
    const at = '2026-01-01T00:00:00.000Z';
    const event = (kind: object, type: string, data: object) =>
      JSON.stringify({ v: 1, type, at, ...kind, data });
    const snapshot = `{"after_sequence":999999999,"created_at":"${at}","v":1,"state":{}}`;
    const each: [subject: string, body: string][] = [
      ...ROLES.map((role): [string, string] => [dispatchSubject(session, role), RESULT]),
      ...ROLES.map((role): [string, string] => [rejectedSubject(session, role), RESULT]),
      [
        publishedOn(layout, session, 'session.completed'),
        event({ session }, 'session.completed', { reason: 'forged' }),
      ],
      [
        publishedOn(layout, session, 'task.deleted'),
        event({ session }, 'task.deleted', { task: 'TAS-1', iteration: 0 }),
      ],
      [
        learningSubject(project, 'retracted'),
        event({ project }, 'retracted', { learning: 'aaaaaaaaaaaa', by: 'x' }),
      ],
      [LAYOUT_SUBJECT, '{"layout":"sharded","shards":2}'],
      [compiledSubject(session), RESULT],
      [`$KV.${SNAPSHOT_BUCKET}.${session}`, snapshot],
      [`$KV.${SNAPSHOT_BUCKET}.${PROJECT_KEY}${project}`, snapshot],
      [`$KV.${INDEX_BUCKET}.${session}`, '{}'],
    ];
    // A worker may archive: its own session must take results afterwards.
    const lifecycle: Readonly<Record<string, object>> = {
      [lifecycleKey(session)]: { session, archived: { at } },
      retention: { rules: [{ action: 'forget', after: '1d', at }] },
      dispatches: { highest: Number.MAX_SAFE_INTEGER },
    };
    for (const [key, record] of Object.entries(changesVictim ? lifecycle : {}))
      each.push([`$KV.${LIFECYCLE_BUCKET}.${key}`, JSON.stringify({ v: 1, ...record })]);
    return each.map(([subject, body]) => ({ subject, body, changesVictim }));
  });
}

/** Every request of the services: as such, under the subject of its session, and under that of the attacker's own. */
function requests({ session, project }: Names, own: Names, isVictim: boolean): Attempt[] {
  const words = {
    content: 'forged',
    id: 'TAS-1',
    reason: 'forged',
    status: 'completed',
    by: 'forged',
    type: 'pattern',
  };
  const body = JSON.stringify({
    session,
    project,
    ...words,
    dependsOn: ['TAS-1'],
    claim: 'forged',
    goal: 'forged',
    summary: 'forged',
    spec: 'forged',
    tasksText: '- [ ] 1. forged',
    intentId: 'i',
    entries: [{ intent_id: 'i' }],
    taskId: '1',
    taskPrompt: 'x',
    query: 'x',
  });
  const ofSession = REQUEST_NAMES.filter((name) => rowOf(name).scope !== 'project');
  const ofProject = REQUEST_NAMES.filter((name) => rowOf(name).scope === 'project');
  const changes = (subject: string) => isVictim && !LOOKING.test(subject);
  return [
    ...[...ofSession, ...ofProject].map((subject) => ({
      subject,
      body,
      changesVictim: changes(subject),
    })),
    ...ofSession.map((subject) => ({
      subject: sessionRequest(subject, session),
      body,
      changesVictim: changes(subject),
    })),
    // The victim named under the attacker's own subject.
    ...ofSession.map((subject) => ({
      subject: sessionRequest(subject, own.session),
      body,
      changesVictim: false,
    })),
  ];
}

function streamsOf({ session, layout = PER_SESSION }: Names): string[] {
  const buckets = [INSTALLATION_BUCKET, SNAPSHOT_BUCKET, INDEX_BUCKET, LIFECYCLE_BUCKET].map(
    (bucket) => `KV_${bucket}`,
  );
  const streams = [DISPATCH_STREAM, REJECTED_STREAM, LEARNINGS_STREAM, PROMPTS_STREAM];
  return [streamOf(layout, session), ...streams, ...buckets];
}

function jetStream(victim: Names, own: Names): Attempt[] {
  const first = JSON.stringify({ seq: 1 });
  const batch = JSON.stringify({ seq: 1, batch: 3, next_by_subj: '>' });
  const subjectsOf = ({ session, project, layout = PER_SESSION }: Names) => [
    [`KV_${INSTALLATION_BUCKET}`, LAYOUT_SUBJECT],
    [`KV_${SNAPSHOT_BUCKET}`, `$KV.${SNAPSHOT_BUCKET}.${session}`],
    [`KV_${INDEX_BUCKET}`, `$KV.${INDEX_BUCKET}.${session}`],
    [`KV_${SNAPSHOT_BUCKET}`, `$KV.${SNAPSHOT_BUCKET}.${PROJECT_KEY}${project}`],
    [streamOf(layout, session), sessionSubject(session, 'result.1')],
    [streamOf(layout, session), sessionSubjects(session)],
  ];
  const streams = [...new Set([...streamsOf(victim), ...streamsOf(own)])];
  const isOwn = (stream: string) =>
    own.layout?.layout !== 'sharded' && stream === streamOf(PER_SESSION, own.session);
  const consumers = [EXTRACTOR_CONSUMER];
  return [
    ...streams.flatMap((stream) => [
      ...STREAM_VERBS.changing.map((verb) => ({
        subject: `$JS.API.${verb}.${stream}`,
        body: first,
        changesVictim: !isOwn(stream),
      })),
      ...STREAM_VERBS.reading.flatMap((verb) =>
        [first, batch].map((body) => ({ subject: `$JS.API.${verb}.${stream}`, body, changesVictim: false })),
      ),
    ]),
    ...[victim, own].flatMap(subjectsOf).map(([stream, subject]) => ({
      subject: `$JS.API.DIRECT.GET.${stream}.${subject}`,
      body: '',
      changesVictim: false,
    })),
    ...consumers.flatMap((consumer) => [
      ...CONSUMER_VERBS.changing.map((verb) => ({
        subject: `$JS.API.CONSUMER.${verb}.${DISPATCH_STREAM}.${consumer}`,
        body: '{"batch":1}',
        changesVictim: true,
      })),
      ...CONSUMER_VERBS.reading.map((verb) => ({
        subject: `$JS.API.CONSUMER.${verb}.${DISPATCH_STREAM}.${consumer}`,
        body: '',
        changesVictim: false,
      })),
      { subject: `$JS.ACK.${DISPATCH_STREAM}.${consumer}.1.1.1.1.0`, body: '+TERM', changesVictim: true },
    ]),
    ...[
      'INFO',
      'STREAM.NAMES',
      'STREAM.LIST',
      'META.LEADER.STEPDOWN',
      'SERVER.REMOVE',
      'ACCOUNT.PURGE.$G',
    ].map((verb) => ({
      subject: `$JS.API.${verb}`,
      body: '',
      changesVictim: false,
    })),
  ];
}

function discovery(): Attempt[] {
  const services = [
    SERVICE_NAMES.extractor,
    SERVICE_NAMES.compiler,
    SERVICE_NAMES.tools,
    SERVICE_NAMES.learnings,
    SERVICE_NAMES.keeper,
  ];
  const subjects = [
    ...['PING', 'INFO', 'STATS'].flatMap((verb) => [
      `$SRV.${verb}`,
      ...services.map((service) => `$SRV.${verb}.${service}`),
    ]),
    ...services.map(healthSubject),
  ];
  return subjects.map((subject) => ({ subject, body: '', changesVictim: false }));
}

/** Where an answer would change the victim, or be taken for a request of the one who gives it. */
export function repliesAt({ session, project, layout = PER_SESSION }: Names): string[] {
  return [
    '',
    ...['result.1', 'command.task.deleted', 'command.session.completed', 'x'].map((path) =>
      publishedOn(layout, session, path),
    ),
    ...ROLES.flatMap((role) => [dispatchSubject(session, role), rejectedSubject(session, role)]),
    compiledSubject(session),
    ...['accepted', 'retracted', 'x'].map((type) => learningSubject(project, type)),
    `$KV.${SNAPSHOT_BUCKET}.${session}`,
    `$KV.${SNAPSHOT_BUCKET}.${PROJECT_KEY}${project}`,
    `$KV.${INDEX_BUCKET}.${session}`,
    ...[lifecycleKey(session), 'retention', 'dispatches'].map((key) => `$KV.${LIFECYCLE_BUCKET}.${key}`),
    sessionRequest('tool.session-complete', session),
    'tool.task-delete',
    'proposal.accept',
    LAYOUT_SUBJECT,
    ...streamsOf({ session, project, layout }).flatMap((stream) =>
      ['STREAM.PURGE', 'STREAM.DELETE'].map((verb) => `$JS.API.${verb}.${stream}`),
    ),
    `$JS.API.CONSUMER.DELETE.${DISPATCH_STREAM}.${EXTRACTOR_CONSUMER}`,
    `$JS.ACK.${DISPATCH_STREAM}.${EXTRACTOR_CONSUMER}.1.1.1.1.0`,
    '$SRV.STATS',
  ];
}

/** Whether a user with these permissions may publish there, as the server decides it. */
export function mayPublish({ publish }: Permissions, subject: string): boolean {
  const matched = (patterns: readonly string[]) => patterns.some((pattern) => matches(pattern, subject));
  return matched(publish.allow) && !matched(publish.deny);
}

function matches(pattern: string, subject: string): boolean {
  const [wanted, given] = [pattern.split('.'), subject.split('.')];
  for (const [index, token] of wanted.entries()) {
    if (token === '>') return given.length > index;
    if (given[index] === undefined || (token !== '*' && token !== given[index])) return false;
  }
  return wanted.length === given.length;
}
