import { expect, it } from 'vitest';
import { cli } from '../support/cli.js';
import { allDealtWith, implemented, publishWire, soon, startSystem } from '../support/system.js';

it('a rule for a project that no session has is set, with a warning', async () => {
  await using system = await startSystem();
  const { client } = system;
  await client.tools.sessionOpen({ session: 'demo', project: 'parser' });
  await publishWire(client, 'implementer', 'demo', implemented('1'));
  await allDealtWith(system.ports);
  await client.tools.sessionArchive({ session: 'demo' });
  const set = (project: string) =>
    cli([
      'admin',
      'retention',
      'set',
      'forget',
      '--after',
      '90d',
      '--project',
      project,
      '--nats',
      system.url,
    ]);
  const warning = /^-- no session of project nosuch is known: "throughline session ls" shows .*$/m;

  const wrong = await set('nosuch');
  expect(wrong).toMatchObject({ code: 0, stdout: expect.stringContaining('project nosuch') });
  expect(wrong.stderr).toMatch(warning);
  await soon(async () => {
    const right = await set('parser');
    expect(right).toMatchObject({ code: 0, stderr: expect.not.stringContaining('is known') });
  });
});
