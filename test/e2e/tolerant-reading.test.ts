import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SERVICE_NAMES } from '../../src/contracts/names.js';
import { instancesOf } from '../../src/nats/micro/service-health.js';
import { cli } from '../support/cli.js';
import { folderOfFile, ofFile } from '../support/of-file.js';
import { newSession, startSystem } from '../support/system.js';

const system = await ofFile(startSystem());
const folder = await folderOfFile();

async function publish(role: string, body: string, ...more: string[]) {
  const session = newSession('read');
  const file = join(folder, `${session}.txt`);
  await writeFile(file, body);
  const args = ['publish', role, '--nats', system.url, '-s', session, '-f', file, ...more];
  return { session, ...(await cli(args)) };
}

describe('a result that is not as it should be', () => {
  it('the extractor counts repairs by their kind', async () => {
    const session = newSession('read');
    await system.client.publishText(session, 'implementer', '{"task_id":"1","status":"Done"}', {
      wait: true,
    });
    expect(JSON.stringify(await instancesOf(system.ports.connection, SERVICE_NAMES.extractor, 5000))).toMatch(
      /"repaired":\{[^}]*"verdict":[1-9]/,
    );
  });

  it('publish says on standard error what was repaired, and publishes', async () => {
    const done = '{"task_id":"1","status":"completed","files_modified":"src/a.ts"}';
    const { code, stdout, stderr } = await publish('implementer', done);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: '-- read with 1 repair: files_modified: was one value and became a list ("src/a.ts")\n',
    });
    expect(stdout).toMatch(/^\d+\n$/);
    expect((await publish('implementer', done, '--wait')).stdout).toContain(
      'read with 1 repair: files_modified',
    );
  });
});
