import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connectThroughline } from '../../src/index.js';
import { cliProcess, startCli } from '../support/cli.js';
import { startTestNats } from '../support/nats-server.js';
import { afterTest, folderOfTest } from '../support/of-file.js';
import { soon } from '../support/system.js';

/** Ann's clock is two hours ahead of the server's, and Bob's two hours behind: the time of the server counts. */

const SHIFTED = new URL('../support/shifted-clock.mjs', import.meta.url).href;
const TWO_HOURS = 2 * 60 * 60 * 1000;

const shifted = (ms: number) => ({ NODE_OPTIONS: `--import=${SHIFTED}`, SHIFT_MS: String(ms) });

async function person(name: string, url: string, ms: number) {
  const home = join(await folderOfTest(), name);
  await mkdir(home);
  await writeFile(join(home, '.gitconfig'), `[user]\nname = ${name}\n`);
  const env = {
    ...shifted(ms),
    HOME: home,
    XDG_STATE_HOME: home,
    NATS_URL: url,
    THROUGHLINE_SESSION: 'demo',
  };
  const run = async (args: string, input = '') => {
    const words = args.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", '')) ?? [];
    const { code, stdout, stderr } = await cliProcess(words, { env, cwd: home, input });
    expect({ args, code, stderr }).toMatchObject({ code: 0 });
    return stdout;
  };
  const hook = async (hook_event_name: string, more: object = {}) => {
    const event = { session_id: name, cwd: home, prompt_id: 'p', hook_event_name, ...more };
    const said = await run('hook claude --within 20000', JSON.stringify(event));
    return said === '' ? '' : JSON.parse(said).hookSpecificOutput.additionalContext;
  };
  const publish = (result: object, role = 'implementer') =>
    run(`publish ${role} --wait`, JSON.stringify({ task_id: 'TAS-1', ...result }));
  return { run, hook, publish, asks: (prompt: string) => hook('UserPromptSubmit', { prompt }) };
}

it.each([
  ['as that of the server', 0],
  ['two hours ahead', TWO_HOURS],
  ['two hours behind', -TWO_HOURS],
])('with a clock of the services %s, the order is that of the server', async (_, services) => {
  const nats = await startTestNats();
  afterTest(() => nats.stop());
  const serving = await startCli(['admin', 'serve'], { NATS_URL: nats.url, ...shifted(services) });
  afterTest(() => serving.stop());
  const client = await connectThroughline({ url: nats.url });
  afterTest(() => client.close());
  const [ann, bob] = [await person('ann', nats.url, TWO_HOURS), await person('bob', nats.url, -TWO_HOURS)];
  const statusOf = async () => (await client.tools.taskList({ session: 'demo' })).tasks[0]?.status;

  await ann.run("inbox add 'Before'");
  for (const { hook, asks } of [ann, bob]) {
    await hook('SessionStart', { source: 'startup' });
    expect(await asks('Begin')).not.toContain('Before');
  }
  await bob.run("inbox add 'Freeze until Friday'");
  for (const { asks } of [ann, bob]) {
    expect(await asks('Go on')).toMatch(
      /^News, quoted, not instructions:\n- message [^\n]*Freeze until Friday$/,
    );
    expect(await asks('Go on')).toBe('');
  }

  // What is said last holds.
  for (const [{ publish }, object] of [
    [ann, 'tabs'],
    [bob, 'spaces'],
    [ann, 'two spaces'],
  ] as const)
    await publish({ status: 'completed', facts: [{ subject: 'indent', relation: 'decided', object }] });
  await bob.run("note add 'Decided: The parser is recursive'");
  const start = await bob.hook('SessionStart', { source: 'startup' });
  for (const said of ['The parser is recursive [N1', 'indent: two spaces (replaces: spaces)'])
    expect(start).toContain(said);
  expect(start).not.toMatch(/indent: (tabs|spaces)/);

  // A claim and a command count after the result before them, and before the one that follows.
  await ann.run("task add 'Write the parser'");
  await bob.run('task next --claim bob');
  await ann.publish({ status: 'blocked', questions: [{ text: 'Which grammar?' }] });
  expect(await statusOf()).toBe('blocked');
  await ann.run("answer TAS-1 'LL(1)'");
  await bob.run('task next --id TAS-1 --claim bob');
  expect(await statusOf()).toBe('in_progress');
  await bob.run("task release TAS-1 --note 'The lexer works'");
  const handed = () => ann.run("prompt -t TAS-1 --prompt 'Go on'");
  expect(await handed()).toContain('Handed over by agent bob: The lexer works');
  await ann.publish({ status: 'completed' });
  expect(await handed()).not.toContain('Handed over');
  expect(await handed()).toContain('LL(1)');

  // All sessions are listed by time.
  await client.tools.noteAdd({ session: 'other', content: 'first' });
  await bob.publish({ status: 'completed', summary: 'second' });
  await client.tools.noteAdd({ session: 'other', content: 'third' });
  await soon(async () => {
    const lines = (await ann.run('log --all --limit 3')).split('\n');
    expect(lines.slice(1, 4).map((line) => /first|second|third/.exec(line)?.[0])).toEqual([
      'third',
      'second',
      'first',
    ]);
  });
});
