import { describe, expect, it } from 'vitest';
import { parseDispatchBody } from '../../../src/contracts/dispatch-body.js';
import { KEPT } from '../../../src/contracts/kept-limits.js';
import { kindOf, ROLES, type Role, verdictsOf } from '../../../src/contracts/kinds.js';
import { lastResult } from '../../../src/contracts/reading/last-result.js';
import { readResult } from '../../../src/contracts/reading/read-result.js';
import { Repairs, repairsInWords } from '../../../src/contracts/reading/repairs.js';
import { compiledResult, RESULTS } from '../../../src/contracts/results.js';
import { SESSION_EVENTS } from '../../../src/contracts/session-events.js';
import { RuleBasedFactExtractor } from '../../../src/memory/facts/fact-extractor.js';
import { recordedEvent } from '../../../src/services/extractor/extractor-worker.js';
import { isObject } from '../../../src/shared/text.js';
import { BAD_VALUES, DISPATCHES, mutated } from '../../support/bad-input.js';
import { factsFrom, roleResults, sayings, timeOf } from '../../support/builders.js';
import { cpuMs, growth } from '../../support/cpu-time.js';
import * as fc from '../../support/properties.js';

const bytes = (json: unknown) => Buffer.from(JSON.stringify(json));
const parsed = (json: unknown, role: Role) =>
  parseDispatchBody(bytes(json), role, 1024 * 1024, undefined, compiledResult);

/** Task and verdict of a role: all that a result needs. */
function needed(role: Role) {
  const { verdictField } = kindOf(role);
  // One that only records has to say something.
  const said = verdictField === undefined ? { summary: 's' } : { [verdictField]: verdictsOf(role)[0] };
  return { task_id: '2.1', ...said };
}

const names = fc.constantFrom(
  ...new Set([
    ...ROLES.flatMap((role) => Object.keys(DISPATCHES[role])),
    ...['filesModified', 'notes', 'findings', 'fixes', 'test', 'review', 'result', 'data', 'extra'],
  ]),
);
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom(...BAD_VALUES),
  fc.array(
    fc.dictionary(
      fc.constantFrom('message', 'severity', 'command', 'passed', 'subject', 'file'),
      fc.jsonValue(),
    ),
  ),
);

