import { describe, expect, it } from 'vitest';
import { parseDispatchBody } from '../../../src/contracts/dispatch-body.js';
import { KEPT } from '../../../src/contracts/kept-limits.js';
import type { Role } from '../../../src/contracts/kinds.js';
import { withLines } from '../../../src/memory/traces/labelled-lines.js';
import { factsFrom, sayings } from '../../support/builders.js';

const parsed = (body: string | object, role: Role) =>
  parseDispatchBody(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), role, 64 * 1024);
const work = (json: object) => parsed({ task_id: '1', status: 'completed', ...json }, 'implementer');
const review = (json: object) => parsed({ task_id: '1', assessment: 'approved', ...json }, 'reviewer');
const observed = (json: object) => parsed({ task_id: '1', ...json }, 'observer');
function factsOf(result: ReturnType<typeof parsed>) {
  if (!result.ok) expect.fail(result.reason);
  return sayings(factsFrom(1, result.value));
}

describe('what an agent says in a field of another kind', () => {
  it('the summary of a review is a fact of its own, beside that of the work', () => {
    const result = review({ summary: 'clean and small' });
    expect(result).toMatchObject({ value: { result: { summary: 'clean and small' } }, repairs: [] });
    expect(factsOf(result)).toContain('task:1 review_summary clean and small');
  });

  it.each([
    ['issues', [{ severity: 'critical', message: 'x' }]],
    ['required_fixes', ['y']],
  ])('the %s of an implementer are noted as skipped', (field, value) => {
    expect(work({ [field]: value })).toMatchObject({ repairs: [{ kind: 'skipped', field }] });
    expect(work({ [field]: [] })).toMatchObject({ repairs: [] });
  });
});

describe('what an observer says', () => {
  it('an observer that says nothing is refused', () => {
    for (const body of [{}, { summary: '' }, { facts: [] }, { facts: [{ subject: 'a' }] }])
      expect(observed(body)).toMatchObject({ ok: false, fix: expect.stringContaining('give a summary') });
  });

  it('labelled lines beyond the limit are counted', () => {
    const message = Array.from({ length: 25 }, (_, at) => `Rule: rule ${at}`).join('\n');
    const repairs = [{ kind: 'lines', detail: '5' }];
    expect(observed(withLines({ summary: 'Done' }, message, '1'))).toMatchObject({ repairs });
  });

  it('a line that says what the result says is one statement with it', () => {
    const fact = { subject: 'dates', relation: 'decided', object: 'dayjs' };
    const given = {
      status: 'completed',
      summary: 'Dates: tabs are kept',
      facts: [fact],
      follow_up_actions: ['Name the port.'],
      questions: [{ text: 'Which port?' }],
    };
    const message = [
      'Decided instead of M7: use dayjs for dates',
      'Decided: tabs are kept',
      'Open: name the port',
      'Open: Which port?',
      'Settled M4: dayjs',
    ].join('\n');
    const { facts, follow_up_actions } = withLines(given, message, '1');
    expect(facts).toEqual([
      { ...fact, replaces: ['M7'] },
      expect.objectContaining({ relation: 'decided', object: 'tabs are kept' }),
      expect.objectContaining({ relation: 'settled', replaces: ['M4'] }),
    ]);
    expect(follow_up_actions).toEqual(['Name the port.']);
  });

  it('what a reviewer leaves open is suggested', () => {
    const { facts } = withLines(
      { assessment: 'approved', facts: [] },
      'Open: the README lacks the port',
      '1',
    );
    expect(facts).toMatchObject([{ relation: 'suggested', object: 'the README lacks the port' }]);
  });

  it('a fact that is cut says so', () => {
    const fact = { subject: 's', relation: 'r'.repeat(70), object: 'x'.repeat(600) };
    const { relation, object } = KEPT.fact;
    expect(observed({ facts: [fact] })).toMatchObject({
      repairs: [
        { kind: 'clipped', field: 'facts.0.relation', detail: `${relation} of 70 characters kept` },
        { kind: 'clipped', field: 'facts.0.object', detail: `${object} of 600 characters kept` },
      ],
    });
  });
});

describe('what is said of a result', () => {
  it('a body of two results, one line each, says so', () => {
    const refused = { ok: false, reason: expect.stringContaining('two results: send each on its own') };
    expect(parsed('{"task_id":"1"}\n{"task_id":"2"}', 'implementer')).toMatchObject(refused);
  });
});

