import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identityOf, isRunning } from '../../src/nats/server/process-identity.js';
import { commandAgent, commandCheck } from '../../src/work/command-agent.js';
import { openRunFolder } from '../../src/work/run-folder.js';
import { folderOfFile } from '../support/of-file.js';
import { mountTmpfs, TMPFS_MISSING } from '../support/tmpfs.js';

const root = await folderOfFile();

describe.skipIf(TMPFS_MISSING !== undefined)('a call whose log cannot be written', () => {
  const call = {
    session: 'demo',
    task: '1',
    round: 1,
    name: '1-1-implementer',
    directory: root,
    prompt: 'Do it',
    role: 'implementer' as const,
    attempt: 1 as const,
    messages: [],
    resultId: 'r',
    signal: new AbortController().signal,
  };
  const said = (name: string) =>
    expect.stringMatching(`/${name}.log cannot be written \\(ENOSPC.+: free some disk space`);

  it('ends with all that it has started, and says so, when the disk gets full', async () => {
    await using disk = await mountTmpfs({ megabytes: 1 });
    const folder = openRunFolder(disk.path, root, 'demo');
    const env = { PATH: process.env.PATH ?? '' };
    const agent = commandAgent('sleep 600 & echo $! > left; yes | head -c 3000000; wait', { folder, env });
    await expect(agent(call)).rejects.toMatchObject({
      code: 'config_invalid',
      message: said('1-1-implementer'),
    });
    const left = Number(readFileSync(join(root, 'left'), 'utf8'));
    expect(isRunning(identityOf(left))).toBe(false);
    await disk.fill();
    await expect(
      commandCheck('echo never', { folder, env })({ ...call, name: 'check' }),
    ).rejects.toMatchObject({
      message: said('check'),
    });
    folder.release();
  });
});
