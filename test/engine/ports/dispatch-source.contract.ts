import { afterEach, describe, expect, it } from 'vitest';
import type { DispatchDelivery, DispatchSource } from '../../../src/engine/ports/dispatch-source.js';
import { bytes } from './opened.js';

/** A dispatch source with its clock. */
export interface OpenedDispatchSource {
  readonly source: DispatchSource;
  /** The same source in another process. */
  readonly other: DispatchSource;
  now(): number;
  elapse(ms: number): Promise<void>;
  /** Advances time until the assertion holds. */
  soon(assert: () => void): Promise<void>;
  /** Returns the stored dispatch with a sequence, delivered or not. */
  stored(sequence: number): Promise<{ readonly subject: string; readonly body: Uint8Array } | undefined>;
  close(): Promise<void>;
}

export interface DispatchSourceSettings {
  readonly ackWaitMs: number;
}

const LONG = { ackWaitMs: 30_000 };
/** Long enough that a pause of the machine is not mistaken for a dead consumer. */
const SHORT = { ackWaitMs: 1500 };
/** Half of it is longer than a pause of the machine. */
const HALVED = { ackWaitMs: 6000 };
const SUBJECT = 'dispatch.demo.implementer';

/** The contract of `src/engine/ports/dispatch-source.ts`. `open` returns an empty source. */
export function dispatchSourceContract(
  name: string,
  open: (settings: DispatchSourceSettings) => Promise<OpenedDispatchSource>,
): void {
  describe(`the dispatch source, ${name}`, () => {
    const closers: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    const opened = async (settings: DispatchSourceSettings) => {
      const under = await open(settings);
      closers.push(() => under.close());
      return under;
    };
    /** Consumes and records deliveries as `sequence/delivery`. */
    const consumed = async (source: DispatchSource, then: (delivery: DispatchDelivery) => void) => {
      const delivered: string[] = [];
      const consumption = await source.consume((delivery) => {
        delivered.push(`${delivery.sequence}/${delivery.delivery}`);
        then(delivery);
      });
      closers.push(() => consumption.close());
      return { delivered, close: () => consumption.close() };
    };
    const ack = (delivery: DispatchDelivery) => delivery.ack();

    it('the dispatch source gives each published dispatch a rising sequence', async () => {
      const { source, other } = await opened(LONG);
      const sequences: number[] = [];
      for (const each of [source, other, source])
        sequences.push((await each.publish(SUBJECT, bytes('x'))).sequence);
      expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
      expect(sequences[0]).toBeGreaterThan(0);
    });

    it('the dispatch source delivers a dispatch as it was published, with the id that it was published under and the time of its arrival', async () => {
      const { source, other, soon, now, elapse } = await opened(LONG);
      const body = Uint8Array.of(0, 13, 10, 255, 254);
      const before = now();
      const { sequence } = await source.publish('dispatch.demo.reviewer', body, 'id-2');
      await source.publish('dispatch.demo.reviewer', body);
      const after = now();
      await elapse(5);
      const got: DispatchDelivery[] = [];
      await consumed(other, (delivery) => {
        got.push(delivery);
        delivery.ack();
      });
      await soon(() => expect(got).toHaveLength(2));
      expect(got.map(({ messageId }) => messageId)).toEqual(['id-2', undefined]);
      expect(got[0]).toMatchObject({ subject: 'dispatch.demo.reviewer', sequence, delivery: 1 });
      expect(Buffer.from(got[0]?.body ?? [])).toEqual(Buffer.from(body));
      const at = Date.parse(got[0]?.at ?? '');
      expect(new Date(at).toISOString()).toBe(got[0]?.at);
      // Two clocks may differ a little.
      expect(at).toBeGreaterThan(before - 1000);
      expect(at).toBeLessThan(after + 1000);
    });

    it('the dispatch source does not store a repeated dispatch with the same message id', async () => {
      const { source, other, soon } = await opened(LONG);
      const first = await source.publish(SUBJECT, bytes('one'), 'id-1');
      expect(await other.publish(SUBJECT, bytes('one'), 'id-1')).toEqual(first);
      const second = await source.publish(SUBJECT, bytes('one'));
      const { delivered } = await consumed(source, ack);
      await soon(() => expect(delivered).toEqual([`${first.sequence}/1`, `${second.sequence}/1`]));
    });

    it('the dispatch source delivers each dispatch to exactly one consumer, and not again once acknowledged', async () => {
      const { source, other, soon, elapse } = await opened(SHORT);
      const consumers = [await consumed(source, ack), await consumed(other, ack)];
      const published = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          (index % 2 === 0 ? source : other).publish(SUBJECT, bytes(`${index}`)),
        ),
      );
      const delivered = () => consumers.flatMap((consumer) => consumer.delivered);
      const expected = published.map(({ sequence }) => `${sequence}/1`).sort();
      await soon(() => expect(delivered()).toHaveLength(200));
      await elapse(SHORT.ackWaitMs * 1.3);
      expect(delivered().sort()).toEqual(expected);
    });

    it('the dispatch source does not wait for the handler of one dispatch before it delivers the next', async () => {
      const { source, soon } = await opened(LONG);
      const inHand: DispatchDelivery[] = [];
      await consumed(source, (delivery) => inHand.push(delivery));
      for (let index = 0; index < 20; index += 1) await source.publish(SUBJECT, bytes(`${index}`));
      await soon(() => expect(inHand).toHaveLength(20));
      for (const delivery of inHand.reverse()) delivery.ack();
    });

    it('the dispatch source asks for no more while there is no room, and goes on when something has been answered', async () => {
      const { source, soon, elapse } = await opened(LONG);
      const inHand: DispatchDelivery[] = [];
      let delivered = 0;
      const consumption = await source.consume(
        (delivery) => {
          delivered += 1;
          inHand.push(delivery);
        },
        () => inHand.length === 0,
      );
      closers.push(() => consumption.close());
      for (let index = 0; index < 50; index += 1) await source.publish(SUBJECT, bytes(`${index}`));
      await soon(() => expect(delivered).toBeGreaterThan(0));
      await elapse(200);
      expect(delivered).toBeLessThan(10);
      await soon(() => {
        for (const delivery of inHand.splice(0)) delivery.ack();
        expect(delivered).toBe(50);
      });
    });

    it('the dispatch source delivers again after a nak, not before its delay', async () => {
      const { source, soon, now } = await opened(LONG);
      const deliveries: (Pick<DispatchDelivery, 'sequence' | 'delivery' | 'at'> & { now: number })[] = [];
      await consumed(source, (delivery) => {
        const { sequence, at } = delivery;
        deliveries.push({ sequence, at, delivery: delivery.delivery, now: now() });
        if (delivery.delivery < 3) delivery.nak(300);
        else delivery.ack();
      });
      const { sequence } = await source.publish(SUBJECT, bytes('x'));
      await soon(() => expect(deliveries).toHaveLength(3));
      const [first, second, third] = deliveries;
      expect(deliveries.map((each) => each.delivery)).toEqual([1, 2, 3]);
      expect(new Set(deliveries.map((each) => `${each.sequence} ${each.at}`)).size).toBe(1);
      expect(first?.sequence).toBe(sequence);
      // A system timer may fire a little early.
      expect((second?.now ?? 0) - (first?.now ?? 0)).toBeGreaterThan(280);
      expect((third?.now ?? 0) - (second?.now ?? 0)).toBeGreaterThan(280);
    });

    it('the dispatch source delivers other dispatches while one waits for its delay', async () => {
      const { source, soon } = await opened(LONG);
      const { delivered } = await consumed(source, (delivery) => {
        if (delivery.delivery === 1 && delivery.subject.endsWith('reviewer')) delivery.nak(20_000);
        else delivery.ack();
      });
      const waiting = await source.publish('dispatch.demo.reviewer', bytes('x'));
      const next = await source.publish(SUBJECT, bytes('x'));
      await soon(() => expect(delivered).toEqual([`${waiting.sequence}/1`, `${next.sequence}/1`]));
    });

    it('the dispatch source delivers again, to any consumer, what was not acknowledged in time', async () => {
      const { source, other, soon, now } = await opened(SHORT);
      const forgetful = await consumed(source, () => {});
      const { sequence } = await source.publish(SUBJECT, bytes('x'));
      await soon(() => expect(forgetful.delivered).toEqual([`${sequence}/1`]));
      const delivered = now();
      await forgetful.close();
      const careful = await consumed(other, ack);
      await soon(() => expect(careful.delivered).toEqual([`${sequence}/2`]));
      expect(now() - delivered).toBeGreaterThan(SHORT.ackWaitMs / 2);
    });

    it('the dispatch source waits longer for a dispatch that its consumer reports as in progress', async () => {
      const { source, soon, elapse, now } = await opened(HALVED);
      const inHand: DispatchDelivery[] = [];
      const { delivered } = await consumed(source, (delivery) => inHand.push(delivery));
      const { sequence } = await source.publish(SUBJECT, bytes('x'));
      await soon(() => expect(delivered).toEqual([`${sequence}/1`]));
      await elapse(HALVED.ackWaitMs / 2);
      inHand[0]?.working();
      const said = now();
      await soon(() => expect(delivered).toEqual([`${sequence}/1`, `${sequence}/2`]));
      expect(now() - said).toBeGreaterThan(HALVED.ackWaitMs * 0.75);
      // A released delivery ignores further answers.
      inHand[1]?.ack();
      inHand[1]?.working();
    });

    it('the dispatch source does not deliver again what was terminated, and keeps it readable', async () => {
      const { source, soon, elapse, stored } = await opened(SHORT);
      const { delivered } = await consumed(source, (delivery) =>
        delivery.term('schema_invalid: status\r\nx'),
      );
      const { sequence } = await source.publish(SUBJECT, bytes('poison'));
      await soon(() => expect(delivered).toHaveLength(1));
      await elapse(SHORT.ackWaitMs * 1.3);
      expect(delivered).toEqual([`${sequence}/1`]);
      const kept = await stored(sequence);
      expect(kept?.subject).toBe(SUBJECT);
      expect(Buffer.from(kept?.body ?? []).toString()).toBe('poison');
    });

    it('the dispatch source delivers nothing more once closed, and keeps the rest for the next consumer', async () => {
      const { source, soon, elapse } = await opened(LONG);
      const closing = await consumed(source, ack);
      const first = await source.publish(SUBJECT, bytes('1'));
      await soon(() => expect(closing.delivered).toEqual([`${first.sequence}/1`]));
      await closing.close();
      const second = await source.publish(SUBJECT, bytes('2'));
      await elapse(100);
      expect(closing.delivered).toHaveLength(1);
      const next = await consumed(source, ack);
      await soon(() => expect(next.delivered).toEqual([`${second.sequence}/1`]));
    });

    it('the dispatch source takes an answer for what was in progress when it was closed', async () => {
      const { source, other, soon, elapse } = await opened(SHORT);
      const inHand: DispatchDelivery[] = [];
      const closing = await consumed(source, (delivery) => inHand.push(delivery));
      const { sequence } = await source.publish(SUBJECT, bytes('x'));
      await soon(() => expect(inHand).toHaveLength(1));
      await closing.close();
      await closing.close();
      inHand[0]?.ack();
      const next = await consumed(other, ack);
      await elapse(SHORT.ackWaitMs * 1.3);
      expect(next.delivered).toEqual([]);
      const { sequence: later } = await source.publish(SUBJECT, bytes('y'));
      await soon(() => expect(next.delivered).toEqual([`${later}/1`]));
      expect(later).toBeGreaterThan(sequence);
    });
  });
}
