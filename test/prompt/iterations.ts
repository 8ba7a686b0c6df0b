import { type CompileRequestInput, compileRequest } from '../../src/contracts/compile-request.js';
import type { SessionState } from '../../src/memory/session/session-state.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { implementer, recorded } from '../support/builders.js';
import { Played } from '../support/played.js';

/** A request, but for its kind and session. */
export type More = Omit<Extract<CompileRequestInput, { kind: 'iteration' }>, 'kind' | 'session'>;

export function compiled(state: SessionState, more: More = {}) {
  return compilePrompt(state, compileRequest.parse({ kind: 'iteration', session: 'demo', ...more }));
}
export const promptOf = (state: SessionState, more?: More) => compiled(state, more).prompt;

export function full(): Played {
  const played = new Played().after('session-open', {
    goal: 'Write a parser',
    spec: '# A parser\n\nIt parses.',
  });
  played.after('task-add', { content: 'Write the lexer', priority: 0 });
  played.after('task-add', { content: 'Write the parser', dependsOn: '1' });
  played.after('iteration-start', {}).after('task-status', { id: '1', status: 'completed' });
  played.after('iteration-summary', { summary: 'Lexer done' }).after('iteration-complete', {});
  played
    .after('note-add', { content: 'No docker' })
    .after('inbox-add', { content: 'Look at the build', by: 'mcp' });
  played.after('task-add', { content: 'Measure it', dependsOn: '2' });
  played.foldWhole(recorded(3, implementer({ task_id: '1', summary: 'made the lexer of the parser' })));
  return played.after('iteration-start', {});
}
