/**
 * The plugin module that `throughline connect opencode` writes: opencode has no hooks that run a command, so this runs
 * `throughline hook opencode` for each event. It never throws: a throw in `chat.message` would end the run.
 */
export const OPENCODE_PLUGIN = `// Written by "throughline connect opencode"; "throughline connect opencode --remove" takes it out.
import { spawn } from 'node:child_process';

const TIMEOUT_MS = 5000;

/** Runs the hook on one event. Its answer, or nothing: no fault of it reaches opencode. */
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

/** A hook of the plugin: what goes wrong in it is left out. */
const safe = (work) => async (input, output) => {
  try {
    await work(input, output);
  } catch {}
};

export const Throughline = async ({ client, directory }) => {
  /** By session: what the next request of the model gets as context. */
  const contexts = new Map();
  /** By session: what is known of it. */
  const known = new Map();

  async function about(id) {
    if (known.has(id)) return known.get(id);
    const reply = await client.session.get({ path: { id } }).catch(() => undefined);
    const session = { parent: reply?.data?.parentID, turn: '', agent: undefined, again: false };
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
    // The start of a session stays in front of the model; of its prompts the newest. A compaction has its own place.
    const isKept = name === 'session.start' || name === 'chat.message';
    if (isKept && typeof answer?.context === 'string') contexts.set(id, { ...contexts.get(id), [name]: answer.context });
    return answer ?? {};
  }

  return {
    'chat.message': safe(async ({ sessionID, messageID, agent }, { message, parts }) => {
      const isNew = !known.has(sessionID);
      const session = await about(sessionID);
      const prompt = parts
        .filter((part) => part.type === 'text' && !part.synthetic)
        .map((part) => part.text)
        .join('\\n');
      // A prompt of ours that asks again is not a new turn.
      if (session.asked !== undefined && session.asked === prompt) session.again = true;
      else Object.assign(session, { again: false, asked: undefined });
      Object.assign(session, { turn: messageID ?? message?.id ?? '', agent: agent ?? message?.agent });
      if (isNew && session.parent === undefined) await send('session.start', sessionID, { source: 'startup' });
      if (!session.again && session.parent === undefined) await send('chat.message', sessionID, { prompt });
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
    'tool.execute.after': safe(async ({ tool, sessionID, args }, output) => {
      await send('tool.execute.after', sessionID, {
        tool_name: tool,
        tool_input: args,
        tool_response: output?.output,
      });
    }),
    'experimental.text.complete': safe(async ({ sessionID }, output) => {
      const session = await about(sessionID);
      const { again } = await send('experimental.text.complete', sessionID, { last_assistant_message: output.text });
      if (typeof again !== 'string' || session.again || session.asked !== undefined) return;
      session.asked = again;
      // Not waited for: it ends with the turn that it asks for.
      void client.session
        .promptAsync({ path: { id: sessionID }, body: { parts: [{ type: 'text', text: again }] } })
        .catch(() => {});
    }),
    'experimental.session.compacting': safe(async ({ sessionID }, output) => {
      const { context } = await send('experimental.session.compacting', sessionID);
      if (typeof context === 'string') output.context.push(context);
    }),
    event: safe(async ({ event }) => {
      if (event.type !== 'session.deleted') return;
      const id = event.properties.info.id;
      if (known.has(id)) await send('session.end', id);
      known.delete(id);
      contexts.delete(id);
    }),
  };
};
`;