describe('a result that is cut off', () => {
  const begin = '{"task_id":"1","status":"completed",';
  it.each([
    '"files_modified":["a.ts","b',
    '"files_modified":["a.ts"],"summary":"do',
    '"tests":[{"command":"a"},{',
  ])('a body that ends too early is refused, since half a path is another path: %s', (rest) => {
    const refused = { code: 'json_parse_failed', task: '1', fix: 'send the whole JSON object' };
    expect(parsed(begin + rest, 'implementer')).toMatchObject(refused);
  });

  it('a whole object after an opening marker is read', () => {
    expect(parsed(`Done.\nBEGIN_DISPATCH_RESULT\n${begin}"summary":"s"}\n`, 'implementer')).toMatchObject({
      value: { result: { summary: 's' } },
      repairs: [{ kind: 'around', detail: 'END_DISPATCH_RESULT is missing' }],
    });
    expect(parsed(`BEGIN_DISPATCH_RESULT ${begin}"summary":"s`, 'implementer').ok).toBe(false);
  });
});

describe('a result that contradicts itself', () => {
  it.each<[Role, object]>([
    ['reviewer', { verdict: 'approved', decision: 'reject' }],
    ['reviewer', { assessment: 'approved', approved: false }],
    ['reviewer', { assessment: 'approved', approved: 'no' }],
    ['reviewer', { assessment: 'approved', result: 'rejected' }],
    ['reviewer', { approved: true, rejected: true }],
    ['implementer', { status: 'completed', success: false }],
    ['implementer', { status: 'completed', result: false }],
    ['implementer', { status: 'completed', failed: true }],
  ])('an %s that says two verdicts is refused, and both are named: %j', (role, said) => {
    const result = parsed({ task_id: '1', ...said }, role);
    expect(result).toMatchObject({ ok: false, code: 'schema_invalid', task: '1', fix: expect.any(String) });
    for (const name of Object.keys(said))
      expect(result).toHaveProperty('reason', expect.stringContaining(name));
  });

  it.each<[Role, object, string]>([
    ['reviewer', { assessment: 'blocked', approved: false }, 'blocked'],
    ['reviewer', { assessment: 'needs_changes', approved: false, decision: 'reject' }, 'needs_changes'],
    ['implementer', { status: 'blocked', success: false, completed: false }, 'blocked'],
    ['implementer', { status: 'completed', success: true, failed: false }, 'completed'],
    ['implementer', { success: false, done: false }, 'failed'],
  ])('an %s may say one verdict in several ways: %j', (role, said, verdict) => {
    expect(parsed({ task_id: '1', ...said }, role)).toMatchObject({
      ok: true,
      value: { result: role === 'reviewer' ? { assessment: verdict } : { status: verdict } },
    });
  });
});

describe('a text that is empty in one line', () => {
  it.each([
    ['questions', [{ text: ' ' }]],
    ['files_renamed', [{ from: 'a.ts', to: '\u200b' }]],
  ])('an item of %s without a visible text is skipped, so that its event can be read', (field, value) => {
    const result = work({ [field]: value });
    expect(result).toMatchObject({ repairs: [{ kind: 'skipped', field: `${field}.0` }] });
  });
});

it('a fact that is skipped says which part is wrong', () => {
  const facts = [{ subject: 'limit', relation: 'is' }];
  expect(work({ facts })).toMatchObject({
    repairs: [{ kind: 'skipped', field: 'facts.0', detail: 'object is missing' }],
  });
});

describe('a field that is given under two names', () => {
  const critical = { severity: 'critical', message: 'drops writes' };

  it('a list under another name is not lost beside an empty one', () => {
    expect(review({ issues: [], findings: [critical] })).toMatchObject({
      value: { result: { issues: [critical] } },
      repairs: [{ kind: 'renamed', field: 'issues', detail: 'found findings' }],
    });
    expect(work({ modified_files: [], files: ['a.ts'] })).toMatchObject({
      value: { result: { files_modified: ['a.ts'] } },
    });
  });

  it('words about changes do not become files beside the files', () => {
    expect(work({ files_modified: ['a.ts'], changes: ['added a retry'] })).toMatchObject({
      value: { result: { files_modified: ['a.ts'] } },
      repairs: [{ kind: 'skipped', field: 'changes', detail: 'found files_modified' }],
    });
  });
});

describe('a field whose name was misspelt by a letter', () => {
  it.each([
    ['sumary', 'summary', 'Parser done'],
    ['files_modifed', 'files_modified', ['a.ts']],
    ['follow_up_actoins', 'follow_up_actions', ['Measure it']],
  ])('%s is read as %s', (given, field, value) => {
    expect(work({ [given]: value })).toMatchObject({
      value: { result: { [field]: value } },
      repairs: [{ kind: 'renamed', field, detail: `found ${given}` }],
    });
  });

  it('is not read beside the field itself, nor where two letters differ or the verdict is meant', () => {
    expect(work({ summary: 'Parser done', sumary: 'Printer done' })).toMatchObject({
      value: { result: { summary: 'Parser done' } },
      repairs: [{ kind: 'skipped', field: 'sumary', detail: 'found summary' }],
    });
    expect(work({ smary: 'Parser done' })).not.toHaveProperty('value.result.summary');
    expect(work({ stats: 'failed' })).toMatchObject({
      value: { result: { status: 'completed' } },
      repairs: [{ kind: 'skipped', field: 'stats' }],
    });
  });
});
