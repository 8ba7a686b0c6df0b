import { describe, expectTypeOf, it } from 'vitest';
import type { Note } from '../../src/memory/facts/fact-types.js';
import type { TaskView } from '../../src/memory/session/commands/task-commands.js';
import type { InboxMessage } from '../../src/memory/session/session-state.js';
import type { Tools } from '../../src/sdk/throughline-client.js';

type ReplyOf<Name extends keyof Tools> = Awaited<ReturnType<Tools[Name]>>;

describe('the replies of tools', () => {
  it('a tool replies with what it worked on; only the next task, a task of the plan and what was deleted can be null', () => {
    expectTypeOf<ReplyOf<'taskNext'>['task']>().toEqualTypeOf<TaskView | null>();
    expectTypeOf<ReplyOf<'taskAdd'>['task']>().toEqualTypeOf<TaskView>();
    expectTypeOf<ReplyOf<'taskRelease'>['task']>().toEqualTypeOf<TaskView | null>();
    expectTypeOf<ReplyOf<'taskDelete'>['task']>().toEqualTypeOf<null>();
    expectTypeOf<ReplyOf<'noteEdit'>['note']>().toEqualTypeOf<Note>();
    expectTypeOf<ReplyOf<'inboxMarkRead'>['message']>().toEqualTypeOf<InboxMessage>();
  });
});
