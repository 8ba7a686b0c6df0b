// A model on loopback that plays one script, so that the examples run without a real one. It speaks chat completions:
// first it calls the tool that takes a `query`, with the last word of its task, then it returns a result:
// it changed the first file that the tool named.
//
//   node scripts/examples/model.mjs [PORT]
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const { argv } = process;
const server = createServer(async (request, response) => {
  const message = nextMessage(JSON.parse(await text(request)));
  const finish_reason = message.tool_calls ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const about = { id: 'scripted', object: 'chat.completion', created: 0, model: 'scripted' };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ ...about, choices: [{ index: 0, message, finish_reason }], usage }));
});
server.listen(Number(argv[2] ?? 8099), '127.0.0.1', () => {
  console.log(`export OPENAI_BASE_URL=http://127.0.0.1:${server.address().port}/v1 OPENAI_API_KEY=none`);
});

function nextMessage({ messages, tools = [] }) {
  const prompt = messages.map(({ content }) => textOf(content)).join('\n');
  const recalled = messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content));
  const tool = tools.find((each) => 'query' in each.function.parameters.properties)?.function.name;
  if (tool !== undefined && recalled.length === 0) {
    const call = { name: tool, arguments: JSON.stringify({ query: prompt.match(/\S+$/)?.[0] }) };
    return {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call-1', type: 'function', function: call }],
    };
  }
  const [, file = 'nothing'] = recalled.join('\n').match(/\b(src\/[\w./-]*\w)/) ?? [];
  const task_id = prompt.match(/^Task (\S+?)(?:, round \d+)?: /m)?.[1];
  const result = { task_id, status: 'completed', summary: `Changed ${file}`, files_modified: [file] };
  const content = `All is done.\nBEGIN_DISPATCH_RESULT\n${JSON.stringify(result)}\nEND_DISPATCH_RESULT`;
  return { role: 'assistant', content };
}

/** A content is a text or a list of parts. */
function textOf(content) {
  return typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
}
