import { describe, expect, it } from 'vitest';
import { agentSession } from '../../../src/agents/agent-session.js';
import { plainRole, withResultId } from '../../../src/agents/hooks/hook-results.js';
import { returnedResult } from '../../../src/agents/hooks/returned-result.js';
import { unknownVariables } from '../../../src/config/config.js';
import { ROLES, VERDICTS } from '../../../src/contracts/kinds.js';
import { lastResult } from '../../../src/contracts/reading/last-result.js';
import * as fc from '../../support/properties.js';

const results = fc.record(
  {
    task_id: fc.oneof(fc.constantFrom('1', '2.1', ' ', ''), fc.string(), fc.nat()),
    status: fc.oneof(fc.constantFrom(...VERDICTS), fc.string()),
    assessment: fc.oneof(fc.constantFrom(...VERDICTS), fc.string()),
    summary: fc.string(),
    files_modified: fc.oneof(fc.array(fc.string()), fc.string(), fc.constant(null)),
    result_id: fc.string({ minLength: 1 }),
  },
  { requiredKeys: [] },
);

describe('a result that an agent returned', () => {
  it('what is plainly a result of an expected role is one for the service too', () => {
    fc.assert(
      fc.property(results, fc.constantFrom(...ROLES), (result, expected) => {
        const block = { text: JSON.stringify(result), marked: false };
        const role = plainRole(block, expected);
        if (role === undefined) return;
        expect(returnedResult(block, expected)).toEqual({ role, text: block.text });
      }),
      { numRuns: 2000 },
    );
  });

  it('its id is added to what it says, and one of its own stays', () => {
    fc.assert(
      fc.property(results, (result) => {
        const text = `BEGIN_DISPATCH_RESULT\n${JSON.stringify(result)}\nEND_DISPATCH_RESULT`;
        const named = withResultId(text, 'id-1');
        const inner = JSON.parse(named.split('\n')[1] ?? '');
        expect(inner).toEqual(JSON.parse(JSON.stringify({ result_id: 'id-1', ...result })));
        expect(lastResult(named)?.text).toBe(named);
      }),
    );
  });

  it('an id that another publisher has as well comes from the environment, which no command takes for a mistake', () => {
    const env = { THROUGHLINE_CALL: 'a', THROUGHLINE_RESULT_ID: 'work-1', THROUGHLINE_SESSION: 'demo' };
    expect(agentSession({ env, directory: '/' })).toEqual({ session: 'demo', resultId: 'work-1' });
    expect(unknownVariables(env)).toEqual([]);
    const own = '{"task_id":"1","status":"completed","result_id":"mine"}';
    expect(JSON.parse(withResultId(own, 'work-1', { isGiven: true }))).toMatchObject({ result_id: 'work-1' });
  });

  it('a block that is not plain JSON goes as it is', () => {
    expect(withResultId('BEGIN_DISPATCH_RESULT {task_id: 1} END_DISPATCH_RESULT', 'x')).toBe(
      'BEGIN_DISPATCH_RESULT {task_id: 1} END_DISPATCH_RESULT',
    );
  });
});
