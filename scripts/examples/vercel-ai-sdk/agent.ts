// One task with Throughline and the Vercel AI SDK: its prompt goes in, what the model returned is published.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, tool } from 'ai';
import { connectThroughline } from 'throughline';
import { z } from 'zod';

const { OPENAI_BASE_URL = 'https://api.openai.com/v1', OPENAI_API_KEY, OPENAI_MODEL } = process.env;
const provider = createOpenAICompatible({ name: 'any', baseURL: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY });
const client = await connectThroughline();
const session = client.session(process.env.THROUGHLINE_SESSION ?? 'demo');

const recall = tool({
  description: 'Facts that earlier agents left, by one or two words that stand in them.',
  inputSchema: z.object({ query: z.string() }),
  async execute({ query }) {
    const { facts } = await session.tools.factFind({ text: query });
    console.log(`recall ${query}: ${facts.length} found`);
    return facts;
  },
});

async function round() {
  const { task } = await session.tools.taskNext({ claim: 'vercel-ai-sdk' });
  if (task === null) {
    console.log(`no task is ready: throughline task add "…" --session ${session.id}`);
    return;
  }
  console.log(`${task.id}: ${task.content}`);
  const about = { taskId: task.id, taskPrompt: task.content };
  const { messages } = await session.compile({ ...about, include: ['messages'] });
  const { text } = await generateText({
    model: provider.chatModel(OPENAI_MODEL ?? 'any'),
    messages: [...messages],
    // The system message is Throughline's own; what agents wrote is quoted in the user's.
    allowSystemInMessages: true,
    tools: { recall },
    stopWhen: isStepCount(20),
  });
  // The text as the model returned it: Throughline finds the result in it, and repairs it. Until it is stored, the
  // client tries again, under one id: it counts once.
  const published = await session.publish('implementer', text, { wait: true });
  const { sequence, result } = published;
  const facts = result.status === 'recorded' ? result.facts.length : 0;
  console.log(`result ${sequence}: ${result.status}, ${facts} facts`);
  const next = await session.compile({ ...about, role: 'reviewer', after: sequence });
  console.log(next.prompt);
}

try {
  await round();
} finally {
  await client.close();
}
