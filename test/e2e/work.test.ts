import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { projectStateDir } from '../../src/engine/files/user-state.js';
import { BIN, cleanEnv, cli } from '../support/cli.js';
import { git, gitRepository } from '../support/git.js';
import { startGuardedSystem } from '../support/guarded-system.js';
import { folderOfFile } from '../support/of-file.js';
import { newSession, soon, systemOfFile } from '../support/system.js';

/** `throughline work` with agents that are commands, as users run it. */

const root = await folderOfFile();
const system = await systemOfFile({ env: { THROUGHLINE_TASKS_ROOTS: root } });
const AGENT = fileURLToPath(new URL('../support/scripted-agent.mjs', import.meta.url));
const PLAN = '# Parser\n\n- [ ] T001 Write the lexer\n- [ ] T002 Write the parser (depends on T001)\n';

async function project(script: Readonly<Record<string, readonly string[] | boolean>> = {}, text = PLAN) {
  const session = newSession('work');
  const folder = join(root, session);
  await mkdir(folder);
  await writeFile(join(folder, 'tasks.md'), text);
  await writeFile(join(folder, 'script.json'), JSON.stringify(script));
  const agent = `${process.execPath} ${AGENT} ${folder}`;
  const env = {
    NATS_URL: system.url,
    XDG_STATE_HOME: join(root, 'state'),
    SECRET_KEY: 'hidden',
    OTHER: 'hidden too',
  };
  const args = ['work', '--plan', 'tasks.md', '-s', session, '--implementer', agent, '--reviewer', agent];
  return {
    session,
    folder,
    args,
    env,
    work: (...more: readonly string[]) => cli([...args, ...more], { env, cwd: folder }),
    calls: async () =>
      (await readFile(join(folder, 'calls'), 'utf8').catch(() => '')).split('\n').slice(0, -1),
    text: () => readFile(join(folder, 'tasks.md'), 'utf8'),
  };
}

const ALL = ['T001 implementer', 'T001 reviewer', 'T002 implementer', 'T002 reviewer'];

