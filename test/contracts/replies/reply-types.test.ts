import { describe, expectTypeOf, it } from 'vitest';
import type { RunStatusReply } from '../../../src/contracts/plan-requests.js';
import type { ReplyTo, ToolReply } from '../../../src/contracts/requests.js';
import type { StoredEntry } from '../../../src/contracts/trace-entry.js';
import type { TraceFound } from '../../../src/contracts/trace-requests.js';
import type { Note } from '../../../src/memory/facts/fact-types.js';
import type { Learning } from '../../../src/memory/learnings/learnings-state.js';
import type { SessionOverview } from '../../../src/memory/session/commands/lifecycle-commands.js';
import type { TaskView } from '../../../src/memory/session/commands/task-commands.js';
import type { Iteration } from '../../../src/memory/session/iterations.js';
import type { RunStatus } from '../../../src/memory/session/plan-status.js';
import type { InboxMessage } from '../../../src/memory/session/session-state.js';

describe('the replies of services', () => {
  it('what services answer has the type that the schema of the reply gives', () => {
    expectTypeOf<TaskView>().toExtend<ToolReply<'task-add'>['task']>();
    expectTypeOf<ToolReply<'task-add'>['task']>().toExtend<TaskView>();
    expectTypeOf<Note>().toExtend<ToolReply<'note-add'>['note']>();
    expectTypeOf<ToolReply<'note-add'>['note']>().toExtend<Note>();
    expectTypeOf<InboxMessage>().toExtend<ToolReply<'inbox-add'>['message']>();
    expectTypeOf<ToolReply<'inbox-add'>['message']>().toExtend<InboxMessage>();
    expectTypeOf<Iteration>().toExtend<ToolReply<'iteration-start'>['iteration']>();
    expectTypeOf<ToolReply<'iteration-start'>['iteration']>().toExtend<Iteration>();
    expectTypeOf<SessionOverview>().toExtend<ToolReply<'session-open'>['session']>();
    expectTypeOf<ToolReply<'session-open'>['session']>().toExtend<SessionOverview>();
    expectTypeOf<StoredEntry>().toExtend<TraceFound['entry']>();
    expectTypeOf<RunStatus>().toExtend<Omit<RunStatusReply, 'sequence'>>();
    expectTypeOf<Learning>().toExtend<ReplyTo<'learning.list'>['learnings'][number]>();
  });
});
