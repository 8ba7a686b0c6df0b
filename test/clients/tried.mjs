// What is tried with each client, and checked.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../scripts/free-port.mjs';
import { startEndpoint } from './endpoint.mjs';
import { processesWith, run, until } from './processes.mjs';
import { BIN } from './services.mjs';

const RECORDER = fileURLToPath(new URL('./recorder.mjs', import.meta.url));
/** Begins what an agent is told that is sent back. */
const SENT_BACK = 'Throughline: your result is missing.';
// No real one, and not in one piece: a scan of this repository must not find it.
const SECRET = ['gh', 'p_', 'Q7rT2mXv9KdLw4BzN8sYc1HfJ6pGa3Ue5RtW'].join('');
const PLAN =
  '# Tasks\n\n- [ ] 1.1 Write the lexer\n- [ ] 2.1 Write the printer\n- [ ] 3.1 Write the tests\n- [ ] 4.1 Write the page\n';
const FILE = 'printer.txt';

const block = (result) =>
  `Done.\nBEGIN_DISPATCH_RESULT\n${JSON.stringify({ status: 'completed', ...result })}\nEND_DISPATCH_RESULT`;

/** Tries one client in a folder: the checks, each with its fault or none, and what hooks were told. */
export async function tried({ name, client, program, folder, services }) {
  const [home, project, bin] = ['home', 'project', 'bin'].map((each) => join(folder, each));
  for (const each of [home, project, bin]) mkdirSync(each);
  const log = join(folder, 'calls.jsonl');
  writeFileSync(log, '');
  const shim = join(bin, 'throughline');
  writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${RECORDER}" "${log}" "${BIN}" "$@"\n`);
  chmodSync(shim, 0o755);
  const endpoint = await startEndpoint();
  const { scripts, requests } = endpoint;
  const session = `${name}-session`;
  const mine = {
    ...client.files({ home, project, url: endpoint.url }),
    [join(project, 'tasks.md')]: PLAN,
    // A path that does not exist is left out of prompts.
    [join(project, 'lexer.txt')]: 'if else\n',
    // Who owes a result. It applies once the client is connected.
    [join(project, '.throughline.json')]: JSON.stringify({
      agents: { main: 'implementer', [client.subAgent]: 'implementer' },
    }),
  };
  for (const [file, text] of Object.entries(mine)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const path = [bin, dirname(program), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const env = { HOME: home, PATH: path, NATS_URL: services.url, ...client.env(endpoint.url) };
  const checks = [];
  const check = (what, isSo, fault = 'it is not so') => {
    if (!Object.hasOwn(client.cannot, what)) checks.push({ what, ...(!isSo && { fault: shown(fault) }) });
  };
  const throughline = (...args) => run(process.execPath, [BIN, ...args], { env, cwd: project });
  const works = (prompt, more) =>
    run(program, client.args(prompt), { env: { ...env, ...more }, cwd: project, timeout: 120_000 });
  const calls = () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  const hooks = () => calls().filter(({ args }) => args[0] === 'hook');
  const asked = (script) => requests.filter((request) => request.script === script);

  try {
    // Connected and taken out: as if we had never been there.
    const before = filesOf(folder);
    await connected('', '--session', session);
    await removed('');
    // What stays of the user's state is folders that hold nothing, which repository a session belongs to, and which server a queue is for.
    const changed = difference(before, filesOf(folder)).filter(
      (line) =>
        !/^home\/\.local(?:.*: folder$|\/state\/throughline\/(?:session-names|hooks\/spool\/[^/]+\/server): )/.test(
          line,
        ),
    );
    check('connect and --remove leave every file byte for byte', changed.length === 0, changed);
    await connected('', '--session', session);

    // A session in which everything happens.
    const { tools } = client;
    const canDo = (what) => !Object.hasOwn(client.cannot, what);
    const goesBack = canDo('the main agent was sent back once');
    const forgets = (what, ...replies) => (canDo(what) ? replies : []);
    scripts.set('SUB-1', [
      ...forgets('the sub-agent was sent back once', client.returned('The tests are written.')),
      client.returned(block({ task_id: '3.1', summary: 'Tests written' })),
    ]);
    scripts.set('MAIN-1', [
      tools.write(join(project, FILE), FILE, 'printed'),
      tools.shell(`echo ${SECRET} > secret.txt`),
      tools.shell('cat missing.txt'),
      tools.report({
        task_id: '1.1',
        status: 'completed',
        summary: 'Lexer written',
        files_modified: ['lexer.txt'],
      }),
      tools.agent('Do task 3.1: write the tests of the lexer (SUB-1)'),
      ...client.wait,
      ...forgets('the main agent was sent back once', { say: 'The printer is written.' }),
      { say: block({ task_id: '2.1', summary: 'Printer written', files_modified: [FILE] }) },
    ]);
    const first = await works('Please do task 2.1: write the printer (MAIN-1)');
    check(
      'a session runs to its end',
      first.code === 0,
      `it ended with ${first.code}: ${first.output.slice(-1500)}`,
    );
    check('the model edited a file', existsSync(join(project, FILE)), () => asked('MAIN-1').at(1)?.outputs);
    check(
      'the model ran a command',
      existsSync(join(project, 'secret.txt')),
      () => asked('MAIN-1').at(2)?.outputs,
    );
    const summaries = await until(
      (found) => found.length >= 3,
      async () => {
        const facts = await services.ask('facts', session, '--relation', 'summary');
        return facts.map(({ subject, object }) => `${subject} ${object}`).sort();
      },
    );
    const has = (summary) => summaries.includes(summary);
    const outputs = asked('MAIN-1').at(-1)?.outputs;
    check('the MCP server took a result', has('task:1.1 Lexer written'), () => [summaries, outputs]);
    check('the result of the main agent was published', has('task:2.1 Printer written'), () => summaries);
    check('the result of the sub-agent was published', has('task:3.1 Tests written'), () => [
      summaries,
      outputs,
    ]);
    check('each result counts once', summaries.length === 3, () => summaries);
    const again = hooks().filter(({ answer }) => answer.includes(SENT_BACK));
    const agents = again.map(({ input }) => JSON.parse(input).agent_type ?? '');
    check(
      'the main agent was sent back once',
      agents.filter((agent) => agent === '').length === 1,
      () => agents,
    );
    check(
      'the sub-agent was sent back once',
      agents.filter((agent) => agent !== '').length === 1,
      () => agents,
    );
    const told = asked(goesBack ? 'MAIN-1' : 'SUB-1').at(-1)?.user ?? '';
    check(
      'what sent it back holds the contract',
      told.includes('BEGIN_DISPATCH_RESULT', told.indexOf(SENT_BACK)) && told.includes(SENT_BACK),
      told.slice(-800),
    );
    check('no reply of the model is left over', (scripts.get('MAIN-1')?.length ?? 0) === 0, () => [
      scripts.get('MAIN-1'),
      requests.map(({ script, tools: listed }) => [script, listed.join(' ')]),
    ]);
    const task = asked('SUB-1').at(0)?.user ?? '';
    check(
      'the prompt of the sub-agent is that of its task',
      task.includes('Do task 3.1') && task.includes('BEGIN_DISPATCH_RESULT') && task.includes('lexer.txt'),
      task.slice(-1500),
    );

    // What is kept of it.
    const { session_id: conversation } = JSON.parse(hooks()[0]?.input ?? '{}');
    const trace = await services.ask('log', session, '--trace', `${name}-${conversation}`);
    const steps = JSON.stringify(trace);
    check('the prompt is in the trace', /REQUEST: "?Please do task 2.1/.test(trace.recent[0]), steps);
    check(
      'nothing that no person asked is a prompt in the trace',
      steps.match(/REQUEST/g)?.length === 1,
      steps,
    );
    check('the edited file is in the trace', steps.includes(FILE), steps);
    check('the command is in the trace', steps.includes('secret.txt'), steps);
    check('a command that failed is a failure in the trace', /FAILURE[^"]*missing\.txt/.test(steps), steps);
    check('the tool of the MCP server is in the trace', /report/.test(steps), steps);
    check('no secret is kept', holders(services.store, SECRET).length === 0, () =>
      holders(services.store, SECRET),
    );
    const state = join(home, '.local/state/throughline');
    check('no secret is in the state of hooks', holders(state, SECRET).length === 0, () =>
      holders(state, SECRET),
    );

    // The next session knows it. Its model forgets its result, and does not mind being sent back.
    const sentBefore = again.length;
    scripts.set('MAIN-2', [{ say: 'The page is written.' }, { say: 'It is, really.' }]);
    const second = await works('Please do task 4.1: write the page (MAIN-2)');
    check(
      'the next session runs to its end',
      second.code === 0,
      `it ended with ${second.code}: ${second.output.slice(-1500)}`,
    );
    const [start] = asked('MAIN-2');
    check(
      'the first request of the next session holds what the first one did',
      start?.body.includes('printer.txt') && start.body.includes('Lexer written'),
      () => start?.user.slice(0, 3000) ?? requests.map(({ script }) => script),
    );
    check(
      'an agent that forgets its result again is sent back once at most',
      asked('MAIN-2').length === (goesBack ? 2 : 1),
      () => asked('MAIN-2').map(({ user }) => user.slice(-200)),
    );
    const more = hooks().filter(({ answer }) => answer.includes(SENT_BACK)).length - sentBefore;
    check('a hook sends it back once at most', more === 1 || (more === 0 && !goesBack), `${more} times`);
    check(
      'no hook failed',
      hooks().every(({ code, stderr }) => code === 0 && stderr === ''),
      () => hooks().filter(({ code, stderr }) => code !== 0 || stderr !== ''),
    );
    // A turn that only says something leaves nothing, and the first line names the server.
    const lines = readLog(state)
      .split('\n')
      .slice(1)
      .filter((line) => line !== '' && !line.includes('the turn is not kept'));
    check('no hook had anything to say in its log', lines.length === 0, lines);
    check(
      'the MCP server was started',
      calls().some(({ args }) => args[0] === 'mcp'),
      () => calls().map(({ args }) => args),
    );
    const recorded = hooks().map(({ input }) => JSON.parse(input));

    // Connected for the user, and no server.
    await removed('');
    await connected('--user');
    writeFileSync(log, '');
    scripts.set('MAIN-3', [
      tools.write(join(project, 'page.txt'), 'page.txt', 'page'),
      { say: 'All is done.' },
    ]);
    const alone = await works('Write the page (MAIN-3)', {
      NATS_URL: `nats://127.0.0.1:${await freePort()}`,
      // The folder is not connected any more.
      THROUGHLINE_SESSION: session,
    });
    check(
      'without a server the client works',
      alone.code === 0 && alone.output.includes('All is done.'),
      `it ended with ${alone.code}: ${alone.output.slice(-1500)}`,
    );
    check('without a server the model edits', existsSync(join(project, 'page.txt')));
    check('without a server hooks ran', hooks().length >= 3, () => hooks().map(({ input }) => input));
    const said = hooks().filter(({ answer }) => answer !== '');
    check(
      'without a server no hook fails, and that of the start says so',
      hooks().every(({ code }) => code === 0) &&
        said.length === 1 &&
        said[0].answer.includes('memory not reachable'),
      () => hooks().filter(({ code, answer }) => code !== 0 || answer !== ''),
    );
    check(
      'without a server the log of hooks says so',
      readLog(state).includes('unavailable'),
      readLog(state),
    );
    await removed('--user');

    check('no process of ours is left', processesWith(BIN, home).length === 0, () =>
      processesWith(BIN, home),
    );
    for (const [file, text] of Object.entries(mine)) {
      const now = readFileSync(file, 'utf8');
      check(`${relative(folder, file)} is as it was`, now === text, now);
    }
    const ours = holders(folder, 'throughline').filter(
      (file) =>
        /^(home|project)\//.test(file) &&
        !client.recordings.test(file) &&
        !file.startsWith('home/.local/state/throughline/') &&
        !Object.hasOwn(mine, join(folder, file)),
    );
    check('nothing of us is in any other file', ours.length === 0, ours);
    return { checks, recorded };
  } finally {
    endpoint.close();
  }

  async function connected(scope, ...more) {
    const { code, output } = await throughline('connect', name, ...(scope ? [scope] : []), '--yes', ...more);
    check('connect ends well', code === 0, output);
  }

  async function removed(scope) {
    const { code, output } = await throughline(
      'connect',
      name,
      ...(scope ? [scope] : []),
      '--remove',
      '--yes',
    );
    check('--remove ends well', code === 0, output);
  }
}

function shown(fault) {
  const value = typeof fault === 'function' ? fault() : fault;
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')).slice(0, 4000);
}

function readLog(state) {
  const file = join(state, 'hook.log');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** Files of home and project with their bytes. */
function filesOf(folder) {
  return new Map(
    ['home', 'project'].flatMap((top) =>
      readdirSync(join(folder, top), { recursive: true, withFileTypes: true }).map((each) => {
        const path = join(each.parentPath, each.name);
        return [relative(folder, path), each.isFile() ? readFileSync(path, 'latin1') : 'folder'];
      }),
    ),
  );
}

function difference(before, after) {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => `${name}: ${after.get(name) ?? 'gone'}`);
}

/** Files below a folder that hold a text, or have it in their name. */
function holders(folder, text) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((each) => {
    if (!each.isFile()) return [];
    const path = join(each.parentPath, each.name);
    const name = relative(folder, path);
    return name.includes(text) || readFileSync(path).includes(text) ? [name] : [];
  });
}
