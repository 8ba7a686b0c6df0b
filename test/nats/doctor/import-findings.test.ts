import { expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { importFindings } from '../../../src/nats/doctor/session-findings.js';
import { twoOnNats } from '../../engine/ports/opened.js';

const opened = twoOnNats();
const AT = '2026-11-23T12:00:00.000Z';
const findings = (now: string) =>
  importFindings(opened.nats.connection, { replicas: 1, timeoutMs: 5000 }, Date.parse(now));

it('an import that does not end is one finding, which says since when, and what goes on with it', async () => {
  const lifecycle = await opened.nats.openLifecycle();
  const importing = { file: 'x', dispatches: 0, ready: true };
  await lifecycle.change(token('demo', 'session'), () => ({ at: AT, importing }));

  expect(await findings('2026-11-23T12:00:30.000Z')).toEqual([]);
  expect(await findings('2026-11-23T13:00:00.000Z')).toEqual([
    expect.objectContaining({
      check: 'import of session demo',
      message: 'it began 1hr ago and has not ended: results of the session wait until then',
      fix: expect.stringContaining('run "throughline session import" again'),
    }),
  ]);
  lifecycle.close();
});
