import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { connectNats } from '../../../src/nats/connection/connect-nats.js';
import { AckedPublisher } from '../../../src/nats/jetstream/acked-publisher.js';
import { startPrivatePorts } from '../../engine/ports/opened.js';
import { ofFile } from '../../support/of-file.js';

const MAX_PAYLOAD = 64 * 1024;

const nats = await ofFile(startPrivatePorts({ maxPayloadBytes: MAX_PAYLOAD }));
const publisher = await ofFile(new AckedPublisher(nats.connection, 5000));
const jsm = await nats.connection.jetstreamManager();
await jsm.streams.add({ name: 'MANY', subjects: ['many.>'] });
await jsm.streams.add({ name: 'FEW', subjects: ['few.>'], max_msg_size: 100 });

const unavailable = expect.objectContaining({ code: 'unavailable' });

describe('AckedPublisher', () => {
  it('a publisher keeps thousands of publishes in flight, and gives each its own PubAck', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 5000 }, (_, index) => publisher.publish(`many.${index % 7}`, `${index}`)),
    );
    const jsm = await nats.connection.jetstreamManager();
    for (const index of [0, 1, 2499, 4999]) {
      const outcome = outcomes[index];
      const seq = outcome?.outcome === 'stored' ? outcome.sequence : 0;
      expect((await jsm.streams.getMessage('MANY', { seq })).string()).toBe(`${index}`);
    }
    const sequences = outcomes.map((outcome) => (outcome.outcome === 'stored' ? outcome.sequence : 0));
    expect(sequences).toEqual(Array.from({ length: 5000 }, (_, index) => index + 1));
  });

  it('a publisher sends message id, expectation and headers', async () => {
    const options = { messageId: 'id-1', headers: { Colour: 'blue' } };
    const first = await publisher.publish('many.x', 'x', options);
    expect(first).toMatchObject({ outcome: 'stored', duplicate: false });
    expect(await publisher.publish('many.x', 'x', options)).toEqual({ ...first, duplicate: true });
    const expecting = (sequence: number) => ({ expectedLastOfSubjects: { sequence, subjects: 'many.x' } });
    expect(await publisher.publish('many.x', 'x', expecting(3))).toEqual({ outcome: 'wrong_sequence' });
    const seq = first.outcome === 'stored' ? first.sequence : 0;
    const fitting = await publisher.publish('many.x', 'x', expecting(seq));
    expect(fitting).toEqual({ outcome: 'stored', sequence: seq + 1, duplicate: false });
    const jsm = await nats.connection.jetstreamManager();
    const { header } = await jsm.streams.getMessage('MANY', { seq });
    expect(header.get('Colour')).toBe('blue');
    expect(header.get('Nats-Msg-Id')).toBe('id-1');
  });

  it('a publish says when no stream takes the subject', async () => {
    expect(await publisher.publish('nobody.takes.this', 'x')).toEqual({ outcome: 'no_stream' });
  });

  it('a publish fails with internal when the stream refuses the message', async () => {
    const refused = publisher.publish('few.x', 'x'.repeat(200));
    await expect(refused).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('few.x'),
    });
  });

  it('a publish fails with unavailable when no answer comes in time, and holds up no other', async () => {
    const hasty = new AckedPublisher(nats.connection, 2000);
    // A listener that is not a stream: it receives the message and acknowledges nothing.
    const silent = nats.connection.subscribe('silent', { callback: () => {} });
    const [lost, stored] = await Promise.allSettled([
      hasty.publish('silent', 'x'),
      hasty.publish('many.x', 'x'),
    ]);
    expect(lost).toMatchObject({
      reason: { code: 'unavailable', message: expect.stringContaining('silent') },
    });
    expect(stored).toMatchObject({ value: { outcome: 'stored' } });
    silent.unsubscribe();
    hasty.close();
  });

  it('a publish fails with internal when the answer is not a PubAck', async () => {
    const answers = ['', 'no JSON', 'null', '{}', '{"stream":"X"}'];
    const impostor = nats.connection.subscribe('impostor', {
      callback: (_, message) => message.respond(answers.shift() ?? ''),
    });
    for (let left = answers.length; left > 0; left -= 1) {
      await expect(publisher.publish('impostor', 'x')).rejects.toMatchObject({ code: 'internal' });
    }
    impostor.unsubscribe();
  });

  it('a publish says so when a message is larger than the server takes', async () => {
    const refused = publisher.publish('many.x', 'x'.repeat(MAX_PAYLOAD + 1));
    await expect(refused).rejects.toMatchObject({ code: 'too_large' });
    expect(await publisher.publish('many.x', 'x')).toMatchObject({ outcome: 'stored' });
  });

  it('a closed publisher gives up what is in flight', async () => {
    const closing = new AckedPublisher(nats.connection, 60_000);
    const silent = nats.connection.subscribe('silent', { callback: () => {} });
    const waiting = [closing.publish('silent', '1'), closing.publish('silent', '2')];
    closing.close();
    for (const each of waiting) await expect(each).rejects.toEqual(unavailable);
    silent.unsubscribe();
  });

  it('a publish on a closed connection fails with unavailable at once', async () => {
    const connection = await connectNats({ url: nats.server.url, name: 'closing', logger: silentLogger });
    const closed = new AckedPublisher(connection, 60_000);
    await connection.close();
    await expect(closed.publish('many.x', 'x')).rejects.toEqual(unavailable);
  });
});
