import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { connectThroughline } from '../../src/index.js';
import { startUp } from '../support/cli.js';
import { connectFolder } from '../support/connected.js';
import { newFolder, ofFile } from '../support/of-file.js';
import { runReplyOf, TASKS_MD } from '../support/runs.js';
import { newSession, publishReview, publishWire, publishWork, reviewed, soon } from '../support/system.js';

const folder = await ofFile(newFolder());
const up = await ofFile(startUp({}, folder.path));
const client = await ofFile(connectThroughline({ url: up.url }));

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
const PLAN = TASKS_MD.replace('[ ] 2.2', '[!] 2.2').concat('- [ ] 4. Write a printer\n- [ ] 4. Again\n');

describe('plan', () => {
  it('plan shows the tree of the tasks with their status, what is next, what came of them, and the problems', async () => {
    const session = newSession('plan');
    const path = await folder.write('plan.md', PLAN);
    await up.cli(['plan', 'follow', '-s', session, '--spec', 'parser', path]);
    await publishWork(client, session, '2.1');
    const { sequence } = await publishReview(client, session, '4', 'approved');
    await client.compile({ session, taskId: '4', taskPrompt: 'x', after: sequence });
    const { code, stdout, stderr } = await up.cli(['status', session, '--plan']);
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

  it('status shows one task with its prompt, and the tasks of one status', async () => {
    const session = newSession('plan');
    const path = await folder.write(
      'prompted.md',
      '- [ ] 1. Write\n  - _Prompt: Role: writer_\n- [!] 2. Ask\n  - Escapes\n    - as \\n\n  Report the line.\n  - _Requirements: 1.2_\n',
    );
    await up.cli(['plan', 'follow', '-s', session, path]);
    const one = await up.cli(['status', session, '--task', '1']);
    expect(one.stdout).toMatch(/^\[ \] 1 {2}Write\n {4}Role: writer$/m);
    const described = await up.cli(['status', session, '--task', '2']);
    expect(described.stdout).toMatch(
      /^\[!\] 2 {2}Ask \(blocked\)\n {4}- Escapes\n {6}- as \\n\n {4}Report the line\.\n {4}Requirements:\n {4}- 1\.2$/m,
    );
    const blocked = await up.cli(['status', session, '--plan', '--status', 'blocked', '--json']);
    expect(JSON.parse(blocked.stdout)).toMatchObject({ lists: { plan: [{ id: '2', blocked: true }] } });
    expect(await up.cli(['status', session, '--status', 'blocked'])).toMatchObject({ code: 2 });
  });

  it('plan unfollow takes the tasks of the plan out of the session, and keeps the results', async () => {
    const session = newSession('unfollowed');
    const path = await folder.write('unfollowed.md', TASKS_MD);
    await up.cli(['plan', 'follow', '-s', session, path]);
    await publishWork(client, session, '2.2');
    await soon(async () => expect((await client.runs.status({ session })).tasks).toHaveLength(1));
    const claimed = await client.tools.taskNext({ session, claim: 'one' });
    expect(claimed.plan?.id).toBe('2.2');
    for (const _ of ['once', 'again']) {
      const { code, stdout, stderr } = await up.cli(['plan', 'unfollow', session], { terminal: true });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('no plan: "throughline plan follow" reads one');
    }
    const { run, tasks } = await client.runs.status({ session });
    expect({ run, tasks }).toMatchObject({ run: null, tasks: [{ task: '2.2' }] });
    const { entries } = await client.tools.timelineList({ session, kinds: ['command'] });
    expect(entries.filter(({ type }) => type === 'run.ended')).toHaveLength(1);
    // Claims left with the tasks: another agent may have them when the plan is followed again.
    await up.cli(['plan', 'follow', '-s', session, path]);
    expect((await client.tools.taskNext({ session, claim: 'other' })).plan?.id).toBe('2.2');
    const nothing = ['plan', 'unfollow', newSession('nothing')];
    expect(await up.cli(nothing, { terminal: true })).toMatchObject({ code: 3 });
    expect((await up.cli(nothing)).stderr).toContain('only a person does this');
  });
});

it('in a project that is connected, commands work on the session of its agents', async () => {
  const name = newSession('connected');
  const cwd = await projectOf(name, 'tasks.md');
  connectFolder(cwd, { session: name });
  const { code, stdout } = await up.cli(['plan', 'follow', 'tasks.md'], { cwd });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(new RegExp(`^${name}\n`)) });
});

