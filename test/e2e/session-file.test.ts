import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PER_SESSION, type SessionLayout } from '../../src/contracts/names.js';
import { cli } from '../support/cli.js';
import { layoutEnv } from '../support/layouts.js';
import { folderOfFile } from '../support/of-file.js';
import { allDealtWith, publishReview, publishWork, type System, startSystem } from '../support/system.js';

/** Sessions that move to another installation, of another layout, by a file. */

const SHARDED: SessionLayout = { layout: 'sharded', shards: 4 };
const RESULTS = 70;

const folder = await folderOfFile();

const on = ({ url }: System, ...args: string[]) => cli(args, { env: { NATS_URL: url } });
const promptOf = async ({ client }: System, session: string) =>
  (await client.compile({ session, taskId: '1', taskPrompt: 'Go on' })).prompt;
const countsOf = async ({ client }: System, session: string) =>
  (await client.runs.status({ session })).session.dispatches;

async function publish({ client, ports }: System, session: string, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n += 1)
    await publishWork(client, session, `${n % 5}`, { summary: `step ${n}` });
  await allDealtWith(ports);
}

it('all sessions move to a new installation of another layout: the same prompts, and every result counts, old and new', async () => {
  const prompts = new Map<string, string>();
  const path = join(folder, 'all.jsonl');
  {
    await using source = await startSystem({ env: layoutEnv(PER_SESSION) });
    await publish(source, 'other', 1, 5);
    await publish(source, 'one', 1, RESULTS);
    const fixes = { required_fixes: ['check the bounds'] };
    await publishReview(source.client, 'one', '1', 'needs_changes', fixes);
    await source.client.tools.taskAdd({ session: 'one', content: 'Write the parser' });
    await publish(source, 'shipped', 1, 3);
    await source.client.tools.sessionArchive({ session: 'shipped' });
    for (const session of ['one', 'other', 'shipped']) prompts.set(session, await promptOf(source, session));
    const { code, stdout } = await on(source, 'session', 'export', '--all');
    expect(code).toBe(0);
    await writeFile(path, stdout);
  }
  await using target = await startSystem({ env: layoutEnv(SHARDED) });
  expect(await on(target, 'session', 'import', path)).toMatchObject({ code: 0, stderr: '' });
  for (const [session, prompt] of prompts) expect(await promptOf(target, session)).toBe(prompt);
  expect(await countsOf(target, 'one')).toMatchObject({ implementer: RESULTS, reviewer: 1 });
  // The numbers of new results begin with 1 here.
  await publishReview(target.client, 'one', '1', 'approved');
  await publish(target, 'one', 101, 105);
  expect(await countsOf(target, 'one')).toMatchObject({ implementer: RESULTS + 5, reviewer: 2 });
  expect(await promptOf(target, 'one')).not.toContain('check the bounds');
  await expect(target.client.tools.taskAdd({ session: 'shipped', content: 'x' })).rejects.toMatchObject({
    code: 'session_archived',
  });
  expect((await on(target, 'log', 'one', '--limit', '500')).stdout).toContain('step 17');
  const again = await on(target, 'session', 'import', path);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('session one exists already') });
});
