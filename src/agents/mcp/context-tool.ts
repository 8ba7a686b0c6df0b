import type { ThroughlineClient } from '../../client/throughline-client.js';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import type { McpInput } from './mcp-tools.js';
import type { McpTool, Memory } from './memory.js';

/** `context`: the next prompt, of a task or of the session. */
export const contextTool: McpTool<'context'> = async (memory, input) => {
  const { kind, prompt: made, tokenEstimate: tokens, sequence } = await compiled(memory, input);
  const prompt = kind === 'dispatch' ? `${made.trimEnd()}\n\n${HAND_IN}` : made;
  return { text: prompt, data: { prompt, tokens, sequence } };
};

/** The prompt asks for a block, which is for agents that have no tools. */
const HAND_IN = 'You have the tool report: hand the result in with it, in place of the result object.';

/** The prompt of a task; without a task what an agent reads first in the session. */
export async function compiled(
  { session, project, client: connect }: Memory,
  { task, prompt, role, after, tokens }: McpInput<'context'>,
): Promise<CompileReply> {
  const client = await connect();
  const budget = tokens === undefined ? undefined : { inputTokens: tokens };
  const common = { session, project, after, budget };
  if (task === undefined) {
    const now = new Date().toISOString();
    return client.compile({ kind: 'session-start', ...common, taskPrompt: prompt, now });
  }
  const taskPrompt = prompt ?? (await textOfTask(client, session, task));
  return client.compile({ ...common, taskId: task, taskPrompt, role });
}

/** What is known of a task that is named alone: its text on the board, else its id. */
export async function textOfTask(client: ThroughlineClient, session: string, task: string): Promise<string> {
  const { tasks } = await client.tools.taskList({ session });
  return tasks.find(({ id }) => id === task.toUpperCase())?.content ?? `Task ${task}`;
}
