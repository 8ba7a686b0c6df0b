import { describe, expect, it } from 'vitest';
import { parseDispatchBody } from '../../../src/contracts/dispatch-body.js';
import type { Role } from '../../../src/contracts/kinds.js';

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

  it.each([
    [{ files_modified: [], files_changed: ['a.ts'] }, ['a.ts']],
    [{ files_modified: ['a.ts'], files_changed: ['a.ts', 'b.ts'] }, ['a.ts', 'b.ts']],
  ])('files_modified and files_changed are one list: %j', (files, files_modified) => {
    expect(work(files)).toMatchObject({ value: { result: { files_modified } }, repairs: [] });
  });

  it('words about changes do not become files beside the files', () => {
    expect(work({ files_modified: ['a.ts'], changes: ['added a retry'] })).toMatchObject({
      value: { result: { files_modified: ['a.ts'] } },
      repairs: [{ kind: 'skipped', field: 'files_modified', detail: 'found changes' }],
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
