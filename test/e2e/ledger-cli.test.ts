import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectThroughline } from '../../src/index.js';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { startUp, type Up } from '../support/cli.js';
import { runReplyOf, TASKS_MD, TASKS_MD_LATER, type TasksFolder, tasksFolder } from '../support/runs.js';
import { implemented, newSession, publishWire, reviewed } from '../support/system.js';

// `up` runs in the folder, and so may read what is in it; nothing else is configured.
let folder: TasksFolder;
let elsewhere: TasksFolder;
let up: Up;
let client: ThroughlineClient;
beforeAll(async () => {
  [folder, elsewhere] = await Promise.all([tasksFolder(), tasksFolder()]);
  up = await startUp({}, folder.path);
  client = await connectThroughline({ url: up.url });
});
afterAll(async () => {
  await client.close();
  await up.stop();
  await Promise.all([folder.remove(), elsewhere.remove()]);
});

function init(session: string, tasks: string, ...more: string[]) {
  return up.cli(['plan', 'follow', '-s', session, '--spec', 'parser', tasks, ...more], { cwd: folder.path });
}

/** Two rounds of task 2.2 in which one required fix comes back. */
async function circle(session: string): Promise<void> {
  for (const fix of ['check the\n\u001b[31mbounds', 'close the file']) {
    await publishWire(client, 'implementer', session, implemented('2.2', { summary: 'done\nat last' }));
    const review = reviewed('2.2', 'needs_changes', { required_fixes: [fix, 'name the field'] });
    const { sequence } = await publishWire(client, 'reviewer', session, review);
    await client.compile({ session, taskId: '2.2', taskPrompt: 'go on', after: sequence });
  }
}

const SHOWN = ['parser', 'plan: 2 of 5 tasks completed, 1 in progress, 2 pending', 'active task: 2.2'];

describe('plan follow', () => {
  it('init reads a file from the current folder, and shows what it found', async () => {
    await folder.write('tasks.md', TASKS_MD);
    expect(await init(newSession('init'), 'tasks.md')).toEqual({
      code: 0,
      stderr: '',
      stdout: `${SHOWN.join('\n')}\n`,
    });
  });

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
      stderr: `-- "throughline plan show ${session}" shows each such line\n`,
    });
  });

  it('init --push sends a file that the service cannot read', async () => {
    const session = newSession('init');
    const path = await elsewhere.write('tasks.md', TASKS_MD);
    const refused = await init(session, path);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/is outside the configured roots .*\(progress_ledger_missing_tasks\)\n$/);
    const pushed = await init(session, path, '--push', '--json');
    expect(pushed.code).toBe(0);
    expect(runReplyOf(JSON.parse(pushed.stdout)).run?.source).toEqual({ kind: 'document' });
  });

  it.each([
    ['a file that is not there', ['none.md'], /none\.md: does not exist.*\(progress_ledger_missing_tasks\)/],
    [
      'one to be pushed',
      ['none.md', '--push'],
      /none\.md: does not exist.*\(progress_ledger_missing_tasks\)/,
    ],
    ['a folder', ['.'], /: is not a file\. Correct the path, .*\(progress_ledger_missing_tasks\)/],
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

  it.each([
    ['no file', ['plan', 'follow', '-s', 'x', '--spec', 'a'], /no plan was found: name its file/],
    ['no session', ['plan', 'follow', '--spec', 'a', 'a.md'], /--session NAME, or set THROUGHLINE_SESSION/],
    ['a bad session', ['status', '-s', 'a.b'], /--session is "a\.b"/],
    ['no session to count for', ['session', 'show', '--telemetry'], /--session NAME/],
  ])('the ledger commands exit 2 for %s', async (_what, args, text) => {
    const refused = await up.cli(args);
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(text) });
  });
});

