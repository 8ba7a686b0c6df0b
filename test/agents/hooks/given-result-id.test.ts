import { describe, expect, it } from 'vitest';
import { agentSession } from '../../../src/agents/agent-session.js';
import { withResultId } from '../../../src/agents/hooks/hook-results.js';
import { unknownVariables } from '../../../src/config/config.js';

describe('the id of a result that is published by others as well', () => {
  it('comes from the environment, which no command takes for a mistake', () => {
    const env = { THROUGHLINE_CALL: 'a', THROUGHLINE_RESULT_ID: 'work-1', THROUGHLINE_SESSION: 'demo' };
    expect(agentSession({ env, directory: '/' })).toEqual({ session: 'demo', resultId: 'work-1' });
    expect(unknownVariables(env)).toEqual([]);
  });

  it('stands in place of one that the agent gave', () => {
    const own = '{"task_id":"1","status":"completed","result_id":"mine"}';
    expect(JSON.parse(withResultId(own, 'work-1', true))).toMatchObject({ result_id: 'work-1' });
    expect(withResultId(own, 'work-1')).toBe(own);
  });
});
