// A model on loopback that says one sentence, in the wire format of each client.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const SAID = 'All is done.';

const FORMATS = [
  [/\/responses$/, responses],
  [/:(streamGenerateContent|generateContent)/, gemini],
  [/\/chat\/completions$/, chat],
];

/** Starts it. `requests` holds path and body of each request. */
export async function startEndpoint() {
  const requests = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    requests.push({ path: request.url, body });
    const format = FORMATS.find(([path]) => path.test(new URL(request.url, 'http://local').pathname))?.[1];
    if (format === undefined) return response.writeHead(404).end('{}');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of format()) response.write(event);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, requests, close: () => server.close() };
}

function responses() {
  const item = {
    type: 'message',
    id: 'm1',
    role: 'assistant',
    content: [{ type: 'output_text', text: SAID }],
  };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return [
    { type: 'response.created', response: { id: 'r1' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'r1', usage } },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function gemini() {
  const content = { role: 'model', parts: [{ text: SAID }] };
  return [`data: ${JSON.stringify({ candidates: [{ content, finishReason: 'STOP', index: 0 }] })}\r\n\r\n`];
}

function chat() {
  const chunk = (delta, finish_reason) => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const chunks = [chunk({ role: 'assistant', content: SAID }, null), chunk({}, 'stop')];
  return [...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), 'data: [DONE]\n\n'];
}
