import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../src/contracts/error-codes.js';
import { ThroughlineError } from '../../src/contracts/errors.js';
import { DISPATCH_STREAM } from '../../src/contracts/names.js';
import type { ClientTransport } from '../../src/engine/ports/client-transport.js';
import { connectThroughline, type Result } from '../../src/index.js';
import { natsTransport } from '../../src/nats/connection/nats-client-transport.js';
import type { PublishOptions } from '../../src/sdk/persistent-publish.js';
import { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { plainConnection, startTestNats } from '../support/nats-server.js';
import { type System, startPrivateSystem, startSystem } from '../support/system.js';

/** A result is published under one id until there is a PubAck: it is in the stream once. */

const RESULT: Result<'implementer'> = { taskId: '1', status: 'completed', summary: 'did 1' };

/** Asked over a connection of its own: that of the system may still be lost. */
async function storedIn({ url }: System): Promise<number> {
  const connection = await plainConnection(url);
  const jsm = await connection.jetstreamManager();
  const { messages } = (await jsm.streams.info(DISPATCH_STREAM)).state;
  await connection.close();
  return messages;
}

/** A client that publishes in this way, and whose requests fail. */
function publishing(publish: ClientTransport['publish']): ThroughlineClient {
  const request = () => Promise.reject(unavailable());
  return new ThroughlineClient({ publish, request, async close() {} });
}

/** A client whose every publish fails with this error, and how often it tried. */
function failing(failure: ThroughlineError) {
  const attempts: string[] = [];
  const client = publishing(async (_subject, _body, messageId) => {
    attempts.push(messageId);
    throw failure;
  });
  return { client, attempts };
}

/** Hands over the failure that is told. */
function untilWaiting() {
  let onWaiting = (_: ThroughlineError) => {};
  const told = new Promise<ThroughlineError>((resolve) => {
    onWaiting = resolve;
  });
  return { onWaiting, told };
}

const unavailable = () => new ThroughlineError('unavailable', 'nobody is there');

describe('a result that is published', () => {
  it('a result whose id was taken before is a duplicate, but not one that its own call may have stored', async () => {
    let failures = 0;
    const client = publishing(async () => {
      if (failures === 0) return { sequence: 7, duplicate: true };
      failures -= 1;
      throw unavailable();
    });
    const taken = { messageId: 'demo:1' };
    expect(await client.session('demo').publish('implementer', RESULT, taken)).toEqual({
      sequence: 7,
      duplicate: true,
    });
    failures = 1;
    expect(await client.session('demo').publish('implementer', RESULT, taken)).toEqual({ sequence: 7 });
    expect(await client.session('demo').publish('implementer', RESULT)).toEqual({ sequence: 7 });
  });

  it('a result is stored once when the server is killed in between and comes back', async () => {
    await using system = await startPrivateSystem({ only: [] });
    await using client = await connectThroughline({ url: system.url });
    await system.nats.kill();
    const waiting = untilWaiting();
    const publishing = client
      .session('demo')
      .publish('implementer', RESULT, { onWaiting: waiting.onWaiting });
    expect(await waiting.told).toMatchObject({ code: 'unavailable' });
    await system.nats.restart();
    expect(await publishing).toEqual({ sequence: 1 });
    expect(await storedIn(system)).toBe(1);
  });

  it('a result is stored once when its stream is made only later', async () => {
    await using nats = await startTestNats();
    await using client = await connectThroughline({ url: nats.url });
    const waiting = untilWaiting();
    const publishing = client
      .session('demo')
      .publish('implementer', RESULT, { onWaiting: waiting.onWaiting });
    expect((await waiting.told).message).toMatch(/no stream takes dispatch\.demo\.implementer/);
    await using system = await startSystem({ nats, only: [] });
    expect(await publishing).toEqual({ sequence: 1 });
    expect(await storedIn(system)).toBe(1);
  });

  it('a result is stored once when its PubAcks are lost', async () => {
    await using system = await startSystem({ only: [] });
    const transport = natsTransport(await plainConnection(system.url), 5000);
    const sequences: number[] = [];
    await using client = new ThroughlineClient({
      ...transport,
      async publish(...published) {
        const { sequence } = await transport.publish(...published);
        sequences.push(sequence);
        if (sequences.length < 3) throw unavailable();
        return { sequence };
      },
    });
    expect(await client.session('demo').publish('implementer', RESULT)).toEqual({ sequence: 1 });
    expect(sequences).toEqual([1, 1, 1]);
    expect(await storedIn(system)).toBe(1);
  });

  it.each<ErrorCode>(['permission_denied', 'too_large', 'store_full', 'config_invalid', 'internal'])(
    'a result is not tried again after %s',
    async (code) => {
      const { client, attempts } = failing(new ThroughlineError(code, 'no'));
      await expect(client.session('demo').publish('implementer', RESULT)).rejects.toMatchObject({
        code,
        message: 'no',
      });
      expect(attempts).toHaveLength(1);
    },
  );

  it('a result is tried under one id, and the error at the deadline names it', async () => {
    const { client, attempts } = failing(unavailable());
    const told: unknown[] = [];
    const failed = client.session('demo').publish('implementer', RESULT, {
      timeoutMs: 1000,
      onWaiting: (failure) => told.push(failure.message),
    });
    const error: ThroughlineError = await failed.catch((fault) => fault);
    const [messageId = ''] = attempts;
    expect(error).toMatchObject({ code: 'unavailable', details: { messageId } });
    expect(error.message).toBe(
      `nobody is there; it may be stored all the same: publish it again with the messageId ${messageId}, and it counts once`,
    );
    expect(attempts.length).toBeGreaterThan(1);
    expect(new Set(attempts).size).toBe(1);
    expect(told).toEqual(['nobody is there']);
  });

  it.each([
    [{ wiat: true }, 'wiat is not an option of publishing: did you mean wait?'],
    [
      { loud: true },
      'loud is not an option of publishing: use one of messageId, wait, timeoutMs, signal, onWaiting',
    ],
    [{ timeoutMs: 0 }, 'timeoutMs is 0: use 1 to'],
  ])('a result is not sent with the options %j', async (options, message) => {
    const { client, attempts } = failing(unavailable());
    const refused = client.session('demo').publish('implementer', RESULT, options as PublishOptions);
    await expect(refused).rejects.toMatchObject({
      code: 'schema_invalid',
      message: expect.stringContaining(message),
    });
    expect(attempts).toEqual([]);
  });

  it('a result is not tried on a connection that is closed', async () => {
    await using nats = await startTestNats();
    const connection = await plainConnection(nats.url);
    const client = new ThroughlineClient(natsTransport(connection, 5000));
    await connection.close();
    const told: unknown[] = [];
    const failed = client.session('demo').publish('implementer', RESULT, {
      onWaiting: (failure) => told.push(failure),
    });
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
    expect(told).toEqual([]);
  });

  it('a result is given up when its signal is given or the client closes', async () => {
    for (const end of ['signal', 'close']) {
      const { client, attempts } = failing(unavailable());
      const stop = new AbortController();
      const waiting = untilWaiting();
      const options = { signal: stop.signal, timeoutMs: 600_000, onWaiting: waiting.onWaiting };
      const failed = client.session('demo').publish('implementer', RESULT, options);
      await waiting.told;
      if (end === 'signal') stop.abort();
      else await client.close();
      await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
      expect(attempts).toHaveLength(1);
    }
  });

  it('a result is given up by its signal while no answer comes, and not sent after it', async () => {
    const { client, attempts } = failing(unavailable());
    const refused = client.session('demo').publish('implementer', RESULT, { signal: AbortSignal.abort() });
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    expect(attempts).toEqual([]);

    const stop = new AbortController();
    const silent = publishing(() => {
      stop.abort();
      return new Promise(() => {});
    });
    const left = silent.session('demo').publish('implementer', RESULT, {
      signal: stop.signal,
      timeoutMs: 600_000,
    });
    await expect(left).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^stopped by the caller/),
    });
  });
});
