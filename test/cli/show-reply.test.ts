import { expect, it } from 'vitest';
import { factCells, NO_COLOURS, showReply } from '../../src/cli/show-reply.js';
import type { RequestName, ToolReply } from '../../src/contracts/requests.js';
import type { SessionFact } from '../../src/memory/facts/fact-types.js';
import { foundFact } from '../../src/memory/facts/found-facts.js';
import type { CommandName } from '../../src/memory/session/commands/decide-session.js';
import { factsOf } from '../../src/memory/session/session-state.js';
import { boardLine } from '../../src/memory/session/task-board.js';
import { implementer, recorded } from '../support/builders.js';
import { type Given, Played } from '../support/played.js';

type Session = ToolReply<'session-open'>['session'];

const session: Session = {
  name: 'demo',
  status: 'open',
  facts: 3,
  sequence: 7,
  iteration: 0,
  notes: 0,
  unread: 0,
  plan: null,
  started_at: null,
  last_event_at: null,
  dispatches: { implementer: 1, reviewer: 0, observer: 0, rejected: 0 },
  board: {
    total: 2,
    ready: 1,
    waiting: 0,
    remaining: 1,
    in_progress: 1,
    blocked: 0,
    completed: 0,
    cancelled: 0,
  },
};
const shownOf = (shown: Session) =>
  showReply('tool.session-open', { session: shown, sequence: 7 }).join('\n');
const statusIn = (shown: string) => /^status +(.*)$/m.exec(shown)?.[1];

it('a session that is archived is shown as archived, with since when and why, as in a list', () => {
  expect(statusIn(shownOf(session))).toBe('open');
  const archived = { at: '2026-03-01T12:00:00.000Z', reason: 'shipped' };
  for (const status of ['open', 'completed'] as const) {
    const shown = shownOf({ ...session, status, archived });
    expect(statusIn(shown)).toBe('archived');
    expect(shown).toMatch(/^archived +since 2026-03-01T12:00:00\.000Z: shipped$/m);
  }
});

it('the status of a task is shown in words for people', () => {
  expect(shownOf(session)).toMatch(/^board .*1 pending, 1 in progress/m);
  expect(shownOf(session)).toMatch(/^results +1 implementer, 0 reviewer/m);
});

it('a board is a line of counts, and its tasks tell their last results', () => {
  const counts = { ...session.board, total: 4, ready: 1, waiting: 1, completed: 1 };
  expect(boardLine(counts)).toBe('1 of 4 tasks completed, 1 in progress, 1 ready, 1 waiting');
  const { task } = new Played().when('task-add', { content: 'Write the lexer' })
    .reply as ToolReply<'task-add'>;
  const result = { outcome: 'reviewer_approved', dispatch: 7 } as NonNullable<typeof task.result>;
  const [, row] = showReply('tool.task-list', { tasks: [{ ...task, result }], sequence: 1 });
  expect(row).toMatch(/^TAS-1 .* Write the lexer \(last result: reviewer approved, result 7\)$/);
});

it('a fact of an imported session names its result as that, and not by a number', () => {
  const { state } = new Played().foldWhole(recorded(7, implementer({ task_id: '1', summary: 'Done' })));
  const [fact] = factsOf(state).all();
  const found = foundFact(fact as SessionFact);
  const lines = (dispatch: number) =>
    showReply('tool.fact-show', {
      fact: { ...found, dispatch, closed_by: dispatch },
      history: [],
      shownIn: [],
      sequence: 1,
    });
  expect(lines(7)[0]).toMatch(/\(closed by result 7\) \[task:1\] result 7$/);
  expect(lines(-3)[0]).toMatch(/\(closed by an imported result\) \[task:1\] an imported result$/);
  expect(factCells(NO_COLOURS, { ...found, dispatch: 0 })[2]).toBe('imported');
});

it('what a tool did to a task, note, message or iteration is shown in one line', () => {
  const played = new Played();
  const shown = <Name extends CommandName>(name: Name, args: Given<Name>) =>
    showReply<RequestName>(`tool.${name}`, {
      ...played.when(name, args).reply,
      sequence: 1,
    } as ToolReply<Name>).join('\n');
  expect([
    shown('iteration-start', {}),
    shown('inbox-add', { content: 'Begin with the lexer', by: 'mcp' }),
    shown('inbox-mark-read', { id: 'MSG-1' }),
    shown('task-add', { content: 'Write the parser' }),
    shown('task-add', { content: 'Write the lexer', priority: 0 }),
    shown('task-depends', { id: '1', dependsOn: ['2'] }),
    shown('task-next', { claim: 'agent-1' }),
    shown('task-next', { claim: 'agent-2' }),
    shown('note-add', { content: 'Tokens hold offsets', type: 'decision' }),
    shown('task-status', { id: 'TAS-2', status: 'completed' }),
    shown('iteration-summary', { summary: 'Lexer done' }),
    shown('iteration-complete', {}),
    shown('task-delete', { id: 'TAS-2' }),
  ]).toEqual([
    expect.stringMatching(/^#1 \S+ running \(no summary\)$/),
    'MSG-1 unread an agent (mcp) Begin with the lexer',
    'MSG-1 read an agent (mcp) Begin with the lexer',
    'TAS-1 P2 pending Write the parser',
    'TAS-2 P0 pending Write the lexer',
    'TAS-1 P2 pending Write the parser (waits for TAS-2, pending)',
    'TAS-2 P0 in progress Write the lexer (claimed by agent agent-1)',
    'no task is ready',
    'NOT-1 decision Tokens hold offsets',
    expect.stringMatching(/^TAS-2 P0 completed Write the lexer/),
    expect.stringMatching(/^#1 \S+ running Lexer done \[TAS-2\]$/),
    expect.stringMatching(/^#1 \S+ complete Lexer done \[TAS-2\]$/),
    'TAS-2 deleted',
  ]);
});
