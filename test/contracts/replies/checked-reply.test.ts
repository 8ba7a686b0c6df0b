import { describe, expect, expectTypeOf, it } from 'vitest';
import type { LearningReply } from '../../../src/contracts/replies/learning-reply.js';
import { checkedReply, REPLIES, type ToolReply } from '../../../src/contracts/replies/replies.js';
import type { RunStatusReply } from '../../../src/contracts/replies/run-reply.js';
import type { TraceFound } from '../../../src/contracts/replies/trace-reply.js';
import type { StoredEntry } from '../../../src/contracts/trace-entry.js';
import type { ListedLearning } from '../../../src/memory/learnings/learnings-state.js';
import type { SessionOverview } from '../../../src/memory/session/commands/lifecycle-commands.js';
import type { TaskView } from '../../../src/memory/session/commands/task-commands.js';
import type { Iteration } from '../../../src/memory/session/iterations.js';
import type { InboxMessage, Note } from '../../../src/memory/session/notebook.js';
import type { PlanView } from '../../../src/memory/session/plan-view.js';
import type { RunStatus } from '../../../src/memory/session/run-status.js';

const note = {
  id: 'NOT-1',
  content: 'x',
  type: 'tip',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  iteration: 0,
};
const listed = (...notes: object[]) => ({ notes, sequence: 1 });

describe('the check of a reply', () => {
  it('a reply passes as it came, with the fields of a later version', () => {
    const reply = { ...listed({ ...note, pinned: true }), more: { of: 'it' } };
    expect(checkedReply('tool.note-list', reply)).toBe(reply);
  });

  it('a reply with a word that only a later version knows passes', () => {
    const reply = listed({ ...note, type: 'warning' });
    expect(checkedReply('tool.note-list', reply)).toBe(reply);
  });

  it('a task with the outcome of a role that only a later version knows passes', () => {
    const { shape } = REPLIES['tool.task-add'].shape.task;
    const result = { dispatch: 1, at: note.created_at, outcome: 'planner_proposed' };
    expect(shape.result.safeParse(result).success).toBe(false);
    const task = {
      ...{ id: 'TAS-1', content: 'x', status: 'remaining', priority: 2, depends_on: [], iteration: 0 },
      ...{ created_at: note.created_at, updated_at: note.updated_at, unresolved: [], result },
    };
    const reply = { task, sequence: 1 };
    expect(checkedReply('tool.task-add', reply)).toBe(reply);
  });

  it.each([
    [{ notes: [], sequence: '1' }, 'sequence'],
    [listed({ ...note, id: undefined }), 'notes.0.id'],
    [listed({ ...note, type: 3 }), 'notes.0.type'],
    ['text', 'the reply'],
    [null, 'the reply'],
  ])('a reply that cannot be read is refused with the field: %j', (reply, field) => {
    expect(() => checkedReply('tool.note-list', reply)).toThrow(
      expect.objectContaining({
        code: 'reply_invalid',
        message: expect.stringContaining(`tool.note-list with what this version cannot read: ${field}: `),
      }),
    );
  });

  it('a reply of a kind of prompt that is not known is refused', () => {
    expect(() => checkedReply('prompt.compile', { kind: 'poem', prompt: '' })).toThrow(/: kind: /);
  });

  it('what services answer has the type that the schema of the reply gives', () => {
    expectTypeOf<TaskView>().toExtend<ToolReply<'task-add'>['task']>();
    expectTypeOf<ToolReply<'task-add'>['task']>().toExtend<TaskView>();
    expectTypeOf<Note>().toExtend<ToolReply<'note-add'>['note']>();
    expectTypeOf<ToolReply<'note-add'>['note']>().toExtend<Note>();
    expectTypeOf<InboxMessage>().toExtend<ToolReply<'inbox-add'>['message']>();
    expectTypeOf<ToolReply<'inbox-add'>['message']>().toExtend<InboxMessage>();
    expectTypeOf<Iteration>().toExtend<ToolReply<'iteration-start'>['iteration']>();
    expectTypeOf<ToolReply<'iteration-start'>['iteration']>().toExtend<Iteration>();
    expectTypeOf<SessionOverview>().toExtend<ToolReply<'session-show'>['session']>();
    expectTypeOf<ToolReply<'session-show'>['session']>().toExtend<SessionOverview>();
    expectTypeOf<PlanView>().toExtend<Omit<ToolReply<'plan-show'>, 'sequence'>>();
    expectTypeOf<ToolReply<'plan-show'>>().toExtend<PlanView>();
    expectTypeOf<StoredEntry>().toExtend<TraceFound['entry']>();
    expectTypeOf<RunStatus>().toExtend<Omit<RunStatusReply, 'sequence'>>();
    expectTypeOf<ListedLearning>().toExtend<LearningReply<'learning.list'>['learnings'][number]>();
  });
});
