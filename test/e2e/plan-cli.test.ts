import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectThroughline } from '../../src/index.js';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { BIN, cleanEnv, startUp, type Up } from '../support/cli.js';
import { connectFolder } from '../support/connected.js';
import { onTerminal, PTY_MISSING } from '../support/pty.js';
import { TASKS_MD, TASKS_MD_LATER, type TasksFolder, tasksFolder } from '../support/runs.js';
import { implemented, newSession, publishWire, reviewed, soon } from '../support/system.js';

let folder: TasksFolder;
let up: Up;
let client: ThroughlineClient;
beforeAll(async () => {
  folder = await tasksFolder();
  up = await startUp({}, folder.path);
  client = await connectThroughline({ url: up.url });
});
afterAll(async () => {
  await client.close();
  await up.stop();
  await folder.remove();
});

/** A folder below the root of the services, with these plans in it. */
async function projectOf(name: string, ...plans: readonly string[]): Promise<string> {
  const root = join(folder.path, name);
  await mkdir(root);
  for (const plan of plans) {
    await mkdir(dirname(join(root, plan)), { recursive: true });
    await writeFile(join(root, plan), TASKS_MD);
  }
  return root;
}

/** A command that runs until Ctrl-C, and what it has printed. */
function watching(args: readonly string[], cwd = folder.path) {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: cleanEnv({ NATS_URL: up.url }),
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd,
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    shows: (text: string | RegExp) => soon(() => expect(stdout).toMatch(text)),
    async interrupt() {
      child.kill('SIGINT');
      return exited;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const PLAN = TASKS_MD.replace('[ ] 2.2', '[!] 2.2').concat('- [ ] 4. Write a printer\n- [ ] 4. Again\n');

describe('plan', () => {
  it('plan shows the tree of the tasks with their status, what is next, what came of them, and the problems', async () => {
    const session = newSession('plan');
    const path = await folder.write('plan.md', PLAN);
    await up.cli(['plan', 'follow', '-s', session, '--spec', 'parser', path]);
    await publishWire(client, 'implementer', session, implemented('2.1'));
    const { sequence } = await publishWire(client, 'reviewer', session, reviewed('4', 'approved'));
    await client.compile({ session, taskId: '4', taskPrompt: 'x', after: sequence });
    const { code, stdout, stderr } = await up.cli(['plan', 'show', session]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      'parser',
      'plan: 2 of 7 tasks completed, 1 in progress, 4 pending',
      'active task: 4~2',
      'drift: task 4 is approved, but it is not ticked in the plan: tick its line',
      '[x] 1      Write the lexer',
      '[-] 2      Write the parser',
      '[x]   2.1  Expressions  implementer completed, next: a review',
      '[!]   2.2  Statements (blocked)',
      '[ ] 3      Write a manual (optional)',
      '[ ] 4      Write a printer  reviewer approved, next: the next task',
      '[ ] 4~2    Again (next)',
      'tasks.md: 1 line placed by a guess',
      expect.stringMatching(/^line 10: .* \(duplicate_id\)$/),
      '',
    ]);
  });

  it('plan gives one task with its prompt, tasks of one status, and JSON; the tool prints the same', async () => {
    const session = newSession('plan');
    const path = await folder.write(
      'prompted.md',
      '- [ ] 1. Write\n  - _Prompt: Role: writer_\n- [!] 2. Ask\n  - Escapes\n    - as \\n\n  Report the line.\n  - _Requirements: 1.2_\n',
    );
    await up.cli(['plan', 'follow', '-s', session, path]);
    const one = await up.cli(['plan', 'show', session, '--task', '1']);
    expect(one.stdout).toMatch(/^\[ \] 1 {2}Write \(next\)\n {4}Role: writer$/m);
    const described = await up.cli(['plan', 'show', session, '--task', '2']);
    expect(described.stdout).toMatch(
      /^\[!\] 2 {2}Ask \(blocked\)\n {4}- Escapes\n {6}- as \\n\n {4}Report the line\.\n {4}Requirements:\n {4}- 1\.2$/m,
    );
    const blocked = await up.cli(['plan', 'show', session, '--status', 'blocked', '--json']);
    expect(JSON.parse(blocked.stdout)).toMatchObject({ tasks: [{ id: '2', blocked: true }] });
    const all = await up.cli(['plan', 'show', session]);
    const tool = await up.cli(['tool', 'plan-show', '-s', session]);
    expect(tool).toEqual(all);
    const missing = await up.cli(['plan', 'show', session, '--task', '3']);
    expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining('known: 1, 2') });
  });

  it('plan unfollow takes the tasks of the plan out of the session, and keeps the results', async () => {
    const session = newSession('unfollowed');
    const path = await folder.write('unfollowed.md', TASKS_MD);
    await up.cli(['plan', 'follow', '-s', session, path]);
    await publishWire(client, 'implementer', session, implemented('2.2'));
    await soon(async () => expect((await client.runStatus(session)).tasks).toHaveLength(1));
    const claimed = await client.tools.taskNext({ session, claim: 'one' });
    expect(claimed.plan?.id).toBe('2.2');
    for (const _ of ['once', 'again']) {
      const { code, stdout, stderr } = await up.cli(['plan', 'unfollow', session]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('no plan: "throughline plan follow" reads one');
    }
    const { run, tasks } = await client.runStatus(session);
    expect({ run, tasks }).toMatchObject({ run: null, tasks: [{ task: '2.2' }] });
    const { entries } = await client.tools.timelineList({ session, kinds: ['command'] });
    expect(entries.filter(({ type }) => type === 'run.ended')).toHaveLength(1);
    // Claims left with the tasks: another agent may have them when the plan is followed again.
    await up.cli(['plan', 'follow', '-s', session, path]);
    expect((await client.tools.taskNext({ session, claim: 'other' })).plan?.id).toBe('2.2');
    expect(await up.cli(['plan', 'unfollow', newSession('nothing')])).toMatchObject({ code: 3 });
  });
});

