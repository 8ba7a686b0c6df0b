// One task with Throughline and the OpenAI Agents SDK: the agent gets its prompt, and the memory's tools by MCP.
import {
  Agent,
  createMCPToolStaticFilter,
  MCPServerStdio,
  run,
  setOpenAIAPI,
  setTracingDisabled,
} from '@openai/agents';
import { connectThroughline } from 'throughline';

// The SDK reads OPENAI_API_KEY and OPENAI_BASE_URL. Most endpoints know chat completions alone.
setOpenAIAPI('chat_completions');
setTracingDisabled(true);

const { PATH = '', HOME = '', NATS_URL = '' } = process.env;
const client = await connectThroughline();
const session = client.session(process.env.THROUGHLINE_SESSION ?? 'demo');
const memory = new MCPServerStdio({
  command: 'throughline',
  args: ['mcp', '--session', session.id],
  env: { PATH, HOME, NATS_URL },
  // The result is published below, so the agent needs no `report`.
  toolFilter: createMCPToolStaticFilter({ allowed: ['recall', 'note'] }),
});

async function round() {
  const { task } = await session.tools.taskNext({ claim: 'openai-agents' });
  if (task === null) {
    console.log(`no task is ready: throughline task add "…" --session ${session.id}`);
    return;
  }
  console.log(`${task.id}: ${task.content}`);
  const about = { taskId: task.id, taskPrompt: task.content };
  const { messages } = await session.compile({ ...about, include: ['messages'] });
  const [instructions, prompt] = ['system', 'user'].map(
    (role) => messages.find((message) => message.role === role)?.content ?? '',
  );
  const agent = new Agent({
    name: 'implementer',
    instructions,
    model: process.env.OPENAI_MODEL ?? 'any',
    mcpServers: [memory],
  });
  agent.on('agent_tool_end', (_context, tool) => console.log(`${tool.name} was called`));
  const { finalOutput = '' } = await run(agent, prompt);
  // The text as the model returned it: Throughline finds the result in it, and repairs it. Until it is stored, the
  // client tries again, under one id: it counts once.
  const { sequence, result } = await session.publish('implementer', finalOutput, { wait: true });
  const facts = result.status === 'recorded' ? result.facts.length : 0;
  console.log(`result ${sequence}: ${result.status}, ${facts} facts`);
  const next = await session.compile({ ...about, role: 'reviewer', after: sequence });
  console.log(next.prompt);
}

try {
  await memory.connect();
  await round();
} finally {
  await memory.close();
  await client.close();
}
