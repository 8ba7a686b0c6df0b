/**
 * The plugin module that `throughline connect opencode` writes. opencode has no command hooks, so the plugin runs
 * `throughline hook opencode` for each event. It never throws, because an error in `chat.message` would end the run.
 */
export const OPENCODE_PLUGIN = `// Written by "throughline connect opencode"; "throughline connect opencode --remove" takes it out.
import { spawn } from 'node:child_process';

const TIMEOUT_MS = 5000;

/** Runs the hook on one event, and returns its answer, or {} after an error. */
function hook(event) {
  return new Promise((resolve) => {
    let answer = '';
    const done = () => {
      try {
        resolve(answer.trim() === '' ? {} : JSON.parse(answer));
      } catch {
        resolve({});
      }
    };
    try {
      const child = spawn('throughline', ['hook', 'opencode'], {
        stdio: ['pipe', 'pipe', 'ignore'],
        timeout: TIMEOUT_MS,
        shell: process.platform === 'win32',
      });
      child.on('error', done).on('close', done);
      child.stdin.on('error', () => {});
      child.stdout.setEncoding('utf8').on('data', (text) => {
        answer += text;
      });
      child.stdin.end(JSON.stringify(event));
    } catch {
      resolve({});
    }
  });
}

const MAX_TEXT = 40_000;
const short = (_, value) => (typeof value === 'string' ? value.slice(0, MAX_TEXT) : value);

const safe = (work) => async (input, output) => {
  try {
    await work(input, output);
  } catch {}
};

export const Throughline = async ({ client, directory }) => {
  /** Context of the next model request, by session. */
  const contexts = new Map();
  const known = new Map();
  /** Calls of tools go with the next event, so that none starts a process. */
  const took = (session) => ({ calls: session.calls.splice(0) });
  const running = new Set();
  let isEnding = false;

  async function about(id) {
    if (known.has(id)) return known.get(id);
    const reply = await client.session.get({ path: { id } }).catch(() => undefined);
    if (known.has(id)) return known.get(id);
    const session = { parent: reply?.data?.parentID, turn: '', agent: undefined, again: false, message: { text: '' }, calls: [] };
    known.set(id, session);
    return session;
  }

  async function send(name, id, more = {}) {
    const { parent, turn, agent, again } = await about(id);
    const answer = await hook({
      hook_event_name: name,
      session_id: parent ?? id,
      message_id: turn,
      cwd: directory,
      // A sub-agent works in a session of its own, below that of its parent.
      ...(parent !== undefined && { agent_id: id, agent_type: agent }),
      ...(again && { stop_hook_active: true }),
      ...more,
    });
    // The context of the session start and of the newest prompt stay in front of the model.
    const isKept = name === 'session.start' || name === 'chat.message';
    if (isKept && typeof answer?.context === 'string') contexts.set(id, { ...contexts.get(id), [name]: answer.context });
    return answer ?? {};
  }

  function later(work) {
    const done = safe(work)().finally(() => running.delete(done));
    running.add(done);
  }

  /** Returns the request for an agent that is sent back. Without its name another agent would answer. */
  function requestAgain(id, session, text) {
    session.request = text;
    return { path: { id }, body: { agent: session.agent, parts: [{ type: 'text', text }] } };
  }

  /**
   * Handles the end of a turn of the main agent, when no tool call follows. Ignores interrupted and failed turns, and the
   * summary of a compaction.
   */
  async function turnEnded(id) {
    const session = known.get(id);
    const { turn, last, message, parent } = session ?? {};
    const isDone = last?.finish && !['tool-calls', 'unknown'].includes(last.finish) && !last.error && !last.summary;
    if (!isDone || parent !== undefined || session.ended === turn) return;
    session.ended = turn;
    const { again } = await send('session.idle', id, {
      ...took(session),
      last_assistant_message: message.messageID === last.id ? message.text : '',
    });
    // The user may have sent another prompt meanwhile.
    if (typeof again !== 'string' || session.turn !== turn || isEnding) return;
    await client.session.promptAsync(requestAgain(id, session, again));
  }

  /** Handles the end of a sub-agent, before its caller reads the output: the answer to a second request is appended. */
  async function agentEnded(output) {
    const { sessionId: id, background } = output?.metadata ?? {};
    const session = known.get(id);
    if (session === undefined || background) return;
    const { message } = session;
    const { again } = await send('subagent.stop', id, { ...took(session), last_assistant_message: message.text });
    if (typeof again !== 'string') return;
    await client.session.prompt(requestAgain(id, session, again));
    const { text } = session.message;
    if (session.message === message || text === '') return;
    output.output += '\\n\\n' + text;
    await send('subagent.stop', id, { ...took(session), last_assistant_message: text });
  }

  return {
    'chat.message': safe(async ({ sessionID, messageID, agent }, { message, parts }) => {
      const isNew = !known.has(sessionID);
      const session = await about(sessionID);
      const prompt = parts
        .filter((part) => part.type === 'text' && !part.synthetic)
        .map((part) => part.text)
        .join('\\n');
      // A second request of ours is not a new turn.
      session.again = session.request !== undefined && session.request === prompt;
      if (!session.again) session.request = undefined;
      const turn = messageID ?? message?.id ?? '';
      Object.assign(session, { turn, agent: agent ?? message?.agent, message: { text: '' } });
      if (isNew && session.parent === undefined) await send('session.start', sessionID, { source: 'startup' });
      if (!session.again && session.parent === undefined) await send('chat.message', sessionID, { ...took(session), prompt });
    }),
    'experimental.chat.system.transform': safe(async ({ sessionID }, output) => {
      const context = sessionID === undefined ? undefined : contexts.get(sessionID);
      if (context !== undefined) output.system.push(...Object.values(context));
    }),
    'tool.execute.before': safe(async ({ tool, sessionID }, output) => {
      if (tool !== 'task') return;
      const { input } = await send('tool.execute.before', sessionID, { tool_name: tool, tool_input: output.args });
      if (input !== null && typeof input === 'object') Object.assign(output.args, input);
    }),
    'tool.execute.after': safe(async ({ tool, sessionID, callID, args }, output) => {
      const { calls } = await about(sessionID);
      const response = { output: output?.output, exit_code: output?.metadata?.exit };
      const call = { tool_use_id: callID, tool_name: tool, tool_input: args, tool_response: response };
      const timestamp = new Date().toISOString();
      // A tool may be given a whole file.
      calls.push(JSON.parse(JSON.stringify({ ...call, timestamp }, short)));
      if (tool === 'task') await agentEnded(output);
    }),
    'experimental.text.complete': safe(async ({ sessionID, messageID }, { text }) => {
      const session = await about(sessionID);
      const { message, last } = session;
      if (last?.id === messageID && last.summary) return;
      session.message = { messageID, text: message.messageID === messageID ? message.text + '\\n' + text : text };
      // Sends a result at once, because opencode does not wait for a hook at the end of a run.
      if (text.includes('{')) await send('experimental.text.complete', sessionID, { last_assistant_message: text });
    }),
    'experimental.session.compacting': safe(async ({ sessionID }, output) => {
      const { context } = await send('experimental.session.compacting', sessionID, took(await about(sessionID)));
      if (typeof context === 'string') output.context.push(context);
    }),
    event: safe(async ({ event: { type, properties } }) => {
      const { info, sessionID } = properties;
      if (type === 'message.updated' && info.role === 'assistant' && known.has(info.sessionID))
        known.get(info.sessionID).last = info;
      if (type === 'session.idle') later(() => turnEnded(sessionID));
      if (type === 'session.deleted') {
        known.delete(info.id);
        contexts.delete(info.id);
      }
    }),
    dispose: async () => {
      isEnding = true;
      await Promise.all(running);
    },
  };
};
`;