describe('--watch', () => {
  it('plan show --watch and status --watch follow as well', async () => {
    const session = newSession('watch');
    await client.initRun({ session, spec: 'parser', tasksText: TASKS_MD });
    await using plan = watching(['plan', 'show', session, '--watch', '--json']);
    await using ledger = watching(['status', session, '--watch']);
    await Promise.all([plan.shows(/"next_task_id":"2\.2"/), ledger.shows(/active task: 2\.2/)]);
    await publishWire(client, 'implementer', session, implemented('2.2'));
    await Promise.all([
      plan.shows(/"last_outcome":"implementer_completed"/),
      ledger.shows(/implementer completed, next: a review/),
    ]);
    expect(await Promise.all([plan.interrupt(), ledger.interrupt()])).toEqual([0, 0]);
  });

  it.each([
    ['read by the service', []],
    ['pushed', ['--push']],
  ])('init --watch reads a file again that is %s', async (_what, more) => {
    const session = newSession('watch');
    const path = await folder.write(`${session}.md`, TASKS_MD);
    await using watched = watching(['plan', 'follow', '-s', session, path, '--watch', ...more]);
    await watched.shows(/2 of 5 tasks completed/);
    await folder.write(`${session}.md`, TASKS_MD_LATER);
    await watched.shows(/3 of 5 tasks completed/);
    expect(await watched.interrupt()).toBe(0);
  });

  it('a command with --watch that fails at first ends with its error', async () => {
    const session = newSession('watch');
    expect(await up.cli(['status', session, '--watch'])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/\(not_found\)\n$/),
    });
  });
});

describe('in a project that is connected', () => {
  it('commands work on the session of its agents', async () => {
    const name = newSession('connected');
    const cwd = await projectOf(name, 'tasks.md');
    connectFolder(cwd, { session: name });
    const { code, stdout } = await up.cli(['plan', 'follow', 'tasks.md'], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(new RegExp(`^${name}\n`)) });
    expect(await up.cli(['plan', 'show', '--json'], { cwd })).toMatchObject({ code: 0 });
  });
});

describe('init without a file', () => {
  it.each([
    ['.kiro/specs/parser/tasks.md', 'parser'],
    ['specs/parser/tasks.md', 'parser'],
    ['.spec-workflow/specs/parser/tasks.md', 'parser'],
    ['openspec/changes/parser/tasks.md', 'parser'],
    ['PLAN.md', undefined],
    ['TODO.md', undefined],
  ])('init without a file takes %s, and says so', async (plan, spec) => {
    const name = newSession('found');
    const cwd = await projectOf(name, plan);
    const { code, stdout, stderr } = await up.cli(['plan', 'follow', '-s', name], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: `-- found ${plan}\n` });
    expect(stdout).toMatch(new RegExp(`^${spec ?? name}\nplan: 2 of 5 tasks completed`));
  });

  it('init without a file lists several plans, each with the exact command', async () => {
    const name = newSession('several');
    const cwd = await projectOf(name, 'specs/a b/tasks.md', 'specs/c/tasks.md', 'tasks.md');
    const { code, stdout, stderr } = await up.cli(['plan', 'follow', '-s', name, '--spec', 'x'], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const command = `throughline plan follow -s ${name} --spec x`;
    for (const path of ["'specs/a b/tasks.md'", 'specs/c/tasks.md', 'tasks.md'])
      expect(stderr).toContain(`\n  ${command} ${path}\n`.trimEnd());
  });

  it.skipIf(PTY_MISSING !== undefined)(
    'init without a file asks on a terminal which of several plans it is',
    async () => {
      const name = newSession('asked');
      const cwd = await projectOf(name, 'specs/a/tasks.md', 'specs/c/tasks.md');
      await using terminal = await onTerminal(['plan', 'follow', '-s', name], { NATS_URL: up.url }, cwd);
      await terminal.shows('Which plan, 1 to 2?');
      terminal.type('2\n');
      await terminal.shows(/^c\nplan: 2 of 5 tasks completed/m);
      expect((await terminal.ended()).code).toBe(0);
    },
  );

  it('init without a file names the places where it has looked', async () => {
    const name = newSession('none');
    const cwd = await projectOf(name);
    const { code, stderr } = await up.cli(['plan', 'follow', '-s', name], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/no plan was found: name its file\. Looked for \.kiro\/specs\/\*\/tasks\.md, /);
  });
});

