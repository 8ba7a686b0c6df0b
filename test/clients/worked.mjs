// A plan that is run by `throughline work` with a real client as implementer and reviewer, connected by hooks as well.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { startEndpoint } from './endpoint.mjs';
import { run } from './processes.mjs';
import { BIN } from './services.mjs';

const PLAN = '- [ ] T001 Write the lexer\n- [ ] T002 Write the parser (depends on T001)\n';
const block = (result) => `Done.\nBEGIN_DISPATCH_RESULT\n${JSON.stringify(result)}\nEND_DISPATCH_RESULT`;

/** The commands that the help of `work` shows for a client; for one that it does not name, that of the client's entry. */
async function commandsOf(name, { work }) {
  const { stdout } = await run(process.execPath, [BIN, 'work', '--help']);
  const shown = (role) => new RegExp(`--${role} '(${name} [^']+)'`).exec(stdout)?.[1];
  const implementer = shown('implementer') ?? work;
  if (implementer === undefined) throw new Error(`"throughline work --help" shows no command of ${name}`);
  return { implementer, reviewer: shown('reviewer') ?? implementer };
}

/** Runs the plan in a folder: checks, each with its fault or none. */
export async function worked({ name, client, program, folder, services }) {
  const [home, project, bin] = ['home', 'project', 'bin'].map((each) => join(folder, each));
  for (const each of [folder, home, project, bin]) mkdirSync(each);
  const endpoint = await startEndpoint();
  const files = client.files({ home, project, url: endpoint.url });
  for (const [file, text] of Object.entries({ ...files, [join(project, 'tasks.md')]: PLAN })) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  writeFileSync(join(bin, 'throughline'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`, {
    mode: 0o755,
  });
  const path = [bin, dirname(program), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const own = client.env(endpoint.url);
  const throughline = (...args) =>
    run(process.execPath, [BIN, ...args], {
      env: { HOME: home, PATH: path, NATS_URL: services.url, ...own },
      cwd: project,
      timeout: 240_000,
    });
  const session = basename(folder);
  const checks = [];
  const check = (what, isSo, fault) =>
    checks.push({ what: `work: ${what}`, ...(!isSo && { fault: String(fault) }) });
  const said = { implementer: [], reviewer: [] };
  for (const task of ['T001', 'T002']) {
    // The first review of the first task asks for something.
    const sentBack =
      task === 'T001' ? [{ assessment: 'needs_changes', required_fixes: ['mind the tabs'] }] : [];
    const reviews = [...sentBack, { assessment: 'approved' }];
    for (const review of reviews) {
      const work = { task_id: task, status: 'completed', summary: `Wrote ${task}` };
      said.implementer.push({ say: block(work) });
      said.reviewer.push({ say: block({ task_id: task, ...review }) });
    }
  }
  for (const [role, replies] of Object.entries(said))
    endpoint.scripts.set(`You are the ${role} of one task`, replies);
  try {
    // Codex works in repositories alone.
    await run('git', ['init', '--quiet', project]);
    const { implementer, reviewer } = await commandsOf(name, client);
    await throughline('connect', name, '--yes', '--session', session);
    const env = Object.keys(own);
    const ran = await throughline(
      ...[
        'work',
        '--plan',
        'tasks.md',
        '--session',
        session,
        '--implementer',
        implementer,
        '--reviewer',
        reviewer,
      ],
      ...['--tick', '--timeout', '90s', ...(env.length > 0 ? ['--env', ...env] : [])],
    );
    check(
      'a plan is run to its end',
      ran.code === 0,
      `it ended with ${ran.code}: ${ran.output.slice(-1500)}`,
    );
    check(
      'its lines are ticked',
      readFileSync(join(project, 'tasks.md'), 'utf8') === PLAN.replaceAll('[ ]', '[x]'),
      'they are not',
    );
    check(
      'findings are in the next prompt',
      endpoint.requests.some(({ user }) => user.includes('mind the tabs')),
      'they are not',
    );
    const { tasks } = await services.ask('status', session);
    const counts = JSON.stringify(tasks.map(({ task, dispatches }) => [task, dispatches]));
    // The hooks of the client publish each result as well.
    check('each result counts once', counts === '[["T001",4],["T002",2]]', counts);
  } finally {
    endpoint.close();
  }
  return checks;
}
