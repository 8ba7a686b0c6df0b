// Commands as whole processes, from spawn to exit, and `node -e 0` beside them, in turn.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HOOK_CLIENTS } from '../../dist/agents/hooks/hook-table.js';
import { connectThroughline } from '../../dist/index.js';
import { startServer, startThroughline, temporaryDir, throughlineBin } from './host.mjs';
import { median } from './stats.mjs';

const RESULT = JSON.stringify({ task_id: '1', status: 'completed', summary: 'Parser done' });
const REQUEST = { session: 'bench', taskId: '2', taskPrompt: 'Write the printer' };

/** Events of a coding agent. */
const EVENTS = {
  start: { hook_event_name: 'SessionStart', session_id: 'bench', source: 'startup' },
  stop: {
    hook_event_name: 'SubagentStop',
    session_id: 'bench',
    agent_id: '1',
    agent_type: 'implementer',
    last_assistant_message: `BEGIN_DISPATCH_RESULT\n${RESULT}\nEND_DISPATCH_RESULT`,
  },
};
// A hook that gives up would look fast.
const PATIENT = ['hook', 'claude', '--within', '20000'];
const hookOf = (id, event, what) => ({ id, args: PATIENT, input: JSON.stringify(event), what });

/** Each with what it gets on standard input. All but the first talk to a running server and its services. */
const COMMANDS = [
  { id: 'version', args: ['--version'] },
  { id: 'publish', args: ['publish', 'implementer', '--session', REQUEST.session], input: RESULT },
  {
    id: 'compile',
    args: ['prompt', '--session', REQUEST.session, '--task', REQUEST.taskId, '--prompt', REQUEST.taskPrompt],
  },
  hookOf('hook-start', EVENTS.start, 'the start of a session'),
  hookOf('hook-stop', EVENTS.stop, 'an agent that returns a result'),
];

export const commandGoals = COMMANDS.map(({ id, args, what }) => ({
  id: `startup.${id}`,
  work: `\`throughline ${args[0]}\`${what === undefined ? '' : `, ${what}`}, the whole process${id === 'version' ? '' : ' against a running server'}`,
  against: '`node -e 0`',
  atMost: 2.5,
  unit: 'times',
}));

/** Calls of tools in a turn. */
const CALLS = 30;
commandGoals.push(
  {
    id: 'startup.turn-processes',
    work: `a turn of Claude Code with ${CALLS} calls of tools: processes of hooks`,
    against: 'a count',
    atMost: 2,
    unit: 'processes',
  },
  {
    id: 'startup.turn-cpu',
    work: `a turn of Claude Code with ${CALLS} calls of tools: processor time of its hooks`,
    against: 'the clock of the processor',
    atMost: 350,
    unit: 'ms',
  },
);

/** Ratios by goal, and figures in milliseconds; medians of so many rounds. */
export async function measureCommands({ rounds, progress, shutdown }) {
  const { url } = await startServer(shutdown);
  await startThroughline(['admin', 'serve'], url, shutdown);
  const env = {
    ...process.env,
    NATS_URL: url,
    THROUGHLINE_SESSION: REQUEST.session,
    XDG_STATE_HOME: await temporaryDir(shutdown),
  };
  const bare = { id: 'node', spawned: ['-e', '0'] };
  const runs = [bare, ...COMMANDS.map((each) => ({ ...each, spawned: [throughlineBin, ...each.args] }))];
  const times = new Map(runs.map(({ id }) => [id, []]));
  const turns = { cpu: [], processes: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const { id, spawned, input } of runs) {
      const took = await wholeProcess(spawned, input, env);
      // The first round only warms the caches of the system.
      if (round === 0) continue;
      times.get(id).push(took);
    }
    const turn = await turnOf(round, env);
    turns.cpu.push(turn.cpu);
    turns.processes.push(turn.processes);
    if (round % 5 === 0) progress(`commands: round ${round}/${rounds}`);
  }
  const medians = Object.fromEntries([...times].map(([id, all]) => [id, median(all)]));
  const asked = await connectedAndAsked(url, rounds);
  const ratios = COMMANDS.map(({ id }) => [`startup.${id}`, medians[id] / medians.node]);
  return {
    measured: {
      ...Object.fromEntries(ratios),
      'startup.turn-processes': Math.max(...turns.processes),
      'startup.turn-cpu': median(turns.cpu),
    },
    figures: [
      ...Object.entries(medians).map(([id, ms]) => ({
        name: id === 'node' ? 'node -e 0' : `throughline ${id}`,
        text: `${ms.toFixed(0)} ms`,
      })),
      { name: 'of which connecting', text: `${asked.connect.toFixed(1)} ms, in a process that is warm` },
      { name: 'of which publishing', text: `${asked.publish.toFixed(1)} ms, in a process that is warm` },
      { name: 'of which compiling', text: `${asked.compile.toFixed(1)} ms, in a process that is warm` },
    ],
  };
}

async function wholeProcess(args, input, env) {
  const began = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with code ${code}`);
  return performance.now() - began;
}

/** The hooks that `throughline connect` installs, through one turn: processes, and milliseconds of the processor. */
async function turnOf(round, env) {
  const transcript_path = join(env.XDG_STATE_HOME, `turn-${round}.jsonl`);
  const turn = { session_id: `turn-${round}`, prompt_id: 'p1', cwd: env.XDG_STATE_HOME, transcript_path };
  const hook = (event) =>
    processorTime([throughlineBin, ...PATIENT], JSON.stringify({ ...turn, ...event }), { env });
  let cpu = await hook({ hook_event_name: 'UserPromptSubmit', prompt: 'Write the printer, and test it' });
  let processes = 1;
  for (let at = 0; at < CALLS; at += 1) {
    const call = { id: `toolu_${round}_${at}`, name: 'Bash', input: { command: `npm test -- ${at}` } };
    const result = { type: 'tool_result', tool_use_id: call.id, content: 'ok\n'.repeat(500) };
    const lines = [
      { type: 'assistant', message: { content: [{ type: 'tool_use', ...call }] } },
      { type: 'user', message: { content: [result] } },
    ];
    await appendFile(transcript_path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    if (!HOOK_CLIENTS.claude.events.some(({ moment }) => moment === 'after-tool')) continue;
    cpu += await hook({ hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: call.input });
    processes += 1;
  }
  cpu += await hook({ hook_event_name: 'Stop', last_assistant_message: 'The printer is written.' });
  return { cpu, processes: processes + 1 };
}

/** Milliseconds of the processor that a process takes, by user and system, as the shell says. */
export async function processorTime(args, input, { env, cwd }) {
  const timed = [
    '-c',
    'TIMEFORMAT="%U %S"; time "$@" > /dev/null 2> /dev/null',
    'x',
    process.execPath,
    ...args,
  ];
  const child = spawn('bash', timed, { env, cwd, stdio: ['pipe', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  await once(child, 'close');
  const [user, system] = said.trim().split(' ').map(Number);
  return (user + system) * 1000;
}

/** What a command waits for the server, without what it takes to start. */
async function connectedAndAsked(url, rounds) {
  const times = { connect: [], publish: [], compile: [] };
  for (let round = 0; round < rounds; round += 1) {
    let client;
    times.connect.push(
      await tookMs(async () => {
        client = await connectThroughline({ url });
      }),
    );
    times.publish.push(await tookMs(() => client.publishText(REQUEST.session, 'implementer', RESULT)));
    times.compile.push(await tookMs(() => client.compile(REQUEST)));
    await client.close();
  }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
}

async function tookMs(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
