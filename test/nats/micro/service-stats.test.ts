import { expect, it } from 'vitest';
import { instancesOf } from '../../../src/nats/doctor/service-findings.js';
import { startNatsPorts } from '../../engine/ports/opened.js';
import { ofFile } from '../../support/of-file.js';

const nats = await ofFile(startNatsPorts());

it('reading statistics waits for an instance that is slow to answer, and not at all where there is none', async () => {
  const { connection } = nats;
  const answer = { type: 'io.nats.micro.v1.stats_response', name: 'slow', id: 'x', version: '1.0.0' };
  const endpoints = [{ name: 'compile', data: { compiles: 7 } }];
  connection.subscribe('$SRV.STATS.slow', {
    callback: (_, message) =>
      setTimeout(() => message.respond(JSON.stringify({ ...answer, endpoints })), 1500),
  });
  expect(await instancesOf(connection, 'slow', 5000)).toMatchObject([{ endpoints }]);
  expect(await instancesOf(connection, 'none', 5000)).toEqual([]);
});
