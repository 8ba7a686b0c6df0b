import type { z } from 'zod';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { cursorOf } from '../../src/contracts/list-limits.js';
import { type LearningRequest, REQUEST_NAMES, rowOf, type ToolName } from '../../src/contracts/requests.js';
import { ATTACKS, attacks } from './attacks.js';
import * as fc from './properties.js';

/** Everything that is sent to Throughline, and what can be wrong with it. */

/** One contract: where a request goes, and one that is right. A new contract is a new row. */
export interface Contract {
  readonly name: string;
  readonly subject: string;
  readonly schema: z.ZodType;
  /** Right, but for the session, which `ofSession` puts in. */
  readonly good: Readonly<Record<string, unknown>>;
  /** Whether every request gets an answer. Default: it does. */
  readonly answers?: false;
  /** Whether it names a session. Default: it does. */
  readonly ofSession?: false;
}

/** A request with a session, where it names one and names none yet. */
export function ofSession({ ofSession }: Contract, session: string, request: object): object {
  return ofSession === false ? request : { session, ...request };
}

const SETTINGS = {
  ...{ implementerTokens: 8000, reviewerTokens: 9000, maxOutputTokens: 1000, tokenizer: 'approximate' },
  boardFollowsResults: false,
  stallThresholds: { same_files: 4 },
};

const TOOL_REQUESTS: Readonly<Record<ToolName, object>> = {
  'task-add': { content: 'Write the parser', priority: 1, status: 'remaining', dependsOn: ['TAS-1'] },
  'task-status': { id: 'TAS-1', status: 'blocked', reason: 'no network' },
  'task-priority': { id: 'TAS-1', priority: 0 },
  'task-depends': { id: 'TAS-2', dependsOn: 'TAS-1' },
  'task-undepends': { id: 'TAS-2', dependsOn: ['TAS-1'] },
  'task-content': { id: 'TAS-1', content: 'Write the lexer' },
  'task-delete': { id: 'TAS-3' },
  'task-next': { claim: 'agent-1', id: 'TAS-1', ttlMs: 30_000 },
  'task-release': { id: 'TAS-1', claim: 'agent-1', note: 'Half done' },
  'task-list': { status: 'remaining' },
  'note-add': {
    ...{ content: 'No docker', type: 'tip', by: 'anna' },
    ...{ task: '2.1', paths: ['legacy/**'], branch: 'next' },
  },
  'note-edit': { id: 'NOT-1', content: 'No podman', type: 'stuck' },
  'note-delete': { id: 'NOT-1' },
  'note-list': { type: 'tip' },
  'inbox-add': { content: 'Look at the build' },
  'inbox-mark-read': { id: 'MSG-1' },
  'inbox-list': { all: true },
  'blocker-answer': {
    ...{ task: '2.1', answer: 'Port 9464', question: 'Which port?', by: 'anna', agent: true },
    replaces: '',
  },
  'iteration-start': { number: 2 },
  'iteration-complete': { number: 2 },
  'iteration-summary': { summary: 'Parser done', number: 1, tasksWorked: ['TAS-1'], replace: true },
  'iteration-list': {},
  'session-open': {
    ...{ goal: 'A parser', spec: '# Parser', specPath: 'a.md', project: 'p' },
    title: 'The parser',
    settings: SETTINGS,
  },
  'session-complete': { force: true, reason: 'enough' },
  'session-restart': { reason: 'more' },
  'session-archive': { reason: 'shipped' },
  'session-reopen': { reason: 'a bug' },
  'fact-find': {
    ...{ text: 'parser', task: '1', subject: 'a.ts', relation: ['issue'], tag: 'error' },
    ...{ kind: 'rule', is: 'all', limit: 5, cursor: cursorOf('facts', 9, 5) },
  },
  'dispatch-show': { dispatch: 1, timeoutMs: 0 },
  'telemetry-show': {},
  'rejected-list': { role: 'reviewer', limit: 5, cursor: '5' },
  'rejected-show': { id: 1 },
  'rejected-retry': { id: 1, role: 'reviewer', body: '{}' },
  'rejected-remove': { id: 1 },
  // Of another name: without the dry run it is refused.
  'session-forget': { confirm: 'other', dryRun: true, withLearnings: true },
  'retention-show': {},
  'retention-set': { project: 'attacked', action: 'archive', after: '90d', dryRun: false },
  'session-export': { cursor: cursorOf('export', 0, 9, 64, '') },
  'session-import': {
    id: 'import',
    checkpoint: {
      ...{ v: 1, type: 'session.checkpoint', at: '2026-01-01T00:00:00.000Z', id: 'import' },
      data: {
        ...{ covers: 0, state: 'H4sI', reason: 'imported', events: 1 },
        newest_dispatch: { sequence: 1, at: '2026-01-01T00:00:00.000Z' },
      },
    },
    ...{ history: [], from: 0 },
  },
  'prompt-list': { task: '1', limit: 5, cursor: '5' },
  'prompt-show': { id: 'a1' },
  'health-show': { brief: true },
  'session-list': {
    names: ['demo'],
    ...{ text: 'a', status: 'open', project: 'p', stalled: true, active: true, brief: true, limit: 5 },
    ...{ olderThan: '30d', since: '2026-03-01', archived: true },
    cursor: cursorOf('sessions', 0, 0, 'a', 0),
  },
  'fact-show': { id: 'abcd' },
  'fact-retract': { id: 'abcd', reason: 'wrong', by: 'anna', agent: true },
  'fact-restore': { id: 'abcd', reason: 'it holds', by: 'anna', agent: true },
  'fact-erase': { id: 'M7', by: 'anna' },
  'fact-correct': { id: 'abcd', text: 'Port 9464', reason: 'wrong', by: 'anna', agent: true },
  'file-list': { text: 'parser', limit: 5 },
  recall: { query: 'parser', project: 'p', limit: 5, maxTokens: 300 },
  'timeline-list': {
    ...{ kinds: ['result', 'rejected'], task: '1', failed: true, limit: 5, after: 1, upTo: 9 },
    cursor: cursorOf('timeline', 1, ''),
  },
  'trace-list': { limit: 5, cursor: cursorOf('intents', 'INT-1') },
  'snapshot-show': { whole: true },
};

