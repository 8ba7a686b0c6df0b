import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { BIN, cleanEnv, cli } from '../support/cli.js';
import { folderOfFile } from '../support/of-file.js';
import { METRICS_PLAN, PORT } from '../support/stories.js';
import { newSession, soon, systemOfFile } from '../support/system.js';

/** An agent asks, a person answers, and the next prompt holds the answer. */

const root = await folderOfFile();
const system = await systemOfFile({ env: { THROUGHLINE_TASKS_ROOTS: root } });

/** Writes each prompt to `TASK-n.md`. `AGENT` says what is special in a test. */
const AGENT = `
import { existsSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
const prompt = await text(process.stdin);
const task = /^Task (.+?)(?:, round \\d+)?$/m.exec(prompt)[1];
let n = 1;
while (existsSync(task + '-' + n + '.md')) n += 1;
writeFileSync(task + '-' + n + '.md', prompt);
let result = { status: 'completed', summary: 'Task ' + task + ' is done' };
SPECIAL
console.log('BEGIN_DISPATCH_RESULT\\n' + JSON.stringify({ task_id: task, ...result }) + '\\nEND_DISPATCH_RESULT');
`;
const ASKS = `
if (task === '1' && !prompt.includes('Answered by'))
  result = { status: 'blocked', summary: 'Metrics need a port', blockers: [${JSON.stringify(PORT)}] };
`;

async function project(special: string) {
  const session = newSession('answer');
  const folder = join(root, session);
  await mkdir(folder);
  await writeFile(join(folder, 'tasks.md'), METRICS_PLAN);
  await writeFile(
    join(folder, 'agent.mjs'),
    AGENT.replace('SPECIAL', () => special),
  );
  const env = { NATS_URL: system.url, XDG_STATE_HOME: join(root, 'state') };
  const implementer = `${process.execPath} agent.mjs`;
  return {
    session,
    folder,
    env,
    args: ['work', '--plan', 'tasks.md', '-s', session, '--check', 'true', '--implementer', implementer],
    prompt: (name: string) => readFile(join(folder, name), 'utf8'),
  };
}

describe('a question of an agent', () => {
  it('is answered while the run goes on with other tasks, and the next prompt of the task holds the answer', async () => {
    // Task 2 ends once the question is answered.
    const special = `${ASKS} if (task === '2') while (!existsSync('answered')) await sleep(20);`;
    const { session, folder, env, args, prompt } = await project(special);
    const child = spawn(process.execPath, [BIN, ...args], { cwd: folder, env: cleanEnv(env) });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
    const answerWith = `throughline answer 1 "…" -s ${session}`;
    await soon(() => prompt('2-1.md'));
    const answer = await cli(['answer', '1', 'Use 9464.', '-s', session, '--by', 'anna'], { env });
    expect(answer).toMatchObject({ code: 0 });
    await writeFile(join(folder, 'answered'), '');
    expect({ code: await ended, stderr: await stderr }).toMatchObject({ code: 0 });
    expect(await stdout).toMatch(new RegExp(`^done: 3 of 3 tasks of session ${session}\n`));
    expect(await stderr).toContain(`1 asks: ${PORT}; answer with: ${answerWith}\n`);
    const [before, after] = [await prompt('1-1.md'), await prompt('1-2.md')];
    expect(before).not.toContain('Asked:');
    expect(after).toContain(`- Asked: "${PORT}" Answered by an agent (anna): "Use 9464."`);
    await expect(prompt('1-3.md')).rejects.toThrow('ENOENT');
  });

  it('does not stop tasks that do not depend on it, is never sent again, and stands at the end of the run', async () => {
    const { session, env, folder, args, prompt } = await project(ASKS);
    for (const _ of [1, 2]) {
      const { code, stdout, stderr } = await cli(args, { env, cwd: folder });
      expect({ code, stderr }).toMatchObject({ code: 3 });
      expect(stdout).toContain('a person is needed: 2 of 3 tasks');
      expect(stdout).toContain('; 1 task waits for an answer\n');
      expect(stdout).toContain(`  1 asks: ${PORT}; answer with: throughline answer 1 "…" -s ${session}\n`);
    }
    await expect(prompt('1-2.md')).rejects.toThrow('ENOENT');
    await prompt('3-1.md');
    const other = await cli(['answer', '3', 'Use 9464.', '-s', session], { env });
    expect(other.code).toBe(3);
    expect(other.stderr).toContain(
      `Open questions are answered by:\n  throughline answer 1 "…" -s ${session} (`,
    );
  });
});