describe('status', () => {
  it('status shows progress, what each task needs next, and which one is stalled, as text and as JSON', async () => {
    const session = newSession('status');
    await folder.write('status.md', TASKS_MD);
    await init(session, 'status.md', '--goal', 'no throws');
    await circle(session);
    const { code, stdout, stderr } = await up.cli(['status', '-s', session]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(new RegExp(`^${session}  open  began just now, moved just now$`));
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
    expect(lines[14]).toMatch(/^ {2}just now +result! +2\.2 +reviewer needs changes/);
    const json = await up.cli(['status', '-s', session, '--json']);
    expect(runReplyOf(JSON.parse(json.stdout))).toMatchObject({
      tasks: [{ task: '2.2', stalled: true, dispatches: 4 }],
      sequence: 5,
    });
  });

  it('status follows the file, and says when it cannot be read', async () => {
    const session = newSession('status');
    await folder.write('follow.md', TASKS_MD);
    await init(session, 'follow.md');
    await folder.write('follow.md', TASKS_MD_LATER);
    expect((await up.cli(['status', '-s', session])).stdout).toContain('3 of 5 tasks completed');
    await folder.drop('follow.md');
    const { code, stdout } = await up.cli(['status', '-s', session]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^plan: 3 of 5 tasks completed.*\n.*\nthe tasks\.md cannot be read now: .*does not exist/m,
    );
  });
});

describe('the ledger of a task', () => {
  it('ledger prints the known entries of a task, one per line, and as JSON', async () => {
    const session = newSession('ledger');
    await folder.write('ledger.md', TASKS_MD);
    await init(session, 'ledger.md');
    await circle(session);
    const { code, stdout, stderr } = await up.cli(['status', '-s', session, '-t', '2.2']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toContain('ledger.task.summary  done at last');
    expect(lines).toContain('ledger.task.required_fixes  ["close the file","name the field"]');
    expect(lines).toContain('ledger.progress.active_task_id  2.2');
    expect(stdout).not.toContain('\u001b');
    const json = await up.cli(['status', '-s', session, '-t', '2.2', '--json']);
    const entries: object = JSON.parse(json.stdout);
    expect(entries).toMatchObject({
      'ledger.task.reviewer_assessment': 'needs_changes',
      'ledger.task.stalled_count': 2,
      'ledger.task.plan_version': 2,
      'ledger.task.next_action': 'dispatch_fixes',
      'ledger.task.stall_signals': [{ signal: 'ping_pong' }, { signal: 'same_fixes' }],
      'ledger.progress.totals': { total: 5, completed: 2, inProgress: 1, pending: 2 },
    });
    expect(lines.map((line) => line.split('  ')[0])).toEqual(Object.keys(entries));
  });
});

describe('telemetry', () => {
  it('telemetry adds up what compilers counted and what the session says', async () => {
    const session = newSession('telemetry');
    await circle(session);
    const bad = await up.cli(['publish', 'implementer', '-s', session, '--no-check'], { input: '{}' });
    await up.cli(['prompt', '-s', session, '-t', '1', '-p', 'x', '--after', bad.stdout.trim()]);
    await up.cli(['prompt', '-s', session, '-t', '2.2', '-p', 'x'.repeat(40_000)]);
    const { code, stdout } = await up.cli(['session', 'show', '--telemetry', '-s', session, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      session,
      sequence: expect.any(Number),
      dispatches: { implementer: 2, reviewer: 2, observer: 0, rejected: 1 },
      rejections: { schema_invalid: 1 },
      approvalLoops: 2,
      compilers: 1,
      compiles: 2,
      errors: { dispatch_rejected: 1, prompt_overflow: 1 },
      ledgerModes: { ledger: 2 },
      fallbacks: {},
      rebuilds: 0,
      shortened: 0,
      tokensWanted: expect.any(Number),
      tokensUsed: expect.any(Number),
      retrievalMs: expect.any(Number),
      retrievalMaxMs: expect.any(Number),
    });
    const lines = (await up.cli(['session', 'show', '--telemetry', '-s', session])).stdout.split('\n');
    expect(lines).toContain('dispatches      2 implementer, 2 reviewer, 0 observer, 1 rejected');
    expect(lines).toContain('approvalLoops   2');
    expect(lines).toContain('errors          1 dispatch_rejected, 1 prompt_overflow');
  });
});
