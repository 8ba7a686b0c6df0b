import { jsonSchema } from '../../src/contracts/json-schemas.js';
import { ROLES } from '../../src/contracts/kinds.js';
import * as names from '../../src/contracts/names.js';
import { DEFAULT_SHARDS, MAX_SHARDS, SERVICE_NAMES } from '../../src/contracts/names.js';
import { REQUEST_NAMES, REQUESTS, type RequestName, rowOf } from '../../src/contracts/requests.js';
import { RING_SIZE } from '../../src/nats/jetstream/topology.js';
import { ACCESS_ROLES, type AccessRole, permissionsOf } from '../../src/nats/server/role-permissions.js';
import { eventSections } from './events.js';
import { asCode, endingWith, type Written } from './pages.js';

/**
 * A page that is written from the names in the code, and by hand where the code does not know: a test fails
 * for a name that is new in the code and not on the page.
 */

const demo = names.token('demo', 'session');
const code = (text: string) => `\`${text}\``;

interface Kept {
  readonly subjects: readonly string[];
  readonly holds: string;
  readonly written: string;
  readonly kept: string;
}

const DEDUPE = 'An id counts once within two minutes.';

const STREAMS: Readonly<Record<string, Kept>> = {
  [names.DISPATCH_STREAM]: {
    subjects: [names.DISPATCH_SUBJECTS],
    holds: `results as agent runtimes published them, unchanged; consumer \`${names.EXTRACTOR_CONSUMER}\``,
    written: 'publishers',
    kept: `until you set a limit. ${DEDUPE}`,
  },
  [names.REJECTED_STREAM]: {
    subjects: [names.REJECTED_SUBJECTS],
    holds: 'results that could not be used, whole, with the reason in headers',
    written: '`extractor`',
    kept: 'until `throughline result rm`, or a limit that you set',
  },
  'SESSION_<session>': {
    subjects: [names.sessionSubjects(demo).replace('demo', '<session>')],
    holds: 'the events of one session; layout `per-session`',
    written: '`extractor`, `session-tools`, `keeper`, and `prompt-compiler` (a changed plan)',
    kept: 'as long as the session: everything else is derived from this log',
  },
  'SESSIONS_<shard>': {
    subjects: [names.shardSubjects(7).replace('07', '<shard>')],
    holds: `the events of all sessions of one shard; layout \`sharded\`, ${DEFAULT_SHARDS} shards unless set, ${MAX_SHARDS} at most, two hexadecimal digits. Stored under \`session.<session>.>\``,
    written: '`extractor`, `session-tools`, `keeper`, and `prompt-compiler` (a changed plan)',
    kept: 'as long as the sessions. An id counts once within 30 seconds.',
  },
  [names.LEARNINGS_STREAM]: {
    subjects: [names.LEARNINGS_SUBJECTS],
    holds: 'the events of learnings and proposals, of all projects',
    written: '`learnings`, `extractor`, `session-tools`, `keeper`',
    kept: 'as long as the installation',
  },
  [names.PROMPTS_STREAM]: {
    subjects: [names.PROMPTS_SUBJECTS],
    holds: 'traces of the prompts that were compiled last',
    written: '`prompt-compiler`',
    kept: `the newest ${RING_SIZE} of each session, for 30 days`,
  },
  [names.PROBE_STREAM]: {
    subjects: [names.PROBE_SUBJECT],
    holds: 'a message by which the doctor sees whether anything can be stored',
    written: '`throughline doctor`, as an operator',
    kept: 'for a moment: it is removed again',
  },
};

