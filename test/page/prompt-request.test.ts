import { describe, expect, it } from 'vitest';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { emptyState } from '../../src/memory/session/session-state.js';
import { promptRows } from '../../src/page/prompt/prompt-text.js';
import { pastRequest, promptChoice } from '../../src/page/prompt/use-prompt.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { implementer, recorded, reviewer, stored } from '../support/builders.js';

const PARTS = ['facts', 'considered', 'learnings', 'lines'];

const chosen = (query: string) => promptChoice(new URLSearchParams(query));
const textOf = (task: string) => (task === 'TAS-1' ? 'write the parser' : undefined);

describe('the request for a prompt of the past', () => {
  it('an address names task, role, budget and sequence of a prompt', () => {
    const choice = chosen('task=2&role=reviewer&budget=900&asOf=7');
    const request = pastRequest('demo', choice, 9, undefined, textOf);
    expect(request).toEqual({
      session: 'demo',
      kind: 'dispatch',
      taskId: '2',
      taskPrompt: 'Task 2',
      role: 'reviewer',
      budget: { inputTokens: 900 },
      asOf: 7,
      include: PARTS,
    });
    expect(compileRequest.safeParse(request).success).toBe(true);
  });

  it('the text of a task is that of the address, else of the kept prompt, else of the board', () => {
    const base = { kind: 'dispatch', taskId: 'TAS-1', taskPrompt: 'as it was asked', asOf: 4 };
    const text = (query: string, from?: typeof base) =>
      pastRequest('demo', chosen(query), 9, from, textOf).taskPrompt;
    expect(text('task=TAS-1&text=mine', base)).toBe('mine');
    expect(text('task=TAS-1', base)).toBe('as it was asked');
    expect(text('task=TAS-1')).toBe('write the parser');
    expect(text('task=TAS-2', base)).toBe('Task TAS-2');
  });

  it('a kept prompt is asked for as it was, but for what the address changes', () => {
    const base = { kind: 'dispatch', taskId: '1', taskPrompt: 'x', asOf: 4, after: 3, maxFacts: 5 };
    expect(pastRequest('demo', chosen('id=p'), 9, base, textOf)).toEqual({
      session: 'demo',
      kind: 'dispatch',
      taskId: '1',
      taskPrompt: 'x',
      maxFacts: 5,
      asOf: 4,
      include: PARTS,
    });
    const start = pastRequest('demo', chosen('id=p&kind=session-start&asOf=99'), 9, base, textOf);
    expect(start).toEqual({ session: 'demo', kind: 'session-start', asOf: 9, include: PARTS });
    expect(compileRequest.safeParse(start).success).toBe(true);
  });

  it('what cannot be read in an address is left out', () => {
    expect(chosen('asOf=-1&budget=1e9&kind=other&role=')).toEqual({});
  });
});

describe('the lines of a compiled prompt', () => {
  it('each line has its text, its section and what it comes from', () => {
    const events = [
      recorded(3, implementer({ task_id: '1', files_modified: ['src/store.ts'] })),
      recorded(5, reviewer({ task_id: '1', required_fixes: ['check the bounds'] })),
    ];
    const state = stored(events).reduce(evolve, emptyState('demo'));
    const asked = { session: 'demo', taskId: '9', taskPrompt: 'Change src/store.ts', include: PARTS };
    const reply = compilePrompt(state, compileRequest.parse(asked));
    const rows = promptRows(reply);
    expect(rows.map(({ text }) => text).join('\n')).toBe(reply.prompt);
    const finding = rows.find(({ text }) => text.startsWith('- required fix: check the bounds'));
    expect(finding).toMatchObject({ section: 'findings', task: '1', dispatch: 5, eventSequence: 2 });
    expect(finding?.fact).toMatchObject({ relation: 'must_fix', object: 'check the bounds' });
    expect(rows.find(({ file }) => file !== undefined)).toMatchObject({
      file: 'src/store.ts',
      section: 'files',
    });
    expect(rows[0]).toMatchObject({ number: 1, section: 'prefix', opens: true });
  });
});