describe('init without a file', () => {
  it.each([
    ['.kiro/specs/parser/tasks.md', 'parser'],
    ['openspec/changes/parser/tasks.md', 'parser'],
    ['PLAN.md', undefined],
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
});

describe('an error of init', () => {
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
  it('init and plan say with one count and one line that tasks have no id', async () => {
    const session = newSession('plain');
    const path = await folder.write('todo.md', '# Todo\n- [ ] milk\n- [x] bread\n- [ ] salt\n');
    const line = /line 2: 3 tasks have no id of their own; .* \(checkbox_without_id\)/;
    const { stdout, stderr } = await up.cli(['plan', 'follow', '-s', session, path]);
    expect(stderr).toMatch(line);
    expect(stdout).toContain('tasks.md: 3 tasks without an id');
    expect((await up.cli(['status', session, '--plan'])).stdout).toMatch(line);
  });
});

describe('a file that only the caller has', () => {
  const shown = async (session: string) => {
    const { run, lists } = await client.runs.status({ session, lists: ['plan'] });
    return { source: run?.source.kind, tasks: lists?.plan.map(({ text }) => text) };
  };

  it('init of a file outside the roots sends its text, with the requirements beside it', async () => {
    await using elsewhere = await newFolder();
    const path = await elsewhere.write('tasks.md', '- [ ] 1. Lexer\n  - _Requirements: 1.1_\n');
    await elsewhere.write('requirements.md', '### Requirement 1\n1. Tables\n');
    const session = newSession('outside');
    expect(await up.cli(['plan', 'follow', '-s', session, path])).toMatchObject({ code: 0, stderr: '' });
    expect(await shown(session)).toEqual({ source: 'document', tasks: ['Lexer'] });
    expect((await up.cli(['status', session, '--task', '1'])).stdout).toContain('1.1: Tables');
  });

  it('a path that leads to another file where the service runs stands for the text of the client', async () => {
    const session = newSession('member');
    const tasksPath = await folder.write('host.md', '- [ ] 1. Of the host\n');
    await client.runs.init({ session, tasksPath, tasksText: '- [ ] 1. Of the member\n' });
    await folder.write('host.md', '- [ ] 1. Of the host, again\n');
    await client.compile({ session, taskId: '1', taskPrompt: 'x' });
    expect(await shown(session)).toEqual({ source: 'document', tasks: ['Of the member'] });
    // The same text is the same file, which is followed.
    await client.runs.init({ session, tasksPath, tasksText: '- [ ] 1. Of the host, again\n' });
    await folder.write('host.md', '- [ ] 1. Later\n');
    expect(await shown(session)).toEqual({ source: 'file', tasks: ['Later'] });
  });
});

describe('a task that is not known', () => {
  it('ledger of a task that nobody knows says so, and names near ones', async () => {
    const session = newSession('ledger');
    await client.runs.init({ session, spec: 'parser', tasksText: TASKS_MD });
    const known = await up.cli(['status', session, '--task', '2.2']);
    expect(known.stdout).toContain('Next task: 2.2\n');
    const unknown = (task: string) => up.cli(['status', session, '--task', task]);
    const near = 'throughline: nothing is known about task 02; did you mean 2? (not_found)\n';
    expect(await unknown('02')).toEqual({ code: 3, stdout: '', stderr: near });
    expect((await unknown('9')).stderr).toContain('about task 9; known: 1, 2, 2.1, 2.2, 3 (');
  });
});

function init(session: string, tasks: string, ...more: string[]) {
  return up.cli(['plan', 'follow', '-s', session, '--spec', 'parser', tasks, ...more], { cwd: folder.path });
}

/** Two rounds of task 2.2 in which one required fix comes back. */
async function circle(session: string): Promise<void> {
  for (const fix of ['check the\n\u001b[31mbounds', 'close the file']) {
    await publishWork(client, session, '2.2', { summary: 'done\nat last' });
    const review = reviewed('2.2', 'needs_changes', { required_fixes: [fix, 'name the field'] });
    const { sequence } = await publishWire(client, 'reviewer', session, review);
    await client.compile({ session, taskId: '2.2', taskPrompt: 'go on', after: sequence });
  }
}

const SHOWN = ['parser', 'plan: 2 of 5 tasks completed, 1 in progress, 2 pending', 'active task: 2.2'];

describe('plan follow', () => {
  it('init names on standard error the lines that it could not place', async () => {
    await folder.write('odd.md', `${TASKS_MD}- [ ] 3. Again\n`);
    const session = newSession('init');
    const { code, stdout, stderr } = await init(session, 'odd.md');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^-- line 9: .+ \(duplicate_id\)\n$/),
    });
    expect(stdout).toContain('tasks.md: 1 line placed by a guess\n');
    const later = await up.cli(['status', '-s', session]);
    expect({ stdout: later.stdout, stderr: later.stderr }).toEqual({
      stdout: expect.stringContaining(stdout),
      stderr: expect.stringMatching(
        new RegExp(`^-- server: .+\n-- "throughline status ${session} --plan" shows each such line\n$`),
      ),
    });
  });

  it('of two versions of one plan the later commit stays, else the one that came last, and another plan is refused', async () => {
    const session = newSession('versions');
    const [bob, ann] = [join(folder.path, 'bob'), join(folder.path, 'ann')];
    const git = (cwd: string, ...args: string[]) =>
      promisify(execFile)('git', ['-c', 'user.name=x', '-c', 'user.email=x@y.z', ...args], { cwd });
    const follow = async (cwd: string, file = 'tasks.md') =>
      up.cli(['plan', 'follow', file, '-s', session], { cwd });
    const tasks = async () =>
      (await client.runs.status({ session, lists: ['plan'] })).lists?.plan.map(({ text }) => text);
    await git(folder.path, 'init', '-q', 'bob');
    await folder.write('bob/tasks.md', '- [ ] 1. Lexer\n');
    await git(bob, 'add', '.');
    await git(bob, 'commit', '-qm', 'one');
    await git(folder.path, 'clone', '-q', 'bob', 'ann');
    await folder.write('ann/tasks.md', '- [ ] 1. Lexer\n- [ ] 2. Parser\n');
    await git(ann, 'commit', '-qam', 'two');
    expect((await follow(ann)).stderr).toBe('');
    expect((await follow(bob)).stderr).toMatch(
      /^-- kept: the version of commit [\da-f]{7}, which comes after/,
    );
    expect(await tasks()).toEqual(['Lexer', 'Parser']);
    const asked = await up.cli(['prompt', '-s', session, '-t', '2']);
    expect(asked.stdout).toMatch(/^Plan \(commit [\da-f]{7}\): 0 of 2 done$/m);
    await publishWork(client, session, '2', {}, { wait: true });
    await folder.write('bob/tasks.md', '- [ ] 1. Lexer\n- [ ] 3. Printer\n');
    await follow(bob);
    expect(await tasks()).toEqual(['Lexer', 'Printer']);
    const { tasks: known } = await client.runs.status({ session });
    expect(known.map(({ task }) => task)).toEqual(['2']);
    expect((await up.cli(['prompt', '-s', session, '-t', '3'])).stdout).toContain(
      'Plan (not committed): 0 of 2',
    );
    await folder.write('bob/other.md', '- [ ] 1. Printer\n');
    expect(await follow(bob, 'other.md')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /follows tasks\.md: "throughline plan unfollow .*" first, or .* another session/,
      ),
    });
  });

  it.each([
    ['one that is nowhere', ['none.md'], /none\.md: does not exist.*\(progress_ledger_missing_tasks\)/],
    [
      'prose',
      ['prose.md'],
      /prose\.md holds no task .*\(line \d+: .*\); plans that are read: [\s\S]*\(progress_ledger_parse_failed\)/,
    ],
  ])('init exits 1 for %s', async (_what, [tasks = '', ...more], text) => {
    await folder.write('prose.md', 'The parser reads queries.\n');
    const refused = await init('refused', tasks, ...more);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(text) });
  });
});

