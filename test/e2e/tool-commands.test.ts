import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { ITERATION_TEMPLATE } from '../../src/prompt/iteration-template.js';
import { cli, startUp } from '../support/cli.js';
import { folderOfFile, folderOfTest, ofFile } from '../support/of-file.js';
import { newSession, soon } from '../support/system.js';

const folder = await folderOfFile();
const up = await ofFile(startUp());

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await up.cli(args);
  expect({ code, stderr: args[0] === 'tool' ? stderr : '' }, `${args.join(' ')}: ${stderr}`).toEqual({
    code: 0,
    stderr: '',
  });
  return stdout;
}
const tool = (name: string, ...args: string[]) => run('tool', name, '--session', session, ...args);
const compiled = () => run('prompt', '--session', session, '--kind', 'iteration');

/** The words of a command line, without the quotes around some. */
const wordsOf = (command: string) =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, inner, word]) => inner ?? word ?? '');

let session = newSession('iteration');

describe('the reading commands', () => {
  beforeAll(async () => {
    session = newSession('reading');
    await tool('task-add', '--content', 'First\n\u001b[31mred');
    await tool('task-add', '--content', 'Second', '--depends-on', 'TAS-1');
    await tool('iteration-start');
    await tool('task-status', '--id', '1', '--status', 'in_progress');
    await tool('iteration-summary', '--summary', 'Half of it');
    await tool('iteration-complete');
  });

  it('session ls lists the sessions with how far they are, and finds them', async () => {
    const { stdout, stderr } = await up.cli(['session', 'ls']);
    const row = `^${session} +open +just now +just now +board 0 of 2 done, 0 results, 0 facts$`;
    expect(stdout).toMatch(new RegExp(row, 'm'));
    expect(stderr).toMatch(/^-- \d+ sessions?\n$/);
    const listed: unknown = JSON.parse(await run('session', 'ls', '--json', '--text', session));
    expect(listed).toMatchObject({
      sessions: [{ session, brief: false, status: 'open', board: { open: 2, done: 0 } }],
    });
    expect(await up.cli(['session', 'ls', '--text', 'nobody'])).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^-- no such sessions: /),
    });
  });

  it('the first task, note or message of a session says that it created the session, and no later one does', async () => {
    for (const kind of ['task', 'note', 'inbox']) {
      const name = newSession(`first-${kind}`);
      const add = (text: string) => up.cli([kind, 'add', text, '-s', name]);
      // No terminal says that a person writes it.
      const origin = "-- it counts as an agent's: .*\n";
      expect((await add('Name the field')).stderr).toMatch(
        new RegExp(`^-- created session ${name}\n${origin}$`),
      );
      expect((await add('Name the fix')).stderr).toMatch(new RegExp(`^${origin}$`));
      const slip = `${name.slice(0, 3)}${name.slice(4)}`;
      const other = await up.cli([kind, 'add', 'Name the field', '-s', slip]);
      expect(other).toMatchObject({
        code: 0,
        stderr: expect.stringContaining(`new: did you mean ${name}?\n`),
      });
    }
  });

  it('facts lists notes, too, in the order of time', async () => {
    const name = newSession('in-order');
    for (const text of ['Rule: sort imports', 'Decided: use dayjs'])
      await run('note', 'add', text, '-s', name);
    expect(await run('facts', name)).toMatch(/rule sort imports\n.*decided use dayjs/);
  });

  it('ids and ends of statements are explained where a person reads them', async () => {
    const name = newSession('explained');
    const facts = [{ subject: 'task:2', relation: 'found', object: 'the cache keeps stale keys' }];
    const asks = { status: 'blocked', summary: 'Which port?', questions: [{ text: 'Which port?' }], facts };
    for (const result of [asks, { status: 'completed', summary: 'Done' }])
      await up.cli(['publish', 'implementer', '-s', name, '--wait'], {
        input: JSON.stringify({ task_id: '2', ...result }),
      });
    await up.cli(['publish', 'reviewer', '-s', name, '--wait'], {
      input: JSON.stringify({ task_id: '2', assessment: 'approved' }),
    });
    const listed = await up.cli(['facts', name, '--all']);
    expect(listed.stdout).toMatch(/asks Which port\? \(no longer open since result \d+\)/);
    const { stdout, stderr } = await up.cli(['recall', 'stale cache keys', '-s', name]);
    expect(stdout).toMatch(/^- Found: the cache keeps stale keys \[M\d+/m);
    const [, id = ''] = /--id (M\S+)" shows where M\S+ comes from/.exec(stderr) ?? [];
    const corrected = await up.cli(['facts', 'correct', id, 'the cache is fresh', '-s', name]);
    expect(corrected.stderr).toContain(`-- ${id}v2 is the corrected ${id}, and takes its place in prompts`);
  });

  it('status in a folder that is connected says that nothing is stored yet, and in no other case', async () => {
    const cwd = await folderOfTest();
    const session = newSession('fresh');
    const args = ['connect', 'claude', '--yes', '--session', session];
    expect(await up.cli(args, { cwd })).toMatchObject({ code: 0 });
    for (const command of [['facts'], ['recall', 'dates'], ['log']])
      expect(await up.cli(command, { cwd })).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(`session ${session} is connected; nothing stored yet`),
      });
    expect(await up.cli(['status'], { cwd })).toMatchObject({
      code: 0,
      stdout: `${session}: connected; nothing stored yet\n`,
      stderr: expect.stringMatching(/^-- server: /),
    });
    expect(await up.cli(['status', session], { cwd })).toMatchObject({ code: 3, stdout: '' });
    expect((await up.cli(['status', '--all'], { cwd })).stdout).toMatch(/^services: .*extractor/m);
    await up.cli(['pause'], { cwd });
    expect((await up.cli(['status'], { cwd })).stderr).toMatch(/^-- server: .*\n-- paused: /);
  });

  it('recall searches the sessions of the project of this folder, or the one that is named', async () => {
    const cwd = await folderOfTest();
    const [session, other] = [newSession('here'), newSession('beside')];
    await up.cli(['connect', 'claude', '--yes', '--session', session, '--project', session], { cwd });
    const found = async (...more: string[]) => (await up.cli(['recall', 'sqlite', ...more], { cwd })).stderr;
    for (const name of [session, other]) {
      await run('tool', 'note-add', '--session', name, '--content', `sqlite in ${name}`);
      // Until then, the session of the folder is searched alone.
      expect(await found()).toMatch(/^-- 1 item in 1 session/);
      await run('tool', 'session-open', '--session', name, '--project', session);
    }
    expect(await found()).toMatch(/^-- 2 items in 2 sessions/);
    expect(await found('-s', other)).toMatch(/^-- 1 item in 1 session/);
    for (const command of [['recall', 'sqlite'], ['log']])
      expect(await up.cli([...command, '--project', 'nope'])).toMatchObject({
        stderr: expect.stringContaining('-- no session belongs to project nope'),
      });
  });

  it('session ls says how many sessions it does not show, and names the command that shows the next ones', async () => {
    await run('tool', 'note-add', '--session', newSession('another'), '--content', 'x');
    const { stdout, stderr } = await up.cli(['session', 'ls', '--limit', '1']);
    expect(stdout).toMatch(/^SESSION .*\n\S+ +open +/);
    const [counts = '', next = ''] = stderr.split('\n');
    expect(counts).toMatch(/^-- 1 of \d+ sessions$/);
    const all: { sessions: { session: string }[] } = JSON.parse(await run('session', 'ls', '--json'));
    expect(counts).toContain(` of ${all.sessions.length} sessions`);
    expect(next).toMatch(/^-- the next page: throughline session ls --limit 1 --page [\w-]+$/);
    const second = await up.cli([...next.split(' ').slice(5), '--json']);
    expect(JSON.parse(second.stdout)).toMatchObject({ sessions: [{ session: all.sessions[1]?.session }] });
  });

  it.each([['task ls'], ['session telemetry'], ['facts'], ['status -t 1'], ['log --trace=1'], ['prompt ls']])(
    '%s takes the session as an argument, and says in the same words that it does not exist',
    async (words) => {
      const args = words.split(' ');
      const said = 'session nobody does not exist: "throughline session ls" lists those that do';
      const stderr = `throughline: ${said} (not_found)\n`;
      for (const named of [['nobody'], ['-s', 'nobody']])
        expect(await up.cli([...args, ...named])).toEqual({ code: 3, stdout: '', stderr });
      const asJson = await up.cli([...args, 'nobody', '--json']);
      expect(asJson).toMatchObject({ code: 3, stdout: '' });
      expect(JSON.parse(asJson.stderr)).toMatchObject({ error: { code: 'not_found', message: said } });
      const known = await up.cli([...args, session]);
      expect(known.stderr).not.toContain('does not exist');
      expect(await up.cli([...args, session, '-s', session])).toEqual(known);
      expect(await up.cli([...args, session, '-s', 'other'])).toMatchObject({ code: 2, stdout: '' });
    },
  );

  it('log --trace lists the intents, and with a wrong one says how to list them', async () => {
    const name = newSession('traced');
    const entries = ['INT-1', 'INT-2', 'INT-1'].map((intent_id) =>
      JSON.stringify({ intent_id, action_type: 'TOOL_EXECUTION', payload: { tool_name: 'edit' } }),
    );
    await up.cli(['publish', 'trace', '-s', name], { input: entries.join('\n') });
    expect(await up.cli(['log', name, '--trace'])).toEqual({
      code: 0,
      stdout: 'INT-1  2 entries\nINT-2  1 entry\n',
      stderr: '-- 2 intents, the one that was added to last first\n',
    });
    const list = `"throughline log ${name} --trace" lists`;
    expect(await up.cli(['log', name, '--trace', 'INT-9'])).toEqual({
      code: 3,
      stdout: '',
      stderr: `throughline: session ${name} has no trace of intent "INT-9": ${list} those that have one (not_found)\n`,
    });
    expect(await up.cli(['log', session, '--trace'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('no intent has a trace yet: "throughline publish trace" begins one'),
    });
  });

  it('log --all is one list of all sessions by time, without prompts, and says how to see the older ones', async () => {
    const [one, other] = [newSession('one'), newSession('other')];
    const since = new Date().toISOString();
    for (const [at, name] of [one, other, one].entries())
      await run('note', 'add', `${at} of ${name}`, '-s', name);
    await run('prompt', '-s', one, '--kind', 'iteration');
    const listed: { session: string; at: string }[] = JSON.parse(
      await run('log', '--all', '--since', since, '--json'),
    );
    expect(listed.map(({ session }) => session)).toEqual([one, other, one]);
    const { stdout, stderr } = await up.cli(['log', '--since', since, '--limit', '2']);
    expect(stdout).toMatch(/^TIME +SESSION .*\n(?:\d+-\d\d-\d\d \d\d:\d\d:\d\d +o\S+ .* of o\S+\n){2}$/);
    expect(stderr).toContain(
      `-- older ones: throughline log --since ${since} --limit 2 --until ${listed[1]?.at}`,
    );
    await soon(async () => expect(await run('log', one, '--verbose')).toContain('iteration prompt'));
  });

  it('what rm takes away, restore brings back', async () => {
    const name = newSession('undone');
    for (const [kind, id] of [
      ['task', 'TAS-1'],
      ['note', 'NOT-1'],
    ] as const) {
      await run(kind, 'add', 'Keep the order', '-s', name);
      const before = await run(kind, 'ls', name, '--json');
      const { stderr } = await up.cli([kind, 'rm', id, '-s', name]);
      expect(stderr).toContain(`-- "throughline restore ${id}" brings it back`);
      expect(await run(kind, 'ls', name)).not.toContain('Keep the order');
      await run('restore', id, '-s', name);
      const [, fields] = [before, await run(kind, 'ls', name, '--json')].map((list) => JSON.parse(list));
      expect(fields[`${kind}s`], kind).toEqual(JSON.parse(before)[`${kind}s`]);
    }
  });

  it('task move adds a task to another session, and deletes it where it was', async () => {
    const [from, to] = [newSession('from'), newSession('to')];
    await run('task', 'add', 'Keep the order', '-s', from, '--priority', '1');
    const moved = await up.cli(['task', 'move', '1', '--session', to, '--from', from]);
    expect(moved.stdout).toBe(
      'TAS-1 P1 pending from an agent (a command without a terminal): Keep the order\n',
    );
    expect(moved.stderr).toMatch(new RegExp(`created session ${to}\n[^]*restore TAS-1 -s ${from}" brings`));
    expect(await run('task', 'ls', from)).not.toContain('Keep the order');
  });

  it('a task that is moved in progress is pending where it comes to, so that the next agent gets it', async () => {
    const [from, to] = [newSession('from'), newSession('to')];
    await run('task', 'add', 'Keep the order', '-s', from, '--status', 'in_progress');
    expect((await up.cli(['task', 'move', '1', '-s', to, '--from', from])).stdout).toContain(' pending ');
    expect(await run('task', 'next', '-s', to)).toContain('Keep the order');
  });

  it('what is wrong is said in the words of the command', async () => {
    const name = newSession('mistakes');
    await run('task', 'add', 'Keep the order', '-s', name);
    const said = async (...args: string[]) => (await up.cli(args)).stderr;
    expect(await said('result', 'show', '9999', '-s', name)).toContain(
      `session ${name} has no result 9999: "throughline log ${name} --kind result"`,
    );
    expect(await said('status', 'T2')).toContain('for a task, use "throughline status --task T2"');
    expect(await said('status', name, '--all')).toContain('--all shows the installation: name no session');
    expect(await said('prompt', '-s', name, '-t', '1', '-p', 'x', '--as-of', '9999')).toContain(
      'asOf (--as-of) is 9999, but the newest event of session',
    );
    expect(await said('log', name, '--since', '2h', '--until', '3h')).toContain(
      '--since is later than --until: exchange them',
    );
    expect(await said('restore', 'X1', '-s', name)).toContain('no fact, note or answer "X1" in session');
    const copies = join(await folderOfTest(), 'both.jsonl');
    const exported = await run('session', 'export', name);
    await writeFile(copies, exported + exported);
    expect(await said('session', 'import', copies, '--as', `${name}-2`)).toContain(
      'write one to a file with "throughline session export NAME", and import that',
    );
    expect(await said('session', 'import', copies)).toContain(
      `for a copy, import a file of "throughline session export ${name}" with --as NAME`,
    );
    expect(
      await said('work', '--plan', 'nothere.md', '-s', name, '--implementer', 'x', '--check', 'true'),
    ).toMatch(/nothere\.md does not exist/);
    expect(await run('task', 'block', '--help')).toContain('until "task edit ID --status pending"');
    expect(await run('publish', '--help')).toContain('"relation":"decided"');
  });

  it('status --size says how much is stored of what', async () => {
    const { stdout, stderr } = await up.cli(['status', '--size']);
    expect(stdout).toMatch(/^events of sessions +[1-9]\d* +[1-9]\d*\.\d [KM]B +"session archive"/m);
    expect(stderr).toMatch(/^-- \d+\.\d [KM]B in all; /);
  });

  it('every list with nothing in it is JSON with --json', async () => {
    const empty = newSession('empty');
    await run('session', 'open', empty);
    const NOTHING: Readonly<Record<string, readonly string[]>> = {
      session: ['--text', 'nobody'],
      learning: ['--project', 'nobody'],
      prompt: [empty],
      task: [empty],
      note: [empty],
      inbox: [empty],
    };
    const program = await createProgram();
    const lists = program.commands.filter(({ commands }) => commands.some((each) => each.name() === 'ls'));
    expect(lists.map((each) => each.name())).toEqual(expect.arrayContaining(['learning', 'result']));
    for (const list of lists.map((each) => each.name())) {
      const { code, stdout } = await up.cli([list, 'ls', ...(NOTHING[list] ?? []), '--json']);
      expect(code, list).toBe(0);
      expect(() => JSON.parse(stdout), `${list} ls --json printed ${JSON.stringify(stdout)}`).not.toThrow();
    }
  });

  it('session complete creates no session for a name that is misspelt', async () => {
    const { code, stdout, stderr } = await up.cli(['session', 'complete', 'nobody']);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain('session nobody does not exist: ');
    expect(await run('session', 'ls')).not.toContain('nobody');
  });

  it('the reading commands take the session from THROUGHLINE_SESSION, as the tools do', async () => {
    const env = { THROUGHLINE_SESSION: session };
    for (const args of [['task', 'ls'], ['status', '--plan'], ['status'], ['tool', 'task-list']]) {
      const { code, stdout } = await up.cli([...args, '--json'], { env });
      expect(code).toBe(0);
      expect(stdout).toBe(await run(...args, '--session', session, '--json'));
    }
    const bad = await up.cli(['task', 'ls'], { env: { THROUGHLINE_SESSION: 'a b' } });
    expect(bad.code).toBe(2);
    expect(bad.stderr).toContain('THROUGHLINE_SESSION');
  });

  it('the reading commands are coloured when told to, and plain in a pipe', async () => {
    const args = ['task', 'ls', session];
    const isColoured = async (env: Readonly<Record<string, string>>, ...more: string[]) =>
      (await up.cli([...args, ...more], { env: { NO_COLOR: '', ...env } })).stdout.includes('\u001b[');
    expect(await isColoured({ FORCE_COLOR: '1' })).toBe(true);
    expect(await isColoured({})).toBe(false);
    expect(await isColoured({ CI: 'true' })).toBe(false);
    expect(await isColoured({ FORCE_COLOR: '1' }, '--json')).toBe(false);
  });
});

