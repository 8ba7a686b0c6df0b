import { connect } from 'nats';
import { expect, it } from 'vitest';
import { DISPATCH_STREAM } from '../../src/contracts/names.js';
import { cli } from '../support/cli.js';
import { implemented, startSystem } from '../support/system.js';

it('publish without an answer says how to try again so that the result counts once', async () => {
  await using system = await startSystem({ only: [] });
  const input = JSON.stringify(implemented('1'));
  const env = { NATS_URL: system.url, THROUGHLINE_REQUEST_TIMEOUT_MS: '300' };
  const jsm = await system.ports.connection.jetstreamManager();
  const { config } = await jsm.streams.info(DISPATCH_STREAM);
  await jsm.streams.delete(DISPATCH_STREAM);
  // A listener without answers: only the deadline tells.
  const deaf = await connect({ servers: system.url });
  deaf.subscribe('dispatch.>');
  await deaf.flush();
  const failed = await cli(['publish', 'implementer', '-s', 'demo'], { env, input });
  expect(failed).toMatchObject({ code: 1, stdout: '' });
  const [, id = ''] =
    /try again with --id (demo:\S+), and it counts once \(unavailable\)/.exec(failed.stderr) ?? [];
  expect(id).toMatch(/^demo:/);
  await deaf.close();
  await jsm.streams.add(config);
  const again = () => cli(['publish', 'implementer', '-s', 'demo', '--id', id], { env, input });
  expect([(await again()).stdout, (await again()).stdout]).toEqual(['1\n', '1\n']);
});