const BUCKETS: Readonly<Record<string, Omit<Kept, 'subjects'> & { readonly key: string }>> = {
  [names.SNAPSHOT_BUCKET]: {
    key: '`<session>`, `project=<project>`',
    holds: 'snapshots of sessions, and of the learnings of projects; above 1 MiB packed',
    written: 'services that fold',
    kept: 'the newest 5 of each. Made again from the log.',
  },
  [names.INDEX_BUCKET]: {
    key: '`<session>`',
    holds: 'what lists show of each session',
    written: `\`${names.SERVICE_NAMES.keeper}\``,
    kept: 'the newest. Made again from the logs.',
  },
  [names.LIFECYCLE_BUCKET]: {
    key: '`session.<hash>`, `retention`, `dispatches`',
    holds: 'archived and forgotten sessions, and the newest dispatch number',
    written: 'services that archive, import and forget, and `keeper`',
    kept: 'the newest',
  },
  [names.LEASE_BUCKET]: {
    key: '`run.<hash>`, `forget`, `retention`',
    holds:
      'which run works on a task of a session now, and which process forgets or follows the rules of retention',
    written: `\`${SERVICE_NAMES.tools}\`, \`${names.SERVICE_NAMES.keeper}\``,
    kept: 'until its time to live has passed: 30 s after the last heartbeat of a run, 10 s of another process',
  },
  [names.INSTALLATION_BUCKET]: {
    key: '`layout`',
    holds: 'what the installation is, recorded once: how session logs are laid out',
    written: 'the first service that starts',
    kept: 'as long as the installation',
  },
};

const SUBJECTS = REQUEST_NAMES;

/** The command that sends a request; the hidden `tool NAME` where people have none. */
function commandOf(subject: RequestName): string {
  const [words = ''] = rowOf(subject).cli.split(' <');
  if (words !== '') return code(words);
  return subject.startsWith('tool.') ? code(subject.replace('.', ' ')) : '–';
}

/** What each service answers. */
export const SERVICES: Readonly<Record<string, readonly string[]>> = {
  [names.SERVICE_NAMES.extractor]: [],
  [names.SERVICE_NAMES.compiler]: SUBJECTS.filter((name) => name.startsWith('prompt.')),
  [SERVICE_NAMES.tools]: ['tool.<name>', ...SUBJECTS.filter((name) => /^(?:run|trace)\./.test(name))],
  [names.SERVICE_NAMES.learnings]: SUBJECTS.filter((name) => rowOf(name).scope === 'project'),
  [names.SERVICE_NAMES.keeper]: [],
};

/** What each service does beside answering. */
const DOES: Readonly<Record<string, string>> = {
  [names.SERVICE_NAMES.extractor]: `reads \`${names.DISPATCH_STREAM}\`, appends an event for each result`,
  [names.SERVICE_NAMES.compiler]: 'compiles prompts',
  [SERVICE_NAMES.tools]: 'answers commands and queries about sessions',
  [names.SERVICE_NAMES.learnings]: 'answers requests on learnings and proposals',
  [names.SERVICE_NAMES.keeper]: 'folds quiet sessions, writes their snapshots and entries of lists',
};

/** Whether a permission covers a subject. */
function covers(pattern: string, subject: string): boolean {
  const [wanted, given] = [pattern.split('.'), subject.split('.')];
  return (
    wanted.every((part, at) => part === '>' || part === '*' || part === given[at]) &&
    (wanted.at(-1) === '>' || wanted.length === given.length)
  );
}

/** The roles whose users may send a request, by their first letters. */
function mayAsk(subject: string): string {
  const asks = (role: AccessRole) => {
    const { publish } = permissionsOf(role, { inboxPrefix: '_INBOX' });
    return (
      publish.allow.some((each) => covers(each, subject)) &&
      !publish.deny.some((each) => covers(each, subject))
    );
  };
  return (['publisher', 'reader', 'operator'] as const)
    .filter((role) => ACCESS_ROLES.includes(role) && asks(role))
    .map(([letter]) => letter)
    .join('');
}

/** A row for each request: its command, its fields, and the roles that may send it. */
export const requestRows = () =>
  SUBJECTS.map(
    (subject) =>
      `| ${code(subject)} | ${asCode(REQUESTS[subject].summary)} | ${commandOf(subject)} | ${fieldsOf(`${subject}.request`)} | ${mayAsk(subject)} |`,
  ).join('\n');

/** The fields of a schema, those that may be left out with a question mark. */
function fieldsOf(schema: string): string {
  const { properties = {}, required = [] } = jsonSchema(schema) as {
    properties?: object;
    required?: readonly string[];
  };
  return Object.keys(properties)
    .map((name) => code(required.includes(name) ? name : `${name}?`))
    .join(', ');
}

