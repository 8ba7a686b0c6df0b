import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICE_NAMES } from '../../src/contracts/names.js';

import { instancesOf } from '../../src/nats/micro/service-health.js';
import { cli } from '../support/cli.js';
import { eventsOf, newSession, type System, startSystem } from '../support/system.js';

/** A review as a model may write it: prose, a fence, other names, a trailing comma, one item that says nothing. */
const REVIEW = `I looked at all of it.

\`\`\`json
{
  "taskId": 7,
  "verdict": "Changes requested",
  "findings": ["[Critical] The file is never closed", null, {"level": "nit", "path": "src/a.ts", "description": "Rename x"}],
  "requiredFixes": "Close the file",
}
\`\`\``;

let system: System;
let folder: string;
beforeAll(async () => {
  system = await startSystem();
  folder = await mkdtemp(join(tmpdir(), 'throughline-reading-'));
});
afterAll(async () => {
  await system.stop();
  await rm(folder, { recursive: true, force: true });
});

async function publish(role: string, body: string, ...more: string[]) {
  const session = newSession('read');
  const file = join(folder, `${session}.txt`);
  await writeFile(file, body);
  const args = ['publish', role, '--nats', system.url, '-s', session, '-f', file, ...more];
  return { session, ...(await cli(args)) };
}

describe('a result that is not as it should be', () => {
  it('a result is read as far as it can be, and its event says what was repaired', async () => {
    const session = newSession('read');
    const { result } = await system.client.publishText(session, 'reviewer', REVIEW, { wait: true });
    const repairs = expect.arrayContaining([
      { kind: 'json', field: 'the body' },
      { kind: 'renamed', field: 'task_id', detail: 'found taskId' },
      { kind: 'verdict', field: 'assessment', detail: '"Changes requested" as needs_changes' },
      { kind: 'skipped', field: 'issues.1', detail: 'null' },
    ]);
    expect(result).toMatchObject({ status: 'recorded', role: 'reviewer', task: '7', repairs });
    const [event] = await eventsOf(system, session);
    expect(event).toMatchObject({ event: { type: 'fact.recorded', data: { repairs } } });
    const prompt = { session, taskId: '7', taskPrompt: 'Fix what the review found' };
    expect((await system.client.compile(prompt)).prompt).toContain('Close the file');
  });

  it('the extractor counts repairs by their kind', async () => {
    const session = newSession('read');
    await system.client.publishText(session, 'implementer', '{"task_id":"1","status":"Done"}', {
      wait: true,
    });
    expect(JSON.stringify(await instancesOf(system.ports.connection, SERVICE_NAMES.extractor))).toMatch(
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