describe('status', () => {
  it('status shows progress, what each task needs next, and which one is stalled, as text and as JSON', async () => {
    const session = newSession('status');
    await folder.write('status.md', TASKS_MD);
    await init(session, 'status.md', '--goal', 'no throws');
    await circle(session);
    const { code, stdout, stderr } = await up.cli(['status', '-s', session]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^-- server: .+\n$/) });
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(new RegExp(`^${session}  open  began [^,]+, moved [^,]+$`));
    expect(lines.slice(1, 14)).toEqual([
      'parser: no throws',
      ...SHOWN.slice(1),
      '',
      'Open findings (2)',
      '  name the field (must fix, task 2.2)',
      '  close the file (must fix, task 2.2)',
      '',
      'Tasks with results',
      '  2.2  reviewer needs changes, next: the fixes, 2 required fixes (4 results, plan: pending)',
      '    stalled: sent back by a review 2 times: close the file; name the field · the same fix required 2 times: name the field (2 times)',
      '',
      'Last',
    ]);
    expect(lines[14]).toMatch(/^ {2}\S.* result! +2\.2 +reviewer needs changes/);
    const json = await up.cli(['status', '-s', session, '--json']);
    expect(runReplyOf(JSON.parse(json.stdout))).toMatchObject({
      tasks: [{ task: '2.2', stalled: true, dispatches: 4 }],
      sequence: 5,
    });
  });
});