export const TRACE_ENTRY = {
  id: 'e1',
  timestamp: '2026-01-01T00:00:00.000Z',
  intent_id: 'INT-1',
  state: 'ACTION',
  action_type: 'TOOL_EXECUTION',
  payload: { tool_name: 'edit', target_files: ['a.ts'], command: 'x', reasoning: 'y' },
  result: { status: 'SUCCESS', output_summary: 'z', error_message: 'w' },
  pin: true,
};

const LEARNING_GOOD: Readonly<Record<LearningRequest, Readonly<Record<string, unknown>>>> = {
  'learning.propose': {
    ...{
      project: 'attacked',
      content: 'Prefer explicit errors',
      type: 'insight',
      tags: ['errors'],
      confidence: 0.5,
    },
    source: { session: 'attacked', dispatch: 1, note: 'NOT-1' },
  },
  'learning.list': { project: 'attacked', limit: 5, cursor: 'abc' },
  'learning.search': { project: 'attacked', query: 'errors', maxResults: 3, minSimilarity: 0.1 },
  'learning.edit': {
    project: 'attacked',
    id: 'abc',
    content: 'Prefer them',
    type: 'pattern',
    tags: [],
    by: 'me',
  },
  'learning.retract': { project: 'attacked', id: 'abc', reason: 'wrong', by: 'me' },
  'proposal.list': { project: 'attacked', status: 'all', limit: 5, cursor: 'abc', projects: true },
  'proposal.show': { project: 'attacked', id: 'abc' },
  'proposal.accept': { project: 'attacked', id: 'abc', by: 'me', merge: false, separate: true },
  'proposal.reject': { project: 'attacked', id: 'abc', reason: 'no', by: 'me' },
};

/** What every kind of prompt takes for its learnings. */
const OF_LEARNINGS = { maxLearnings: 2, minSimilarity: 0.1, learningsAsOf: 1, project: 'attacked' };

/** What every kind of prompt takes for the files that it names. */
const OF_FILES = { maxFiles: 5, hints: { files: ['src/a.ts'], cwd: 'src' } };

const OF_ROOM = { budget: { inputTokens: 5000, outputTokens: 100 }, binary: 'tl' };

const OF_CALLER = { degraded: 'tasks.md is gone' };
const COMPILE_REQUESTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  dispatch: {
    ...{ kind: 'dispatch', taskId: '1', taskPrompt: 'go on', role: 'reviewer', tags: ['test'], maxFacts: 5 },
    ...{ maxTokens: 100, asOf: 1, explain: true, activeIntentId: 'INT-1', systemPrompt: 'You are one.' },
    ...{ ...OF_ROOM, include: ['messages'] },
    ...{ ...OF_LEARNINGS, ...OF_FILES, ...OF_CALLER },
  },
  iteration: {
    ...{ kind: 'iteration', template: '{{tasks}}', binary: 'tl', extra: 'x', taskPrompt: 'y', taskId: '1' },
    ...{ tags: ['test'], maxFacts: 5, maxTokens: 100, explain: true, activeIntentId: 'INT-1' },
    ...{ after: 1, afterTimeoutMs: 0, now: '2026-01-01T00:00:00Z', ...OF_ROOM, include: ['facts'] },
    ...{ ...OF_LEARNINGS, ...OF_FILES, ...OF_CALLER },
  },
  'session-start': {
    ...{ kind: 'session-start', maxTokens: 100, asOf: 1, taskPrompt: 'y', binary: 'tl', explain: true },
    ...{ ...OF_ROOM, include: ['lines'], branch: 'main', now: '2026-01-01T00:00:00Z' },
    ...{ ...OF_LEARNINGS, ...OF_FILES, ...OF_CALLER },
  },
};

