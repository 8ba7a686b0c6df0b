// A model on loopback that plays one script, so that the examples run without a real one. It speaks chat completions, and
// messages as Claude does: first it calls the tool that takes a `query`, with the last word of its task, then it returns a
// result: it changed the first file that the tool named.
//
//   node scripts/examples/model.mjs [PORT]
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const { argv } = process;
const server = createServer(async (request, response) => {
  // Claude Code looks first whether anything answers.
  if (request.method !== 'POST') return response.writeHead(404).end();
  const body = JSON.parse(await text(request));
  if (/\/messages$/.test(new URL(request.url, 'http://local').pathname)) return sendMessage(response, body);
  const { messages, tools = [] } = body;
  const next = nextStep({
    prompt: messages.map(({ content }) => textOf(content)).join('\n'),
    recalled: messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content)),
    tools: tools.map(({ function: { name, parameters } }) => ({ name, schema: parameters })),
  });
  const call = next.tool && { name: next.tool, arguments: JSON.stringify(next.input) };
  const message = call
    ? { role: 'assistant', content: null, tool_calls: [{ id: 'call-1', type: 'function', function: call }] }
    : { role: 'assistant', content: next.text };
  const finish_reason = call ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const about = { id: 'scripted', object: 'chat.completion', created: 0, model: 'scripted' };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ ...about, choices: [{ index: 0, message, finish_reason }], usage }));
});
server.listen(Number(argv[2] ?? 8099), '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  console.log(
    `export OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=none ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=none`,
  );
});

/** The reply in the format of the Anthropic API, as a stream. */
function sendMessage(response, { system = [], messages, tools = [] }) {
  const blocks = messages.flatMap(({ content }) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  );
  // Claude Code adds reminders of its own behind the prompt.
  const asked = blocks.find(({ type, text }) => type === 'text' && /^Task prompt:$/m.test(text));
  const next = nextStep({
    prompt: `${textOf(system)}\n${asked?.text ?? ''}`,
    recalled: blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => textOf(content)),
    tools: tools.map(({ name, input_schema }) => ({ name, schema: input_schema ?? {} })),
  });
  const [block, delta] = next.tool
    ? [
        { type: 'tool_use', id: 'call-1', name: next.tool, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify(next.input) },
      ]
    : [
        { type: 'text', text: '' },
        { type: 'text_delta', text: next.text },
      ];
  const usage = { input_tokens: 1, output_tokens: 1 };
  const about = { id: 'scripted', type: 'message', role: 'assistant', model: 'scripted', content: [], usage };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of [
    { type: 'message_start', message: { ...about, stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: next.tool ? 'tool_use' : 'end_turn' }, usage },
    { type: 'message_stop' },
  ])
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}

/** The call of a tool, or the last text. */
function nextStep({ prompt, recalled, tools }) {
  const tool = tools.find(({ schema }) => 'query' in (schema.properties ?? {}))?.name;
  if (tool !== undefined && recalled.length === 0)
    return { tool, input: { query: prompt.match(/\S+$/)?.[0] } };
  const [, file = 'nothing'] = recalled.join('\n').match(/\b(src\/[\w./-]*\w)/) ?? [];
  const task_id = prompt.match(/^Task (\S+?)(?:, round \d+)?$/m)?.[1];
  const result = { task_id, status: 'completed', summary: `Changed ${file}`, files_modified: [file] };
  return { text: `All is done.\nBEGIN_DISPATCH_RESULT\n${JSON.stringify(result)}\nEND_DISPATCH_RESULT` };
}

/** A content is a text or a list of parts. */
function textOf(content) {
  return typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
}
