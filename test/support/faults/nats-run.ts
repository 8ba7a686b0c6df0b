import { expect } from 'vitest';
import { DISPATCH_STREAM } from '../../../src/contracts/names.js';
import { publishedUnder } from '../../../src/nats/jetstream/dispatch-consumption.js';
import type { NatsPorts } from '../../../src/nats/open-nats.js';
import type { PrivateNats } from '../nats-server.js';
import { allDealtWith, soon } from '../system.js';
import type { StoredDispatch } from './clean-run.js';
import { type Aftermath, expectCleanEnd } from './end-check.js';
import type { Publication } from './workload.js';

/** What publishers got a PubAck for, by its sequence. */
export type Acknowledged = Map<number, Publication>;

/** As a careful publisher does it: again, under the same id, until there is a PubAck. */
export async function publishSurely(
  { source }: Pick<NatsPorts, 'source'>,
  publication: Publication,
  acknowledged: Acknowledged,
): Promise<void> {
  const { subject, body, id } = publication;
  for (;;) {
    try {
      acknowledged.set((await source.publish(subject, body, id)).sequence, publication);
      return;
    } catch {
      // No PubAck: it may be stored or not.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Publishes everything, a number of them at a time, in the order given. */
export async function publishAll(
  ports: Pick<NatsPorts, 'source'>,
  work: readonly Publication[],
  acknowledged: Acknowledged,
  atATime = 50,
): Promise<void> {
  const queue = work.values();
  const publishers = Array.from({ length: atATime }, async () => {
    for (const publication of queue) await publishSurely(ports, publication, acknowledged);
  });
  await Promise.all(publishers);
}

/** All that the stream `DISPATCH` holds, one by one: a connection may be cut off for more at a time. */
export async function dispatchesOn({ connection }: Pick<NatsPorts, 'connection'>): Promise<StoredDispatch[]> {
  const jsm = await connection.jetstreamManager();
  const { state } = await soon(() => jsm.streams.info(DISPATCH_STREAM));
  const found: StoredDispatch[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const { subject, data, time, header } = await soon(() =>
      jsm.streams.getMessage(DISPATCH_STREAM, { seq }),
    );
    const messageId = publishedUnder(header);
    const at = time.toISOString();
    found.push({
      subject,
      body: data.slice(),
      sequence: seq,
      at,
      ...(messageId !== undefined && { messageId }),
    });
  }
  expect(found).toHaveLength(state.messages);
  return found;
}

/** Waits until everything has been dealt with, and makes the check that every fault ends with. */
export async function expectCleanEndOn(
  ports: NatsPorts,
  acknowledged: Acknowledged,
  more: Pick<Aftermath, 'retried' | 'lost'> = {},
): Promise<void> {
  await allDealtWith(ports);
  const { log, snapshots, rejected } = ports;
  const dispatches = await dispatchesOn(ports);
  await expectCleanEnd({ log, snapshots, rejected, dispatches, acknowledged, ...more });
}

/** Checks that no client is connected to a server any more; it must offer monitoring. */
export async function expectNobodyConnected({ monitorUrl }: Pick<PrivateNats, 'monitorUrl'>): Promise<void> {
  await soon(async () => {
    const answer = await fetch(`${monitorUrl}/connz`);
    expect(await answer.json()).toMatchObject({ num_connections: 0 });
  });
}