describe('throughline work', () => {
  it('runs a plan to its end, says how, and what to do next', async () => {
    const { session, folder, work, calls, text } = await project({ 'T001 reviewer': ['needs_changes'] });
    const { code, stdout, stderr } = await work('--tick', '--env', 'SECRET_KEY');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(await calls()).toEqual(['T001 implementer', 'T001 reviewer', ...ALL]);
    expect(await text()).toBe(PLAN.replaceAll('[ ]', '[x]'));
    expect(stdout).toMatch(new RegExp(`^done: 2 of 2 tasks of session ${session}\n`));
    expect(stdout).toMatch(/T001 {2}approved {2}2 rounds, 1 finding, 4,000 tokens, .* {2}Write the lexer\n/);
    expect(stderr).toContain('T001 round 1: reviewer: needs_changes, 1 finding');
    expect(stderr).toContain('T001 is ticked');
    // Agents see what is named, where they are, and no more.
    const [seen = ''] = (await readFile(join(folder, 'environment'), 'utf8')).split('\n');
    expect(seen.split(' ')).toEqual(
      expect.arrayContaining(['PATH', 'SECRET_KEY', 'THROUGHLINE_RESULT_ID', 'THROUGHLINE_SESSION']),
    );
    expect(seen).not.toContain('OTHER');
    // A log and a prompt of each call.
    const state = projectStateDir(join(root, 'state', 'throughline'), folder);
    const logs = await readdir(join(state, 'work', session));
    expect(logs).toEqual(
      expect.arrayContaining([
        'T001-1-implementer.log',
        'T001-1-implementer.prompt.md',
        'T002-2-reviewer.log',
      ]),
    );
    expect(await readdir(state)).toEqual(['work']);
  });

  it('goes on in another clone of the repository, with the commit of the plan', async () => {
    const { session, folder, args, env, calls } = await project();
    gitRepository(folder);
    expect((await cli(['plan', 'follow', '-s', session], { env, cwd: folder })).code).toBe(0);
    const clone = join(root, `${session}-clone`);
    git(root, ['clone', '--quiet', folder, clone]);
    const { code, stderr } = await cli(args, { env, cwd: clone });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(await calls()).toEqual(ALL);
    expect((await system.client.runs.status({ session })).run).toMatchObject({
      source: { path: join(clone, 'tasks.md') },
      version: { file: 'tasks.md', commits: [git(folder, ['rev-parse', 'HEAD']).trim()] },
    });
  });

  it.each([
    ['a crash', 'crash', 'ended with code 1: the model said: out of credit'],
    ['a result that has to be repaired', 'loose', 'read with 3 repairs'],
  ])('says so and goes on after %s', async (_, turn, said) => {
    const { work } = await project({ 'T001 implementer': [turn] });
    const { code, stderr } = await work();
    expect(stderr).toContain(said);
    if (turn !== 'loose') expect(stderr).toContain('implementer is asked, once more, with the contract');
    expect(code).toBe(0);
  });

  it('ends a call that hangs with all that it has started, and its task with exit code 4', async () => {
    const { folder, work } = await project({ 'T001 implementer': ['hang'] });
    const { code, stdout, stderr } = await work('--timeout', '1s', '--max-rounds', '1');
    expect(stderr).toContain('timed out after 1 s');
    expect({ code, stdout }).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('a limit is reached: 0 of 2'),
    });
    expect(await isGone(folder)).toBe(true);
  });

  it('ends with code 3 where a person is needed, and with 2 where an agent cannot be started', async () => {
    const { session, work } = await project({ 'T001 reviewer': ['blocked'] });
    const needed = await work();
    expect(needed.code).toBe(3);
    expect(needed.stderr).toContain(`"throughline status ${session} --task T001" shows what was tried`);
    const other = await project();
    const missing = await other.work('--implementer', 'no-such-agent -');
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--implementer "no-such-agent -" cannot be started'),
    });
    expect((await other.work()).code).toBe(0);
  });

  it('gives the prompt in a file where the command asks for one, and takes a check as a review', async () => {
    const { args, folder, env, calls } = await project();
    const byFile = [
      ...args.slice(0, 5),
      '--implementer',
      `${process.execPath} ${AGENT} ${folder} {prompt_file}`,
    ];
    const failing = await cli([...byFile, '--check', 'test -f made', '--max-rounds', '1'], {
      env,
      cwd: folder,
    });
    expect(failing).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('T001 round 1: test -f made failed'),
    });
    await writeFile(join(folder, 'made'), '');
    expect(await cli([...byFile, '--check', 'test -f made'], { env, cwd: folder })).toMatchObject({
      code: 0,
    });
    expect(await calls()).toEqual(['T001 implementer', 'T001 implementer', 'T002 implementer']);
  });

  it('says once that the sandbox may not allow writing, before the review of a result that git shows nothing of', async () => {
    const script = { 'T001 reviewer': ['needs_changes', 'needs_changes'] };
    const { folder, work } = await project(script, '- [ ] T001 Write it\n');
    gitRepository(folder);
    const result = '{"task_id":"T001","status":"completed","files_modified":["made.ts"]}';
    const answer = `printf 'BEGIN_DISPATCH_RESULT\\n${result}\\nEND_DISPATCH_RESULT\\n'`;
    const { stderr } = await work('--implementer', answer, '--max-rounds', '2');
    expect(stderr.match(/sandbox may not/g)).toHaveLength(1);
    expect(stderr).toMatch(/names made\.ts, but git shows no change: .*\n.* round 1: reviewer is asked/);
    const writes = await work('--implementer', `touch made.ts; ${answer}`, '--again');
    expect(writes).toMatchObject({ code: 0, stderr: expect.not.stringContaining('git shows') });
  });

  it('tells agents and checks the address of the server without its password', async () => {
    await using guarded = await startGuardedSystem([]);
    const { user, password } = guarded.access('admin');
    const { args, folder, env } = await project();
    const given = { ...env, NATS_URL: guarded.url.replace('//', `//${user}:${password}@`) };
    const run = [...args.slice(0, 7), '--check', 'echo $NATS_URL > url'];
    expect(await cli(run, { env: given, cwd: folder })).toMatchObject({ code: 0 });
    expect(await readFile(join(folder, 'url'), 'utf8')).toBe(`${guarded.url}\n`);
  });

  it('says what happens as JSON, an object a line', async () => {
    const { session, work } = await project();
    const { stdout } = await work('--json');
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events[0]).toEqual({ type: 'run-started', session, tasks: 2, done: 0 });
    expect(events.at(-1)).toMatchObject({
      type: 'run-ended',
      summary: { outcome: 'done', done: 2, rounds: 2, tokens: 4000 },
    });
  });

  it.each([
    [['--env', 'NOT_SET'], '--env NOT_SET: no variable has this name'],
    [['--max-cost', 'much'], 'Use an amount in dollars'],
  ])('refuses %j', async (more, said) => {
    const { work } = await project();
    expect(await work(...more)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
  });
});

describe('throughline work, interrupted', () => {
  it('stops cleanly at Ctrl-C: its agents end, and it goes on where it was', async () => {
    const { folder, args, env, work, calls } = await project({ 'T001 reviewer': ['hang'] });
    const child = started(args, env, folder);
    await soon(() => hung(folder));
    child.kill('SIGINT');
    expect(await child.ended).toBe(130);
    expect(await isGone(folder)).toBe(true);
    expect((await work()).code).toBe(0);
    expect(await calls()).toEqual([
      'T001 implementer',
      'T001 reviewer',
      'T001 reviewer',
      'T002 implementer',
      'T002 reviewer',
    ]);
  });

  it('ends at once at a second Ctrl-C, and its agents with it', async () => {
    const { folder, args, env } = await project({ 'T001 implementer': ['hang'] });
    const child = started(args, env, folder);
    await soon(() => hung(folder));
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect([130, 143]).toContain(await child.ended);
    expect(await isGone(folder)).toBe(true);
  });
});

function started(args: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
  const child = spawn(process.execPath, [BIN, ...args], { env: cleanEnv(env), cwd, stdio: 'ignore' });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { ended, kill: (signal: NodeJS.Signals) => child.kill(signal) };
}

async function hung(folder: string): Promise<number> {
  const pid = Number(await readFile(join(folder, 'child'), 'utf8'));
  expect(pid).toBeGreaterThan(0);
  return pid;
}

/** Whether the process that a hanging agent has started is gone. */
async function isGone(folder: string): Promise<boolean> {
  const pid = await hung(folder);
  return soon(() => {
    expect(() => process.kill(pid, 0)).toThrow();
    return true;
  });
}
