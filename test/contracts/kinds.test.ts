import { describe, expect, it } from 'vitest';
import { kindOf, ROLES, type Role, verdictIn, verdictsOf } from '../../src/contracts/kinds.js';
import { RESULTS, type RoleResult } from '../../src/contracts/results.js';
import { sessionEvent } from '../../src/contracts/session-events.js';
import { modulesOfSrc } from '../architecture/modules.js';
import { recorded } from '../support/builders.js';

const ROLE_IN_QUOTES = new RegExp(`'(${ROLES.join('|')})'`);

/** Where a role is named, and why: what a caller writes, and what is always the same kind. */
const MAY_NAME_A_ROLE = new Set([
  'contracts/kinds.ts',
  // The methods that the first document of the fact tracker names.
  'memory/facts/fact-types.ts',
  'memory/facts/fact-extractor.ts',
  // A method for each of the two kinds that nearly every runtime has.
  'sdk/throughline-client.ts',
  // What a commit is taken for.
  'cli/import-git.ts',
  // The agent of the story is an implementer.
  'cli/demo-command.ts',
  // Who works is an implementer, unless something says otherwise.
  'agents/hooks/carry-out.ts',
  'agents/mcp/report-tool.ts',
  // A field for each of the two kinds that agents return.
  'agents/mcp/mcp-tools.ts',
  // A plan is run by one that works and one that reviews.
  'work/plan-run.ts',
  'work/run-types.ts',
  'work/session-tasks.ts',
  'work/step-runner.ts',
  // The page brings no schemas, so it has names of its own, which the compiler holds against the table.
  'page/words.ts',
]);

function returned(role: Role, result: object): RoleResult {
  // Its own schema gave it.
  return { role, result: RESULTS[role].parse({ task_id: '1', ...result }) } as RoleResult;
}

describe('the table of kinds', () => {
  it('the table of kinds is the only place in the source that tells roles apart', () => {
    const naming = modulesOfSrc().filter(({ source }) => ROLE_IN_QUOTES.test(source));
    expect(naming.map(({ path }) => path).filter((path) => !MAY_NAME_A_ROLE.has(path))).toEqual([]);
  });
});

describe.each(ROLES)('a result of an %s', (role) => {
  const verdicts = verdictsOf(role);
  const { verdictField, relations, part } = kindOf(role);

  it('a result needs its task and its verdict, and nothing else', () => {
    const needed = { task_id: '1', ...(verdictField && { [verdictField]: verdicts[0] }) };
    expect(RESULTS[role].safeParse(needed).success).toBe(true);
    for (const field of Object.keys(needed)) {
      expect(RESULTS[role].safeParse({ ...needed, [field]: undefined }).success).toBe(false);
    }
  });

  it('a result has a next action for each of its verdicts, unless it only records', () => {
    expect(verdicts.length > 0).toBe(part !== 'note');
    expect(verdictField !== undefined).toBe(part !== 'note');
    expect(relations.verdict !== undefined).toBe(part !== 'note');
  });

  it('a result is told on its event with the verdict of its kind, and with no other', () => {
    for (const verdict of verdicts.length === 0 ? [undefined] : verdicts) {
      const said = verdictField === undefined ? {} : { [verdictField]: verdict };
      const event = recorded(1, returned(role, said));
      const { dispatch } = event.data;
      expect(sessionEvent.parse(event)).toEqual(event);
      expect(verdictIn(role, dispatch.outcome)).toBe(verdict);
      const strange = {
        ...event,
        data: { ...event.data, dispatch: { ...dispatch, outcome: { status: 'x' } } },
      };
      expect(sessionEvent.safeParse(strange).success).toBe(false);
    }
  });

  it('a result may carry facts in words, each once, and none that passes for an outcome', () => {
    const [verdict] = verdicts;
    const said = verdictField === undefined ? {} : { [verdictField]: verdict };
    const fact = { subject: 'src/db.ts', relation: 'uses', object: 'SQLite', tags: ['decision' as const] };
    const event = recorded(1, returned(role, { ...said, facts: [fact, fact] }));
    expect(event.data.facts.filter(({ relation }) => relation === 'uses')).toEqual([fact]);
    for (const relation of ['must_fix', 'issue', 'reviewed_as', 'completed_with', 'test_result', 'summary']) {
      const forged = { task_id: '1', ...said, facts: [{ ...fact, relation }] };
      expect(RESULTS[role].safeParse(forged).success).toBe(false);
    }
  });
});
