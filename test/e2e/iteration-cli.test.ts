import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ITERATION_TEMPLATE } from '../../src/prompt/iteration-template.js';
import { startUp, type Up } from '../support/cli.js';
import { newSession } from '../support/system.js';

let up: Up;
beforeAll(async () => {
  up = await startUp();
});
afterAll(async () => {
  await up.stop();
});

/** Runs a command that must succeed, and gives what it printed. */
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

describe('an agent’s iterations, on the command line only', () => {
  it('an agent’s iterations run on the command line alone, from the spec to the end of the session', async () => {
    session = newSession('iteration');
    expect(await tool('session-open', '--goal', 'A parser', '--spec', '# Spec: parse it')).toMatch(
      /^name +iteration-/,
    );
    expect(await tool('iteration-start')).toMatch(/^#1 \S+ running \(no summary\)\n$/);
    expect(await tool('inbox-add', '--content', 'Begin with the lexer')).toBe(
      'MSG-1 unread Begin with the lexer\n',
    );

    // 1. Review inbox above, 2. Review tasks above: the prompt holds both.
    const prompt = await compiled();
    expect(prompt).toContain(
      `Session: ${session} | Iteration: #1\nBoard: 0 ready | 0 waiting | 0 completed\n`,
    );
    expect(prompt).toContain('## Spec\n> # Spec: parse it\n');
    expect(prompt).toMatch(/## Inbox\n- \[MSG-1\] \(just now\) Begin with the lexer\n/);
    expect(await tool('inbox-mark-read', '--id', 'MSG-1')).toBe('MSG-1 read Begin with the lexer\n');
    expect(await tool('task-add', '--content', 'Write the parser')).toBe(
      'TAS-1 P2 pending Write the parser\n',
    );
    expect(await tool('task-add', '--content', 'Write the lexer', '--priority', '0')).toBe(
      'TAS-2 P0 pending Write the lexer\n',
    );
    expect(await tool('task-depends', '--id', '1', '--depends-on', '2')).toBe(
      'TAS-1 P2 pending Write the parser (waits for TAS-2, pending)\n',
    );

    // Steps 2 and 4: pick one ready task, mark it completed.
    expect(await tool('task-next', '--claim', 'agent-1')).toBe(
      'TAS-2 P0 in progress Write the lexer (claimed by agent-1)\n',
    );
    expect(await tool('task-next', '--claim', 'agent-2')).toBe('no task is ready\n');
    expect(await tool('task-status', '--id', 'TAS-2', '--status', 'in_progress')).toMatch(
      /^TAS-2 P0 in progress/,
    );
    expect(await tool('note-add', '--content', 'Tokens hold offsets', '--type', 'decision')).toBe(
      'NOT-1 decision Tokens hold offsets\n',
    );
    expect(await tool('task-status', '--id', 'TAS-2', '--status', 'completed')).toMatch(
      /^TAS-2 P0 completed/,
    );

    // 7. Write summary, 8. End the iteration.
    expect(await tool('iteration-summary', '--summary', 'Lexer done')).toMatch(
      /^#1 \S+ running Lexer done \[TAS-2\]\n$/,
    );
    expect(await tool('iteration-complete')).toMatch(/^#1 \S+ complete Lexer done \[TAS-2\]\n$/);

    // 9. End the session: refused while a task is open.
    const early = await up.cli(['tool', 'session-complete', '--session', session]);
    expect(early).toMatchObject({ code: 1, stdout: '' });
    expect(early.stderr).toMatch(/1 task is open: TAS-1 \(pending\).*\(open_tasks\)\n$/);

    await tool('iteration-start');
    const second = await compiled();
    expect(second).toContain(`Iteration: #2\nBoard: 1 ready | 0 waiting | 1 completed\n`);
    expect(second).toMatch(/## Recent Progress\n- #1 \(just now\): Lexer done\n/);
    expect(second).toContain('## Notes\nDECISION:\n  - [NOT-1] Tokens hold offsets\n');
    expect(second).toContain('REMAINING:\n  - [P2] [TAS-1] Write the parser\n');
    expect(second).toContain('COMPLETED:\n  - [P0] [TAS-2] Write the lexer [iteration #1]\n');
    expect(second).not.toContain('MSG-1');
    await tool('task-next', '--claim', 'agent-1');
    await tool('task-status', '--id', 'TAS-1', '--status', 'completed');
    await tool('iteration-summary', '--summary', 'Parser done');
    await tool('iteration-complete');
    expect(await tool('session-complete')).toMatch(/\nstatus +completed\n/);

    const late = await up.cli(['tool', 'task-add', '--session', session, '--content', 'more']);
    expect(late).toMatchObject({ code: 1, stdout: '' });
    expect(late.stderr).toMatch(/session-restart first \(session_completed\)\n$/);
    expect(await tool('session-restart', '--reason', 'One more')).toMatch(/\nstatus +open\n/);
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
    expect(await tool('session-show')).toMatch(/\nstatus +completed\n/);
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

  it('the command line has a command for each that the template names', async () => {
    const named = new Set(
      [...ITERATION_TEMPLATE.matchAll(/tool ([a-z]+-[a-z-]+)/g)].map(([, name]) => name ?? ''),
    );
    expect(named.size).toBeGreaterThan(6);
    const help = await run('tool', '--help');
    for (const name of named) expect(help).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  });
});

describe('the exit code', () => {
  beforeAll(async () => {
    session = newSession('codes');
    await tool('task-add', '--content', 'a');
  });

  it.each([
    ['an unknown id', 3, ['task-status', '--id', '9', '--status', 'blocked'], /no task "9".*\(not_found\)/],
    ['a duplicate', 1, ['task-add', '--content', ' A '], /TAS-1 has the same content.*\(duplicate\)/],
    ['a cycle', 1, ['task-depends', '--id', '1', '--depends-on', '1'], /TAS-1 → TAS-1.*\(cycle\)/],
    [
      'an unknown iteration',
      3,
      ['iteration-summary', '--summary', 'x', '--number', '7'],
      /no iteration 7 is known.*\(not_found\)/,
    ],
  ] as const)('for %s is %i, and the error says why', async (_what, code, args, text) => {
    const refused = await up.cli(['tool', ...args, '--session', session]);
    expect(refused).toMatchObject({ code, stdout: '' });
    expect(refused.stderr).toMatch(text);
  });

  it.each([
    [
      'an empty text',
      ['note-add', '--content', ' '],
      /content: must not be empty \(got " "\) \(schema_invalid\)/,
    ],
    ['force without a reason', ['session-complete', '--force'], /reason: .*\(schema_invalid\)/],
    ['a note without a change', ['note-edit', '--id', '1'], /content: .*\(schema_invalid\)/],
    ['a cursor of no list', ['timeline-list', '--cursor', 'x'], /cursor: is not one .*\(schema_invalid\)/],
    ['no content', ['task-add'], /--content is missing: give --content <text>/],
    ['a bad priority', ['task-priority', '--id', '1', '--priority', '5'], /whole number from 0 to 4/],
    [
      'a priority that is not a number',
      ['task-add', '--content', 'x', '--priority', 'high'],
      /whole number from 0 to 4/,
    ],
    [
      'an unknown status',
      ['task-status', '--id', '1', '--status', 'finished-soon'],
      /pending, in-progress, completed/,
    ],
    ['an unknown tool', ['task-frobnicate'], /there is no command "task-frobnicate"/],
  ])('a tool command exits 2 for %s', async (_what, args, text) => {
    const refused = await up.cli([
      'tool',
      ...args,
      ...(args[0] === 'task-frobnicate' ? [] : ['--session', session]),
    ]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(text);
  });

  it('a tool command exits 2 without a session', async () => {
    for (const args of [['tool', 'task-list'], ['task', 'ls'], ['log'], ['session', 'show']]) {
      const refused = await up.cli(args);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toMatch(
        /no session is named: give --(name|session) NAME, or set THROUGHLINE_SESSION/,
      );
    }
  });
});

describe('options that may be given several times or not at all', () => {
  it('tool commands take options that repeat or are absent: priority 0, several dependencies, flags and --json', async () => {
    session = newSession('options');
    for (const content of ['a', 'b']) await tool('task-add', '--content', content);
    const added = await tool(
      'task-add',
      '--content',
      'c',
      '--priority',
      '0',
      '--depends-on',
      '1',
      'tas-2',
      '--json',
    );
    expect(JSON.parse(added)).toEqual({
      task: expect.objectContaining({ id: 'TAS-3', priority: 0, depends_on: ['TAS-1', 'TAS-2'] }),
      sequence: 3,
    });
    await tool('iteration-start');
    await tool('iteration-summary', '--summary', 'x');
    expect(
      await tool('iteration-summary', '--summary', 'y', '--replace', '--tasks-worked', '1', '2'),
    ).toMatch(/ y \[TAS-1, TAS-2\]\n$/);
    expect(await tool('task-delete', '--id', '2')).toBe('TAS-2 deleted\n');
    expect(await tool('task-list', '--status', 'remaining')).toMatch(
      /TAS-3 .* \(waits for TAS-1, pending; TAS-2, missing\)/,
    );
    expect(await tool('session-complete', '--force', '--reason', 'enough')).toMatch(
      /completed_reason +enough\n/,
    );
  });
});
