// A private server, and agents that meet it as people use them: hooks of Claude Code, each a process, in a git repository.
import { execFile, spawn } from 'node:child_process';
import { appendFile, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { connect } from 'nats';

const execute = promisify(execFile);
/** Milliseconds of one hook: on a busy machine the default is over before the process has started. */
const WITHIN = '20000';
const FILES = {
  'package.json': '{ "name": "shop", "type": "module" }\n',
  'README.md': '# Shop\n',
  'src/app.ts': 'export const app = 1;\n',
  'src/dates.ts': 'export const dates = 1;\n',
  'src/old-cart.ts': 'export const cart = 1;\n',
  'src/lexer.ts': 'export const lexer = 1;\n',
  'legacy/billing.js': 'module.exports = 1;\n',
  'test/app.test.ts': 'export const test = 1;\n',
};

/** Starts a server of its own for what `act` does, then ends it and removes all it wrote. */
export async function onStage(dist, act) {
  const { startThroughline } = await import(new URL('server.js', pathToFileURL(`${dist}/`)));
  const bin = join(dist, 'cli', 'bin.cjs');
  const folder = await mkdtemp(join(tmpdir(), 'throughline-eval-'));
  const server = await startThroughline({
    server: { store: join(folder, 'store') },
    services: ['extractor', 'compiler', 'tools'],
  });
  const connection = await connect({ servers: server.url });
  const template = join(folder, 'template');
  await repository(template);
  let count = 0;
  const nextId = () => {
    count += 1;
    return count;
  };

  /** A session with a repository and a home of its own. */
  async function session(name) {
    const id = `${name}-${nextId()}`;
    const cwd = join(folder, id, 'shop');
    await cp(template, cwd, { recursive: true });
    const env = {
      PATH: process.env.PATH,
      HOME: join(folder, id),
      XDG_STATE_HOME: join(folder, id, 'state'),
      NATS_URL: server.url,
      THROUGHLINE_SESSION: id,
      THROUGHLINE_AUTOSTART: '0',
      NO_COLOR: '1',
    };
    const throughline = (args, input) => printed(bin, args, { cwd, env, input });
    const transcriptOf = (conversation) => join(folder, id, `${conversation}.jsonl`);
    const hook = async (conversation, hook_event_name, more = {}) => {
      const payload = {
        session_id: conversation,
        transcript_path: transcriptOf(conversation),
        cwd,
        hook_event_name,
        ...more,
      };
      const answer = await throughline(['hook', 'claude', '--within', WITHIN], JSON.stringify(payload));
      return answer === '' ? '' : (JSON.parse(answer).hookSpecificOutput?.additionalContext ?? '');
    };
    return {
      id,
      throughline,
      /** The text that a new conversation of this name starts with. */
      start: (conversation) => hook(conversation, 'SessionStart', { source: 'startup' }),
      /**
       * One turn of a conversation: what the user asks, the tools that run, and the last message of the agent.
       * A tool is `{edit}` or `{read}` of a file, `{bash, error?}`, a command that is only told, or `{run}`, one that runs in the
       * repository.
       */
      async turn(conversation, { asked, tools = [], said }) {
        const more = { prompt_id: `prompt-${nextId()}`, permission_mode: 'default' };
        const told = {
          type: 'user',
          message: { role: 'user', content: asked },
          sessionId: conversation,
          cwd,
        };
        await hook(conversation, 'UserPromptSubmit', { ...more, prompt: asked, source: 'user' });
        const entries = [told];
        for (const { edit, read, bash, run, error } of tools) {
          if (run !== undefined) await execute('sh', ['-c', run], { cwd });
          if (edit !== undefined) await change(join(cwd, edit));
          const command = run ?? bash;
          const tool_name = command !== undefined ? 'Bash' : edit !== undefined ? 'Edit' : 'Read';
          const file_path = join(cwd, edit ?? read ?? '');
          const tool_input = command === undefined ? { file_path } : { command, description: command };
          const tool_use_id = `toolu_${nextId()}`;
          entries.push(assistant({ type: 'tool_use', id: tool_use_id, name: tool_name, input: tool_input }));
          const outcome = error === undefined ? { content: '' } : { content: error, is_error: true };
          const content = [{ type: 'tool_result', tool_use_id, ...outcome }];
          entries.push({ ...told, message: { role: 'user', content } });
        }
        entries.push(assistant({ type: 'text', text: said }));
        const lines = entries.map((entry) =>
          JSON.stringify({ ...entry, timestamp: new Date().toISOString() }),
        );
        await appendFile(transcriptOf(conversation), `${lines.join('\n')}\n`);
        const last = { stop_hook_active: false, last_assistant_message: said, background_tasks: [] };
        await hook(conversation, 'Stop', { ...more, ...last, session_crons: [] });
      },
      /** One result of a task, as its agent returns it; returns once the session has it. */
      publish: (role, result) =>
        throughline(['publish', role, '--session', id, '--wait', '--json'], JSON.stringify(result)),
      prompt: (request) => asked('prompt.compile', { session: id, ...request }),
    };
  }

  async function asked(subject, request) {
    const reply = await connection.request(subject, JSON.stringify(request), { timeout: 30_000 });
    const body = reply.json();
    if (body.error !== undefined) throw new Error(`${subject}: ${JSON.stringify(body.error)}`);
    return body;
  }

  try {
    await act(session);
  } finally {
    await connection.close();
    await server.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * The lines of a session start or a prompt by their label, as a reader sees them: `Rules` and `Rule` are one label, and what a
 * line says it replaces is not a line of its own. A line without a label belongs to the last one.
 *
 * @returns `[{label, text}]`
 */
export function linesOf(start) {
  const [memory = ''] = start.split(/^(?:End your last message with a line each|Task prompt:)/m);
  const lines = [];
  let label = '';
  for (const line of memory.split('\n').filter((each) => each.trim() !== '')) {
    const [, named, rest] = /^([A-Z][A-Za-z ]{2,40}?)(?: \([^)]*\))?:(?: (.*))?$/.exec(line) ?? [];
    if (named !== undefined) label = named.replace(/^(?:Rules|Conventions?)$/, 'Rule');
    const said = named === undefined ? line.replace(/^\s*[-*] /, '') : (rest ?? '');
    for (const text of said.split(' · ').filter((each) => each !== ''))
      lines.push({ label, text: text.replace(/\((?:replaces|replaced|instead of|was)\b[^)]*\)/g, '') });
  }
  return lines;
}

/** The id that a start shows for a line that matches an expression; a start without it has none. */
export function refOf(start, expression) {
  const line = linesOf(start).find(({ text }) => new RegExp(expression, 'iu').test(text));
  return /\[(?:[\w-]+\/)?([MN]\d[\d.]*)/.exec(line?.text ?? '')?.[1] ?? 'M0';
}

/** True if some line says what a judgement asks for: `LABELS: expression`, where a label is a word or an expression. */
export function saysIt(lines, judgement) {
  const expression = expressionOf(judgement);
  return lines.some(({ label, text }) => labelsOf(judgement).test(label) && expression.test(text));
}

export function labelsOf(judgement) {
  return new RegExp(`^(?:${judgement.slice(0, judgement.indexOf(': '))})$`);
}

export function expressionOf(judgement) {
  return new RegExp(judgement.slice(judgement.indexOf(': ') + 2), 'iu');
}

/** The values of an asynchronous function for each item, in their order, so many at a time. */
export async function inTurn(items, atOnce, act) {
  const values = [];
  const waiting = [...items.entries()];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      values[next[0]] = await act(next[1]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return values;
}

/** The tokens of a text, as prompts count them. */
export async function tokenCounter() {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  return countTokens;
}

function assistant(part) {
  return { type: 'assistant', message: { role: 'assistant', content: [part] } };
}

async function change(path) {
  await mkdir(dirname(path), { recursive: true });
  await appendFile(path, '// changed\n');
}

async function repository(folder) {
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const git = (...args) =>
    execute('git', ['-c', 'user.name=ann', '-c', 'user.email=ann@example.com', ...args], { cwd: folder });
  await git('init', '-q', '-b', 'main');
  await git('add', '.');
  await git('commit', '-q', '-m', 'Start');
}

function printed(bin, args, { cwd, env, input = '' }) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args], { cwd, env });
    let out = '';
    let err = '';
    child.stdout.on('data', (part) => (out += part));
    child.stderr.on('data', (part) => (err += part));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`throughline ${args.join(' ')}: ${code}: ${err}`)),
    );
    child.stdin.end(input);
  });
}