const RUN_INIT = {
  ...{ spec: 'parser', goal: 'g', tasksText: '- [ ] 1. One\n', requirementsText: '### 1.1\n' },
  settings: SETTINGS,
};

const GOOD: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ...Object.fromEntries(Object.entries(TOOL_REQUESTS).map(([name, good]) => [`tool.${name}`, good])),
  ...LEARNING_GOOD,
  'prompt.past': COMPILE_REQUESTS.dispatch ?? {},
  'run.init': RUN_INIT,
  'run.status': { task: '2.1', lists: ['plan'], status: 'blocked' },
  'trace.append': { entries: [TRACE_ENTRY] },
  'trace.record': { entries: [TRACE_ENTRY] },
  'trace.compact': { intentId: 'INT-1' },
  'trace.get': { id: 'e1', intentId: 'INT-1' },
  'trace.pin': { id: 'e1', intentId: 'INT-1' },
};

/** Requests to services. */
export const REQUESTS: readonly Contract[] = [
  ...REQUEST_NAMES.filter((name) => name !== 'prompt.compile').map((name) => ({
    name,
    subject: name,
    schema: rowOf(name).request,
    good: GOOD[name] ?? {},
    ...(name === 'trace.record' && { answers: false as const }),
    ...((rowOf(name).scope === 'no session' || rowOf(name).scope === 'project') && {
      ofSession: false as const,
    }),
  })),
  ...Object.entries(COMPILE_REQUESTS).map(([kind, good]) => ({
    name: `compile ${kind}`,
    subject: 'prompt.compile',
    schema: compileRequest,
    good,
  })),
];

/** Bodies of dispatches, by role. */
export const DISPATCHES = {
  implementer: {
    ...{
      task_id: '1',
      status: 'completed',
      summary: 'did it',
      files_modified: ['a.ts'],
      files_changed: ['b.ts'],
    },
    tests: [{ command: 'npm test', passed: true, failures: ['x'] }],
    follow_up_actions: ['y'],
    blockers: ['z'],
    intent_id: 'INT-1',
  },
  reviewer: {
    ...{
      task_id: '1',
      assessment: 'needs_changes',
      strengths: ['a'],
      required_fixes: ['b'],
      intent_id: 'INT-1',
    },
    issues: [{ severity: 'critical', file: 'a.ts', message: 'm', fix: 'f' }],
    result_id: 'r-1',
  },
  observer: {
    task_id: '1',
    summary: 'saw it',
    facts: [{ subject: 'a.ts', relation: 'uses', object: 'b.ts', tags: ['dependency'] }],
  },
} as const;

/** Names that a caller may give for a session, a role or any other token of a subject. */
export const BAD_TOKENS: readonly string[] = [
  ...[
    '',
    ' ',
    '*',
    '>',
    '.',
    'a.b',
    'a.*',
    'a.>',
    '$JS',
    '$SYS.>',
    '_INBOX.x',
    'a b',
    'a\tb',
    '\u00e9',
    '\u{1f600}',
  ],
  ...[
    'a\r\nPUB evil.subject 0\r\n\r\n',
    '\r\n',
    'a\n',
    'a\u0000',
    '\u202ea',
    '\ud800',
    '../a',
    '%2e',
    "a'",
    'a/b',
    'a@b',
    'a:b',
  ],
  ...['a'.repeat(65), 'a'.repeat(10_000), '-'.repeat(65)],
];

/** Names that are right, and that a careless program would stumble over. */
export const ODD_TOKENS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '-',
  '_',
  '0',
  'a'.repeat(64),
];

/** Values where something else belongs. */
export const BAD_VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1.5, 7, 2 ** 53, -(2 ** 63), 1e308, 5e-324, Number.MAX_SAFE_INTEGER],
  ...[
    '',
    ' ',
    '0',
    'null',
    'x'.repeat(10_000),
    '\ud800',
    '\udc00x',
    '\u0000',
    '\u2028',
    ...BAD_TOKENS.slice(0, 20),
  ],
  ...[
    [],
    {},
    [[]],
    [null],
    [{}],
    [''],
    { length: 1 },
    { toString: 1 },
    { constructor: { prototype: { polluted: 1 } } },
  ],
  ...[
    Array.from({ length: 3000 }, () => 'x'),
    JSON.parse('{"__proto__":{"polluted":1},"valueOf":null}'),
    nested(400),
  ],
];

