// A scripted model on loopback, in the wire format of each client. Nothing here knows what is tried with it.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

/** By the path that a client asks: how its requests are read, and how a reply is written. */
const FORMATS = [
  { path: /\/responses$/, read: readResponses, write: writeResponses },
  { path: /:(streamGenerateContent|generateContent)$/, read: readGemini, write: writeGemini },
  { path: /\/chat\/completions$/, read: readChat, write: writeChat },
  { path: /\/messages$/, read: readMessages, write: writeMessages },
];

/** Said where no script goes on: to a request for a title, for example. */
const NOTHING_MORE = { say: 'Nothing more.' };

/**
 * Starts it. `scripts` is a map from a word to replies: a request with that word in what its user says gets the next of
 * them, `{ say }`, `{ call, input }`, or a function of the request that gives one. `requests` holds all that came in:
 * `script` (its word), `body`, `user` (what users said), `tools` (names), `outputs` (of tools).
 */
export async function startEndpoint() {
  const requests = [];
  const scripts = new Map();
  const server = createServer(async (incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url, 'http://local');
    const format = FORMATS.find(({ path }) => path.test(pathname));
    const body = await text(incoming);
    if (format === undefined) return response.writeHead(404).end('{}');
    const request = { body, ...format.read(JSON.parse(body)) };
    request.script =
      request.tools.length === 0
        ? undefined
        : [...scripts.keys()].find((word) => request.user.includes(word));
    requests.push(request);
    const next = scripts.get(request.script)?.shift() ?? NOTHING_MORE;
    const events = format.write(replied(next, request));
    const isStream = !pathname.endsWith(':generateContent') && searchParams.get('alt') !== 'json';
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    for (const event of events) response.write(isStream ? event : event.replace(/^data: /, ''));
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, scripts, requests, close: () => server.close() };
}

/** A script that does not fit what is asked is told to the model's client: there it shows. */
function replied(next, request) {
  try {
    return typeof next === 'function' ? next(request) : next;
  } catch (error) {
    return { say: `The script failed: ${error.message}: ${request.outputs.at(-1)}` };
  }
}

let calls = 0;
function nextId() {
  calls += 1;
  return `call_${calls}`;
}

function readResponses({ input, tools = [] }) {
  const said = (item) => (typeof item === 'string' ? item : JSON.stringify(item));
  return {
    user: input
      .filter(({ role }) => role === 'user')
      .flatMap(({ content }) => content.map(({ text }) => text))
      .join('\n'),
    // Tools of a server stand in a namespace.
    tools: tools.flatMap(({ type, name, tools: inner = [] }) =>
      type === 'namespace' ? inner.map((tool) => `${name}.${tool.name}`) : [name ?? type],
    ),
    outputs: input.filter(({ type }) => /call_output$/.test(type)).map(({ output }) => said(output)),
  };
}

function writeResponses({ say, call, input }) {
  const id = nextId();
  const [name, namespace] = call?.split('.').reverse() ?? [];
  const item =
    call === undefined
      ? { type: 'message', id, role: 'assistant', content: [{ type: 'output_text', text: say }] }
      : typeof input === 'string'
        ? { type: 'custom_tool_call', id, call_id: id, name, input }
        : { type: 'function_call', id, call_id: id, name, namespace, arguments: JSON.stringify(input) };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return [
    { type: 'response.created', response: { id } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id, usage } },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function readGemini({ contents, tools = [] }) {
  const parts = (role) => contents.filter((each) => each.role === role).flatMap((each) => each.parts);
  return {
    user: parts('user')
      .map(({ text = '' }) => text)
      .join('\n'),
    tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    outputs: parts('user').flatMap(({ functionResponse }) =>
      functionResponse === undefined ? [] : [JSON.stringify(functionResponse.response)],
    ),
  };
}

function writeGemini({ say, call, input }) {
  const part = call === undefined ? { text: say } : { functionCall: { name: call, args: input } };
  const candidates = [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }];
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  return [`data: ${JSON.stringify({ candidates, usageMetadata })}\r\n\r\n`];
}

function readChat({ messages, tools = [] }) {
  const said = ({ content }) =>
    typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('\n');
  return {
    user: messages
      .filter(({ role }) => role === 'user')
      .map(said)
      .join('\n'),
    tools: tools.map((tool) => tool.function.name),
    outputs: messages.filter(({ role }) => role === 'tool').map(said),
  };
}

function readMessages({ messages, tools = [] }) {
  const blocks = messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content));
  const said = ({ content }) => (typeof content === 'string' ? content : JSON.stringify(content));
  return {
    user: blocks.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('\n'),
    tools: tools.map(({ name }) => name),
    outputs: blocks.filter(({ type }) => type === 'tool_result').map(said),
  };
}

function writeMessages({ say, call, input }) {
  const id = nextId();
  const block =
    call === undefined ? { type: 'text', text: '' } : { type: 'tool_use', id, name: call, input: {} };
  const delta =
    call === undefined
      ? { type: 'text_delta', text: say }
      : { type: 'input_json_delta', partial_json: JSON.stringify(input) };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id, type: 'message', role: 'assistant', model: 'scripted', content: [], usage };
  return [
    { type: 'message_start', message: { ...message, stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      usage,
      delta: { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null },
    },
    { type: 'message_stop' },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function writeChat({ say, call, input }) {
  const chunk = (delta, finish_reason) => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, delta, finish_reason }],
    ...(finish_reason !== null && { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
  });
  const tool = { name: call, arguments: JSON.stringify(input) };
  const delta =
    call === undefined
      ? { role: 'assistant', content: say }
      : {
          role: 'assistant',
          tool_calls: [{ index: 0, id: nextId(), type: 'function', function: tool }],
        };
  const chunks = [chunk(delta, null), chunk({}, call === undefined ? 'stop' : 'tool_calls')];
  return [...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), 'data: [DONE]\n\n'];
}
