import { describe, expect, it } from 'vitest';
import { fieldChange, withFields } from '../../src/cli/result-changes.js';
import * as fc from '../support/properties.js';

const RESULT = { task_id: '1', issues: [{ message: 'a' }, { message: 'b' }], notes: 'n' };
const set = (...pairs: string[]) =>
  withFields(
    RESULT,
    pairs.reduce((before, pair) => fieldChange(pair, before), fieldChange(pairs[0] ?? '').slice(1)),
  );

describe('fields set on the command line', () => {
  it.each<[string, object]>([
    ['task_id=2.1', { ...RESULT, task_id: '2.1' }],
    ['task_id=2', { ...RESULT, task_id: '2' }],
    ['summary=a=b, "c"', { ...RESULT, summary: 'a=b, "c"' }],
    ['summary=', { ...RESULT, summary: '' }],
    ['summary="2"', { ...RESULT, summary: '2' }],
    ['summary={not json', { ...RESULT, summary: '{not json' }],
    ['notes=null', { task_id: '1', issues: RESULT.issues }],
    ['required_fixes=["x"]', { ...RESULT, required_fixes: ['x'] }],
    [
      'issues.0.severity=minor',
      { ...RESULT, issues: [{ message: 'a', severity: 'minor' }, { message: 'b' }] },
    ],
    ['issues.2.message=c', { ...RESULT, issues: [...RESULT.issues, { message: 'c' }] }],
    ['issues.0=null', { ...RESULT, issues: [{ message: 'b' }] }],
    ['more.deep=true', { ...RESULT, more: { deep: true } }],
  ])('a field is set by %s', (pair, changed) => {
    expect(set(pair)).toEqual(changed);
  });

  it('fields are set in the order in which they are given', () => {
    expect(set('a=1', 'a=2', 'b.c=3', 'b.d=4')).toMatchObject({ a: '2', b: { c: '3', d: '4' } });
  });

  it.each([
    ['issues.first=x', /--set issues\.first: the result has no such place/],
    ['notes.deep=x', /--set notes\.deep: the result has no such place/],
  ])('a field that cannot be set is named: %s', (pair, message) => {
    expect(() => set(pair)).toThrow(message);
  });

  it.each(['task_id', '=x', ''])('anything but a field and a value is refused: %j', (pair) => {
    expect(() => fieldChange(pair)).toThrow(/field=value, such as task_id=2\.1/);
  });

  it('no name of a field reaches beyond the result', () => {
    fc.assert(
      fc.property(fc.constantFrom('__proto__', 'constructor', 'prototype.x', '__proto__.x'), (path) => {
        const changed = set(`${path}=own`);
        expect(JSON.stringify(changed)).toContain('"own"');
        expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('x');
      }),
    );
  });
});
