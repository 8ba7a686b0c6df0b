import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { startNatsServer } from '../../src/nats/server/server-process.js';
import { type CliOptions, cli, startCli } from '../support/cli.js';
import { doctor, of } from '../support/doctor.js';
import { freePort } from '../support/free-port.js';
import { nativeSource } from '../support/nats-native.js';
import { implemented, soon } from '../support/system.js';
import { mountTmpfs, TMPFS_MISSING } from '../support/tmpfs.js';

const skipped = TMPFS_MISSING === undefined ? '' : ` (skipped: ${TMPFS_MISSING})`;

const publish = (url: string, task: string, options: CliOptions = {}) =>
  cli(['publish', 'implementer', '-s', 'demo'], {
    input: JSON.stringify(implemented(task, { summary: 'x'.repeat(6000) })),
    env: { NATS_URL: url },
    ...options,
  });

async function counted(url: string): Promise<string[]> {
  const { stdout } = await cli(['status', '-s', 'demo', '--json'], { env: { NATS_URL: url } });
  return status.parse(JSON.parse(stdout)).tasks.map(({ task }) => task);
}

const status = z.object({ tasks: z.array(z.object({ task: z.string() })) });

/** Publishes until it is refused; gives the tasks that were acknowledged, and what was said at last. */
async function publishUntilRefused(url: string): Promise<{ acknowledged: string[]; stderr: string }> {
  const acknowledged: string[] = [];
  for (;;) {
    const task = `more-${acknowledged.length}`;
    const { code, stderr } = await publish(url, task);
    if (code !== 0) return { acknowledged, stderr };
    acknowledged.push(task);
  }
}

it.skipIf(TMPFS_MISSING !== undefined)(
  `publishers and the doctor report a full disk, and up writes again by itself when there is room${skipped}`,
  async () => {
    await using disk = await mountTmpfs();
    const port = await freePort('127.0.0.1');
    const url = `nats://127.0.0.1:${port}`;
    await using up = await startCli(['up', '--port', String(port), '--store', join(disk.path, 'store')]);
    expect(await publish(url, '1')).toMatchObject({ code: 0 });
    await disk.fill();

    const { acknowledged, stderr } = await publishUntilRefused(url);
    expect(stderr).toMatch(/was not stored: .*free space on the disk.*\(store_full\)/);
    const told = await doctor(url);
    expect(told.code).toBe(1);
    expect(of(told.found, 'JetStream writes')).toMatchObject([
      {
        level: 'fail',
        message: expect.stringMatching(/nothing can be stored: .*free space.*\(store_full\)/),
      },
    ]);

    await disk.makeRoom();
    await soon(async () => expect(await publish(url, '2')).toMatchObject({ code: 0 }));
    expect(up.stderr()).toContain('and the disk has room: restarting the NATS server');
    // What was acknowledged is counted. One that was refused must not be.
    await soon(async () => expect((await counted(url)).sort()).toEqual(['1', '2', ...acknowledged].sort()));
    await soon(async () =>
      expect(of((await doctor(url)).found, 'JetStream writes')).toMatchObject([{ level: 'ok' }]),
    );
    expect(await up.stop()).toEqual({ code: 0, signal: null });
  },
);

it.skipIf(TMPFS_MISSING !== undefined)(
  `a server of another that does not write again, though there is room, is reported until it is started again${skipped}`,
  async () => {
    await using disk = await mountTmpfs();
    const options = { source: await nativeSource(), storeDir: join(disk.path, 'store') };
    const first = await startNatsServer(options);
    await using services = await startCli(['admin', 'serve'], { NATS_URL: first.url });
    await disk.fill();
    await publishUntilRefused(first.url);
    await disk.makeRoom();

    const refused = await publish(first.url, 'still');
    expect(refused.stderr).toMatch(/restart the server.*\(store_full\)/);
    expect(refused.code).toBe(1);
    const { code, found } = await doctor(first.url);
    expect(code).toBe(1);
    expect(of(found, 'JetStream writes')).toMatchObject([
      {
        level: 'fail',
        message: expect.stringMatching(/DISPATCH.* cannot write since a write failed/),
        fix: expect.stringMatching(/restart the server/),
      },
    ]);

    await first.stop();
    const second = await startNatsServer({ ...options, port: first.port });
    await soon(async () => expect(await publish(second.url, '2')).toMatchObject({ code: 0 }));
    await services.stop();
    await second.stop();
  },
);
