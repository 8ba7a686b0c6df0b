import { expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { importFindings } from '../../../src/nats/doctor/import-findings.js';
import { twoOnNats } from '../../ports/opened.js';

const opened = twoOnNats();
const AT = '2026-11-23T12:00:00.000Z';
const findings = (now: string) =>
  importFindings(opened.nats.connection, { replicas: 1, timeoutMs: 5000 }, Date.parse(now));

it('a rename that nothing is heard of is one finding, which says since when, and what goes on with it', async () => {
  const lifecycle = await opened.nats.openLifecycle();
  const [demo, parser] = [token('demo', 'session'), token('parser', 'session')];
  const renaming = { by: 'one', at: AT, copied: false };
  await lifecycle.change(demo, () => ({ at: AT, renamed_to: parser, renaming }));
  const importing = { file: 'rename demo', dispatches: 0, ready: true, from: demo };
  await lifecycle.change(parser, () => ({ at: AT, importing }));

  expect(await findings('2026-11-23T12:00:30.000Z')).toEqual([]);
  expect(await findings('2026-11-23T13:00:00.000Z')).toEqual([
    expect.objectContaining({
      check: 'rename of session demo to parser',
      message: 'it was last heard of 1hr ago: results of both names wait until it has ended',
      fix: expect.stringContaining('start the services with "throughline serve"'),
    }),
  ]);
  lifecycle.close();
});