describe('templates', () => {
  const file = (name: string) => join(folder, name);

  it('prompt template gives the built-in template, which prompts accept', async () => {
    const printed = await cli(['prompt', 'template']);
    expect(printed).toEqual({ code: 0, stdout: ITERATION_TEMPLATE, stderr: '' });
    await writeFile(file('same.md'), printed.stdout);
    session = newSession('template');
    await tool('task-add', '--content', 'a');
    const own = await run('prompt', '-s', session, '--kind', 'iteration', '--template', file('same.md'));
    expect(own).toBe(await compiled());
  });
});

describe('an agent’s iterations, on the command line only', () => {
  it('the commands work as the specification writes them, with --name', async () => {
    const name = newSession('spec');
    await run('inbox', 'add', 'Look here', '-s', name);
    for (const words of [
      'task-add --content "Write the lexer"',
      'task-add --content "Write the parser"',
      'task-status --id TAS-1 --status in_progress',
      'task-priority --id TAS-1 --priority 1',
      'task-depends --id TAS-2 --depends-on TAS-1',
      'task-next',
      'note-add --content "It is slow" --type tip',
      'inbox-mark-read --id MSG-1',
      'iteration-summary --summary "Half of it"',
      'task-status --id TAS-1 --status completed',
      'task-status --id TAS-2 --status cancelled',
      'session-complete',
    ]) {
      const [command = '', ...options] = wordsOf(words);
      await run('tool', command, '--name', name, ...options);
    }
    expect(await run('status', name)).toMatch(/^\S+ {2}completed /);
  });

  it('the commands of the workflow in a prompt work in their order, until the session is complete', async () => {
    session = newSession('workflow');
    await tool('session-open', '--goal', 'A parser');
    await tool('task-add', '--content', 'Write the lexer');
    await tool('task-add', '--content', 'Write the parser');
    // The first prompt comes before any iteration: it says how to begin one.
    for (const id of ['TAS-1', 'TAS-2']) {
      const prompt = await compiled();
      const workflow = prompt.slice(prompt.indexOf('## Workflow'));
      const commands = [...workflow.matchAll(/`throughline ([^`]+)`/g)].map(([, words = '']) => words);
      expect(commands.map((words) => words.split(' ')[1])).toEqual([
        ...['iteration-start', 'task-next', 'task-status'],
        ...['iteration-summary', 'iteration-complete', 'session-complete'],
      ]);
      for (const words of id === 'TAS-2' ? commands : commands.slice(0, -1))
        await run(...wordsOf(words.replace('TASK_ID', id).replace('AGENT', 'agent-1')));
    }
    expect(await run('status', session)).toMatch(/^\S+ {2}completed /);
    expect(await tool('task-list')).toMatch(/^ID .*\nTAS-1 .* completed .*\nTAS-2 .* completed /);
  });

  it('the commands that a shortened prompt names show what it leaves out', async () => {
    session = newSession('shortened');
    await tool('session-open', '--goal', 'g '.repeat(2000), '--spec', `# Spec\n${'a line\n'.repeat(300)}`);
    await tool('task-add', '--content', 'A task');
    await tool('note-add', '--content', 'A note');
    await tool('iteration-start');
    await tool('iteration-summary', '--summary', 'A summary');
    for (const content of ['A message', 'm '.repeat(2000)]) await tool('inbox-add', '--content', content);
    const least = await up.cli(['prompt', '--session', session, '--kind', 'iteration', '--room', '1']);
    expect(least).toMatchObject({ code: 1, stdout: '' });
    const needed = Number(/needs (\d+) tokens/.exec(least.stderr)?.[1]);
    const prompt = await run(
      ...['prompt', '--session', session, '--kind', 'iteration', '--room', `${needed}`],
    );
    const named = [...prompt.matchAll(/(?:all|whole|here): `throughline ([^`]+)`/g)].map(
      ([, words = '']) => words,
    );
    const shown = await Promise.all([...new Set(named)].map((words) => run(...wordsOf(words))));
    // A list with one short item fits where its title would say that it does not.
    for (const text of ['A task', 'A note', 'A summary', 'A message'])
      expect([prompt, ...shown].join('\n')).toContain(text);
    for (const text of ['g '.repeat(2000).trim(), 'm '.repeat(2000).trim(), 'a line\\n'.repeat(299)])
      expect(shown.join('\n').includes(text), text.slice(0, 10)).toBe(true);
  });
});

describe('the exit code', () => {
  beforeAll(async () => {
    session = newSession('codes');
    await tool('task-add', '--content', 'a');
  });
  const of = (...words: string[]) => ['tool', ...words, '--session', session];

  it.each<[what: string, code: number, args: () => string[], text: RegExp, input?: string]>([
    ['an unknown id', 3, () => of('task-delete', '--id', '9'), /no task "9".*\(not_found\)/],
    ['a duplicate', 1, () => of('task-add', '--content', ' A '), /has the same content.*\(duplicate\)/],
    ['an empty text', 2, () => of('note-add', '--content', ' '), /content: must not be empty.*\(schema_/],
    [
      'a word that is not UTF-8',
      2,
      () => ['note', 'add', 'caf\uFFFD'],
      /^throughline: "caf\uFFFD" is not UTF-8/,
    ],
    ['an empty name', 2, () => ['log', 'any', '--task', ''], /\(schema_invalid\)\n$/],
    // What cannot be read as what it should be is a failure, and no wrong use of the command.
    [
      'a result',
      1,
      () => ['publish', 'implementer', '-s', 'any'],
      /\(schema_/,
      '{"task_id":"1","status":"perhaps"}',
    ],
    ['the entries of a trace', 1, () => ['publish', 'trace', '-s', 'any'], /\(schema_/, '{"intent_id":1}'],
    ['the file of a session', 1, () => ['session', 'import', '-'], /\(schema_/, '{"format":"other"}'],
    ['a folder in place of a file', 2, () => ['session', 'import', '.'], /\. is a folder: name a file/],
  ])('for %s is %i, and the error says why', async (_what, code, args, text, input = '') => {
    const refused = await up.cli(args(), { input });
    expect(refused).toMatchObject({ code, stdout: '' });
    expect(refused.stderr).toMatch(text);
  });

  it('a command exits 2 without a session', async () => {
    for (const args of [['tool', 'task-list'], ['facts']]) {
      const refused = await up.cli(args);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toMatch(
        /no session is named: give --(name|session) NAME, or set THROUGHLINE_SESSION/,
      );
    }
  });
});
