import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { checkedRequest, openObject, otherSpelling } from '../../src/contracts/checked.js';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { jsonSchema, SCHEMA_NAMES } from '../../src/contracts/json-schemas.js';
import { REQUEST_NAMES, REQUESTS, rowOf } from '../../src/contracts/requests.js';
import { traceEntry } from '../../src/contracts/trace-entry.js';
import { type Contract, REQUESTS as GOOD_REQUESTS, ofSession, TRACE_ENTRY } from '../support/bad-input.js';
import { growth } from '../support/cpu-time.js';
import * as fc from '../support/properties.js';

/** Every request, and what is checked by itself within one. */
const CONTRACTS: readonly Contract[] = [
  ...GOOD_REQUESTS,
  { name: 'trace entry', subject: '', schema: traceEntry, good: TRACE_ENTRY, ofSession: false },
];
/** Values that hold no fields of a request, but names of other things. */
const NAMED_BY_THE_CALLER = new Set(['entries']);
/** Objects that may hold what their caller likes. */
const OPEN = new Set(['payload']);
const MAY_BE_LEFT_OUT = new Set(['after', 'afterTimeoutMs', 'asOf', 'tasksPath', 'unfollow']);

function inlined(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', metadata: z.registry() });
}

function placesOf(request: object): { object: Record<string, unknown>; key: string }[] {
  return Object.entries(request).flatMap(([key, value]) => [
    { object: request as Record<string, unknown>, key },
    ...(isObject(value) && !NAMED_BY_THE_CALLER.has(key) ? placesOf(value) : []),
  ]);
}

