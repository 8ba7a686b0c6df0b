import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import type { TimelineEntry } from '../../../src/contracts/replies/dispatch-result.js';
import { LiveFeed } from '../../../src/services/inspector/live-feed.js';
import { MemoryLiveTransport } from '../../doubles/memory-live-transport.js';
import { soon } from '../../support/soon.js';

const feeds: LiveFeed[] = [];
afterEach(() => {
  for (const feed of feeds.splice(0)) feed.close();
});

function opened() {
  const transport = new MemoryLiveTransport();
  const feed = new LiveFeed({
    transport,
    newerThan: async (_session, after) => ({ entries: [], sequence: after ?? 0, isCut: false }),
    promptEntry: (data) =>
      data.length === 0
        ? undefined
        : ({ key: 'p1', summary: new TextDecoder().decode(data) } as TimelineEntry),
  });
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
  it('a browser hears of its own session alone, and of learnings, rejections and the state', async () => {
    const { transport, feed } = opened();
    const all = reading(feed.open());
    const own = reading(feed.open(token('mine', 'session')));
    transport.send('session.other.task.added');
    transport.send('compiled.mine', new TextEncoder().encode('prompt'));
    transport.send('compiled.other', new TextEncoder().encode('prompt'));
    transport.send('learning.app.learning.added');
    transport.send('rejected._._');
    transport.setConnected(false);
    await soon(() => expect(own().at(-1)).toBe('state {"connected":false}'));
    const kinds = (heard: string[]) => heard.map((each) => each.split(' ')[0]);
    expect(kinds(own())).toEqual(['state', 'prompt', 'learning', 'rejected', 'state']);
    expect(own()[1]).toContain('"session":"mine"');
    expect(kinds(all())).toEqual(['state', 'change', 'prompt', 'prompt', 'learning', 'rejected', 'state']);
    expect(all().find((each) => each.startsWith('rejected'))).toMatch(/^rejected \{"at":"[^"]+"\}$/);
  });

  it('messages that are not ours are not told', async () => {
    const { transport, feed } = opened();
    const heard = reading(feed.open());
    transport.send('session.a b.x');
    transport.send('compiled.demo');
    transport.send('learning.*.x');
    transport.setConnected(true);
    await soon(() => expect(heard()).toHaveLength(2));
    expect(heard()).toEqual(['state {"connected":true}', 'state {"connected":true}']);
  });

  it('nothing is listened to before the first browser, nor after the last', async () => {
    const { transport, feed } = opened();
    expect(transport.listening).toBe(0);
    const streams = [feed.open(), feed.open(token('a', 'session')), feed.open(token('a', 'session'))];
    expect([transport.listening, feed.size]).toEqual([5, 3]);
    await Promise.all(streams.map((stream) => stream.cancel()));
    expect([transport.listening, feed.size]).toEqual([0, 0]);
  });

  it('a browser that does not read is told that it has lost something, and takes no more memory for it', async () => {
    const { transport, feed } = opened();
    const app = new Hono().get('/', (c) => c.body(feed.open(), 200, { 'Content-Type': 'text/event-stream' }));
    const server = createAdaptorServer({ fetch: app.fetch });
    const responses: ServerResponse[] = [];
    server.on('request', (_request: IncomingMessage, response: ServerResponse) => responses.push(response));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    socket.pause();
    await soon(() => expect(feed.size).toBe(1));
    // Bytes buffered by this feed, of 20 MB and more; process memory would include other tests.
    let most = 0;
    for (let sent = 0; sent < 200; sent += 1) {
      for (let each = 0; each < 1000; each += 1) transport.send('rejected.some-session.implementer');
      most = Math.max(most, feed.waitingBytes + (responses[0]?.writableLength ?? 0));
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    let text = '';
    socket.on('data', (data) => {
      text += data.toString();
    });
    socket.resume();
    await soon(() => expect(text).toContain('event: lost\ndata: {}\n\nevent: state\n'));
    socket.destroy();
    await soon(() => expect(feed.size).toBe(0));
    server.close();
    console.log(`a browser that does not read: ${(most / 1e6).toFixed(2)} MB at most`);
    // The buffer of at most 1 MiB, plus what was read before the browser stopped reading.
    expect(most).toBeLessThan(3 * 1024 * 1024);
  });
});
