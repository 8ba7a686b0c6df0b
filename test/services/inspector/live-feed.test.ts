import { afterEach, describe, expect, it } from 'vitest';
import { LiveFeed } from '../../../src/services/inspector/live-feed.js';
import { soon } from '../../support/soon.js';

const feeds: LiveFeed[] = [];
afterEach(() => {
  for (const feed of feeds.splice(0)) feed.close();
});

/** A feed, and a transport without a server: a test sends messages, and loses the connection. */
function opened() {
  const heard = new Set<readonly [kind: string, tell: (subject: string, data: Uint8Array) => void]>();
  let [connected, onState] = [true, (_: boolean) => {}];
  const transport = {
    server: 'none',
    request: async () => ({}),
    close: async () => {},
    listen(subjects: string, tell: (subject: string, data: Uint8Array) => void) {
      const listener = [subjects.split('.')[0] ?? '', tell] as const;
      heard.add(listener);
      return () => heard.delete(listener);
    },
    onState(listener: (connected: boolean) => void) {
      onState = listener;
      return () => {};
    },
    isConnected: () => connected,
    send(subject: string) {
      for (const [kind, tell] of [...heard])
        if (subject.startsWith(`${kind}.`)) tell(subject, new Uint8Array());
    },
    setConnected(is: boolean) {
      connected = is;
      onState(is);
    },
    get listening() {
      return heard.size;
    },
  };
  const feed = new LiveFeed(transport);
  feeds.push(feed);
  return { transport, feed };
}

/** Returns the events so far, as `event data`. */
function reading(stream: ReadableStream<Uint8Array>): () => string[] {
  let text = '';
  void (async () => {
    for await (const chunk of stream) text += new TextDecoder().decode(chunk);
  })();
  return () => [...text.matchAll(/event: (.+)\ndata: (.+)\n/g)].map(([, event, data]) => `${event} ${data}`);
}

describe('the live feed', () => {
  it('messages that are not ours are not told', async () => {
    const { transport, feed } = opened();
    const heard = reading(feed.open());
    transport.send('session.a b.x');
    transport.send('compiled.*');
    transport.send('learning.*.x');
    transport.setConnected(true);
    await soon(() => expect(heard()).toHaveLength(2));
    expect(heard()).toEqual(['state {"connected":true}', 'state {"connected":true}']);
  });

  it('nothing is listened to before the first browser, nor after the last', async () => {
    const { transport, feed } = opened();
    expect(transport.listening).toBe(0);
    const streams = [feed.open(), feed.open(), feed.open()];
    expect([transport.listening, feed.size]).toEqual([5, 3]);
    await Promise.all(streams.map((stream) => stream.cancel()));
    expect([transport.listening, feed.size]).toEqual([0, 0]);
  });

  it('the stream of a browser that does not read ends after a megabyte', async () => {
    const { transport, feed } = opened();
    const stream = feed.open();
    for (let sent = 0; sent < 100_000; sent += 1) transport.send('rejected.some-session.implementer');
    expect([transport.listening, feed.size]).toEqual([0, 0]);
    let bytes = 0;
    for await (const chunk of stream) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(1024 * 1024 - 1000);
    expect(bytes).toBeLessThan(1024 * 1024 + 1000);
  });
});
