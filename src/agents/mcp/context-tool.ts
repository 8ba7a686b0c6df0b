import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import { type KnownTask, knownTask } from './known-task.js';
import type { McpInput } from './mcp-tools.js';
import type { McpTool, Memory } from './memory.js';

/** `context`: the next prompt, of a task or of the session. */
export const contextTool: McpTool<'context'> = async (memory, input) => {
  const known =
    input.task === undefined ? {} : await knownTask(await memory.client(), memory.session, input.task);
  const { kind, prompt: made, tokenEstimate: tokens, sequence } = await compiled(memory, input, known);
  const told = known.unknown === undefined ? made : `${known.unknown}\n\n${made}`;
  const prompt = kind === 'dispatch' ? `${told.trimEnd()}\n\n${HAND_IN}` : told;
  return { text: prompt, data: { prompt, tokens, sequence } };
};

/** The prompt asks for a block, which is for agents that have no tools. */
const HAND_IN = 'You have the tool report: hand the result in with it, in place of the result object.';

/** The prompt of a task; without a task what an agent reads first in the session. */
export async function compiled(
  { session, project, client: connect }: Memory,
  { task, prompt, role, after, tokens }: McpInput<'context'>,
  known?: KnownTask,
): Promise<CompileReply> {
  const client = await connect();
  const budget = tokens === undefined ? undefined : { inputTokens: tokens };
  const common = { session, project, after, budget };
  if (task === undefined) {
    const now = new Date().toISOString();
    return client.compile({ kind: 'session-start', ...common, taskPrompt: prompt, now });
  }
  const taskPrompt = prompt ?? (known ?? (await knownTask(client, session, task))).text ?? `Task ${task}`;
  return client.compile({ ...common, taskId: task, taskPrompt, role });
}
