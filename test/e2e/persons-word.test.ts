import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cleanEnv, startUp } from '../support/cli.js';
import { folderOfFile, ofFile } from '../support/of-file.js';
import { soon } from '../support/soon.js';
import { filesHolding } from '../support/store-files.js';
import { newSession, storedSnapshot, writeSnapshot } from '../support/system.js';

/** A command at a terminal speaks for a person, and one without a terminal for an agent, whatever name it gives. */

const up = await ofFile(startUp());
const agent = (...args: string[]) => up.cli(args);
const person = (...args: string[]) => up.cli(args, { terminal: true });
const session = newSession('word');
const here = ['-s', session];

it.each([
  ['facts', 'erase', 'M1', ...here, '--by', 'ann'],
  ['learning', 'accept', 'abc12', '--by', 'ann'],
  ['resume'],
])('without a terminal, %s %s is refused, since only a person decides', async (...args) => {
  expect(await agent(...args)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('only a person does this, at a terminal or on the page'),
  });
});

it('an agent changes its own notes, and none of a person', async () => {
  expect((await person('note', 'add', 'Dates are ISO 8601', '--type', 'decision', ...here)).code).toBe(0);
  expect((await agent('note', 'add', 'Tests need docker', '--by', 'ann', ...here)).code).toBe(0);
  const facts = async () => (await agent('facts', session)).stdout;
  expect(await facts()).toMatch(/ISO 8601 \(said by the person\)[\s\S]*docker$/m);
  const change = async (id: string, by = agent) => [
    (await by('note', 'edit', id, '--content', 'Dates are free', ...here)).code,
    (await by('tool', 'note-edit', '--session', session, '--id', id, '--content', 'Free')).code,
    (await by('facts', 'correct', id, 'Dates are local', ...here)).code,
    (await by('facts', 'retract', id, ...here)).code,
    (await by('note', 'rm', id, ...here)).code,
  ];
  expect(await change('N1')).toEqual([1, 1, 1, 1, 1]);
  const refused = await agent('note', 'edit', 'N1', '--content', 'Dates are free', ...here);
  expect(refused.stderr).not.toContain('counts as');
  expect(await facts()).toContain('ISO 8601');
  expect((await agent('note', 'edit', 'N2', '--content', 'Tests need podman', ...here)).code).toBe(0);
  expect((await person('facts', 'retract', `${session}/N2`)).code).toBe(0);
  expect((await person('facts', 'retract', 'N2', ...here)).stderr).toContain('ended before: retracted by');
  expect((await agent('facts', '--id', `${session}/N2`)).stdout).toContain('podman');
  expect((await agent('facts', 'restore', 'N2', ...here)).stderr).toContain('withdrawn by a person');
  expect((await person('note', 'edit', 'N1', '--content', 'Dates are RFC 3339', ...here)).code).toBe(0);
  expect((await person('note', 'rm', 'N1', ...here)).code).toBe(0);
});

it('what a person erases stands in the log where it was, and its kept prompts are said to be gone', async () => {
  const of = ['-s', newSession('erased')];
  for (const text of ['The gate is LYREBIRD blue', 'Dates are ISO 8601'])
    expect((await person('note', 'add', text, ...of)).code).toBe(0);
  await agent('prompt', '-t', '1', '-p', 'Paint the gate', ...of);
  // It is kept after the reply.
  await soon(async () => expect((await agent('prompt', 'ls', ...of)).stdout).toContain('dispatch'));
  const erased = await person('facts', 'erase', 'N1', '--yes', ...of);
  expect(erased.stderr).toContain('keeps no earlier prompts');
  expect((await agent('last', ...of)).stderr).toContain('or "facts erase" has removed them');
  const entries: { at: string; summary: string }[] = JSON.parse((await agent('log', '--json', ...of)).stdout);
  expect(entries.map(({ summary }) => summary.replace(/ by .*/, ''))).toEqual([
    'N1 was erased',
    'note NOT-2 (learning): Dates are ISO 8601',
    'note NOT-1 (learning): erased',
  ]);
});

it('what was erased before stays in the log, and a part of the log is the newest one in its order', async () => {
  const of = ['-s', newSession('twice')];
  for (const text of ['The gate is LYREBIRD blue', 'The door is MAGPIE green', 'Dates are ISO 8601'])
    await person('note', 'add', text, ...of);
  for (const id of ['N1', 'N2']) await person('facts', 'erase', id, '--yes', ...of);
  const listed = async (limit: string) => {
    const entries: { summary: string }[] = JSON.parse(
      (await agent('log', '--json', '--limit', limit, ...of)).stdout,
    );
    return entries.map(({ summary }) => summary.replace(/ by .*/, ''));
  };
  const all = ['N2 was erased', 'N1 was erased', 'note NOT-3 (learning): Dates are ISO 8601'];
  all.push('note NOT-2 (learning): erased', 'note NOT-1 (learning): erased');
  expect(await listed('50')).toEqual(all);
  expect(await listed('3')).toEqual(all.slice(0, 3));
});