describe.each(ROLES)('reading a result of an %s', (role) => {
  const { verdictField } = kindOf(role);

  it('a result with a readable task and verdict is recorded, whatever else it holds', () => {
    fc.assert(
      fc.property(fc.dictionary(names, anything), (fields) => {
        // Another name of the verdict may contradict it.
        const { review: _, result: __, status: ___, assessment: ____, ...others } = fields;
        const result = parsed({ ...others, ...needed(role) }, role);
        if (!result.ok) expect.fail(result.reason);
        expect(result.value.result).toMatchObject(needed(role));
        const event = recordedEvent(
          { sequence: 1, at: timeOf(1) },
          result.value,
          new RuleBasedFactExtractor(),
          result,
        );
        expect(SESSION_EVENTS.parse(JSON.parse(JSON.stringify(event)))).toBeDefined();
        expect(JSON.stringify(result.repairs).length).toBeLessThan(10_000);
        expect(repairsInWords(result)).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u);
      }),
      { numRuns: 500 },
    );
  });

  it('a result with one field spoiled keeps the facts of its other fields', () => {
    const whole = DISPATCHES[role];
    const fields = Object.keys(whole).filter((field) => field !== 'task_id' && field !== verdictField);
    const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(...BAD_VALUES));
    fc.assert(
      fc.property(fc.constantFrom(...fields), value, (field, put) => {
        const { [field]: __, ...without } = whole;
        const rest = RESULTS[role].parse(without);
        const result = parsed({ ...whole, [field]: put }, role);
        if (!result.ok) expect.fail(result.reason);
        const facts = sayings(factsFrom(1, result.value));
        expect(facts).toEqual(expect.arrayContaining(sayings(factsFrom(1, { role, result: rest } as never))));
      }),
      { numRuns: 300 },
    );
  });

  it('an exact result is read as the rules read it: a field that nobody knows makes them run', () => {
    const long = fc.constantFrom(65, 201, 501, KEPT.outcome.text + 1).map((length) => 'x'.repeat(length));
    const fact = fc.record({ subject: long, relation: long, object: long });
    const bodies = fc.oneof(
      mutated(DISPATCHES[role]),
      fc.record({ facts: fc.array(fact), summary: long }).map((put) => ({ ...DISPATCHES[role], ...put })),
    );
    fc.assert(
      fc.property(bodies, (json) => {
        if (!isObject(json)) return;
        const byRules = parsed({ ...json, xyzzy: 1 }, role);
        expect(parsed(json, role)).toEqual(byRules);
      }),
      { numRuns: 1000 },
    );
  });

  it('a result that has been read is read again as it is', () => {
    fc.assert(
      fc.property(mutated(DISPATCHES[role]), (json) => {
        const once = readResult(json, role);
        if (!once.ok) return;
        const twice = readResult(once.value, role);
        if (!twice.ok) expect.fail(twice.reason);
        expect(twice.value).toEqual(once.value);
        expect(twice.repairs.report().repairs).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('reading a result', () => {
  it('a valid result is read as it is', () => {
    fc.assert(
      fc.property(roleResults, ({ role, result }) => {
        const json = JSON.parse(JSON.stringify(result));
        const reading = readResult(json, role);
        expect(reading).toMatchObject({ ok: true, value: json });
        expect(parsed(json, role)).toEqual({ ok: true, value: { role, result }, repairs: [] });
      }),
    );
  });

  it('a valid result keeps its fields, and notes what stands under other names of them', () => {
    const json = {
      task_id: '1',
      status: 'completed',
      summary: 's',
      files_modified: [],
      notes: 'x',
      message: 7,
      id: 'm1',
    };
    expect(parsed(json, 'implementer')).toMatchObject({
      value: { result: { summary: 's', task_id: '1' } },
      repairs: ['notes', 'message'].map((field) => ({ kind: 'skipped', field })),
    });
  });

  it('a valid result is cut for its event, and says by how much', () => {
    const { text, list } = KEPT.outcome;
    const files = Array.from({ length: list + 30 }, (_, at) => `${at}.ts`);
    const json = { task_id: '1', status: 'completed', summary: 'x'.repeat(text + 12), files_modified: files };
    const result = parsed(json, 'implementer');
    expect(result).toMatchObject({
      repairs: [
        { kind: 'clipped', field: 'summary', detail: `${text} of ${text + 12} characters kept` },
        { kind: 'clipped', field: 'files_modified', detail: `${list} of ${list + 30} items kept` },
      ],
    });
    // Its facts are taken from the whole list.
    if (result.ok) expect(result.value.result).toMatchObject({ files_modified: files });
  });

  it('a result keeps the first fifty of its explicit facts', () => {
    const facts = Array.from({ length: 60 }, (_, at) => ({
      subject: `s${at}`,
      relation: 'uses',
      object: 'o',
    }));
    expect(parsed({ task_id: '1', summary: 's', facts }, 'observer')).toMatchObject({
      value: { result: { facts: facts.slice(0, KEPT.fact.explicit) } },
      repairs: [{ kind: 'clipped', field: 'facts', detail: '50 of 60 kept' }],
    });
  });

  const many = <T>(count: number, item: (at: number) => T) =>
    Array.from({ length: count }, (_, at) => item(at));
  const fields = (count: number, value: unknown) =>
    Object.fromEntries(many(count, (at) => [`k${at}`, value]));
  it.each<[string, object]>([
    ['parts that are results', fields(6000, { task_id: 't', status: 'done' })],
    ['parts within parts', fields(9000, { a: { b: { c: 1 } } })],
    ['fields that no one knows', fields(25_000, 1)],
    ['flags', fields(20_000, true)],
    ['items that cannot be read', { tests: many(50_000, () => 1), issues: many(50_000, () => ({})) }],
    [
      'items to repair',
      { tests: many(5000, () => ({ name: 'x', ok: 'yes' })), issues: many(5000, () => 'nit: x') },
    ],
  ])('a result that is full of %s does not take a tenth of a second', (_what, more) => {
    for (const role of ROLES) {
      const [readable, unreadable] = [bytes({ ...needed(role), ...more }), bytes(more)];
      const read = (body: Uint8Array) =>
        cpuMs(() => parseDispatchBody(body, role, 1024 * 1024, undefined, compiledResult));
      for (const body of [readable, unreadable])
        expect(Math.min(read(body), read(body), read(body), read(body))).toBeLessThan(100);
    }
  });

  it('a result with a list of thousands keeps those that it gives facts of', () => {
    const files_modified = many(3000, (at) => `${at}.ts`);
    const result = parsed({ ...needed('implementer'), files_modified }, 'implementer');
    expect(result).toMatchObject({
      value: { result: { files_modified: files_modified.slice(0, 1000) } },
      repairs: [{ kind: 'clipped', field: 'files_modified', detail: '1000 of 3000 items read' }],
    });
  });

  it('a part of a result is not taken for its task', () => {
    const agent = { id: 'agent-7', status: 'ok' };
    expect(parsed({ status: 'completed', agent }, 'implementer').ok).toBe(false);
    const issues = [{ id: '1', severity: 'minor', message: 'x' }];
    expect(parsed({ assessment: 'approved', issues }, 'reviewer').ok).toBe(false);
  });
});

describe('the repairs of a result', () => {
  it('the repairs of a result are counted by field, and twenty of them are told', () => {
    const repairs = new Repairs();
    for (let at = 0; at < 5; at += 1) repairs.note('skipped', `issues.${at}`, String(at));
    for (let at = 0; at < 30; at += 1) repairs.note('absent', `field_${at}`);
    const told = repairs.report();
    expect(told.repairs).toHaveLength(20);
    expect(told.repairs[0]).toEqual({ kind: 'skipped', field: 'issues.0', detail: '0', count: 5 });
    expect(told.repairsOmitted).toBe(11);
    expect(repairsInWords(told)).toMatch(
      /^read with 35 repairs: issues\.0: could not be read .*; and 11 more$/,
    );
  });
});

describe('the last result of a hostile message', () => {
  it.each([
    'BEGIN_DISPATCH_RESULT',
    'END_DISPATCH_RESULT',
    'BEGIN_DISPATCH_RESULT END_DISPATCH_RESULT ',
    '```\n',
    '{',
  ])('a message that repeats %j takes time in proportion to its length', (part) => {
    const found = (length: number) => {
      const text = part.repeat(length / part.length);
      lastResult(text);
      lastResult(`BEGIN_DISPATCH_RESULT{"task_id":"1"}END_DISPATCH_RESULT${text}`);
    };
    expect(growth(found)).toBeLessThan(3);
  });
});
