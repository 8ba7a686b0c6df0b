import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AckedPublisher } from '../../../src/nats/jetstream/acked-publisher.js';
import type { PubOutcome } from '../../../src/nats/jetstream/publish-outcome.js';
import { type OpenedNats, startPrivatePorts } from '../../engine/ports/opened.js';
import { tampered } from '../../support/tampered-connection.js';

const MAX_PAYLOAD = 64 * 1024;
/** Exceeds the maximum message size of the streams. */
const TOO_LARGE = 'x'.repeat(200);

let nats: OpenedNats;
let publisher: AckedPublisher;
let made = 0;
beforeAll(async () => {
  nats = await startPrivatePorts({ maxPayloadBytes: MAX_PAYLOAD });
  publisher = new AckedPublisher(nats.connection, 5000);
});
afterAll(async () => {
  publisher.close();
  await nats.close();
});

/** Creates a stream with messages of up to 100 bytes. */
async function newStream(options: object = { allow_batched: true }) {
  made += 1;
  const name = `TOGETHER_${made}`;
  const jsm = await nats.connection.jetstreamManager();
  await jsm.streams.add({ name, subjects: [`together.${made}.>`], max_msg_size: 100, ...options });
  const subject = `together.${made}.x`;
  const stored = async () => {
    const { messages } = (await jsm.streams.info(name)).state;
    const found: string[] = [];
    for (let seq = 1; found.length < messages; seq += 1)
      found.push((await jsm.streams.getMessage(name, { seq })).string());
    return found;
  };
  return { name, subject, stored };
}

const words = (count: number) => Array.from({ length: count }, (_, index) => `word ${index + 1}`);
const STORED: PubOutcome = { outcome: 'stored', sequence: 1, duplicate: false };
const sequenceOf = (outcome: PubOutcome) => (outcome.outcome === 'stored' ? outcome.sequence : 0);

/** Publishes in a batch, and singly where that is impossible. */
const together = (by: AckedPublisher, stream: string, subject: string, word: string) =>
  by.publishTogether(stream, subject, word, () => by.publish(subject, word, { stream }));

/** Counts the answers to a publisher while it publishes. */
async function answersDuring(publish: () => Promise<unknown>): Promise<number> {
  const before = nats.connection.stats().inMsgs;
  await publish();
  return nats.connection.stats().inMsgs - before;
}