describe('the ledger of a task', () => {
  it('status --task prints what is known of a task in words, and its entries as JSON', async () => {
    const session = newSession('ledger');
    await folder.write('ledger.md', TASKS_MD);
    await init(session, 'ledger.md');
    await circle(session);
    const { code, stdout, stderr } = await up.cli(['status', '-s', session, '-t', '2.2']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const said of ['Summary: done at last', 'Required fixes:\n  close the file\n', 'Active task: 2.2'])
      expect(stdout).toContain(`\n${said}`);
    expect(stdout).not.toMatch(/_|plan version/);
    expect(stdout).not.toContain('\u001b');
    const json = await up.cli(['status', '-s', session, '-t', '2.2', '--json']);
    const { entries }: { entries: object } = JSON.parse(json.stdout);
    expect(entries).toMatchObject({ 'ledger.task.summary': 'done at last' });
  });
});

describe('telemetry', () => {
  it('telemetry adds up the kept prompts and what the session says', async () => {
    const session = newSession('telemetry');
    await circle(session);
    const bad = await up.cli(['publish', 'implementer', '-s', session, '--no-check'], { input: '{}' });
    await up.cli(['prompt', '-s', session, '-t', '1', '-p', 'x', '--after', bad.stdout.trim()]);
    await up.cli(['prompt', '-s', session, '-t', '2.2', '-p', 'x'.repeat(40_000)]);
    const shown = await soon(async () => {
      const { stdout } = await up.cli(['session', 'telemetry', '-s', session, '--json']);
      const telemetry = JSON.parse(stdout);
      // Prompts are kept after they were answered.
      expect(telemetry.compiles).toBe(2);
      return telemetry;
    });
    expect(shown).toEqual({
      session,
      sequence: expect.any(Number),
      dispatches: { implementer: 2, reviewer: 2, observer: 0, rejected: 1 },
      rejections: { schema_invalid: 1 },
      approvalLoops: 2,
      compiles: 2,
      ledgerModes: { ledger: 2 },
      fallbacks: {},
      rebuilds: 0,
      shortened: 0,
      tokensWanted: expect.any(Number),
      tokensUsed: expect.any(Number),
      retrievalMs: expect.any(Number),
      retrievalMaxMs: expect.any(Number),
    });
    const lines = (await up.cli(['session', 'telemetry', '-s', session])).stdout.split('\n');
    expect(lines).toContain('results         2 implementer, 2 reviewer, 0 observer, 1 rejected');
    expect(lines).toContain('approvalLoops   2');
    expect(lines).toContain('ledgerModes     2 ledger');
  });
});
