import { describe, expect, it } from 'vitest';
import { createSnapshotWriter } from '../../../src/engine/folding/session-folding.js';
import { bytesOf, DEMO, spiedPorts, upTo } from '../../doubles/spied-ports.js';
import { restored } from '../../support/snapshots.js';

const CLOCK = () => '2026-01-01T00:00:00.000Z';

function written(every: number) {
  const ports = spiedPorts();
  const writer = createSnapshotWriter({
    snapshots: ports.snapshots,
    clock: CLOCK,
    logger: ports.logger,
    every,
  });
  const reader = ports.reader({ onFolded: (folded) => writer.folded(folded) });
  return { ...ports, writer, reader, another: () => ports.reader() };
}

describe('SnapshotWriter', () => {
  it('the snapshot writer writes after so many folded events, and not before', async () => {
    const { append, reader, writer, snapshots, kept } = written(5);
    await append(DEMO, ...upTo(4));
    await reader.load(DEMO);
    await writer.stop();
    expect(snapshots.save).not.toHaveBeenCalled();
    const sequence = await append(DEMO, 5);
    const { folded } = await reader.load(DEMO);
    await writer.stop();
    expect(snapshots.save).toHaveBeenCalledTimes(1);
    expect(await kept.snapshots.load(DEMO)).toEqual({ sequence, text: bytesOf(folded.state) });
    expect(folded.sinceSnapshot).toBe(0);
    await append(DEMO, 6, 7, 8, 9);
    await reader.load(DEMO);
    await writer.stop();
    expect(snapshots.save).toHaveBeenCalledTimes(1);
    await append(DEMO, 10);
    await reader.load(DEMO);
    await writer.stop();
    expect(snapshots.save).toHaveBeenCalledTimes(2);
  });

  it('the snapshot writer writes text and sequence of one moment, whatever is folded while it waits', async () => {
    const { append, reader, writer, snapshots } = written(1);
    for (const dispatch of upTo(30)) {
      await append(DEMO, dispatch);
      await reader.load(DEMO);
      if (dispatch % 4 === 0) await writer.stop();
    }
    await writer.stop();
    expect(snapshots.save.mock.calls.length).toBeGreaterThan(5);
    for (const [, { sequence, text }] of snapshots.save.mock.calls) {
      const state = restored(text, DEMO);
      expect(state.sequence).toBe(sequence);
      const then = await reader.loadAsOf(DEMO, sequence);
      expect(bytesOf(state)).toBe(bytesOf(then.folded.state));
    }
  });

  it('the snapshot writer logs a write that failed, harms no request, and writes with the next events', async () => {
    const { append, reader, writer, snapshots, logger, kept } = written(3);
    snapshots.save.mockRejectedValueOnce(new Error('unavailable'));
    await append(DEMO, 1, 2, 3);
    await reader.load(DEMO);
    await writer.stop();
    expect(logger.warn).toHaveBeenCalledTimes(1);
    await reader.load(DEMO);
    await writer.stop();
    expect(snapshots.save).toHaveBeenCalledTimes(1);
    const sequence = await append(DEMO, 4);
    await reader.load(DEMO);
    await writer.stop();
    expect(await kept.snapshots.load(DEMO)).toMatchObject({ sequence });
  });

  it('the snapshot writer does not try the same events again when another process was first', async () => {
    const { append, reader, writer, snapshots, logger } = written(2);
    snapshots.save.mockResolvedValue('older');
    await append(DEMO, 1, 2);
    await reader.load(DEMO);
    await writer.stop();
    await append(DEMO, 3);
    await reader.load(DEMO);
    await writer.stop();
    expect(snapshots.save).toHaveBeenCalledTimes(1);
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it('the snapshot writer writes on command, and reports the outcome', async () => {
    const { append, reader, writer, snapshots, logger } = written(100);
    const sequence = await append(DEMO, 1);
    const { folded } = await reader.load(DEMO);
    expect(await writer.write(folded)).toBe('saved');
    expect(await writer.write(folded)).toBe('older');
    expect(snapshots.save.mock.calls[0]?.[1].sequence).toBe(sequence);
    snapshots.save.mockResolvedValueOnce('too_large');
    expect(await writer.write(folded)).toBe('too_large');
    expect(logger.warn).toHaveBeenCalledTimes(1);
    snapshots.save.mockRejectedValueOnce(new Error('unavailable'));
    await expect(writer.write(folded)).rejects.toThrow('unavailable');
  });
});