/** Bodies that no JSON object can be read from, or hardly: each with a name. */
export const BAD_BODIES: readonly (readonly [name: string, body: Uint8Array])[] = [
  ...texts({
    nothing: '',
    blank: ' \r\n\t ',
    null: 'null',
    number: '1e999',
    string: '"text"',
    list: '[]',
    'empty object': '{}',
    'cut off': '{"session":"a"',
    'two objects': '{}{}',
    'a byte order mark alone': '\ufeff',
    'prototype keys': '{"__proto__":{"session":"x"},"constructor":{"prototype":{}},"session":"__proto__"}',
    'a repeated key': '{"session":"a","session":"b","task_id":"1","task_id":{}}',
    'an open string': `{"session":"${'x'.repeat(1000)}`,
    'deep lists': '['.repeat(100_000),
    'deep lists, closed': `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
    'deep objects': `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
    'escaped surrogates': '{"session":"\\ud800","content":"\\udc00\\ud800"}',
    'a long number': `{"maxFacts":${'9'.repeat(5000)}}`,
    'many keys': `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":1`).join(',')}}`,
    'markers and nothing else': 'BEGIN_DISPATCH_RESULTEND_DISPATCH_RESULT',
    'many markers': 'BEGIN_DISPATCH_RESULT '.repeat(5000),
    'an open fence': `BEGIN_DISPATCH_RESULT \`\`\`${'\n'.repeat(5000)} END_DISPATCH_RESULT`,
    'a MiB of text': 'x'.repeat(1024 * 1024),
    'a MiB of blanks': ' '.repeat(1024 * 1024),
    'a MiB of JSON': JSON.stringify({ session: 'a', content: 'x'.repeat(1024 * 1024 - 30) }),
  }),
  ['binary', Uint8Array.from({ length: 4096 }, (_, at) => (at * 7919) % 256)],
  ['zeroes', new Uint8Array(1000)],
  ['half a character', Uint8Array.of(0x7b, 0x22, 0xe2, 0x82, 0x22, 0x7d)],
  ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
  ['an overlong slash', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22)],
  ['UTF-16', Buffer.from('{"session":"a"}', 'utf16le')],
];

function texts(named: Readonly<Record<string, string>>): [string, Uint8Array][] {
  return Object.entries(named).map(([name, text]) => [name, Buffer.from(text)]);
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** A request with one thing wrong: each of its fields in turn as each of the bad values, left out, or one too many. */
export function* spoiled(good: object): Generator<unknown> {
  for (const key of Object.keys(good)) {
    for (const value of BAD_VALUES) yield { ...good, [key]: value };
    const { [key]: _, ...less } = { ...good } as Record<string, unknown>;
    yield less;
  }
  for (const key of ODD_TOKENS)
    yield JSON.parse(`{"${key}":{"a":1},${JSON.stringify(good).slice(1)}`.replace(',}', '}'));
}

/** Right requests gone wrong at random, in one place or several, or replaced by anything. */
export function mutated(good: object): fc.Arbitrary<unknown> {
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...BAD_VALUES) },
    { weight: 3, arbitrary: attacks },
    { weight: 1, arbitrary: fc.constantFrom(...ATTACKS, ...BAD_TOKENS) },
    { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
    { weight: 1, arbitrary: fc.double({ noNaN: true }) },
  );
  const places = placesOf(good);
  const changes = fc.array(fc.tuple(fc.constantFrom(...(places.length > 0 ? places : [['x']])), value), {
    maxLength: 3,
  });
  return fc.oneof(
    {
      weight: 9,
      arbitrary: changes.map((each) =>
        each.reduce((body, [path, put]) => replaced(body, path, put), good as unknown),
      ),
    },
    { weight: 1, arbitrary: value },
  );
}

/** Every place within a value, as a path. */
function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, each]) => placesOf(each, [...path, key]));
  return path.length === 0 ? inner : [path, ...inner];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], put: unknown): unknown {
  if (key === undefined) return put;
  if (typeof value !== 'object' || value === null) return value;
  const copy: object = Array.isArray(value) ? [...value] : { ...value };
  Reflect.defineProperty(copy, key, {
    value: replaced(Reflect.get(value, key), rest, put),
    enumerable: true,
    writable: true,
    configurable: true,
  });
  return copy;
}
