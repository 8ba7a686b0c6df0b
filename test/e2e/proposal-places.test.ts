import { expect, it } from 'vitest';
import { MAX_WAITING_OF_SESSION } from '../../src/memory/learnings/harvest.js';
import { cli } from '../support/cli.js';
import { soon, startSystem } from '../support/system.js';

const MANY = MAX_WAITING_OF_SESSION + 10;
const PROJECT = 'shared';

it('sessions share the places for proposals: one with many notes leaves another its part', async () => {
  await using system = await startSystem({ only: ['tools', 'learnings'] });
  const { tools, proposals } = system.client;
  for (const session of ['crowd', 'quiet']) await tools.sessionOpen({ session, project: PROJECT });
  const noted = Array.from(
    { length: MANY },
    (_, n) => `Number ${String.fromCharCode(97 + (n % 26)).repeat(3 + n)}`,
  );
  await Promise.all(noted.map((content) => tools.noteAdd({ session: 'crowd', content })));
  const waiting = () => proposals.list({ project: PROJECT });
  await soon(async () => expect(await waiting()).toMatchObject({ sessionsPaused: ['crowd'] }));
  await tools.noteAdd({ session: 'quiet', content: 'Close every file' });
  const { total } = await soon(async () => {
    const found = await waiting();
    expect(found.proposals.map(({ source }) => source.session)).toContain('quiet');
    return found;
  });
  expect(total).toBe(MAX_WAITING_OF_SESSION + 1);

  // Moved to another project, the notes would take places there.
  await expect(tools.sessionOpen({ session: 'crowd', project: 'victim' })).rejects.toMatchObject({
    code: 'project_bound',
    details: { field: 'project', project: PROJECT },
  });
  await tools.noteAdd({ session: 'crowd', content: 'One more' });
  expect(await proposals.list({ project: 'victim', status: 'all' })).toMatchObject({ total: 0 });

  // All of them, page by page, as the SDK and the command line give them.
  const ids = (await waiting()).proposals.map(({ id }) => id);
  const paged: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await proposals.list({ project: PROJECT, limit: 15, cursor });
    paged.push(...page.proposals.map(({ id }) => id));
    cursor = page.next;
    if (cursor === undefined) break;
  }
  expect(paged).toEqual(ids);
  const env = { NATS_URL: system.url };
  const ls = (...more: string[]) =>
    cli(['learning', 'ls', '--status', 'pending', '--project', PROJECT, '--limit', '30', ...more], { env });
  const first = await ls();
  expect(first.stderr).toMatch(new RegExp(`-- the next page: throughline learning ls .*--page ${ids[29]}\n`));
  expect(first.stderr).toContain('rules propose nothing more of crowd until some are decided');
  const second = await ls('--page', String(ids[29]));
  expect(second.stderr).not.toContain('the next page');
  const shown = `${first.stdout}${second.stdout}`
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('ID '));
  expect(shown.map((line) => line.slice(0, 5))).toEqual(ids.map((id) => id.slice(0, 5)));
});
