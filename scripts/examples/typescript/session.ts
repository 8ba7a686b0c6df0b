// A task from beginning to end: an agent takes it and asks something, a person answers, the next agent goes on.
import { connectThroughline, type Session, ThroughlineError } from 'throughline';

await using client = await connectThroughline();
const session = client.session('demo');
const watching = watch(session);

const { task } = await session.tools.taskAdd({ content: 'Extend the parser', priority: 1 });
const claimed = await session.tools.taskNext({ claim: 'agent-1' });
console.log('claimed', claimed.task?.id);

// The prompt goes to a model; what the model returned is published, as text or as an object.
const about = { taskId: task.id, taskPrompt: task.content };
await session.compile(about);
const published = await session.publish(
  'implementer',
  {
    taskId: task.id,
    status: 'blocked',
    summary: 'The parser needs a separator',
    blockers: ['Which separator, comma or semicolon?'],
  },
  { wait: true },
);

await session.tools.blockerAnswer({ task: task.id, answer: 'Use a semicolon.', by: 'anna', person: true });
const { prompt } = await session.compile({ ...about, after: published.sequence });
console.log(prompt.includes('Use a semicolon.') ? 'answered' : 'not answered');

try {
  await session.tools.taskStatus({ id: 'TAS-99', status: 'completed' });
} catch (error) {
  if (!(error instanceof ThroughlineError)) throw error;
  console.log(error.code, '-', error.message);
}
await watching;

/** Prints what happens in the session from its beginning, until a person has answered. */
async function watch(session: Session): Promise<void> {
  for await (const { kind, type, task } of session.watch({ after: 0 })) {
    console.log(kind, type, task ?? '');
    if (type === 'question.answered') return;
  }
}
