import { describe, expect, it } from 'vitest';
import { HEADERS, REJECTED_STREAM, REJECTED_SUBJECTS } from '../../../src/contracts/names.js';
import { MemoryRejectedStore } from '../../doubles/memory-rejected-store.js';
import { allRejected } from '../../support/all-rejected.js';
import { timeOf } from '../../support/builders.js';
import { newSession, openPorts, twoOnNats } from './opened.js';
import { rejectedStoreContract } from './rejected-store.contract.js';

const memory = new MemoryRejectedStore();
rejectedStoreContract('in memory', { store: memory, other: memory });

describe('on NATS', async () => {
  const opened = await twoOnNats();

  rejectedStoreContract('on NATS', { store: opened.nats.rejected, other: opened.other.rejected });

  const rejection = (sequence: number, size: number) => {
    const session = newSession('rejected');
    const subject = `dispatch.${session}.implementer`;
    const [code, reason] = ['too_large', 'ask for less'];
    const body = new Uint8Array(size).fill(7);
    return {
      session,
      role: 'implementer' as const,
      subject,
      sequence,
      at: timeOf(1),
      code,
      reason,
      body,
    };
  };

  it('the rejected store on NATS says in headers what was rejected and why, and names its session in the subject', async () => {
    const rejected = rejection(5001, 10);
    await opened.nats.rejected.put(rejected);
    const jsm = await opened.nats.connection.jetstreamManager();
    const last = await jsm.streams.getMessage(REJECTED_STREAM, {
      last_by_subj: `rejected.${rejected.session}.implementer`,
    });
    expect(last.header.get(HEADERS.errorCode)).toBe('too_large');
    expect(last.header.get(HEADERS.errorReason)).toBe('ask for less');
    expect(last.header.get(HEADERS.dispatchSequence)).toBe('5001');
    expect(Buffer.from(last.data)).toEqual(Buffer.from(rejected.body));
  });

  it('the rejected store on NATS makes its stream again when it is deleted', async () => {
    await (await opened.nats.connection.jetstreamManager()).streams.delete(REJECTED_STREAM);
    expect(await allRejected(opened.nats.rejected)).toEqual([]);
    expect(await opened.nats.rejected.get(1)).toBeUndefined();
    expect(await opened.nats.rejected.remove(1)).toBe(false);
    await opened.nats.rejected.put(rejection(5003, 10));
    expect(await allRejected(opened.other.rejected)).toHaveLength(1);
  });

  it('the rejected store on NATS makes its stream again although someone listens to its subjects', async () => {
    const { connection } = opened.other;
    connection.subscribe(REJECTED_SUBJECTS, { callback: () => undefined });
    await connection.flush();
    await (await connection.jetstreamManager()).streams.delete(REJECTED_STREAM);
    const impatient = await openPorts(opened.nats.server.url, { requestTimeoutMs: 500, makes: false });
    await impatient.rejected.put(rejection(5004, 10));
    expect(await allRejected(opened.other.rejected)).toHaveLength(1);
    await impatient.close();
  });
});
