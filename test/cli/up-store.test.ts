import { join } from 'node:path';
import { connect } from 'nats';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../src/contracts/errors.js';
import { cli, type RunningProcess, startCli } from '../support/cli.js';
import { freePort } from '../support/free-port.js';
import { afterTest, folderOfTest } from '../support/of-file.js';
import { mountTmpfs, TMPFS_MISSING } from '../support/tmpfs.js';

async function upArgs(store: string): Promise<string[]> {
  return ['up', '--port', String(await freePort('127.0.0.1')), '--store', store];
}

/** Starts `up`, and stops it after the test. */
async function started(args: readonly string[]): Promise<RunningProcess> {
  const up = await startCli(args);
  afterTest(() => up.stop());
  return up;
}

const answers = (args: readonly string[]) =>
  connect({ servers: `127.0.0.1:${args[2]}`, reconnect: false }).then(
    (connection) => connection.close().then(() => true),
    () => false,
  );

describe('a store', () => {
  it.each([2, 3])('exactly one of %i commands that start at the same moment opens a store', async (count) => {
    for (let round = 0; round < 3; round += 1) {
      const store = await folderOfTest();
      const each = await Promise.all(Array.from({ length: count }, () => upArgs(store)));
      const outcomes = await Promise.all(each.map((args) => started(args).catch(messageOf)));
      const running = outcomes.filter((outcome) => typeof outcome !== 'string');
      expect(running, outcomes.map(String).join('\n')).toHaveLength(1);
      for (const outcome of outcomes) {
        if (typeof outcome !== 'string') continue;
        expect(outcome).toMatch(/ended \(1\) before it was ready/);
        expect(outcome).toMatch(
          new RegExp(
            `the store ${store} is in use by .*process ${running[0]?.pid}[, ].*--store \\(store_in_use\\)`,
          ),
        );
      }
      await running[0]?.stop();
    }
  });
});

describe('a server whose command was killed', () => {
  it('a server whose command was killed is ended by the next command on its store, which takes over', async () => {
    const store = await folderOfTest();
    const left = await upArgs(store);
    const up = await startCli(left);
    up.signal('SIGKILL');
    await up.exited;
    expect(await answers(left)).toBe(true);
    const next = await upArgs(store);
    await started(next);
    expect(await answers(left)).toBe(false);
    expect(await answers(next)).toBe(true);
  });
});

describe('a store that cannot be used ends the command with one line:', () => {
  const said = async (store: string) => {
    const { code, stderr } = await cli(await upArgs(store));
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    return stderr;
  };

  it('a store where the system allows no folder ends the command with one line', async () => {
    expect(await said('/proc/x')).toMatch(/the store \/proc\/x cannot be used .*--store \(store_unusable\)/);
  });

  it.skipIf(TMPFS_MISSING !== undefined)(
    'a store on a read-only file system ends the command with one line',
    async () => {
      await using disk = await mountTmpfs({ readOnly: true });
      expect(await said(disk.path)).toMatch(/EROFS.*\(store_unusable\)/);
      expect(await said(join(disk.path, 'store'))).toMatch(/EROFS.*\(store_unusable\)/);
    },
  );

  it.skipIf(TMPFS_MISSING !== undefined)(
    'a store on a full disk ends the command with one line',
    async () => {
      await using disk = await mountTmpfs({ megabytes: 1 });
      await disk.fill();
      expect(await said(disk.path)).toMatch(/ENOSPC.*make room.*\(store_full\)/);
    },
  );
});
