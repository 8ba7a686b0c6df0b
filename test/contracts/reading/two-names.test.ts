import { describe, expect, it } from 'vitest';
import { parseDispatchBody } from '../../../src/contracts/dispatch-body.js';
import type { Role } from '../../../src/contracts/kinds.js';
import { RESULTS } from '../../../src/contracts/results.js';

const parsed = (json: object, role: Role) =>
  parseDispatchBody(Buffer.from(JSON.stringify(json)), role, 64 * 1024);
const work = (json: object) => parsed({ task_id: '1', status: 'completed', ...json }, 'implementer');
const review = (json: object) => parsed({ task_id: '1', assessment: 'approved', ...json }, 'reviewer');

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

  it('lists under several names are one list', () => {
    const minor = { severity: 'minor', message: 'naming' };
    expect(review({ findings: [critical, minor], issues: [minor] })).toMatchObject({
      value: { result: { issues: [minor, critical] } },
      repairs: [{ kind: 'joined', field: 'issues', detail: 'with findings' }],
    });
    const facts = (at: number) =>
      Array.from({ length: 40 }, (_, n) => ({ subject: `${at}.${n}`, relation: 'uses', object: 'x' }));
    expect(parsed({ task_id: '1', facts: facts(1), fact: facts(2) }, 'observer')).toMatchObject({
      value: { result: { facts: [...facts(1), ...facts(2)].slice(0, 50) } },
      repairs: [{ kind: 'joined' }, { kind: 'clipped', detail: '50 of 80 kept' }],
    });
  });

  it.each([
    [{ files_modified: [], files_changed: ['a.ts'] }, ['a.ts']],
    [{ files_modified: ['a.ts'], files_changed: ['a.ts', 'b.ts'] }, ['a.ts', 'b.ts']],
    [{ files_changed: ['a.ts'], modified_files: ['b.ts'] }, ['b.ts', 'a.ts']],
  ])('files under two names are one list: %j', (files, files_modified) => {
    const result = work(files);
    expect(result).toMatchObject({ value: { result: { files_modified } } });
    expect(result).toHaveProperty(
      'repairs',
      expect.arrayContaining([expect.objectContaining({ kind: 'joined' })]),
    );
    if ('modified_files' in files) return;
    const schema = RESULTS.implementer.parse({ task_id: '1', status: 'completed', ...files });
    expect(schema).toMatchObject({ files_modified });
  });

  it('a file that one list names a thousand times leaves room for those of the other', () => {
    const files_modified = Array.from({ length: 3000 }, () => 'a.ts');
    expect(work({ files_modified, files_changed: ['b.ts'] })).toMatchObject({
      value: { result: { files_modified: ['a.ts', 'b.ts'] } },
    });
  });

  it('files under two names that are too many are cut, and that is said', () => {
    const files = (folder: string) => Array.from({ length: 600 }, (_, at) => `${folder}/${at}.ts`);
    const result = work({ files_modified: files('a'), files_changed: files('b') });
    expect(result).toMatchObject({
      value: { result: { files_modified: [...files('a'), ...files('b')].slice(0, 1000) } },
      repairs: [{ kind: 'joined' }, { kind: 'clipped', detail: '1000 of 1200 kept' }],
    });
  });

  it('words about changes do not become files beside the files', () => {
    expect(work({ files_modified: ['a.ts'], changes: ['added a retry'] })).toMatchObject({
      value: { result: { files_modified: ['a.ts'] } },
      repairs: [{ kind: 'skipped', field: 'files_modified', detail: 'found changes' }],
    });
  });

  it('of two texts the field itself is taken, and the other one is noted', () => {
    expect(work({ notes: 'more', summary: 'did it' })).toMatchObject({
      value: { result: { summary: 'did it' } },
      repairs: [{ kind: 'skipped', field: 'summary', detail: 'found notes' }],
    });
    expect(work({ notes: 'more', summary: '' })).toMatchObject({
      value: { result: { summary: 'more' } },
      repairs: [{ kind: 'renamed', field: 'summary', detail: 'found notes' }],
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
    });
    expect(work({ smary: 'Parser done' })).not.toHaveProperty('value.result.summary');
    expect(work({ stats: 'failed' })).toMatchObject({
      value: { result: { status: 'completed' } },
      repairs: [],
    });
  });
});
