import { describe, expect, it } from 'vitest';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { emptyState } from '../../src/memory/session/session-state.js';
import { promptRows } from '../../src/page/prompt/prompt-text.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { implementer, recorded, reviewer, stored } from '../support/builders.js';

describe('the lines of a compiled prompt', () => {
  it('each line has its text, its section and what it comes from', () => {
    const events = [
      recorded(3, implementer({ task_id: '1', files_modified: ['src/store.ts'] })),
      recorded(5, reviewer({ task_id: '1', required_fixes: ['check the bounds'] })),
    ];
    const state = stored(events).reduce(evolve, emptyState('demo'));
    const include = ['facts', 'learnings', 'lines'];
    const asked = { session: 'demo', taskId: '9', taskPrompt: 'Change src/store.ts', include };
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