it('a sentence of the user that is erased is in no event, no snapshot and no file of a hook here; its speaker stays', async () => {
  const at = newSession('sentence');
  const turn = { session_id: at, prompt_id: 'p1' };
  const hook = (payload: object) =>
    up.cli(['hook', 'claude', '--within', '20000'], {
      env: { THROUGHLINE_SESSION: at },
      input: JSON.stringify({ ...turn, ...payload }),
    });
  await hook({ hook_event_name: 'SessionStart', source: 'startup' });
  await hook({ hook_event_name: 'UserPromptSubmit', prompt: 'Always deploy from the kumquat branch' });
  const last_assistant_message = 'Understood.';
  await hook({ hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message });
  await soon(async () => expect((await agent('facts', at)).stdout).toContain('kumquat'));
  expect((await agent('log', at)).stdout).toContain('REQUEST: Always deploy');
  const [, id = ''] = /(M\d+) .*kumquat/.exec((await agent('facts', at)).stdout) ?? [];
  await writeSnapshot(up.url, at);
  expect(await storedSnapshot(up.url, at)).toContain('kumquat');
  expect((await person('facts', 'erase', id, '--yes', '-s', at)).code).toBe(0);
  expect((await agent('facts', at, '--all')).stdout).toMatch(/The user: erased by .* \(retracted/);
  expect((await agent('facts', at, '--all')).stdout).not.toContain("by the agent's line");
  for (const words of [
    ['log', at],
    ['session', 'export', at],
  ])
    expect((await agent(...words)).stdout).not.toContain('kumquat');
  expect((await storedSnapshot(up.url, at)) ?? 'kumquat').not.toContain('kumquat');
  expect(await filesHolding(cleanEnv().XDG_STATE_HOME ?? '', 'kumquat')).toEqual([]);
});

it('a correction that holds keeps its words when what it corrected is erased, and is named', async () => {
  const of = ['-s', newSession('corrected')];
  await person('note', 'add', 'Round down', '--type', 'decision', ...of);
  await person('facts', 'correct', 'N1', 'Round down to whole cents', ...of);
  const erased = await person('facts', 'erase', 'N1', '--yes', ...of);
  expect(erased.stderr).toContain('N1v2, which corrects it, has the same words');
  expect((await agent('facts', ...of)).stdout).toContain('Round down to whole cents');
});

it('who speaks at a terminal has the name of git, and its statements and answers are found by it', async () => {
  const HOME = await folderOfFile();
  await writeFile(join(HOME, '.gitconfig'), '[user]\n\tname = "Ann B"\n');
  const at = newSession('named');
  const note = ['note', 'add', 'Dates are ISO 8601', '--type', 'decision', '-s', at];
  await up.cli(note, { terminal: true, env: { HOME } });
  await person('note', 'add', 'Tabs', '-s', at);
  const found = await agent('facts', at, '--by', 'ann b');
  expect(found.stdout).toMatch(/^ID .*\nN1 .*ISO 8601 \(said by Ann B\)\n$/);
});

it('a message that is written without a terminal is of an agent, whatever name it gives', async () => {
  const at = newSession('claims');
  await agent('inbox', 'add', 'Ship it', '-s', at, '--by', 'ann');
  await person('inbox', 'add', 'Wait', '-s', at, '--by', 'ann');
  expect((await agent('inbox', 'ls', at)).stdout).toMatch(/an agent \(ann\) +Ship it\n.* ann +Wait/);
});

it('a person alone changes the goal that a person set, and marks a message for a person as read', async () => {
  const at = newSession('goal');
  const open = (by: typeof agent, goal: string) => by('session', 'open', '-s', at, '--goal', goal);
  expect((await open(person, 'Ship the parser')).code).toBe(0);
  expect((await open(agent, 'Ship anything')).stderr).toContain('the goal is what a person set');
  await agent('inbox', 'add', '@human may I drop the table?', '-s', at);
  expect((await agent('inbox', 'read', 'MSG-1', '-s', at)).stderr).toContain('MSG-1 is for a person');
  expect((await person('inbox', 'read', 'MSG-1', '-s', at)).code).toBe(0);
});

it('the name under which an agent claims a task is shown as the name of an agent', async () => {
  await agent('task', 'add', 'Write the parser', ...here);
  const claimed = await agent('task', 'next', '--claim', 'a person', ...here);
  expect(claimed.stdout).toContain('(claimed by agent a person)');
  const released = agent('task', 'release', 'TAS-1', '--note', 'Ship it', ...here);
  expect((await released).code).toBe(0);
  const prompt = await agent('prompt', '-s', session, '--task', 'TAS-1', '--prompt', 'x');
  expect(prompt.stdout).toContain('Handed over by agent a person: Ship it');
});

it('a result that is published without a terminal does not say what the user said', async () => {
  const facts = [{ subject: 'tests', relation: 'rule', object: 'Run curl', origin: 'user' }];
  const said = JSON.stringify({ task_id: 'T1', summary: 'Looked at it', facts });
  const file = join(await folderOfFile(), 'said.json');
  await writeFile(file, said);
  const shown = async (session: string, terminal: boolean) => {
    await up.cli(['publish', 'observer', '-s', session, '--wait', '--file', file], { terminal });
    return (await up.cli(['facts', session])).stdout;
  };
  expect(await shown(newSession('agents'), false)).toMatch(/Run curl$/m);
  expect(await shown(newSession('users'), true)).toContain('Run curl (said by the user');
});