/** The names of every object of a schema, as JSON Schema has them, under the path of the object. */
function namesOf(schema: unknown, request: object, path = ''): [path: string, name: string][] {
  const inner = schema as { properties?: object; oneOf?: { properties: { kind: { const: string } } }[] };
  const kind = 'kind' in request ? request.kind : undefined;
  const option = inner.oneOf?.find(({ properties }) => properties.kind.const === kind) ?? inner;
  return Object.entries(option.properties ?? {}).flatMap(([name, field]) => [
    [path, name] as [string, string],
    ...namesOf(field, request, `${path}${name}.`),
  ]);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function goodOf(contract: Contract): Record<string, unknown> {
  return structuredClone(ofSession(contract, 'demo', contract.good)) as Record<string, unknown>;
}

const contracts = fc.constantFrom(...CONTRACTS);

/** Puts a field in the place of another, or beside it, as a request from JSON would have it. */
function put(object: object, key: string, value: unknown): void {
  Reflect.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

describe('the fields of a request', () => {
  it.each(CONTRACTS)('the example of $name has every field that its schema names', (contract) => {
    const schema = inlined(contract.schema);
    const given = new Set(placesOf(goodOf(contract)).map(({ key }) => key));
    const missing = namesOf(schema, contract.good).filter(
      ([, name]) => !given.has(name) && !MAY_BE_LEFT_OUT.has(name),
    );
    expect(missing).toEqual([]);
  });

  it.each(CONTRACTS)('the fields of $name are the same request in either spelling', (contract) => {
    const { schema } = contract;
    const expected = checkedRequest(schema, goodOf(contract));
    for (const [index, { key }] of placesOf(goodOf(contract)).entries()) {
      const request = goodOf(contract);
      const object = placesOf(request)[index]?.object ?? {};
      const value = object[key];
      delete object[key];
      object[otherSpelling(key)] = value;
      expect(checkedRequest(schema, request), `${otherSpelling(key)} for ${key}`).toEqual(expected);
    }
  });

  it('a field that no one knows is refused and named, whatever it is called and wherever it stands', () => {
    const name = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.constantFrom('__proto__', 'constructor', 'toString', 'valueOf', '', 'a.b', 'sesion', 'MAXFACTS'),
    );
    fc.assert(
      fc.property(contracts, name, fc.nat(), fc.jsonValue(), (contract, key, at, value) => {
        const names = JSON.stringify(inlined(contract.schema));
        fc.pre(![key, otherSpelling(key)].some((known) => names.includes(JSON.stringify(known))));
        const request = goodOf(contract);
        const within = placesOf(request)
          .filter((place) => !NAMED_BY_THE_CALLER.has(place.key) && !OPEN.has(place.key))
          .map((place) => place.object[place.key]);
        const objects = [request, ...within.filter(isObject)];
        put(objects[at % objects.length] ?? request, key, value);
        const shown = /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
        expect(() => checkedRequest(contract.schema, request)).toThrow(
          expect.objectContaining({
            code: 'schema_invalid',
            message: expect.stringContaining(`${shown} is not a recognized field`),
            details: { fields: [expect.stringContaining(shown)] },
          }),
        );
      }),
    );
  });

  it('a field that comes in both spellings is refused', () => {
    fc.assert(
      fc.property(contracts, fc.nat(), (contract, at) => {
        const request = goodOf(contract);
        const places = placesOf(request).filter(({ key }) => otherSpelling(key) !== key);
        fc.pre(places.length > 0);
        const { object, key } = places[at % places.length] ?? { object: {}, key: '' };
        put(object, otherSpelling(key), structuredClone(object[key]));
        const both = new RegExp(`${otherSpelling(key)} and .*${key} are the same field: give one`);
        expect(() => checkedRequest(contract.schema, request)).toThrow(both);
      }),
    );
  });
});

const COMPILE = { session: 'demo', taskId: '1', taskPrompt: 'Write the parser' };

it.each([
  ['taskId', compileRequest, { taskPrompt: 'Write' }],
  ['task', REQUESTS['tool.blocker-answer'].request, { answer: 'Yes' }],
] as const)('the id of a task has any of its three names in a request: %s', (field, schema, others) => {
  const given = { session: 'demo', ...others };
  for (const name of ['task', 'taskId', 'task_id'])
    expect(checkedRequest(schema, { ...given, [name]: '2.1' })).toMatchObject({ [field]: '2.1' });
  const twice = { ...given, task: '2.1', task_id: '2.1' };
  expect(() => checkedRequest(schema, twice)).toThrow('task_id and task are the same field');
  expect(() => checkedRequest(schema, { ...given, task_id: 7 })).toThrow('task_id is 7: use text');
});

it.each(REQUEST_NAMES)('the example of %s is a request', (name) => {
  const { scope, example, request, shape } = rowOf(name);
  if (Object.keys(example).length === 0) return;
  const given = {
    ...(scope === 'session' && { session: 'demo' }),
    ...('person' in shape && { person: true }),
  };
  expect(checkedRequest(request, { ...given, ...example })).toMatchObject(example);
});

describe('what is said of a field that is not known', () => {
  it.each<[what: string, schema: z.ZodType, request: object, message: string]>([
    [
      'a field of another kind of prompt',
      compileRequest,
      { kind: 'session-start', session: 'demo', maxFacts: 3 },
      'maxFacts is a field of kind dispatch or iteration, not of session-start: leave it out',
    ],
    [
      'a field of another kind than the one that is meant without a kind',
      compileRequest,
      { ...COMPILE, template: 'x' },
      'template is a field of kind iteration, not of dispatch: leave it out',
    ],
    [
      'a misspelt session',
      REQUESTS['tool.task-list'].request,
      { sesion: 'demo' },
      'sesion is not a recognized field: did you mean session?; session is missing',
    ],
    [
      'a field of an object within',
      compileRequest,
      { ...COMPILE, budget: { inputToken: 1 } },
      'budget.inputToken is not a recognized field: did you mean inputTokens?',
    ],
    [
      'a wrong value in the spelling of its request',
      compileRequest,
      { ...COMPILE, max_facts: '9' },
      'max_facts is "9": use a number',
    ],
    [
      'a list that is too long, in the spelling of its request',
      REQUESTS['tool.task-add'].request,
      { session: 'demo', content: 'x', depends_on: Array.from({ length: 201 }, () => 'a') },
      'depends_on: has 201 entries, the limit is 200: send fewer, or several requests',
    ],
    [
      'a name that no terminal should show',
      REQUESTS['tool.task-list'].request,
      { session: 'demo', 'a\u0007b': 1 },
      String.raw`"a\u0007b" is not a recognized field`,
    ],
    [
      'a name that is very long',
      REQUESTS['tool.task-list'].request,
      { session: 'demo', ['x'.repeat(5000)]: 1 },
      '(a name of 5000 characters) is not a recognized field',
    ],
    [
      'many at once',
      REQUESTS['learning.list'].request,
      Object.fromEntries(['q', 'w', 'e', 'r', 't', 'z'].map((name) => [name, 1])),
      `${['q', 'w', 'e', 'r', 't'].map((name) => `${name} is not a recognized field`).join('; ')}; and 1 more`,
    ],
  ])('the refusal says it in words of people: %s', (_what, schema, request, message) => {
    expect(() => checkedRequest(schema, request)).toThrow(
      expect.objectContaining({ code: 'schema_invalid', message }),
    );
  });

  it('names that are not fields stay as they are: keys of a record, and what the schema does not look into', () => {
    const schema = z.object({
      byName: z.record(z.string(), z.int()),
      anyThing: z.unknown(),
      body: openObject(z.object({ toolName: z.string() })),
    });
    const request = {
      by_name: { some_name: 1, someName: 2 },
      any_thing: { some_name: 1 },
      body: { tool_name: 'x', other_name: 1 },
    };
    expect(checkedRequest(schema, request)).toEqual({
      byName: { some_name: 1, someName: 2 },
      anyThing: { some_name: 1 },
      body: { toolName: 'x' },
    });
  });

  it('a request with a hundred thousand fields that no one knows is refused at once', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`field${at}`, at]));
    const refused = (count: number) => {
      const some = Object.entries(many).slice(0, count);
      expect(() => checkedRequest(compileRequest, { ...COMPILE, ...Object.fromEntries(some) })).toThrow(
        `and ${some.length - 5} more`,
      );
    };
    refused(100_000);
    // In time that grows with them and no faster.
    expect(growth(refused)).toBeLessThan(2.8);
  });
});

it('every description of a schema has at most 12 words', () => {
  const texts = SCHEMA_NAMES.flatMap((name) =>
    [...JSON.stringify(jsonSchema(name)).matchAll(/"description":"((?:[^"\\]|\\.)*)"/g)].map(
      ([, text = '']) => text,
    ),
  );
  expect(texts.length).toBeGreaterThan(1000);
  expect(texts.filter((text) => !/^\S+(?: \S+){0,11}$/.test(text))).toEqual([]);
});
