import { access } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { connectThroughline, type Result } from '../../src/index.js';
import { startThroughline } from '../../src/server.js';
import { startTestNats } from '../support/nats-server.js';
import { NOBODY } from '../support/nobody.js';
import { folderOfTest } from '../support/of-file.js';

const RESULT: Result<'implementer'> = { taskId: '1', status: 'completed', summary: 'Parser done' };
const REQUEST = { session: 'embedded', taskId: '2', taskPrompt: 'Extend the parser' };

describe('services inside a program', () => {
  it('services inside a program run on an existing server until they are closed, and leave it running', async () => {
    await using nats = await startTestNats();
    const throughline = await startThroughline({ url: nats.url });
    expect(throughline.url).toBe(nats.url);
    await using client = await connectThroughline({ url: nats.url });
    const { sequence: after } = await client.session('embedded').publish('implementer', RESULT);
    const reply = await client.compile({ ...REQUEST, after });
    expect(reply).toMatchObject({ kind: 'dispatch', factsTotal: 2 });
    await throughline.close();
    await expect(client.compile(REQUEST)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await client.session('embedded').publish('implementer', RESULT)).toEqual({ sequence: after + 1 });
  });

  it('a program starts only the services that are named, with the settings that are given', async () => {
    await using nats = await startTestNats();
    const settings = { THROUGHLINE_TUNING: 'maxBodyBytes=1024' };
    await using throughline = await startThroughline({ url: nats.url, services: ['extractor'], settings });
    await using client = await connectThroughline({ url: throughline.url });
    await expect(client.compile(REQUEST)).rejects.toMatchObject({ code: 'unavailable' });
    await client.publishText('embedded', 'implementer', ' '.repeat(1025));
    const health = () => client.request('health.extractor', {});
    await expect.poll(health).toMatchObject({ recorded: 0, rejected: 1 });
  });

  it('services inside a program bring a server of their own, whose data stays', async () => {
    const store = await folderOfTest();
    const first = await startThroughline({ server: { store } });
    const client = await connectThroughline({ url: first.url });
    await client.session('embedded').publish('implementer', RESULT);
    await client.close();
    await first.close();
    await using second = await startThroughline({ server: { store } });
    await using again = await connectThroughline({ url: second.url });
    expect(await again.compile({ ...REQUEST, after: 1 })).toMatchObject({ factsTotal: 2 });
  });

  it.each([
    [
      'a wrong setting',
      { settings: { THROUGHLINE_TUNING: 'cacheMb=much' } },
      'config_invalid',
      'THROUGHLINE_TUNING has cacheMb',
    ],
    [
      'a server and a url',
      { url: `nats://${NOBODY}`, server: { store: 'none' } },
      'config_invalid',
      'use one of them',
    ],
    ['a url where nobody answers', { url: `nats://${NOBODY}` }, 'unavailable', 'no NATS server answers'],
  ])('services inside a program do not start with %s', async (_, options, code, message) => {
    await expect(startThroughline(options)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
    await expect(access('none')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('services inside a program refuse a setting that does not exist', async () => {
    const settings = Object.fromEntries([['THROUGHLINE_CASH_MB', '8']]);
    await expect(startThroughline({ settings })).rejects.toMatchObject({
      code: 'config_invalid',
      message: 'settings: THROUGHLINE_CASH_MB is not a setting',
    });
  });
});
