import { describe, expect, it } from 'vitest';
import { type ParsedBody, parseDispatchBody } from '../../src/contracts/dispatch-body.js';
import type { Role } from '../../src/contracts/kinds.js';
import { compiledResult } from '../../src/contracts/results.js';
import { redactJson } from '../../src/memory/redaction/redactor.js';
import { hostileTexts } from '../support/builders.js';
import { cpuMs } from '../support/cpu-time.js';
import * as fc from '../support/properties.js';

const LIMIT = 256 * 1024;
const DONE = { task_id: '2.1', status: 'completed', summary: 'added the store' };
const JUDGED = { task_id: '2.1', assessment: 'needs_changes' };
const DONE_RESULT = { role: 'implementer', result: DONE };

function untouched(value: object) {
  return { ok: true, value, repairs: [] };
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Compiled schemas must come to the same. */
function parse(body: string | object, role: Role = 'implementer'): ParsedBody {
  const data = bytes(typeof body === 'string' ? body : JSON.stringify(body));
  const parsed = parseDispatchBody(data, role, LIMIT);
  expect(parseDispatchBody(data, role, LIMIT, undefined, compiledResult)).toEqual(parsed);
  return parsed;
}

function between(inner: string): string {
  return `BEGIN_DISPATCH_RESULT\n${inner}\nEND_DISPATCH_RESULT`;
}

function secretsIn(text: string) {
  const start = text.indexOf('s3cret');
  return start < 0 ? [] : [{ rule: 'test', start, end: start + 6 }];
}

function fenced(result: object): string {
  return `\`\`\`json\n${JSON.stringify(result)}\n\`\`\``;
}

describe('a body that is a JSON object', () => {
  it('a JSON body may hold unknown keys, which are left out: words with a repair that says where they belong', () => {
    expect(parse({ ...DONE, cost: 3, model: { name: 'x' } })).toEqual(untouched(DONE_RESULT));
    const detail = 'no such field: use facts [{subject, relation, object}]';
    const repairs = [{ kind: 'skipped', field: 'decisions', detail }];
    expect(parse({ ...DONE, decisions: ['Use dayjs'] })).toMatchObject({ value: DONE_RESULT, repairs });
  });

  it('a JSON body cannot reach a prototype', () => {
    const body = '{"__proto__":{"status":"completed","polluted":1},"task_id":"1","summary":"x"}';
    expect(parse(body)).toMatchObject({ code: 'schema_invalid', reason: expect.stringContaining('status') });
    const whole = parse(`${body.slice(0, -1)},"status":"failed"}`);
    expect(whole).toEqual(
      untouched({ role: 'implementer', result: { task_id: '1', status: 'failed', summary: 'x' } }),
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('a JSON body may be nested as deep as its size allows', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const [first] = JSON.stringify(DONE).split('}');
    expect(parse(`${first},"extra":${deep}}`)).toMatchObject({ ok: true, value: DONE_RESULT });
    expect(parse(`{"task_id":"1","status":"failed","summary":${deep}}`)).toMatchObject({
      value: { result: { task_id: '1', status: 'failed' } },
      repairs: [{ kind: 'skipped', field: 'summary' }],
    });
  });
});

describe('a body that is raw text', () => {
  it.each([
    ['one pair of markers', between(JSON.stringify(DONE))],
    ['prose around them', `Sure {thing}!\n${between(JSON.stringify(DONE))}\nAnything else?`],
    ['prose that begins with a brace', `{note} ${between(JSON.stringify(DONE))}`],
    ['everything on one line', `BEGIN_DISPATCH_RESULT${JSON.stringify(DONE)}END_DISPATCH_RESULT`],
    ['a fenced block between them', between(`\`\`\`json\n${JSON.stringify(DONE, undefined, 2)}\n\`\`\``)],
    ['a fence without a language, CR LF', between(`\`\`\`\r\n${JSON.stringify(DONE)}\r\n\`\`\``)],
    ['a fence outside of them', `\`\`\`\n${between(JSON.stringify(DONE))}\n\`\`\``],
  ])('a raw text body may hold %s', (_what, body) => {
    expect(parse(body)).toEqual(untouched(DONE_RESULT));
  });

  it.each([
    ['no marker', 'All done.', 'not a JSON object and holds no'],
    ['nothing', '', 'the body is empty'],
    ['a JSON array of two', JSON.stringify([DONE, DONE]), 'two results: send each on its own'],
    ['two fenced blocks', `${fenced(DONE)}\n${fenced(DONE)}`, 'not a JSON object and holds no'],
    ['a fenced block that never ends', fenced(DONE).slice(0, -3), 'not a JSON object and holds no'],
    ['a beginning without an end', 'BEGIN_DISPATCH_RESULT {', 'END_DISPATCH_RESULT is missing'],
    ['an end without a beginning', '{} END_DISPATCH_RESULT x', 'exactly one'],
    ['the end first', 'END_DISPATCH_RESULT {} BEGIN_DISPATCH_RESULT', 'exactly one'],
    ['two pairs', between('{}') + between('{}'), 'two results: send each on its own'],
    ['two ends', `${between('{}')} END_DISPATCH_RESULT`, 'found 1 and 2'],
  ])('a raw text body is refused as marker_missing with %s', (_what, body, reason) => {
    expect(parse(body)).toMatchObject({ code: 'marker_missing', reason: expect.stringContaining(reason) });
  });

  it('a raw text body is refused quickly when a fence never ends', () => {
    const body = between(`\`\`\`${'\n'.repeat(5000)}x`);
    const took = cpuMs(() => expect(parse(body)).toMatchObject({ code: 'json_parse_failed' }));
    expect(took).toBeLessThan(1000);
  });
});

describe('a body that cannot be used', () => {
  it.each([
    ['cut off', '{"task_id":"1",'],
    ['single quotes', "{'task_id':'1'}"],
    ['two objects', '{}{}'],
    ['nothing between the markers', between('')],
    ['prose between the markers', between('done!')],
  ])('a body fails with json_parse_failed: %s', (_what, body) => {
    expect(parse(body)).toMatchObject({ ok: false, code: 'json_parse_failed' });
  });

  it('a body fails with json_parse_failed when it is not UTF-8', () => {
    const body = new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]);
    expect(parseDispatchBody(body, 'implementer', LIMIT)).toEqual({
      ok: false,
      code: 'json_parse_failed',
      reason: 'the body is not UTF-8 text',
      fix: 'send it as UTF-8',
    });
  });

  it('a body fails with too_large from one byte over the limit, which counts bytes', () => {
    const body = bytes(JSON.stringify({ ...DONE, summary: 'é' }));
    expect(parseDispatchBody(body, 'implementer', body.length)).toMatchObject({ ok: true });
    expect(parseDispatchBody(body, 'implementer', body.length - 1)).toEqual({
      ok: false,
      code: 'too_large',
      reason: `the body has ${body.length} bytes, the limit is ${body.length - 1}`,
      fix: `send at most ${body.length - 1} bytes`,
    });
  });

  it.each<[string, Role, object, string[]]>([
    ['a missing field', 'implementer', { status: 'completed', summary: 'x' }, ['task_id is missing']],
    ['a misspelt field', 'implementer', { tsk_id: '1', status: 'failed' }, ['(found tsk_id)']],
    ['an empty task id', 'implementer', { ...DONE, task_id: ' ' }, ['task_id', 'must not be empty']],
    ['a task id of two lines', 'implementer', { ...DONE, task_id: '1\n2' }, ['task_id', 'line breaks']],
    ['a long task id', 'implementer', { ...DONE, task_id: 'x'.repeat(129) }, ['task_id', '128']],
    ['two task ids', 'implementer', { ...DONE, taskId: '3' }, ['task_id is "2.1" and taskId is "3"']],
    [
      'a wrong status',
      'implementer',
      { ...DONE, status: 'in progress' },
      ['status', 'use one of completed,', 'is "in progress"'],
    ],
    ['two verdicts', 'implementer', { ...DONE, state: 'failed' }, ['status is "completed" and state is']],
    [
      'a wrong assessment',
      'reviewer',
      { ...JUDGED, assessment: 'hm' },
      ['assessment', 'use one of approved,', 'is "hm"'],
    ],
    ['a body of another role', 'reviewer', DONE, ['publish it as implementer']],
    ['a review', 'implementer', JUDGED, ['this is a review: publish it as reviewer']],
  ])('a body fails with schema_invalid and names field and value: %s', (_what, role, body, named) => {
    const parsed = parse(body, role);
    expect(parsed).toMatchObject({ ok: false, code: 'schema_invalid', fix: expect.any(String) });
    for (const part of named) expect(parsed).toMatchObject({ reason: expect.stringContaining(part) });
  });

  it('a body that has to be mended is cleaned of secrets before and after', () => {
    const clean = (json: unknown) =>
      JSON.parse(JSON.stringify(json).replaceAll('s3cret', '<gone>').replaceAll('s3 cret', '<gone>'));
    const broken = `{'task_id': s3cret, 'status': 'failed', 'summary': 's3cret, s3' + ' cret',}`;
    expect(parseDispatchBody(bytes(broken), 'implementer', LIMIT, clean)).toMatchObject({
      value: { result: { task_id: '<gone>', summary: '<gone>, <gone>' } },
    });
  });

  it('a body with a list in a text is cleaned of the secrets that its escapes hid', () => {
    const clean = (json: unknown) => redactJson(json, { mayHold: () => true, find: secretsIn }).value;
    const body = bytes(JSON.stringify({ ...DONE, files_modified: '["s3\\u0063ret.ts", "a.ts"]' }));
    expect(parseDispatchBody(body, 'implementer', LIMIT, clean)).toMatchObject({
      value: { result: { files_modified: ['<redacted:test>.ts', 'a.ts'] } },
    });
  });

  it('a body fails with its task wherever that can be read', () => {
    const task = '2.1';
    expect(parse({ taskId: task, status: '?' })).toMatchObject({ ok: false, task });
    expect(parse(`{"task_id": "${task}", "status": oh, no}{`)).toMatchObject({ ok: false, task });
    expect(parse(`'task_id': '${task}'`)).toMatchObject({ ok: false, task });
    expect(parse(`"task_id": "1" "task_id": "2"`)).not.toHaveProperty('task');
  });

  it('a body is answered in one line, whatever it holds, and never with an exception', () => {
    const bodies = fc.oneof(
      hostileTexts,
      hostileTexts.map(between),
      hostileTexts.map((text) => `{"status": ${text}`),
      hostileTexts.map((status) => JSON.stringify({ ...DONE, status })),
      fc.json(),
    );
    fc.assert(
      fc.property(bodies, fc.constantFrom('implementer', 'reviewer'), (body, role) => {
        const parsed = parse(body, role);
        if (!parsed.ok) expect(parsed.reason).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u);
      }),
    );
  });
});
