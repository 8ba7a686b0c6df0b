import { z } from 'zod';
import { cursorOf } from '../../src/contracts/checked.js';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { ROLES, type Role } from '../../src/contracts/kinds.js';
import { REQUEST_NAMES, rowOf } from '../../src/contracts/requests.js';
import { RESULTS } from '../../src/contracts/results.js';
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
  /** Whether it names a session. Default: it does. */
  readonly ofSession?: false;
}

/** A request with a session, where it names one and names none yet. */
export function ofSession({ ofSession }: Contract, session: string, request: object): object {
  return ofSession === false ? request : { session, ...request };
}

/** Fields that exclude others, or make a request wait. */
const LEFT_OUT = new Set(['after', 'afterTimeoutMs', 'asOf', 'tasksPath', 'unfollow']);

/** Values that a schema alone does not give: of a field, or of a field of one request. */
const VALUES: Readonly<Record<string, unknown>> = {
  session: 'demo',
  taskId: '1',
  tasksText: '- [ ] 1. One\n',
  olderThan: '30d',
  since: '2026-03-01',
  until: '2026-03-01',
  'tool.blocker-answer replaces': '',
  'tool.session-import history': [],
  'tool.fact-find cursor': cursorOf('facts', 9, 5),
  'tool.session-export cursor': cursorOf('export', 0, 9, 64, ''),
  'tool.session-list cursor': cursorOf('sessions', 0, 0, 'a', 0),
  'tool.timeline-list cursor': cursorOf('timeline', 1, ''),
  'tool.trace-list cursor': cursorOf('intents', 'INT-1'),
  // Of another name: without the dry run it is refused.
  'tool.session-forget confirm': 'other',
};

interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly minimum?: number;
}

function sampleOf(schema: JsonSchema, request: string, field = ''): unknown {
  const { anyOf = [], oneOf = anyOf, properties, items, minimum = 0, type } = schema;
  const known = VALUES[`${request} ${field}`] ?? VALUES[field];
  if (known !== undefined) return known;
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (oneOf[0] !== undefined) return sampleOf(oneOf[0], request, field);
  if (properties !== undefined)
    return Object.fromEntries(
      Object.entries(properties)
        .filter(([name]) => !LEFT_OUT.has(name))
        .map(([name, inner]) => [name, sampleOf(inner, request, name)]),
    );
  if (items !== undefined) return [sampleOf(items, request, field)];
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return Math.max(1, minimum);
  return schema.format === 'date-time' ? '2026-01-01T00:00:00.000Z' : 'abcd';
}

function goodOf(name: string, schema: z.ZodType, more: object = {}): Readonly<Record<string, unknown>> {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', metadata: z.registry() });
  const { session: _, ...good } = sampleOf(json as JsonSchema, name) as Record<string, unknown>;
  return { ...good, ...more };
}

export const TRACE_ENTRY = {
  id: 'e1',
  timestamp: '2026-01-01T00:00:00.000Z',
  intent_id: 'INT-1',
  state: 'ACTION',
  action_type: 'TOOL_EXECUTION',
  payload: { tool_name: 'edit', target_files: ['a.ts'], command: 'x', reasoning: 'y' },
  result: { status: 'SUCCESS', output_summary: 'z', error_message: 'w' },
};

/** Values beside those of the schema and the example of a request. */
const GOOD: Readonly<Record<string, object>> = {
  'trace.append': { entries: [TRACE_ENTRY] },
  'prompt.past': { asOf: 1 },
  'tool.retention-set': { project: 'attacked', after: '90d' },
};

/** Requests to services. */
export const REQUESTS: readonly Contract[] = [
  ...REQUEST_NAMES.filter((name) => name !== 'prompt.compile').map((name) => {
    const { request: schema, example, scope } = rowOf(name);
    const isOfSession = scope === 'session' || scope === 'any session';
    const good = goodOf(name, schema, { ...example, ...GOOD[name] });
    return {
      name,
      subject: name,
      schema,
      good,
      ...(!isOfSession && { ofSession: false as const }),
    };
  }),
  ...compileRequest.options.map((schema) => {
    const good = goodOf('prompt.compile', schema);
    return { name: `compile ${good.kind}`, subject: 'prompt.compile', schema: compileRequest, good };
  }),
];

/** Bodies of dispatches, by role. */
export const DISPATCHES = Object.fromEntries(
  ROLES.map((role) => [role, goodOf(role, RESULTS[role], { task_id: '1' })]),
) as Readonly<Record<Role, Readonly<Record<string, unknown>>>>;

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
