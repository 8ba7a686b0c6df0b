import { expect, it } from 'vitest';
import { NO_RULES, NOTHING_DONE, type RetentionRun } from '../../../src/contracts/retention-record.js';
import { judgeOf } from '../../../src/nats/foreign/judge-foreign.js';

const at = '2026-01-01T00:00:00.000Z';
const rules = { ...NO_RULES, rules: [{ enforced: true, at, archiveAfter: '90d' }] };
const run: RetentionRun = { v: 1, id: 'a', startedAt: at, beatAt: at, ...NOTHING_DONE };

it.each([
  ['retention', rules, undefined],
  ['retention', NO_RULES, undefined],
  ['retention_run', run, undefined],
  ['retention', run, 'not a lifecycle record'],
  ['retention_run', rules, 'not a lifecycle record'],
  ['retention', { error: 'x' }, 'not a lifecycle record'],
  ['else', rules, 'not a lifecycle record'],
])('a record of retention is not foreign, under its own key alone: %s %j', (key, record, what) => {
  const judge = judgeOf('KV_session_lifecycle');
  const data = Buffer.from(JSON.stringify(record));
  const message = { subject: `$KV.session_lifecycle.${key}`, sequence: 1, data } as never;
  expect(judge?.(message)).toBe(what);
});