const ON_REJECTED = 'a result that could not be used';
const HEADERS: Readonly<Record<keyof typeof names.HEADERS, string>> = {
  errorCode: `${ON_REJECTED}: the [code](errors.md)`,
  errorReason: `${ON_REJECTED}: why`,
  errorFix: `${ON_REJECTED}: what would make it readable`,
  errorMeant: `${ON_REJECTED}: the role whose result it seems to be`,
  dispatchSequence: `${ON_REJECTED}: its sequence in \`${names.DISPATCH_STREAM}\``,
  dispatchSubject: `${ON_REJECTED}: where it was published`,
  dispatchTime: `${ON_REJECTED}: when it was published`,
  dispatchBytes: `${ON_REJECTED}, if only its beginning fits this message: its size. \`${names.DISPATCH_STREAM}\` has the rest`,
  retryId: `${ON_REJECTED}: the id that a retry publishes it under`,
};

export const subjects = `## Where results are published

Generated from [src/contracts/names.ts](../../src/contracts/names.ts), which makes all names.

| subject | content |
|---|---|
${ROLES.map((role) => `| ${code(names.dispatchSubject(demo, role).replace('demo', '<session>'))} | the result of an agent as ${role}: [fields](../how-to/publish-results.md#fields) |`).join('\n')}

Give each a \`Nats-Msg-Id\`: [Publish again safely](../how-to/publish-results.md#publish-again-safely).

## Streams

Streams are files of the server with \`retention: limits\`, and made where they are missing, with \`THROUGHLINE_REPLICAS\` copies.
An existing stream is never changed: set \`max_age\`, \`max_bytes\` and replicas as you like, with the \`nats\` CLI.

| stream | subjects | content | written by | kept |
|---|---|---|---|---|
${Object.entries(STREAMS)
  .map(
    ([name, { subjects, holds, written, kept }]) =>
      `| ${code(name)} | ${subjects.map(code).join(', ')} | ${holds} | ${written} | ${kept} |`,
  )
  .join('\n')}

An event of a session is stored under \`session.<session>.>\` in both layouts. It is published there with a stream per
session, and on \`sessions.<shard>.<session>.>\` with shards: [Scale](../explanation/scale.md#choose-shards).

## Buckets

Buckets of the key-value store are streams \`KV_<bucket>\` with subjects \`$KV.<bucket>.<key>\`.

| bucket | key | content | written by | kept |
|---|---|---|---|---|
${Object.entries(BUCKETS)
  .map(
    ([name, { key, holds, written, kept }]) => `| ${code(name)} | ${key} | ${holds} | ${written} | ${kept} |`,
  )
  .join('\n')}

## Services

They are NATS micro services: \`nats micro ls\` lists them, \`nats micro stats NAME\` shows their statistics. Each answers
\`${names.healthSubject('<service>')}\` as well.

| service | does | answers |
|---|---|---|
${Object.values(SERVICE_NAMES)
  .map((name) => `| ${code(name)} | ${DOES[name]} | ${SERVICES[name]?.map(code).join(', ') || '–'} |`)
  .join('\n')}

## What you may listen to

Plain subscriptions, which cost the services nothing. A message may be lost there; the streams hold all of them.

| subject | what |
|---|---|
| ${code(names.PUBLISHED_EVENTS['per-session'])} or ${code(names.PUBLISHED_EVENTS.sharded)} | events of sessions, by layout |
| ${code(names.PROMPTS_SUBJECTS)} | traces of prompts that were compiled |
| ${code(names.rejectedSubjects(undefined, undefined))} | results that could not be used |
| ${code(names.LEARNINGS_SUBJECTS)} | events of learnings |

## Headers

| header | on |
|---|---|
| \`Nats-Msg-Id\` | a published result: \`<session>:<128 random bits>\` |
${Object.entries(HEADERS)
  .map(([name, on]) => `| ${code(names.HEADERS[name as keyof typeof HEADERS])} | ${on} |`)
  .join('\n')}
`;

export function subjectsPage(): Written {
  return {
    'docs/reference/subjects-and-streams.md': endingWith(
      'docs/reference/subjects-and-streams.md',
      `${subjects}\n${eventSections()}`,
    ),
  };
}
