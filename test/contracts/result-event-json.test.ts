import { expect, it } from 'vitest';
import { resultEventJson } from '../../src/contracts/result-event-json.js';
import { hostileTexts, implementer, recorded, roleResults } from '../support/builders.js';
import * as fc from '../support/properties.js';
import { runs } from '../support/tier.js';

it('the JSON of an event that is written for its schema is that of JSON.stringify, whatever its texts hold', () => {
  const few = fc.array(hostileTexts, { maxLength: 3 });
  const tests = fc.array(fc.record({ command: hostileTexts, passed: fc.boolean(), failures: few }), {
    maxLength: 2,
  });
  const work = fc
    .record({
      summary: hostileTexts,
      files_modified: few,
      follow_up_actions: few,
      blockers: few,
      tests,
      intent_id: hostileTexts,
    })
    .map((more) => ({
      role: 'implementer' as const,
      result: { task_id: '1', status: 'failed' as const, ...more },
    }));
  const tried = 300;
  let written = 0;
  fc.assert(
    fc.property(fc.oneof(roleResults, work), fc.option(hostileTexts, { nil: undefined }), (returned, id) => {
      const event = recorded(1, returned, id);
      const json = resultEventJson(event);
      if (json === undefined) return;
      written += 1;
      expect(json).toBe(JSON.stringify(event));
    }),
    { numRuns: tried },
  );
  // Some are not written so: by chance, about two in three.
  expect(written).toBeGreaterThan(runs(tried) / 10);
});

it('an event with more than an outcome is left to JSON.stringify', () => {
  const facts = [{ subject: 'parser', relation: 'uses', object: 'lexer' }];
  expect(resultEventJson(recorded(1, implementer({ facts })))).toBeUndefined();
  const plain = recorded(1, implementer());
  const checked = { ...plain, data: { ...plain.data, dispatch: { ...plain.data.dispatch, checked: 7 } } };
  expect(resultEventJson(checked)).toBeUndefined();
});