describe('messages that are published together', () => {
  it('messages that are published together are stored in their order, and the server answers once beside the begin', async () => {
    const { name, subject, stored } = await newStream();
    let outcomes: PubOutcome[] = [];
    const answers = await answersDuring(async () => {
      outcomes = await Promise.all(words(100).map((word) => together(publisher, name, subject, word)));
    });
    expect(answers).toBe(2);
    expect(outcomes.map(sequenceOf)).toEqual(words(100).map((_, index) => index + 1));
    expect(await stored()).toEqual(words(100));
  });

  it.each([1, 2])('%i message alone is published as it always was', async (count) => {
    const { name, subject, stored } = await newStream();
    const outcomes = await Promise.all(words(count).map((word) => together(publisher, name, subject, word)));
    expect(outcomes.at(-1)).toEqual({ outcome: 'stored', sequence: count, duplicate: false });
    expect(await stored()).toEqual(words(count));
  });

  it('what is published from promises that are settled already is in the same batch', async () => {
    const { name, subject, stored } = await newStream();
    const answers = await answersDuring(() =>
      Promise.all(
        words(20).map((word) => Promise.resolve().then(() => together(publisher, name, subject, word))),
      ),
    );
    expect(answers).toBe(2);
    expect(await stored()).toHaveLength(20);
  });

  it.each([1, 3, 5])(
    'message %i of five that the stream refuses keeps no other from being stored, each once',
    async (bad) => {
      const { name, subject, stored } = await newStream();
      const sent = words(5).map((word, index) => (index === bad - 1 ? TOO_LARGE : word));
      const outcomes = await Promise.allSettled(sent.map((word) => together(publisher, name, subject, word)));
      expect(outcomes.map(({ status }) => status)).toEqual(
        sent.map((word) => (word === TOO_LARGE ? 'rejected' : 'fulfilled')),
      );
      expect(outcomes[bad - 1]).toMatchObject({ reason: { code: 'internal' } });
      expect((await stored()).toSorted()).toEqual(sent.filter((word) => word !== TOO_LARGE));
    },
  );

  it.each([1, 3, 5])(
    'message %i of five that the server would not take is not sent, and the others are stored, each once',
    async (bad) => {
      const { name, subject, stored } = await newStream();
      const sent = words(5).map((word, index) => (index === bad - 1 ? 'x'.repeat(MAX_PAYLOAD + 1) : word));
      const outcomes = await Promise.allSettled(sent.map((word) => together(publisher, name, subject, word)));
      expect(outcomes[bad - 1]).toMatchObject({ reason: { code: 'too_large' } });
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
      expect((await stored()).toSorted()).toEqual(words(5).filter((_, index) => index !== bad - 1));
    },
  );

  it('a stream that is full says so for each message that it has no room for', async () => {
    const { name, subject, stored } = await newStream({ allow_batched: true, max_msgs: 4, discard: 'new' });
    const outcomes = await Promise.allSettled(
      words(6).map((word) => together(publisher, name, subject, word)),
    );
    expect(outcomes.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { code: 'store_full' } },
      { reason: { code: 'store_full' } },
    ]);
    expect(await stored()).toEqual(words(4));
  });

  it('a stream that takes no batches stores the messages one by one, and is not asked to again soon', async () => {
    const { name, subject, stored } = await newStream({});
    const publish = () => Promise.all(words(4).map((word) => together(publisher, name, subject, word)));
    await publish();
    expect(await answersDuring(publish)).toBe(4);
    expect(await stored()).toEqual([...words(4), ...words(4)]);
  });

  it.each([{}, { allow_batched: true, max_msgs: 1, discard: 'new' }])(
    'one that cannot even begin keeps no other from being published, on a stream with %j',
    async (options) => {
      const { name, subject } = await newStream(options);
      const begins = [false, true, false];
      const outcomes = await Promise.allSettled(
        begins.map((begin, index) =>
          publisher.publishTogether(name, subject, `word ${index}`, () => {
            if (!begin) throw new Error('forgotten');
            return publisher.publish(subject, `word ${index}`, { stream: name }).catch(() => STORED);
          }),
        ),
      );
      // One of them may have been stored by its batch, and is not started again.
      const failed = outcomes.filter(({ status }) => status === 'rejected');
      expect(failed).toHaveLength('allow_batched' in options ? 1 : 2);
      expect(outcomes[1]).toMatchObject({ status: 'fulfilled' });
    },
  );

  it('each of several messages says that no stream takes them', async () => {
    const outcomes = await Promise.all(
      words(3).map((word) => together(publisher, 'NONE', 'takes.nobody', word)),
    );
    expect(outcomes).toEqual(words(3).map(() => ({ outcome: 'no_stream' })));
  });

  it('the messages of several streams are in a batch for each', async () => {
    const streams = [await newStream(), await newStream()] as const;
    await Promise.all(
      words(10).flatMap((word) =>
        streams.map(({ name, subject }) => together(publisher, name, subject, word)),
      ),
    );
    for (const { stored } of streams) expect(await stored()).toEqual(words(10));
  });

  it('no sequence is lower than it is, whatever another publisher stores in between', async () => {
    const { name, subject, stored } = await newStream();
    const other = new AckedPublisher(nats.connection, 5000);
    const all = await Promise.all(
      words(300).map(async (word, index) => {
        const by = index % 2 === 0 ? publisher : other;
        if (index % 50 === 0) await new Promise(setImmediate);
        return { word, sequence: sequenceOf(await together(by, name, subject, word)) };
      }),
    );
    const places = new Map((await stored()).map((word, index) => [word, index + 1]));
    expect(places.size).toBe(300);
    for (const { word, sequence } of all) expect(sequence).toBeGreaterThanOrEqual(places.get(word) ?? 0);
    other.close();
  });
});

describe('a batch that breaks', () => {
  it.each([1, 2, 4])(
    'message %i of five that gets lost on the way is published again, and no other one twice',
    async (lost) => {
      const { name, subject, stored } = await newStream();
      const lossy = new AckedPublisher(
        tampered(nats.connection, (nth, send) => {
          if (nth !== lost) send();
        }),
        5000,
      );
      await Promise.all(words(5).map((word) => together(lossy, name, subject, word)));
      expect((await stored()).toSorted()).toEqual(words(5));
      lossy.close();
    },
  );

  it('a batch whose end gets lost fails in time with unavailable, and what is published behind it is stored', async () => {
    const { name, subject, stored } = await newStream();
    const lossy = new AckedPublisher(
      tampered(nats.connection, (nth, send) => {
        if (nth !== 5) send();
      }),
      500,
    );
    const outcomes = await Promise.allSettled(words(5).map((word) => together(lossy, name, subject, word)));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'unavailable' } });
    await Promise.all(['six', 'seven', 'eight'].map((word) => together(lossy, name, subject, word)));
    expect(await stored()).toEqual([...words(4), 'six', 'seven', 'eight']);
    lossy.close();
  });

  it('a batch of another stream than the expected one fails with config_invalid', async () => {
    const { subject } = await newStream();
    const outcomes = await Promise.allSettled(
      words(3).map((word) => together(publisher, 'EXPECTED', subject, word)),
    );
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'config_invalid' } });
  });

  it('a batch fails with unavailable when the connection is closed', async () => {
    const { name, subject } = await newStream();
    const closed = new AckedPublisher(
      tampered(nats.connection, () => {
        throw new Error('closed');
      }),
      5000,
    );
    const outcomes = await Promise.allSettled(words(3).map((word) => together(closed, name, subject, word)));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'unavailable' } });
    closed.close();
  });
});
