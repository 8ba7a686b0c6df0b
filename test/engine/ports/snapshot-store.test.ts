import { describe, expect, it } from 'vitest';
import { SNAPSHOT_BUCKET } from '../../../src/contracts/names.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { startFaultyServer } from '../../support/faults/server.js';
import { ofFile } from '../../support/of-file.js';
import { newSession, openPorts, startPrivatePorts, withOther } from './opened.js';
import { snapshotStoreContract } from './snapshot-store.contract.js';

const MAX_PAYLOAD = 32 * 1024;
/** Payload of a message of that size, without subject and headers. */
const MAX_BYTES = MAX_PAYLOAD - 4096;

const memory = new MemorySnapshotStore({ maxBytes: MAX_BYTES });
snapshotStoreContract('in memory', {
  ...{ store: memory, other: memory, maxBytes: MAX_BYTES },
  damaged: async (session, text) => memory.overwrite(session, text),
});

describe('on NATS', async () => {
  const started = await ofFile(startPrivatePorts({ maxPayloadBytes: MAX_PAYLOAD }));
  const { nats, other } = await withOther(started);
  const kv = await nats.connection.jetstream().views.kv(SNAPSHOT_BUCKET, { bindOnly: true });

  snapshotStoreContract('on NATS', {
    ...{ store: nats.snapshots, other: other.snapshots, maxBytes: MAX_BYTES },
    damaged: (session, text) => kv.put(session, text),
  });
  snapshotStoreContract('on NATS, of learnings', {
    ...{ store: nats.learningSnapshots, other: other.learningSnapshots, maxBytes: MAX_BYTES },
    damaged: (project, text) => kv.put(`project=${project}`, text),
  });

  it('the snapshot store on NATS waits no longer for an answer than is configured, whatever it asks for', async () => {
    await using server = await startFaultyServer();
    const ports = await openPorts(server.url, { requestTimeoutMs: 1000 });
    const session = newSession('slow');
    await ports.snapshots.save(session, { sequence: 7, text: '{"after_sequence":7,"v":1}' });
    await server.freeze();
    const later = { sequence: 8, text: '{"after_sequence":8,"v":1}' };
    for (const ask of [
      () => ports.snapshots.load(session),
      () => ports.snapshots.loadAtOrBefore(session, 3),
      () => ports.snapshots.save(session, later),
    ]) {
      const begun = performance.now();
      await expect(ask()).rejects.toMatchObject({ code: 'unavailable' });
      // The default would take five seconds.
      expect(performance.now() - begun).toBeLessThan(4900);
    }
    server.thaw();
    await ports.close();
  });

  it('the snapshot store on NATS packs a text that would not fit one message, and gives it back as it was', async () => {
    const session = newSession('large');
    const text = `{"after_sequence":7,"v":1,"state":"${'word '.repeat(MAX_PAYLOAD)}"}`;
    expect(await nats.snapshots.save(session, { sequence: 7, text })).toBe('saved');
    expect(await other.snapshots.load(session)).toEqual({ sequence: 7, text });
    expect(await other.snapshots.loadAtOrBefore(session, 9)).toEqual({ sequence: 7, text });
    const stored = (await kv.get(session))?.string() ?? '';
    expect(stored).toMatch(/^\{"after_sequence":7,"gzip":"/);
    expect(stored.length).toBeLessThan(MAX_BYTES);
    // Compare-and-set still works.
    expect(await other.snapshots.save(session, { sequence: 7, text })).toBe('older');
    expect(await other.snapshots.save(session, { sequence: 8, text: '{"after_sequence":8}' })).toBe('saved');
  });

  it('the snapshot store on NATS keeps the snapshots of a session and of a project of the same name apart', async () => {
    const name = newSession('both');
    await nats.snapshots.save(name, { sequence: 3, text: '{"after_sequence":3,"v":1}' });
    expect(await nats.learningSnapshots.load(name)).toBeUndefined();
  });

  it('the snapshot store on NATS keeps each snapshot as the value of a key that is named like its session', async () => {
    const session = newSession('key');
    await nats.snapshots.save(session, { sequence: 3, text: '{"after_sequence":3,"v":1}' });
    expect((await kv.get(session))?.string()).toBe('{"after_sequence":3,"v":1}');
    expect((await kv.status()).history).toBe(5);
  });

  it.each(['delete', 'purge'] as const)(
    'the snapshot store on NATS starts over after a %s',
    async (remove) => {
      const session = newSession(remove);
      await nats.snapshots.save(session, { sequence: 30, text: '{"after_sequence":30,"v":1}' });
      await kv[remove](session);
      expect(await nats.snapshots.load(session)).toBeUndefined();
      const again = { sequence: 3, text: '{"after_sequence":3,"v":1}' };
      expect(await other.snapshots.save(session, again)).toBe('saved');
      expect(await nats.snapshots.load(session)).toEqual(again);
      expect(await nats.snapshots.loadAtOrBefore(session, 3)).toEqual(again);
    },
  );

  it('the snapshot store on NATS is unavailable on a closed connection', async () => {
    const ports = await openPorts(nats.server.url);
    await ports.close();
    const unavailable = expect.objectContaining({ code: 'unavailable' });
    const session = newSession('closed');
    await expect(ports.snapshots.load(session)).rejects.toEqual(unavailable);
    await expect(ports.snapshots.loadAtOrBefore(session, 1)).rejects.toEqual(unavailable);
    await expect(ports.snapshots.save(session, { sequence: 1, text: '{}' })).rejects.toEqual(unavailable);
  });
});
