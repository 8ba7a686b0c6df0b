import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { usageFault } from '../../src/cli/usage-fault.js';
import type { ThroughlineError } from '../../src/contracts/errors.js';
import { cli } from '../support/cli.js';

const program = await createProgram();

async function faultOf(...words: string[]): Promise<ThroughlineError> {
  const quiet = await createProgram();
  for (const each of [quiet, ...quiet.commands, ...quiet.commands.flatMap(({ commands }) => commands)])
    each.configureOutput({ writeErr() {}, writeOut() {} });
  const error = await quiet.parseAsync(['node', 'throughline', ...words]).catch((thrown: unknown) => thrown);
  if (!(error instanceof CommanderError)) throw new Error('it is not a usage error');
  return usageFault(error, program, words);
}

describe('a command that is not there', () => {
  it.each([
    [['export'], 'did you mean "throughline session export"?'],
    [['tool', 'add-task'], 'did you mean "throughline tool task-add"?'],
    [['fact'], /^did you mean "throughline facts", "throughline facts retract", /],
    [['promt'], 'did you mean prompt?'],
    [['task', 'unblock'], 'use "throughline task edit ID --status pending"'],
    [['qwerty'], '"throughline help --all" lists every command'],
    [['task', 'show'], 'use "throughline task ls"'],
    [['explain'], 'use "throughline last"'],
    [['delete'], /^did you mean "throughline task rm", "throughline note rm", /],
    [['plan', 'add'], '"throughline plan" takes one of follow, unfollow'],
  ])('%j names the commands that are called so, or lists those of the group', async (words, hint) => {
    const { message, details } = await faultOf(...words);
    expect(message).toBe(`unknown command '${words.at(-1)}'`);
    expect(details?.fix).toMatch(
      hint instanceof RegExp ? hint : new RegExp(`^${hint.replaceAll('?', '\\?')}$`),
    );
  });
});

describe('a wrong command line', () => {
  it('task move without a session names the option for it', async () => {
    const { details } = await faultOf('task', 'move', 'TAS-1', '--to', 'api');
    expect(details?.fix).toBe('name the session to move it to, as in "throughline task move TAS-1 -s api"');
  });

  it.each([
    [['publish', 'coder'], /^role is "coder": use one of implementer, reviewer, observer$/],
    [['publish'], "missing required argument 'role'"],
    [
      ['task', 'add', 'x', '--priority', 'high'],
      /'--priority <n>' .*'high' is invalid\. Use a whole number from 0 to 4/,
    ],
    [['down', 'now'], /too many arguments for 'down'/],
    [['--foo'], "unknown option '--foo'"],
    [['prompt', '--tsk', '1'], "unknown option '--tsk' (Did you mean --task?)"],
    [['prompt', '--task'], "option '-t, --task <id>' argument missing"],
  ])('%j names the argument, its value and what it may be', async (words, message) => {
    const { code, message: text } = await faultOf(...words);
    expect(code).toBe('usage');
    if (typeof message === 'string') expect(text).toBe(message);
    else expect(text).toMatch(message);
  });

  it.each([
    [
      ['task', 'add', 'Write', 'docs'],
      'if docs is the session, give it as "-s docs"; use "throughline task add [options] <content>", with a text of several words in quotes',
    ],
    [['note', 'add', 'a', 'b c'], /^use "throughline note add \[options\] <content>", with/],
    [['prompt', 'demo'], /^if demo is the session, give it as "-s demo"; use "throughline prompt /],
    [['publish', 'reviewer', 'r.json'], 'give the file by --file'],
    [['publish', 'reviewer', 'demo'], /^if demo is the session, give it as "-s demo"; /],
    [['task', 'block', 'TAS-1', 'waiting'], /^give the text by --reason; use "throughline task block /],
    [['facts', 'show', 'M2'], 'use "throughline facts --id ID"'],
    [['facts', 'corect', 'M2'], 'did you mean "throughline facts correct"?'],
    [['task', 'restore', '1'], 'use "throughline restore TAS-1"'],
    [['prompt', '2'], 'give the task by --task, as in -t 2'],
    [['prompt', 'Go on'], 'give what the agent must do by --prompt, as in -p "Go on"'],
  ])('%j: the fix says what the command takes', async (words, fix) => {
    const { details } = await faultOf(...words);
    if (typeof fix === 'string') expect(details?.fix).toBe(fix);
    else expect(details?.fix).toMatch(fix);
  });

  it('the command line says the error in one line and the fix below, and ends with the code of wrong usage', async () => {
    const { code, stderr } = await cli(['export']);
    expect(code).toBe(2);
    expect(stderr).toBe(
      'throughline: unknown command \'export\' (usage)\n-- did you mean "throughline session export"?\n',
    );
  });

  it.each([[], ['task']])('%j without a command shows help, and says nothing else', async (...words) => {
    const { code, stderr, stdout } = await cli(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: throughline .*\n {2}\$ throughline [^\n]*\n+$/s);
  });

  it('with --json the error is JSON on standard error', async () => {
    const { code, stderr, stdout } = await cli(['publish', 'coder', '--json']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'usage',
        message: 'role is "coder": use one of implementer, reviewer, observer',
        fix: '"throughline publish --help" lists what it takes, with an example',
      },
    });
  });
});

describe('--help', () => {
  it.each([60, 80, 100])('--help of every command fits a terminal of %i columns', (columns) => {
    const inner = (command: typeof program): (typeof program)[] =>
      command.commands.flatMap((each) => [each, ...inner(each)]);
    for (const command of [program, ...inner(program)]) {
      command.configureOutput({ getOutHelpWidth: () => columns });
      const wide = command
        .helpInformation()
        .split('\n')
        // The line of the usage stays whole: it is one to copy. So does a long word.
        .filter((line) => line.length > columns && !line.startsWith('Usage: ') && line.trim().includes(' '));
      expect(wide, command.name()).toEqual([]);
    }
  });

  it('a paragraph of --help is broken by the width of the terminal alone', () => {
    const work = program.commands.find((each) => each.name() === 'work');
    work?.configureOutput({ getOutHelpWidth: () => 60 });
    const [, , ...lines] = (work?.helpInformation() ?? '').split('\n');
    const paragraph = lines.slice(0, lines.indexOf(''));
    expect(paragraph.length).toBeGreaterThan(3);
    expect(paragraph.slice(0, -1).filter((line) => line.length < 45)).toEqual([]);
  });
});

it.each([
  [['publish', 'implementr'], 'role is "implementr": did you mean implementer?'],
  [['connect', 'claud'], 'client is "claud": did you mean claude?'],
  [['prompt', '--kind', 'iterations'], '--kind is "iterations": did you mean iteration?'],
])('%j names the choice that was probably meant', async (words, text) => {
  expect((await faultOf(...words)).message).toBe(text);
});