describe('an error of init', () => {
  it.each([
    ['a file without tasks', [], /^.*\S+prose\.md holds no task that can be read/],
    ['a pushed file without tasks', ['--push'], /^.*\S+prose\.md holds no task that can be read/],
  ])('an error about %s names the option that was typed', async (_what, more, said) => {
    const path = await folder.write('prose.md', 'It reads queries.\n');
    const { code, stderr } = await up.cli(['plan', 'follow', '-s', newSession('wrong'), path, ...more]);
    expect(code).toBe(1);
    expect(stderr).toMatch(said);
    expect(stderr).not.toMatch(/tasksText|tasksPath/);
  });

  it.each([[[]], [['--push']]])(
    'an error about a file that is not there says what to do (%j)',
    async (more) => {
      const { code, stderr } = await up.cli([
        ...['plan', 'follow', '-s', newSession('wrong')],
        'gone.md',
        ...more,
      ]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/gone\.md: does not exist.*Correct the path, or leave it out/);
    },
  );

  it('an error about a name or a goal names the option', async () => {
    const path = await folder.write('named.md', TASKS_MD);
    const args = ['plan', 'follow', '-s', newSession('wrong'), path];
    expect((await up.cli([...args, '--goal', ' '])).stderr).toMatch(/--goal: must not be empty/);
    expect((await up.cli([...args, '--spec', 'x'.repeat(201)])).stderr).toMatch(
      /--spec: must be at most 200/,
    );
  });
});

describe('a plain checklist', () => {
  it('init, status and plan say with one count and one line that tasks have no id', async () => {
    const session = newSession('plain');
    const path = await folder.write('todo.md', '# Todo\n- [ ] milk\n- [x] bread\n- [ ] salt\n');
    const said = 'tasks.md: 3 tasks without an id';
    const line = /line 2: 3 tasks have no id of their own; .* \(checkbox_without_id\)/;
    const init = await up.cli(['plan', 'follow', '-s', session, path]);
    expect(init.stderr).toMatch(line);
    expect(init.stdout).toContain(said);
    expect((await up.cli(['status', session])).stdout).toContain(said);
    const { stdout } = await up.cli(['plan', 'show', session]);
    expect(stdout).toContain(said);
    expect(stdout).toMatch(line);
  });
});

describe('a file that only the caller has', () => {
  it('init of a file outside the roots suggests --push, with a command that works', async () => {
    await using elsewhere = await tasksFolder();
    const path = await elsewhere.write('tasks.md', TASKS_MD);
    const session = newSession('outside');
    const refused = await up.cli(['plan', 'follow', '-s', session, '--spec', 'parser', path]);
    expect(refused.code).toBe(1);
    const [, words = ''] = /To send its text instead: throughline (.*) \(progress/.exec(refused.stderr) ?? [];
    expect(words).toBe(`plan follow -s ${session} --spec parser ${path} --push`);
    expect((await up.cli(words.split(' '))).code).toBe(0);
  });
});

describe('ledger of a task', () => {
  it('ledger of a task that nobody knows says so, and names near ones', async () => {
    const session = newSession('ledger');
    await client.initRun({ session, spec: 'parser', tasksText: TASKS_MD });
    const known = await up.cli(['status', session, '--task', '2.2']);
    expect(known.stdout).toContain('ledger.progress.next_task_id  2.2\n');
    expect(await up.cli(['status', session, '--task', '02'])).toEqual({
      code: 0,
      stdout: '',
      stderr: '-- nothing is known about task 02; did you mean 2?\n',
    });
    expect((await up.cli(['status', session, '--task', '9'])).stderr).toBe(
      '-- nothing is known about task 9; known: 1, 2, 2.1, 2.2, 3\n',
    );
  });
});
