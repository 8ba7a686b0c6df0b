import { type JetStreamManager, StorageType } from 'nats';
import { expect, it } from 'vitest';
import { PROBE_STREAM } from '../../../src/contracts/names.js';
import { hasStuckStream, withProbeStream, writeFindings } from '../../../src/nats/doctor/server-findings.js';
import { stuckStreams } from '../../../src/nats/jetstream/list-streams.js';
import { startNatsPorts } from '../../engine/ports/opened.js';
import { afterTest, ofFile } from '../../support/of-file.js';

const OPTIONS = { replicas: 1, timeoutMs: 5000 };

const nats = await ofFile(startNatsPorts());
const jsm = await nats.connection.jetstreamManager();
await jsm.streams.add({ name: 'S', subjects: ['s.*'] });

const removed = expect.objectContaining({
  code: 'conflict',
  message: expect.stringContaining(PROBE_STREAM),
});

/** Simulates another process that removes the probe stream right after each creation. */
function overtaken(): JetStreamManager {
  const streams: JetStreamManager['streams'] = Object.create(jsm.streams, {
    add: {
      value: async (...args: Parameters<JetStreamManager['streams']['add']>) => {
        const made = await jsm.streams.add(...args);
        await jsm.streams.delete(PROBE_STREAM);
        return made;
      },
    },
  });
  return Object.create(jsm, { streams: { value: streams } });
}

it('no stream is stuck where all can write', async () => {
  expect(await hasStuckStream(nats.connection)).toBe(false);
});

it('streams are not taken for stuck where there is no probe stream to compare them with', async () => {
  const asked = withProbeStream(nats.connection, jsm, OPTIONS, async () => {
    await jsm.streams.delete(PROBE_STREAM);
    return stuckStreams(jsm, PROBE_STREAM, ['S']);
  });
  await expect(asked).rejects.toEqual(removed);
});

it('a probe whose stream is gone before its message is stored says so, and does no work', async () => {
  let works = 0;
  const probe = withProbeStream(nats.connection, overtaken(), OPTIONS, async () => {
    works += 1;
  });
  await expect(probe).rejects.toEqual(removed);
  expect(works).toBe(0);
});

it('the doctor does not fail over a probe stream that another process has removed', async () => {
  const [finding, ...more] = await writeFindings(nats.connection, overtaken(), {
    ...OPTIONS,
    streams: ['S'],
  });
  expect(more).toEqual([]);
  expect(finding).toMatchObject({
    level: 'warn',
    message: expect.stringMatching(/^another process tests it, too: .*\(conflict\)/),
  });
});

it.each([
  ['that lets no message be deleted', { deny_delete: true }],
  ['in memory', { storage: StorageType.Memory }],
  ['that is sealed', { sealed: true }],
])('a stream %s is not taken for stuck, nor keeps the others from being asked', async (_, config) => {
  const { sealed, ...made } = { sealed: false, ...config };
  await jsm.streams.add({ name: 'OTHER', subjects: ['other'], ...made });
  afterTest(() => jsm.streams.delete('OTHER'));
  // The client's types omit `sealed`.
  const change = { max_age: 0, sealed };
  if (sealed) await jsm.streams.update('OTHER', change);
  expect(await hasStuckStream(nats.connection)).toBe(false);
});
